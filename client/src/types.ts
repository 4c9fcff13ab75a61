// Made by `npm run docs` from the schemas of the service: change those, or scripts/generate-client.ts, not this file.

/** What went wrong, for programs. It never changes its meaning. */
export type ErrorCode = 
  | 'invalid_request'
  | 'invalid_cursor'
  | 'unauthorized'
  | 'forbidden'
  | 'route_not_found'
  | 'agent_not_found'
  | 'session_not_found'
  | 'message_not_found'
  | 'document_not_found'
  | 'source_not_found'
  | 'key_not_found'
  | 'user_not_found'
  | 'webhook_not_found'
  | 'delivery_not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'session_busy'
  | 'request_in_progress'
  | 'turn_cancelled'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'idempotency_mismatch'
  | 'rate_limited'
  | 'quota_exceeded'
  | 'headers_too_large'
  | 'internal_error'
  | 'model_failed'
  | 'model_timeout'
  | 'unavailable'

/** One place of the request that is at fault. */
export interface ErrorDetail {
  path: string
  message: string
}

/** Where a page stands in its list. */
export interface Pagination {
  /** True when more items follow this page. */
  hasMore: boolean
  /** Cursor of the next page; null when there is none. */
  nextCursor: string | null
  /** All items, not only those of this page. */
  total: number
}

/** Who answers: instructions, a model and a knowledge base. */
export interface Agent {
  /** Agent ID. */
  id: string
  name: string
  /** How the agent should behave. */
  instructions: string
  /** What a client may show before the first message. */
  greeting: string
  /** Questions to start with. */
  starters: string[]
  /** `extractive`, or `provider/name`. */
  model: string
  /** Tried in this order when the model fails. */
  fallbackModels: string[]
  temperature: number | null
  maxOutputTokens: number | null
  /** Name a session after its first turn. */
  autoName: boolean
  embeddingModel: string | null
  retentionDays: number | null
  /** Origins of web pages, like `https://example.com`, that may use tokens of this agent, beside those of the deployment; `*` is any. */
  allowedOrigins: string[]
  /** Hosts that images in HTML replies may come from; others become links. */
  imageHosts: string[]
  followUps: {
    /** Offer questions after a reply. */
    enabled: boolean
    /** How many questions at most. */
    count: number
  }
  retrieval: {
    /** Passages that ground a reply. */
    topK: number
    minScore: number | null
    mode: 'lexical' | 'hybrid'
    rerank: boolean
    filter: Metadata | null
  }
  budget: {
    tokensPerDay: number | null
    costPerDay: number | null
    tokensPerUserPerDay: number | null
  }
  /** When it was created. */
  createdAt: string
  /** When it was last changed. */
  updatedAt: string
}

/** An agent with its counts. */
export interface AgentWithStats {
  /** Agent ID. */
  id: string
  name: string
  /** How the agent should behave. */
  instructions: string
  /** What a client may show before the first message. */
  greeting: string
  /** Questions to start with. */
  starters: string[]
  /** `extractive`, or `provider/name`. */
  model: string
  /** Tried in this order when the model fails. */
  fallbackModels: string[]
  temperature: number | null
  maxOutputTokens: number | null
  /** Name a session after its first turn. */
  autoName: boolean
  embeddingModel: string | null
  retentionDays: number | null
  /** Origins of web pages, like `https://example.com`, that may use tokens of this agent, beside those of the deployment; `*` is any. */
  allowedOrigins: string[]
  /** Hosts that images in HTML replies may come from; others become links. */
  imageHosts: string[]
  followUps: {
    /** Offer questions after a reply. */
    enabled: boolean
    /** How many questions at most. */
    count: number
  }
  retrieval: {
    /** Passages that ground a reply. */
    topK: number
    minScore: number | null
    mode: 'lexical' | 'hybrid'
    rerank: boolean
    filter: Metadata | null
  }
  budget: {
    tokensPerDay: number | null
    costPerDay: number | null
    tokensPerUserPerDay: number | null
  }
  /** When it was created. */
  createdAt: string
  /** When it was last changed. */
  updatedAt: string
  stats: {
    sessions: number
    messages: number
    documents: number
    passages: number
  }
}

/** A session as it was made. */
export interface CreatedSession {
  /** Session ID. */
  id: string
  /** Session name. */
  name: string
  /** The external user. */
  userSessionId: string
  /** When the session was created. */
  createdAt: string
}

/** One conversation between a user and an agent. */
export interface Session {
  /** Session ID. */
  id: string
  /** Session name. */
  name: string
  /** The external user. */
  userSessionId: string
  /** Messages in the session. */
  totalMessages: number
  /** Time of the last message; of the creation while there is none. */
  lastMessageAt: string
  /** Relative time of the last activity, in English. */
  timeAgo: string
  /** When the session was created. */
  createdAt: string
}

