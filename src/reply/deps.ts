import type { Ids } from '../core/ports/ports.ts'
import type { RetrievalDeps } from '../retrieval/deps.ts'

export interface ReplyDeps extends RetrievalDeps {
  /** Returns a number from 0 to 1. */
  random: () => number
  newId: Ids
}
