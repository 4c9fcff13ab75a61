import type { Knowledge } from '../core/knowledge.ts'
import type { Limits } from '../core/limits.ts'
import type { Meters } from '../core/meters.ts'
import type { Models } from '../core/model.ts'
import type { Clock, Ids } from '../core/ports.ts'
import type { Reranker } from '../core/reranker.ts'
import type { Tracer } from '../core/tracer.ts'
import type { Database } from '../store/database.ts'
import type { AgentBook } from './agent-book.ts'
import type { Background } from './background.ts'
import type { Courier } from './courier.ts'
import type { DocumentNews } from './document-news.ts'
import type { KeyRing } from './key-ring.ts'
import type { Peers } from './peers.ts'
import type { Prices } from './prices.ts'
import type { QuestionVectors } from './question-vectors.ts'
import type { Rates } from './rates.ts'
import type { Turns } from './turns.ts'
import type { WebhookBook } from './webhook-book.ts'

/** Everything that the operations of the service work with; made once, in app.ts. */
export interface Deps {
  db: Database
  knowledge: Knowledge
  models: Models
  agents: AgentBook
  keys: KeyRing
  turns: Turns
  peers: Peers
  webhooks: WebhookBook
  courier: Courier
  documentNews: DocumentNews
  /** Undefined where no rate is kept to. */
  rates: Rates | undefined
  /** Vectors of questions. */
  questionVectors: QuestionVectors
  background: Background
  embedder: { wake(agentId: string): void }
  /** Undefined where the deployment has none. */
  reranker: Reranker | undefined
  prices: Prices
  limits: Limits
  /** The model of an agent that names none. */
  defaultModel: string
  /** The embedding model of an agent that names none; null where there is none. */
  defaultEmbeddingModel: string | null
  clock: Clock
  /** From 0 to 1. */
  random: () => number
  newId: Ids
  /** Told of how long things took, and how they ended. */
  meters: Meters
  tracer: Tracer
  /** Told of what failed softly, without a message's text. */
  warn(about: string, error?: unknown): void
}