/** Who wrote a message. */
export type Role = 'USER' | 'AI'

/** What one of the two wrote. */
export interface Message {
  /** Message ID; also the cursor of message history. */
  id: string
  /** Who wrote the message. */
  role: Role
  /** Message text. */
  content: string
  type: 'TEXT'
  /** When it was written. */
  createdAt: string
}

/** The message of the user, as stored. */
export interface UserMessage {
  /** Message ID; also the cursor of message history. */
  id: string
  /** Who wrote the message. */
  role: Role
  /** Message text. */
  content: string
  /** When it was written. */
  createdAt: string
}

/** The reply, as stored. */
export interface AiMessage {
  /** Message ID; also the cursor of message history. */
  id: string
  /** Who wrote the message. */
  role: Role
  /** Message text. */
  content: string
  /** The model that replied, as agents and `/models` name it: `provider/name`, or `extractive`. */
  model: string
  /** When it was written. */
  createdAt: string
}

/** A question to go on with. */
export interface FollowUp {
  id: string
  text: string
  confidence: number
}

/** A passage that a reply cites. */
export interface CitedSource {
  /** The n of the mark [n] in the reply. */
  index: number
  /** The document. */
  documentId: string
  title: string
  url: string | null
  /** From 1; of a document that has pages. */
  page?: number
  /** Verbatim text of the passage that supports the reply. */
  snippet: string
  /** Compares within one answer only. */
  score: number
}

/** The tokens that a reply took. */
export interface Usage {
  tokensIn: number
  tokensOut: number
  tokensCached: number
  /** In US dollars, where the price is known. */
  cost: number | null
}

/** How a reply came about. */
export interface Trace {
  grounding: {
    /** False: the reply says that the knowledge base does not hold the answer; or, where a language model wrote it, cites nothing of it. */
    answered: boolean
    confidence: number
  }
  /** The query as searched. */
  query: string
  /** Of an agent that searches by meaning, or reranks: whether it did, and why not. */
  retrieval?: {
    mode: 'lexical' | 'hybrid'
    reason?: string
    reranked?: boolean
  }
  passages: {
    /** The document. */
    documentId: string
    /** The passage. */
    passageId: string
    title: string
    score: number
    /** The score by method. */
    scores: Record<string, number>
  }[]
  /** Marks of the model by what their passage says; those without support were removed from the reply. */
  citations: {
    supported: number
    unsupported: number
    unchecked: number
  }
  /** The calls of models that were made for the reply. */
  attempts: {
    model: string
    outcome: 'replied' | 'failed' | 'timed out' | 'stopped'
    ms: number
  }[]
  /** Why the reply ended. */
  finish: 'stop' | 'length' | 'filtered' | 'cancelled'
  timings: {
    step: string
    ms: number
  }[]
}

/** A message with the reply to it. */
export interface Answer {
  /** Always true. */
  success: true
  chatSession: {
    /** Session ID. */
    id: string
    name: string
  }
  userMessage: UserMessage
  aiMessage: AiMessage
  /** Present when the agent has them enabled. */
  followUps?: FollowUp[]
  sources?: CitedSource[]
  usage?: Usage
  trace?: Trace
}

/** What became of a turn. */
export type TurnState = 'running' | 'done' | 'failed' | 'cancelled'

/** What a user said of a reply. */
export interface Feedback {
  rating: 'up' | 'down'
  comment?: string
}

/** A message with what became of its turn. */
export interface MessageDetail {
  /** Message ID; also the cursor of message history. */
  id: string
  /** Who wrote the message. */
  role: Role
  /** Message text. */
  content: string
  type: 'TEXT'
  /** When it was written. */
  createdAt: string
  /** What became of the turn that the message belongs to. */
  turn: TurnState
  /** Format of `content`, of a reply. */
  format?: 'markdown' | 'html'
  followUps?: FollowUp[]
  sources?: CitedSource[]
  feedback?: Feedback
  /** The model that replied, as agents and `/models` name it: `provider/name`, or `extractive`. */
  model?: string
  usage?: Usage
  trace?: Trace
}

/** What a reply said before it was made anew. */
export interface Version {
  /** Message text. */
  content: string
  model: string | null
  /** When it was written. */
  createdAt: string
  /** When the next one took its place. */
  replacedAt: string
  feedback?: Feedback
}

/** What is noted about a document, and can be filtered by. */
export type Metadata = Record<string, string | number | boolean | (string | number | boolean)[]>

/** How far a document is. */
export type DocumentStatus = 'queued' | 'processing' | 'ready' | 'failed'

