// Generates the client's types from the OpenAPI contract: a named type for each object, and for the input and output of each operation.

interface Schema {
  type?: string
  description?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  patternProperties?: Record<string, Schema>
  required?: string[]
}
type Content = Record<string, { schema: Schema }>
interface Operation {
  operationId: string
  summary: string
  parameters: { name: string; in: string; required: boolean; schema: Schema }[]
  requestBody?: { content: Content }
  responses: Record<string, { content: Content }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: { Error: Schema } }
}

/** Names for the contract's unnamed schemas, by one position at which each occurs. An equal schema at another position gets the same name. */
const NAMES: Record<string, [place: string, about: string]> = {
  ErrorCode: ['Error.error.code', 'What went wrong, for programs. It never changes its meaning.'],
  ErrorDetail: ['Error.error.details[]', 'One place of the request that is at fault.'],
  Pagination: ['listAgents.pagination', 'Where a page stands in its list.'],
  Agent: ['createAgent.agent', 'Who answers: instructions, a model and a knowledge base.'],
  AgentWithStats: ['getAgent.agent', 'An agent with its counts.'],
  CreatedSession: ['createSession.session', 'A session as it was made.'],
  Session: ['listSessions.sessions[]', 'One conversation between a user and an agent.'],
  Role: ['listMessages.messages[].role', 'Who wrote a message.'],
  Message: ['listMessages.messages[]', 'What one of the two wrote.'],
  UserMessage: ['sendMessage.userMessage', 'The message of the user, as stored.'],
  AiMessage: ['sendMessage.aiMessage', 'The reply, as stored.'],
  FollowUp: ['sendMessage.followUps[]', 'A question to go on with.'],
  CitedSource: ['sendMessage.sources[]', 'A passage that a reply cites.'],
  Usage: ['sendMessage.usage', 'The tokens that a reply took.'],
  Trace: ['sendMessage.trace', 'How a reply came about.'],
  Answer: ['sendMessage', 'A message with the reply to it.'],
  TurnState: ['getMessage.message.turn', 'What became of a turn.'],
  Feedback: ['setFeedback.feedback', 'What a user said of a reply.'],
  MessageDetail: ['getMessage.message', 'A message with what became of its turn.'],
  Version: ['listVersions.versions[]', 'What a reply said before it was made anew.'],
  Metadata: ['getDocument.document.metadata', 'What is noted about a document, and can be filtered by.'],
  DocumentStatus: ['getDocument.document.status', 'How far a document is.'],
  Document: ['getDocument.document', 'Something that the agent knows.'],
  Passage: ['listPassages.passages[]', 'A piece of a document.'],
  Hit: ['search.hits[]', 'A passage that was found.'],
  SearchTrace: ['search.trace', 'How passages were found.'],
  Source: ['getSource.source', 'Pages of the web that are kept in step.'],
  Scope: ['createKey.key.scopes[]', 'What a key may do.'],
  Key: ['createKey.key', 'An API key, without its secret.'],
  Profile: ['getProfile.profile', 'What an agent shows to its users.'],
  WebhookEvent: ['createWebhook.webhook.events[]', 'What a webhook can be told of.'],
  Webhook: ['createWebhook.webhook', 'A URL that is told of events.'],
  Delivery: ['listDeliveries.deliveries[]', 'One event for one webhook, with what came of sending it.'],
  BudgetUse: ['getAgentUsage.usage', 'What a budget has come to today; null where there is none.'],
  User: ['listUsers.users[]', 'An end user, as the client names it.'],
  AuditEntry: ['listAudit.entries[]', 'Something that was changed by those who run the service.'],
  Model: ['listModels.models[]', 'A model that the deployment can use.'],
}

const HEAD =
  '// Made by `npm run docs` from the schemas of the service: change those, or scripts/generate-client.ts, not this file.\n'

/** Returns the complete file of types. Throws if a name points at no schema, or if two names point at equal schemas. */
export function clientTypes(document: object): string {
  const { paths, components } = document as Document
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods))
  const roots: Record<string, Schema> = { Error: components.schemas.Error }
  for (const op of operations) roots[op.operationId] = answerOf(op)
  const names = new Map<string, string>()
  const named = Object.entries(NAMES).map(([name, [place, about]]) => {
    const schema = schemaAt(roots, place)
    const known = names.get(toText(schema))
    if (known !== undefined) throw new Error(`${name} is the same as ${known}`)
    names.set(toText(schema), name)
    return { name, schema, about }
  })
  const write = new Writer(names)
  const types = named.map(({ name, schema, about }) => write.declaration(name, schema, about))
  return [HEAD, ...types, ...operations.flatMap((op) => write.operation(op))].join('\n')
}

