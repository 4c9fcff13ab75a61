import { retrievalModes } from '../core/agent.ts'
import { type Limits, MAX_OUTPUT_TOKENS } from '../core/ports/limits.ts'
import { AgentPath, closed, FilledText, Limit, Nothing, Pagination, Success, Timestamp, Uuid } from './fields.ts'
import { Answer, EVENTS, GivenHistory, wishes } from './messages.ts'
import { operation } from './operation.ts'
import { Type } from './schema.ts'

const OrNull = <T extends ReturnType<typeof Type.Number> | ReturnType<typeof Type.String> | ReturnType<typeof Type.Integer>>(
  type: T,
) => Type.Union([type, Type.Null()])
const MetadataValue = Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean()])

/** `{ key: value or [values] }` for document metadata and filters. Keys have 1 to 100 characters. Limited in size, as document lists contain it. */
export const MetadataMap = Type.Record(
  Type.String({ pattern: '^(?!__proto__$)[\\s\\S]+$' }),
  Type.Union([MetadataValue, Type.Array(MetadataValue, { maxItems: 100 })]),
  {
    maxProperties: 50,
    'x-maxJsonBytes': 16_384,
    propertyNames: { maxLength: 100 },
    ...closed,
    description: 'Up to 16,384 bytes as JSON.',
  },
)