/** Something that the agent knows. */
export interface Document {
  /** Document ID. */
  id: string
  title: string
  source: {
    type: 'text' | 'file' | 'url'
    /** The name that the file was sent with; may begin with folders: `guides/start.md`. */
    filename?: string
    url?: string
  }
  mediaType: string
  bytes: number
  /** Up to 16,384 bytes as JSON. */
  metadata: Metadata
  status: DocumentStatus
  progress: number
  error: {
    code: string
    message: string
  } | null
  passageCount: number
  /** The site that it came with. */
  sourceId?: string
  /** When it was added. */
  createdAt: string
  /** When it last changed. */
  updatedAt: string
}

/** A piece of a document. */
export interface Passage {
  /** Passage ID. */
  id: string
  /** Place in the document, from 0. */
  index: number
  text: string
  /** The headings above it, outermost first. */
  heading: string
  page: number | null
}

/** A passage that was found. */
export interface Hit {
  /** The document. */
  documentId: string
  /** The passage. */
  passageId: string
  title: string
  heading: string
  text: string
  /** Compares within one answer only. */
  score: number
  url: string | null
}

/** How passages were found. */
export interface SearchTrace {
  grounding: {
    /** How sure it is that the passages hold the answer. */
    confidence: number
  }
  /** The query as searched. */
  query: string
  /** Of an agent that searches by meaning, or reranks: whether it did, and why not. */
  retrieval?: {
    mode: 'lexical' | 'hybrid'
    reason?: string
    reranked?: boolean
  }
  passages: {
    /** The document. */
    documentId: string
    /** The passage. */
    passageId: string
    title: string
    score: number
    /** The score by method. */
    scores: Record<string, number>
  }[]
}

/** Pages of the web that are kept in step. */
export interface Source {
  /** Source ID. */
  id: string
  /** `url`: one page. `sitemap`: the pages that a sitemap names. `site`: those that links lead to, from the first. */
  type: 'url' | 'sitemap' | 'site'
  url: string
  maxPages: number
  maxDepth: number
  refreshHours: number | null
  status: DocumentStatus
  error: {
    code: string
    message: string
  } | null
  /** Of the last time that it was brought up to date, or of the one under way. */
  pages: {
    /** Found so far. */
    found: number
    /** New or changed. */
    taken: number
    /** As they were. */
    unchanged: number
    /** Not had; a document that one has already stays. */
    failed: number
  }
  /** Documents that came with it. */
  documents: number
  syncedAt: string | null
  nextSyncAt: string | null
  /** When it was added. */
  createdAt: string
  /** When it last changed. */
  updatedAt: string
}

/** What a key may do. */
export type Scope = 'admin' | 'chat' | 'read' | 'knowledge'

/** An API key, without its secret. */
export interface Key {
  /** Key ID. */
  id: string
  name: string
  /** The first characters of the key. */
  prefix: string
  scopes: Scope[]
  /** The agents that the key sees; null for all. */
  agentIds: string[] | null
  expiresAt: string | null
  lastUsedAt: string | null
  /** When it was made. */
  createdAt: string
  /** What may be spent with it in a day (UTC). Left out: no limit. */
  budget?: {
    /** Tokens in and out of models. */
    tokensPerDay: number | null
    /** US dollars. */
    costPerDay: number | null
  }
}

/** What an agent shows to its users. */
export interface Profile {
  /** Agent ID. */
  id: string
  name: string
  /** What a client may show before the first message. */
  greeting: string
  /** Questions to start with. */
  starters: string[]
}

/** What a webhook can be told of. */
export type WebhookEvent = 'session.created' | 'session.deleted' | 'message.completed' | 'turn.failed' | 'document.ready' | 'document.failed'

/** A URL that is told of events. */
export interface Webhook {
  /** Webhook ID. */
  id: string
  url: string
  events: WebhookEvent[]
  /** The agents whose events it is told of; null for all. */
  agentIds: string[] | null
  /** When it was made. */
  createdAt: string
  disabledAt: string | null
}

/** One event for one webhook, with what came of sending it. */
export interface Delivery {
  /** ID of the event, the header `webhook-id` of every attempt. */
  id: string
  event: 'session.created' | 'session.deleted' | 'message.completed' | 'turn.failed' | 'document.ready' | 'document.failed' | 'webhook.test'
  agentId: string | null
  state: 'waiting' | 'delivered' | 'failed'
  /** How often it was tried. */
  attempts: number
  nextAttemptAt: string | null
  lastAttemptAt: string | null
  /** HTTP status of the last answer; null where there was none. */
  responseStatus: number | null
  /** Why the last attempt failed. */
  error: string | null
  /** When it happened. */
  createdAt: string
}

/** What a budget has come to today; null where there is none. */
export type BudgetUse = {
  /** The day (UTC), `2026-11-20`. */
  date: string
  /** When the next day begins. */
  resetsAt: string
  /** Tokens in and out of models, with what is set aside for replies that are being made. */
  tokens: number
  /** US dollars. */
  cost: number
  /** The budget of tokens; null where there is none. */
  tokensPerDay: number | null
  /** The budget in US dollars; null where there is none. */
  costPerDay: number | null
} | null

