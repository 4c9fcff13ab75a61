import type { SpendingDeps } from '../access/deps.ts'
import type { Knowledge } from '../core/ports/knowledge.ts'
import type { Limits } from '../core/ports/limits.ts'
import type { Meters } from '../core/ports/meters.ts'
import type { Reranker } from '../core/ports/reranker.ts'
import type { Tracer } from '../core/ports/tracer.ts'
import type { QuestionVectors } from './question-vectors.ts'

export interface RetrievalDeps extends SpendingDeps {
  knowledge: Knowledge
  questionVectors: QuestionVectors
  /** Undefined if the deployment has none. */
  reranker: Reranker | undefined
  /** The embedding model of agents that name none. Null if there is none. */
  defaultEmbeddingModel: string | null
  limits: Limits
  meters: Meters
  tracer: Tracer
}
