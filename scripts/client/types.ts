// Generates the types of the client: a named type for each object, and for the input and the response of each operation.
import { callName } from './functions.ts'
import { capital, inputOf, type OpenApi, type Operation, operationsOf, responseOf, type Schema } from './openapi.ts'

/** Names for the contract's unnamed schemas, by one position at which each occurs. An equal schema at another position gets the same name. */
const NAMES: Record<string, [place: string, about: string]> = {
  ErrorCode: ['Error.error.code', 'What went wrong, for programs. It never changes its meaning.'],
  ErrorDetail: ['Error.error.details[]', 'An invalid field of the request.'],
  Pagination: ['listAgents.pagination', 'The position of a page in its list.'],
  Agent: ['createAgent.agent', 'Who answers: instructions, a model and a knowledge base.'],
  AgentWithStats: ['getAgent.agent', 'An agent with its counts.'],
  CreatedSession: ['createSession.session', 'A session, as created.'],
  Session: ['listSessions.sessions[]', 'One conversation between a user and an agent.'],
  Role: ['listMessages.messages[].role', 'Who wrote a message.'],
  Message: ['listMessages.messages[]', 'A message of the user or a reply.'],
  UserMessage: ['sendMessage.userMessage', 'The message of the user, as stored.'],
  AiMessage: ['sendMessage.aiMessage', 'The reply, as stored.'],
  FollowUp: ['sendMessage.followUps[]', 'A suggested next question.'],
  CitedSource: ['sendMessage.sources[]', 'A passage that a reply cites.'],
  Usage: ['sendMessage.usage', 'The tokens that a reply took.'],
  Trace: ['sendMessage.trace', 'How a reply was generated.'],
  Answer: ['sendMessage', 'A message with the reply to it.'],
  TurnState: ['getMessage.message.turn', 'The state of a turn.'],
  Feedback: ['setFeedback.feedback', 'The rating of a reply by a user.'],
  MessageDetail: ['getMessage.message', 'A message with the state of its turn.'],
  Version: ['listVersions.versions[]', 'An earlier version of a regenerated reply.'],
  Metadata: ['getDocument.document.metadata', 'Metadata of a document, which a search can filter by.'],
  DocumentStatus: ['getDocument.document.status', 'The processing state of a document.'],
  Document: ['getDocument.document', 'A document of an agent.'],
  Passage: ['listPassages.passages[]', 'A piece of a document.'],
  Hit: ['search.hits[]', 'A passage that was found.'],
  SearchTrace: ['search.trace', 'How passages were found.'],
  Source: ['getSource.source', 'A website or sitemap that is synchronised.'],
  Scope: ['createKey.key.scopes[]', 'What a key may do.'],
  Key: ['createKey.key', 'An API key, without its secret.'],
  Profile: ['getProfile.profile', 'What an agent shows to its users.'],
  WebhookEvent: ['createWebhook.webhook.events[]', 'An event that a webhook can receive.'],
  Webhook: ['createWebhook.webhook', 'A URL that receives events.'],
  Delivery: ['listDeliveries.deliveries[]', 'One event for one webhook, with the result of sending it.'],
  BudgetUse: ['getAgentUsage.usage', 'The use of a budget today; null without a budget.'],
  User: ['listUsers.users[]', 'An end user, as the client names it.'],
  AuditEntry: ['listAudit.entries[]', 'A change by an operator of the service.'],
  Model: ['listModels.models[]', 'A model that the deployment can use.'],
}

/** Returns the names of schemas by the text of each. Throws if a name points at no schema, or if two names point at equal schemas. */
export function namesOf(document: OpenApi): Map<string, string> {
  const names = new Map<string, string>()
  for (const [name, schema] of namedSchemas(document)) {
    const known = names.get(toText(schema))
    if (known !== undefined) throw new Error(`${name} is the same as ${known}`)
    names.set(toText(schema), name)
  }
  return names
}