/** An end user, as the client names it. */
export interface User {
  /** The client's own identifier of its user. */
  externalUserId: string
  sessions: number
  messages: number
  /** Of the last message in any session. */
  lastMessageAt: string
}

/** Something that was changed by those who run the service. */
export interface AuditEntry {
  /** Entry ID. */
  id: string
  /** When it was begun. */
  at: string
  /** The operation, by its name in this document. */
  action: string
  /** The API key; null for what was done where the data lies, without one. */
  keyId: string | null
  /** The agent. */
  agentId: string | null
  /** The id of what it was done to; of an end user `sha256:` and the SHA-256 of `AGENT/USER`, which can be found again by who knows the id. */
  target: string | null
  /** As in `X-Request-Id` of the answer. */
  requestId: string | null
  /** The address that the request came from. */
  address: string | null
  /** HTTP status of the answer; null where the act was cut off before it. */
  status: number | null
}

/** A model that the deployment can use. */
export interface Model {
  id: string
  provider: string
  kind: 'chat' | 'embedding'
}

/** Body of: Create a session */
export interface CreateSessionBody {
  /** Session name. */
  name?: string | undefined
  /** The client's own identifier of its user. */
  externalUserId?: string | undefined
}

/** Answer to: Create a session */
export interface CreateSessionResponse {
  /** Always true. */
  success: true
  session: CreatedSession
}

/** Query of: List the sessions of an agent, last activity first */
export interface ListSessionsQuery {
  /** Only the sessions of this external user. */
  externalUserId?: string | undefined
  /** Only sessions last active at this time or later. */
  from?: string | undefined
  /** Only sessions last active before this time. */
  to?: string | undefined
  /** Only sessions whose name or messages contain each of these words (at most 8), also as a part of another word; case is ignored. */
  q?: string | undefined
  /** Items per page. Without `limit` and `cursor`, the whole list is returned; with `cursor` alone, 50 items. */
  limit?: number | undefined
  /** `nextCursor` of the page before. */
  cursor?: string | undefined
}

/** Answer to: List the sessions of an agent, last activity first */
export interface ListSessionsResponse {
  /** Always true. */
  success: true
  sessions: Session[]
  pagination?: Pagination
}

/** Answer to: Read a session with its whole history */
export interface GetSessionResponse {
  /** Always true. */
  success: true
  session: {
    /** Session ID. */
    id: string
    /** Session name. */
    name: string
    /** When the session was created. */
    createdAt: string
  }
  messages: {
    /** Message ID. */
    id: string
    /** Who wrote the message. */
    role: Role
    content: string
    /** When it was written. */
    createdAt: string
  }[]
}

/** Body of: Rename a session */
export interface UpdateSessionBody {
  /** Session name. */
  name: string
}

/** Answer to: Rename a session */
export interface UpdateSessionResponse {
  /** Always true. */
  success: true
  session: {
    /** Session ID. */
    id: string
    /** Session name. */
    name: string
    /** Time of the update. */
    updatedAt: string
  }
}

/** Answer to: Delete a session and all its messages, for good */
export interface DeleteSessionResponse {
  /** Always true. */
  success: true
  /** Says that the session was deleted. */
  message: string
}

/** Body of: Bring in a conversation held elsewhere */
export interface ImportSessionBody {
  /** Session name. */
  name?: string | undefined
  /** The client's own identifier of its user. */
  externalUserId?: string | undefined
  /** Oldest first. */
  messages: {
    /** Who wrote the message. */
    role: Role
    /** Message text. */
    content: string
    /** When it was written; never before the message above it. */
    createdAt?: string | undefined
  }[]
}

/** Answer to: Bring in a conversation held elsewhere */
export interface ImportSessionResponse {
  /** Always true. */
  success: true
  session: CreatedSession
}

/** Body of: Send a message and get the reply */
export interface SendMessageBody {
  /** The user's message. */
  message: string
  /** For example the content of the page that the user is on. */
  additionalContext?: string | undefined
  /** Format of the reply. */
  format?: 'markdown' | 'html' | undefined
  /** Further fields wanted in the answer. */
  include?: ('sources' | 'usage' | 'trace')[] | undefined
}

/** Answer to: Send a message and get the reply */
export type SendMessageResponse = Answer

/** Query of: Read the message history, page by page */
export interface ListMessagesQuery {
  /** ID of the message behind which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
  /** `desc`: from the newest message back to the oldest. */
  order?: 'asc' | 'desc' | undefined
}

/** Answer to: Read the message history, page by page */
export interface ListMessagesResponse {
  /** Always true. */
  success: true
  messages: Message[]
  pagination: Pagination
}

/** Query of: Read one message, and what became of its turn */
export interface GetMessageQuery {
  /** Further fields wanted of a reply, with commas between: `model`, `usage`, `trace`, as far as they were kept. */
  include?: string | undefined
}

