import * as agents from './api/agents.ts'
import * as audit from './api/audit.ts'
import * as documents from './api/documents.ts'
import * as insights from './api/insights.ts'
import * as keys from './api/keys.ts'
import * as messages from './api/messages.ts'
import * as models from './api/models.ts'
import * as sessions from './api/sessions.ts'
import * as sources from './api/sources.ts'
import * as tokens from './api/tokens.ts'
import * as users from './api/users.ts'
import * as webhooks from './api/webhooks.ts'
import { type Connection, type ConnectionOptions, connect } from './connection.ts'

/** The functions of a module without their first argument, the connection. */
export type Bound<F> = {
  [Name in keyof F]: F[Name] extends (to: Connection, ...rest: infer Rest) => infer Result ? (...rest: Rest) => Result : never
}

/** All operations of the service, grouped by resource: `client.sessions.create({ agentId })`. Each resolves to the response body. */
export class Repartee {
  /** The first argument of the package's standalone functions. */
  readonly connection: Connection
  readonly agents: Bound<typeof agents>
  readonly sessions: Bound<typeof sessions>
  readonly messages: Bound<typeof messages>
  readonly documents: Bound<typeof documents>
  readonly sources: Bound<typeof sources>
  readonly insights: Bound<typeof insights>
  readonly keys: Bound<typeof keys>
  readonly tokens: Bound<typeof tokens>
  readonly users: Bound<typeof users>
  readonly webhooks: Bound<typeof webhooks>
  readonly audit: Bound<typeof audit>
  readonly models: Bound<typeof models>

  constructor(options: ConnectionOptions) {
    const connection = connect(options)
    this.connection = connection
    this.agents = bind(connection, agents)
    this.sessions = bind(connection, sessions)
    this.messages = bind(connection, messages)
    this.documents = bind(connection, documents)
    this.sources = bind(connection, sources)
    this.insights = bind(connection, insights)
    this.keys = bind(connection, keys)
    this.tokens = bind(connection, tokens)
    this.users = bind(connection, users)
    this.webhooks = bind(connection, webhooks)
    this.audit = bind(connection, audit)
    this.models = bind(connection, models)
  }
}

type Operation = (to: Connection, ...rest: unknown[]) => unknown

function bind<F extends object>(connection: Connection, functions: F): Bound<F> {
  const bound = Object.entries(functions as Record<string, Operation>).map(([name, operation]) => [
    name,
    (...rest: unknown[]) => operation(connection, ...rest),
  ])
  return Object.fromEntries(bound) as Bound<F>
}