/** Returns the text of the file of types. */
export function clientTypes(document: OpenApi): string {
  const write = new Writer(namesOf(document))
  const types = namedSchemas(document).map(([name, schema]) => write.declaration(name, schema, NAMES[name]![1]))
  return ['', ...types, ...operationsOf(document).flatMap((operation) => write.operation(operation))].join('\n')
}

function namedSchemas(document: OpenApi): [name: string, schema: Schema][] {
  const roots: Record<string, Schema> = { Error: document.components.schemas.Error }
  for (const operation of operationsOf(document)) roots[operation.operationId] = responseOf(operation)
  return Object.entries(NAMES).map(([name, [place]]) => [name, schemaAt(roots, place)])
}

function schemaAt(roots: Record<string, Schema>, place: string): Schema {
  const [root, ...steps] = place.replaceAll('[]', '.[]').split('.')
  let at = roots[root!]
  for (const step of steps) at = step === '[]' ? at?.items : at?.properties?.[step]
  if (at === undefined) throw new Error(`${place} is not in the contract`)
  return at
}

/** Returns the identity of a schema: everything except its description. */
export const toText = ({ description, ...schema }: Schema): string => JSON.stringify(schema)
const comment = (text: string | undefined): string => (text === undefined ? '' : `/** ${text} */\n`)
const asKey = (name: string): string => (/^\w+$/.test(name) ? name : `'${name}'`)
const literal = (value: unknown): string => (typeof value === 'string' ? `'${value}'` : String(value))

class Writer {
  readonly #names: Map<string, string>

  constructor(names: Map<string, string>) {
    this.#names = names
  }

  declaration(name: string, schema: Schema, about: string, isInput = false): string {
    const known = this.#names.get(toText(schema))
    const isAlias = known !== undefined && known !== name
    if (schema.properties !== undefined && !isAlias)
      return `${comment(about)}export interface ${name} ${this.#object(schema, isInput)}\n`
    return `${comment(about)}export type ${name} = ${isAlias ? known : this.#bare(schema, isInput)}\n`
  }

  /** Returns the types of an operation's input and response. The input of a function written by hand is next to it. */
  operation(operation: Operation): string[] {
    const name = capital(operation.operationId)
    const caller = callName(operation.operationId)
    const input = inputOf(operation)
    const response = responseOf(operation)
    const hasInput = caller !== undefined && Object.keys(input.properties!).length > 0
    return [
      ...(hasInput ? [this.declaration(`${name}Input`, input, `Input of \`${caller}\`.`, true)] : []),
      ...(response.type === undefined ? [] : [this.declaration(`${name}Response`, response, `Answer to: ${operation.summary}`)]),
    ]
  }

  #type(schema: Schema, isInput: boolean): string {
    return this.#names.get(toText(schema)) ?? this.#bare(schema, isInput)
  }

  #bare(schema: Schema, isInput: boolean): string {
    const inner = (part: Schema) => this.#type(part, isInput)
    if (schema.const !== undefined) return literal(schema.const)
    if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ')
    if (schema.anyOf !== undefined) return schema.anyOf.map(inner).join(' | ')
    // Biome removes the parentheses that are not needed.
    if (schema.items !== undefined) return `(${inner(schema.items)})[]`
    if (schema.properties !== undefined) return this.#object(schema, isInput)
    if (schema.patternProperties !== undefined)
      return `Record<string, ${Object.values(schema.patternProperties).map(inner).join(' | ')}>`
    if (schema.type === 'integer') return 'number'
    if (['string', 'number', 'boolean', 'null'].includes(schema.type ?? '')) return schema.type!
    throw new Error(`there is no type for ${JSON.stringify(schema)}`)
  }

  /** An optional field of a request may also be undefined. In a response it is present or absent. */
  #object({ properties = {}, required = [] }: Schema, isInput: boolean): string {
    const lines = Object.entries(properties).map(([name, schema]) => {
      const isRequired = required.includes(name)
      const type = this.#type(schema, isInput)
      const mark = isRequired ? '' : '?'
      return `${comment(schema.description)}${asKey(name)}${mark}: ${type}${isInput && !isRequired ? ' | undefined' : ''}\n`
    })
    return `{\n${lines.join('')}}`
  }
}