/** Answer to: Read one message, and what became of its turn */
export interface GetMessageResponse {
  /** Always true. */
  success: true
  message: MessageDetail
}

/** Answer to: Stop the turn that answers a message of the user */
export interface CancelMessageResponse {
  /** Always true. */
  success: true
  message: MessageDetail
}

/** Body of: Say whether a reply was good */
export interface SetFeedbackBody {
  rating: 'up' | 'down'
  comment?: string | undefined
}

/** Answer to: Say whether a reply was good */
export interface SetFeedbackResponse {
  /** Always true. */
  success: true
  feedback: Feedback
}

/** Answer to: Take back what was said of a reply */
export interface DeleteFeedbackResponse {
  /** Always true. */
  success: true
  message: string
}

/** Body of: Make the session's last reply anew */
export interface RegenerateMessageBody {
  /** For example the content of the page that the user is on. */
  additionalContext?: string | undefined
  /** Format of the reply. */
  format?: 'markdown' | 'html' | undefined
  /** Further fields wanted in the answer. */
  include?: ('sources' | 'usage' | 'trace')[] | undefined
}

/** Answer to: Make the session's last reply anew */
export type RegenerateMessageResponse = Answer

/** Answer to: List what a reply said before it was made anew, oldest first */
export interface ListVersionsResponse {
  /** Always true. */
  success: true
  versions: Version[]
}

/** Body of: Create an agent */
export interface CreateAgentBody {
  /** Agent name. */
  name: string
  /** How the agent should behave. */
  instructions?: string | undefined
  /** What a client may show before the first message. */
  greeting?: string | undefined
  /** Questions to start with. */
  starters?: string[] | undefined
  /** `extractive`, or `provider/name`. */
  model?: string | undefined
  /** Tried in this order when the model fails. */
  fallbackModels?: string[] | undefined
  temperature?: number | null | undefined
  maxOutputTokens?: number | null | undefined
  /** Name a session after its first turn. */
  autoName?: boolean | undefined
  embeddingModel?: string | null | undefined
  retentionDays?: number | null | undefined
  /** Origins of web pages, like `https://example.com`, that may use tokens of this agent, beside those of the deployment; `*` is any. */
  allowedOrigins?: string[] | undefined
  /** Hosts that images in HTML replies may come from; others become links. */
  imageHosts?: string[] | undefined
  followUps?: {
    /** Offer questions after a reply. */
    enabled?: boolean | undefined
    /** How many questions at most. */
    count?: number | undefined
  } | undefined
  retrieval?: {
    /** Passages that ground a reply. */
    topK?: number | undefined
    minScore?: number | null | undefined
    mode?: 'lexical' | 'hybrid' | undefined
    rerank?: boolean | undefined
    filter?: Metadata | null | undefined
  } | undefined
  budget?: {
    tokensPerDay?: number | null | undefined
    costPerDay?: number | null | undefined
    tokensPerUserPerDay?: number | null | undefined
  } | undefined
}

/** Answer to: Create an agent */
export interface CreateAgentResponse {
  /** Always true. */
  success: true
  agent: Agent
}