const count = Type.Integer({ minimum: 1, maximum: 10, description: 'How many questions at most.' })
const modelName = FilledText(200, '`extractive`, or `provider/name`.')
const host = Type.String({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:\\[\\]-]+$' })

/** The settings of an agent, each optional, for create and change. */
const settings = {
  instructions: Type.String({ maxLength: 50_000, description: 'How the agent should behave.' }),
  greeting: Type.String({ maxLength: 2_000, description: 'What a client may show before the first message.' }),
  starters: Type.Array(FilledText(500, 'A question.'), { maxItems: 8, description: 'Questions to start with.' }),
  model: modelName,
  fallbackModels: Type.Array(modelName, { maxItems: 8, description: 'Tried in this order when the model fails.' }),
  temperature: OrNull(Type.Number({ minimum: 0, maximum: 2 })),
  maxOutputTokens: OrNull(Type.Integer({ minimum: 1, maximum: MAX_OUTPUT_TOKENS })),
  autoName: Type.Boolean({ description: 'Name a session after its first turn.' }),
  embeddingModel: OrNull(Type.String({ minLength: 1, maxLength: 200 })),
  retentionDays: OrNull(Type.Integer({ minimum: 1, maximum: 36_500 })),
  allowedOrigins: Type.Array(Type.String({ minLength: 1, maxLength: 300, pattern: '^(\\*|[a-z][a-z0-9+.-]*://[^/?#\\s]+)$' }), {
    maxItems: 100,
    description:
      'Origins of web pages, like `https://example.com`, that may use tokens of this agent, beside those of the deployment; `*` is any.',
  }),
  imageHosts: Type.Array(host, {
    maxItems: 100,
    description: 'Hosts that images in HTML replies may come from; others become links.',
  }),
}
const followUps = { enabled: Type.Boolean({ description: 'Offer questions after a reply.' }), count }
const retrieval = {
  topK: Type.Integer({ minimum: 1, maximum: 100, description: 'Passages that ground a reply.' }),
  minScore: OrNull(
    Type.Number({ minimum: 0, maximum: 1, description: 'The least grounding confidence at which the agent answers.' }),
  ),
  mode: Type.Enum([...retrievalModes]),
  rerank: Type.Boolean(),
  filter: Type.Union([MetadataMap, Type.Null()]),
}
const budget = {
  tokensPerDay: OrNull(Type.Integer({ minimum: 1 })),
  costPerDay: OrNull(Type.Number({ exclusiveMinimum: 0 })),
  tokensPerUserPerDay: OrNull(Type.Integer({ minimum: 1 })),
}

const changes = {
  ...settings,
  followUps: Type.Partial(Type.Object(followUps), closed),
  retrieval: Type.Partial(Type.Object(retrieval), closed),
  budget: Type.Partial(Type.Object(budget), closed),
}
const Stats = Type.Object({
  sessions: Type.Integer(),
  messages: Type.Integer(),
  documents: Type.Integer(),
  passages: Type.Integer(),
})
const Agent = Type.Object({
  id: Uuid('Agent ID.'),
  name: Type.String(),
  ...settings,
  followUps: Type.Object(followUps),
  retrieval: Type.Object(retrieval),
  budget: Type.Object(budget),
  createdAt: Timestamp('When it was created.'),
  updatedAt: Timestamp('When it was last changed.'),
})
const Profile = Type.Object({
  id: Uuid('Agent ID.'),
  name: Type.String(),
  greeting: settings.greeting,
  starters: settings.starters,
})
const AgentWithStats = Type.Object({ ...Agent.properties, stats: Stats })

export const agentOperations = (limits: Limits) => {
  const name = FilledText(limits.maxNameChars, 'Agent name.')
  const change = Type.Object({ name: Type.Optional(name), ...Type.Partial(Type.Object(changes)).properties }, closed)
  return {
    createAgent: operation({
      id: 'createAgent',
      method: 'POST',
      path: '/agents',
      tag: 'Agents',
      summary: 'Create an agent',
      isAudited: true,
      scopes: ['admin'],
      params: Nothing,
      query: Nothing,
      body: Type.Object({ name, ...Type.Partial(Type.Object(changes)).properties }, closed),
      status: 201,
      response: Type.Object({ success: Success, agent: Agent }),
    }),
    listAgents: operation({
      id: 'listAgents',
      method: 'GET',
      path: '/agents',
      tag: 'Agents',
      summary: 'List agents, newest first',
      scopes: ['admin', 'chat', 'read', 'knowledge'],
      params: Nothing,
      query: Type.Object(
        { cursor: Type.Optional(Uuid('ID of the agent after which the page starts.')), limit: Type.Optional(Limit) },
        closed,
      ),
      status: 200,
      response: Type.Object({ success: Success, agents: Type.Array(Agent), pagination: Pagination }),
    }),
    getAgent: operation({
      id: 'getAgent',
      method: 'GET',
      path: '/agents/{agentId}',
      tag: 'Agents',
      summary: 'Read an agent, with its counts',
      scopes: ['admin', 'chat', 'read', 'knowledge'],
      params: AgentPath,
      query: Nothing,
      status: 200,
      response: Type.Object({ success: Success, agent: AgentWithStats }),
    }),
    getProfile: operation({
      id: 'getProfile',
      method: 'GET',
      path: '/agents/{agentId}/profile',
      tag: 'Agents',
      summary: 'Read what an agent shows to its users',
      description: 'For pages that talk to it with a token of a user: nothing of how it works.',
      scopes: ['chat', 'read', 'knowledge'],
      forUsers: true,
      params: AgentPath,
      query: Nothing,
      status: 200,
      response: Type.Object({ success: Success, profile: Profile }),
    }),
    updateAgent: operation({
      id: 'updateAgent',
      method: 'PATCH',
      path: '/agents/{agentId}',
      tag: 'Agents',
      summary: 'Change an agent',
      description: 'Nested objects are merged field by field.',
      isAudited: true,
      scopes: ['admin'],
      params: AgentPath,
      query: Nothing,
      body: change,
      status: 200,
      response: Type.Object({ success: Success, agent: Agent }),
    }),
    previewAgent: operation({
      id: 'previewAgent',
      method: 'POST',
      path: '/agents/{agentId}/preview',
      tag: 'Agents',
      summary: 'Try an agent, with changes that are not saved',
      isReadOnly: true,
      description: `The answer is that of a send, in a conversation that only the caller keeps: nothing of it is stored, no webhook tells of it, and its ids lead nowhere.
${EVENTS}`,
      scopes: ['admin'],
      params: AgentPath,
      query: Nothing,
      body: Type.Object(
        {
          message: FilledText(limits.maxMessageChars, "The user's message."),
          history: Type.Optional(GivenHistory(limits)),
          changes: Type.Optional(change),
          ...wishes(limits),
        },
        closed,
      ),
      events: 'asked',
      status: 200,
      response: Answer,
    }),
    deleteAgent: operation({
      id: 'deleteAgent',
      method: 'DELETE',
      path: '/agents/{agentId}',
      tag: 'Agents',
      summary: 'Delete an agent with its sessions and its knowledge base, for good',
      isAudited: true,
      scopes: ['admin'],
      params: AgentPath,
      query: Nothing,
      status: 200,
      response: Type.Object({ success: Success, message: Type.String() }),
    }),
  }
}