const answerOf = ({ responses }: Operation): Schema => {
  const [, { content }] = Object.entries(responses).find(([status]) => status.startsWith('2'))!
  const { 'application/json': json, 'application/x-ndjson': lines } = content
  // Event streams are skipped: they describe a turn, and its end has the body of a plain response.
  return (json ?? lines ?? { schema: {} }).schema
}

function schemaAt(roots: Record<string, Schema>, place: string): Schema {
  const [root, ...steps] = place.replaceAll('[]', '.[]').split('.')
  let at = roots[root!]
  for (const step of steps) at = step === '[]' ? at?.items : at?.properties?.[step]
  if (at === undefined) throw new Error(`${place} is not in the contract`)
  return at
}

/** Returns the identity of a schema: everything except its description. */
const toText = ({ description, ...schema }: Schema): string => JSON.stringify(schema)
const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1)
const comment = (text: string | undefined, indent = ''): string => (text === undefined ? '' : `${indent}/** ${text} */\n`)
const asKey = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`)
const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value))

/** Writes few values on one line, many on separate lines. */
const either = (values: string[]): string =>
  values.length > 8 ? values.map((value) => `\n  | ${value}`).join('') : values.join(' | ')

class Writer {
  readonly #names: Map<string, string>

  constructor(names: Map<string, string>) {
    this.#names = names
  }

  declaration(name: string, schema: Schema, about: string | undefined, isInput = false): string {
    const known = this.#names.get(toText(schema))
    const isShape = schema.properties !== undefined && (known === undefined || known === name)
    if (isShape) return `${comment(about)}export interface ${name} ${this.#object(schema, '', isInput)}\n`
    return `${comment(about)}export type ${name} = ${known === undefined || known === name ? this.#bare(schema, '', isInput) : known}\n`
  }

  /** Returns the types of an operation's query, body and response. */
  operation({ operationId, summary, parameters, requestBody, responses }: Operation): string[] {
    const name = capital(operationId)
    const answer = answerOf({ responses } as Operation)
    const query = parameters.filter((parameter) => parameter.in === 'query')
    const properties = Object.fromEntries(query.map((parameter) => [parameter.name, parameter.schema]))
    const body = requestBody?.content['application/json']?.schema
    const parts = [
      query.length === 0 ? '' : this.declaration(`${name}Query`, { properties }, `Query of: ${summary}`, true),
      Object.keys(body?.properties ?? {}).length === 0 ? '' : this.declaration(`${name}Body`, body!, `Body of: ${summary}`, true),
      answer.type === undefined ? '' : this.declaration(`${name}Response`, answer, `Answer to: ${summary}`),
    ]
    return parts.filter((part) => part !== '')
  }

  #type(schema: Schema, indent: string, isInput: boolean): string {
    return this.#names.get(toText(schema)) ?? this.#bare(schema, indent, isInput)
  }

  #bare(schema: Schema, indent: string, isInput: boolean): string {
    const inner = (part: Schema) => this.#type(part, indent, isInput)
    if (schema.const !== undefined) return literal(schema.const)
    if (schema.enum !== undefined) return either(schema.enum.map(literal))
    if (schema.anyOf !== undefined) return schema.anyOf.map(inner).join(' | ')
    if (schema.items !== undefined) {
      const item = inner(schema.items)
      return / \| /.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`
    }
    if (schema.properties !== undefined) return this.#object(schema, indent, isInput)
    if (schema.patternProperties !== undefined)
      return `Record<string, ${Object.values(schema.patternProperties).map(inner).join(' | ')}>`
    if (schema.type === 'integer') return 'number'
    if (['string', 'number', 'boolean', 'null'].includes(schema.type ?? '')) return schema.type!
    throw new Error(`there is no type for ${JSON.stringify(schema)}`)
  }

  /** An optional field of a request may also be undefined. In a response it is present or absent. */
  #object({ properties = {}, required = [] }: Schema, indent: string, isInput: boolean): string {
    const more = `${indent}  `
    const lines = Object.entries(properties).map(([name, schema]) => {
      const isRequired = required.includes(name)
      const type = this.#type(schema, more, isInput)
      const mark = isRequired ? '' : '?'
      return `${comment(schema.description, more)}${more}${asKey(name)}${mark}: ${type}${isInput && !isRequired ? ' | undefined' : ''}\n`
    })
    return `{\n${lines.join('')}${indent}}`
  }
}