/** Query of: List agents, newest first */
export interface ListAgentsQuery {
  /** ID of the agent after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: List agents, newest first */
export interface ListAgentsResponse {
  /** Always true. */
  success: true
  agents: Agent[]
  pagination: Pagination
}

/** Answer to: Read an agent, with its counts */
export interface GetAgentResponse {
  /** Always true. */
  success: true
  agent: AgentWithStats
}

/** Body of: Change an agent */
export interface UpdateAgentBody {
  /** Agent name. */
  name?: string | undefined
  /** How the agent should behave. */
  instructions?: string | undefined
  /** What a client may show before the first message. */
  greeting?: string | undefined
  /** Questions to start with. */
  starters?: string[] | undefined
  /** `extractive`, or `provider/name`. */
  model?: string | undefined
  /** Tried in this order when the model fails. */
  fallbackModels?: string[] | undefined
  temperature?: number | null | undefined
  maxOutputTokens?: number | null | undefined
  /** Name a session after its first turn. */
  autoName?: boolean | undefined
  embeddingModel?: string | null | undefined
  retentionDays?: number | null | undefined
  /** Origins of web pages, like `https://example.com`, that may use tokens of this agent, beside those of the deployment; `*` is any. */
  allowedOrigins?: string[] | undefined
  /** Hosts that images in HTML replies may come from; others become links. */
  imageHosts?: string[] | undefined
  followUps?: {
    /** Offer questions after a reply. */
    enabled?: boolean | undefined
    /** How many questions at most. */
    count?: number | undefined
  } | undefined
  retrieval?: {
    /** Passages that ground a reply. */
    topK?: number | undefined
    minScore?: number | null | undefined
    mode?: 'lexical' | 'hybrid' | undefined
    rerank?: boolean | undefined
    filter?: Metadata | null | undefined
  } | undefined
  budget?: {
    tokensPerDay?: number | null | undefined
    costPerDay?: number | null | undefined
    tokensPerUserPerDay?: number | null | undefined
  } | undefined
}

/** Answer to: Change an agent */
export interface UpdateAgentResponse {
  /** Always true. */
  success: true
  agent: Agent
}

/** Answer to: Delete an agent with its sessions and its knowledge base, for good */
export interface DeleteAgentResponse {
  /** Always true. */
  success: true
  message: string
}

/** Answer to: Read what an agent shows to its users */
export interface GetProfileResponse {
  /** Always true. */
  success: true
  profile: Profile
}

/** Body of: Try an agent, with changes that are not saved */
export interface PreviewAgentBody {
  /** The user's message. */
  message: string
  /** Earlier messages, oldest first. */
  history?: {
    /** Who wrote the message. */
    role: Role
    content: string
  }[] | undefined
  changes?: {
    /** Agent name. */
    name?: string | undefined
    /** How the agent should behave. */
    instructions?: string | undefined
    /** What a client may show before the first message. */
    greeting?: string | undefined
    /** Questions to start with. */
    starters?: string[] | undefined
    /** `extractive`, or `provider/name`. */
    model?: string | undefined
    /** Tried in this order when the model fails. */
    fallbackModels?: string[] | undefined
    temperature?: number | null | undefined
    maxOutputTokens?: number | null | undefined
    /** Name a session after its first turn. */
    autoName?: boolean | undefined
    embeddingModel?: string | null | undefined
    retentionDays?: number | null | undefined
    /** Origins of web pages, like `https://example.com`, that may use tokens of this agent, beside those of the deployment; `*` is any. */
    allowedOrigins?: string[] | undefined
    /** Hosts that images in HTML replies may come from; others become links. */
    imageHosts?: string[] | undefined
    followUps?: {
      /** Offer questions after a reply. */
      enabled?: boolean | undefined
      /** How many questions at most. */
      count?: number | undefined
    } | undefined
    retrieval?: {
      /** Passages that ground a reply. */
      topK?: number | undefined
      minScore?: number | null | undefined
      mode?: 'lexical' | 'hybrid' | undefined
      rerank?: boolean | undefined
      filter?: Metadata | null | undefined
    } | undefined
    budget?: {
      tokensPerDay?: number | null | undefined
      costPerDay?: number | null | undefined
      tokensPerUserPerDay?: number | null | undefined
    } | undefined
  } | undefined
  /** For example the content of the page that the user is on. */
  additionalContext?: string | undefined
  /** Format of the reply. */
  format?: 'markdown' | 'html' | undefined
  /** Further fields wanted in the answer. */
  include?: ('sources' | 'usage' | 'trace')[] | undefined
}

/** Answer to: Try an agent, with changes that are not saved */
export type PreviewAgentResponse = Answer

/** Body of: Add a document to the knowledge base */
export interface AddDocumentBody {
  /** Left out: taken from the content. */
  title?: string | undefined
  /** The document as plain text. */
  text?: string | undefined
  /** The document as Markdown. */
  markdown?: string | undefined
  /** The document as HTML. */
  html?: string | undefined
  /** Where the document is to be fetched from. */
  url?: string | undefined
  /** Up to 16,384 bytes as JSON. */
  metadata?: Metadata | undefined
}

/** Answer to: Add a document to the knowledge base */
export interface AddDocumentResponse {
  /** Always true. */
  success: true
  document: Document
}

/** Query of: List documents, newest first */
export interface ListDocumentsQuery {
  status?: DocumentStatus | undefined
  /** ID of the document after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: List documents, newest first */
export interface ListDocumentsResponse {
  /** Always true. */
  success: true
  documents: Document[]
  pagination: Pagination
}

/** Answer to: Add a file to the knowledge base */
export interface UploadDocumentResponse {
  /** Always true. */
  success: true
  document: Document
}

/** Answer to: Read the state of a document */
export interface GetDocumentResponse {
  /** Always true. */
  success: true
  document: Document
}

/** Body of: Replace a document */
export interface ReplaceDocumentBody {
  /** Left out: taken from the content. */
  title?: string | undefined
  /** The document as plain text. */
  text?: string | undefined
  /** The document as Markdown. */
  markdown?: string | undefined
  /** The document as HTML. */
  html?: string | undefined
  /** Where the document is to be fetched from. */
  url?: string | undefined
  /** Up to 16,384 bytes as JSON. */
  metadata?: Metadata | undefined
}

/** Answer to: Replace a document */
export interface ReplaceDocumentResponse {
  /** Always true. */
  success: true
  document: Document
}

/** Body of: Change a document's title or metadata */
export interface UpdateDocumentBody {
  /** Left out: taken from the content. */
  title?: string | undefined
  /** Up to 16,384 bytes as JSON. */
  metadata?: Metadata | undefined
}

/** Answer to: Change a document's title or metadata */
export interface UpdateDocumentResponse {
  /** Always true. */
  success: true
  document: Document
}

/** Answer to: Remove a document; it is gone from retrieval at once */
export interface DeleteDocumentResponse {
  /** Always true. */
  success: true
  message: string
}

/** Query of: Read a document as the service read it */
export interface ListPassagesQuery {
  /** ID of the passage after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: Read a document as the service read it */
export interface ListPassagesResponse {
  /** Always true. */
  success: true
  passages: Passage[]
  pagination: Pagination
}

/** Answer to: Replace a document with a file */
export interface ReplaceDocumentWithFileResponse {
  /** Always true. */
  success: true
  document: Document
}

/** Body of: Find the passages that a reply would be grounded in */
export interface SearchBody {
  /** The question. */
  query: string
  topK?: number | undefined
  /** Earlier messages, oldest first. */
  history?: {
    /** Who wrote the message. */
    role: Role
    content: string
  }[] | undefined
  /** Up to 16,384 bytes as JSON. */
  filter?: Metadata | undefined
  /** Further fields wanted in the answer. */
  include?: 'trace'[] | undefined
}

/** Answer to: Find the passages that a reply would be grounded in */
export interface SearchResponse {
  /** Always true. */
  success: true
  hits: Hit[]
  trace?: SearchTrace
}

/** Body of: Keep the knowledge base in step with pages of the web */
export interface AddSourceBody {
  /** `url`: one page. `sitemap`: the pages that a sitemap names. `site`: those that links lead to, from the first. */
  type: 'url' | 'sitemap' | 'site'
  /** The page, the sitemap, or the first page of the site. */
  url: string
  /** 100 for a new source. */
  maxPages?: number | undefined
  /** Links away from the first page; of a `site`. 3 for a new source. */
  maxDepth?: number | undefined
  /** Hours between refreshes. null, and for a new source left out: only on request. */
  refreshHours?: number | null | undefined
}

/** Answer to: Keep the knowledge base in step with pages of the web */
export interface AddSourceResponse {
  /** Always true. */
  success: true
  source: Source
}

/** Query of: List sources, newest first */
export interface ListSourcesQuery {
  /** ID of the source after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: List sources, newest first */
export interface ListSourcesResponse {
  /** Always true. */
  success: true
  sources: Source[]
  pagination: Pagination
}

/** Answer to: Read the state of a source */
export interface GetSourceResponse {
  /** Always true. */
  success: true
  source: Source
}

/** Answer to: Remove a source with the documents that came with it */
export interface DeleteSourceResponse {
  /** Always true. */
  success: true
  message: string
}

/** Answer to: Bring a source up to date now */
export interface RefreshSourceResponse {
  /** Always true. */
  success: true
  source: Source
}

/** Query of: What came of the conversations with an agent */
export interface GetInsightsQuery {
  /** Only replies of this time or later. */
  from?: string | undefined
  /** Only replies before this time. */
  to?: string | undefined
}

/** Answer to: What came of the conversations with an agent */
export interface GetInsightsResponse {
  /** Always true. */
  success: true
  days: {
    /** A day of UTC on which there were turns. */
    date: string
    turns: number
    sessions: number
    users: number
    tokensIn: number
    tokensOut: number
    /** In US dollars, of the replies whose price is known. */
    cost: number
    latencyMs: {
      p50: number
      p95: number
    } | null
  }[]
  ratings: {
    up: number
    down: number
  }
  /** Questions that the knowledge base could not answer, alike ones together, most frequent first. */
  unanswered: {
    /** As it was asked last, up to 2,000 characters of it. */
    question: string
    count: number
    /** When it was asked last. */
    lastAskedAt: string
    sessionIds: string[]
  }[]
  /** The 1,000 most cited documents, most cited first. Then up to 500 without a citation. Where more than 10,000 were cited, counts of rarely cited documents may be too low, and documents without a citation are left out. */
  documents: {
    /** The document. */
    documentId: string
    title: string
    cited: number
    up: number
    down: number
  }[]
}

/** Body of: Make a key */
export interface CreateKeyBody {
  /** What the key is for. */
  name: string
  scopes: Scope[]
  /** Left out: all agents. */
  agentIds?: string[] | undefined
  /** When it stops working; in the future. */
  expiresAt?: string | undefined
  budget?: {
    /** Tokens in and out of models. */
    tokensPerDay?: number | null | undefined
    /** US dollars. */
    costPerDay?: number | null | undefined
  } | undefined
}

/** Answer to: Make a key */
export interface CreateKeyResponse {
  /** Always true. */
  success: true
  key: Key
  /** The key itself. It is shown in this answer alone. */
  secret: string
}

/** Query of: List keys, newest first */
export interface ListKeysQuery {
  /** ID of the key after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: List keys, newest first */
export interface ListKeysResponse {
  /** Always true. */
  success: true
  keys: Key[]
  pagination: Pagination
}

/** Answer to: Read the key that the request is made with */
export interface GetCurrentKeyResponse {
  /** Always true. */
  success: true
  key: Key
}

/** Answer to: Revoke a key, at once */
export interface DeleteKeyResponse {
  /** Always true. */
  success: true
  message: string
}

/** Body of: Replace a key by a new one with the same rights */
export interface RollKeyBody {
  overlapSeconds?: number | undefined
}

/** Answer to: Replace a key by a new one with the same rights */
export interface RollKeyResponse {
  /** Always true. */
  success: true
  key: Key
  /** The key itself. It is shown in this answer alone. */
  secret: string
}

/** Body of: Make a token for a browser */
export interface CreateTokenBody {
  /** The client's own identifier of its user. */
  externalUserId: string
  /** How long it is good. */
  ttlSeconds?: number | undefined
}

/** Answer to: Make a token for a browser */
export interface CreateTokenResponse {
  /** Always true. */
  success: true
  /** The token. It is shown in this answer alone. */
  token: string
  /** When it stops working. */
  expiresAt: string
}

/** Query of: List the end users of an agent, by their ids */
export interface ListUsersQuery {
  /** ID of the user after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: List the end users of an agent, by their ids */
export interface ListUsersResponse {
  /** Always true. */
  success: true
  users: User[]
  pagination: Pagination
}

/** Answer to: All that is kept of an end user */
export interface ExportUserResponse {
  type: 'session' | 'message' | 'version' | 'summary'
}

/** Answer to: Erase all that is kept of an end user */
export interface EraseUserResponse {
  /** Always true. */
  success: true
  message: string
  sessions: number
}

/** Query of: What an agent, or one of its users, has used of the budget of the day */
export interface GetAgentUsageQuery {
  /** Of this user alone. */
  externalUserId?: string | undefined
}

/** Answer to: What an agent, or one of its users, has used of the budget of the day */
export interface GetAgentUsageResponse {
  /** Always true. */
  success: true
  /** Null where there is no budget: then nothing is counted against one. */
  usage: BudgetUse
}

/** Answer to: What was used with a key of its budget of the day */
export interface GetKeyUsageResponse {
  /** Always true. */
  success: true
  /** Null where there is no budget: then nothing is counted against one. */
  usage: BudgetUse
}

/** Body of: Have events sent to a URL */
export interface CreateWebhookBody {
  /** Where they are sent: https, or http. */
  url: string
  events: WebhookEvent[]
  /** Left out: all agents. */
  agentIds?: string[] | undefined
}

/** Answer to: Have events sent to a URL */
export interface CreateWebhookResponse {
  /** Always true. */
  success: true
  webhook: Webhook
  /** What events are signed with. It is shown in this answer alone. */
  secret: string
}

/** Query of: List webhooks, newest first */
export interface ListWebhooksQuery {
  /** ID of the webhook after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: List webhooks, newest first */
export interface ListWebhooksResponse {
  /** Always true. */
  success: true
  webhooks: Webhook[]
  pagination: Pagination
}

/** Answer to: Delete a webhook, with all that waits for it */
export interface DeleteWebhookResponse {
  /** Always true. */
  success: true
  message: string
}

/** Answer to: Send a test event, now and once */
export interface TestWebhookResponse {
  /** Always true. */
  success: true
  delivery: Delivery
}

/** Query of: List the deliveries of a webhook, newest first */
export interface ListDeliveriesQuery {
  /** ID of the delivery after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
}

/** Answer to: List the deliveries of a webhook, newest first */
export interface ListDeliveriesResponse {
  /** Always true. */
  success: true
  deliveries: Delivery[]
  pagination: Pagination
}

/** Answer to: Deliver an event again, whatever came of it before */
export interface RetryDeliveryResponse {
  /** Always true. */
  success: true
  delivery: Delivery
}

/** Query of: What was changed by those who run the service, newest first */
export interface ListAuditQuery {
  /** ID of the entry after which the page starts. */
  cursor?: string | undefined
  /** Items per page. */
  limit?: number | undefined
  /** Only acts at or after this time. */
  from?: string | undefined
  /** Only acts before this time. */
  to?: string | undefined
  /** Only acts on this agent. */
  agentId?: string | undefined
}

/** Answer to: What was changed by those who run the service, newest first */
export interface ListAuditResponse {
  /** Always true. */
  success: true
  entries: AuditEntry[]
  pagination: Pagination
}

/** Answer to: List the models that this deployment can use */
export interface ListModelsResponse {
  /** Always true. */
  success: true
  models: Model[]
}
