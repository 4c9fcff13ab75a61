import type { Extra } from '../core/message.ts'
import type { Finish, ModelUsage } from '../core/ports/model.ts'
import type { Hit, Suggestion } from '../core/ports/retrieval.ts'
import type { CitationCounts, Source } from './cite.ts'
import type { Timing } from './stopwatch.ts'

export type FollowUp = Suggestion & { id: string }

export interface Usage extends ModelUsage {
  /** In US dollars; null if the price is unknown. */
  cost: number | null
}

export interface Grounding {
  answered: boolean
  confidence: number
}

/** One call of a model for a reply. */
export interface Attempt {
  model: string
  outcome: 'replied' | 'failed' | 'timed out' | 'stopped'
  ms: number
}

export interface Trace {
  grounding: Grounding
  /** The query as searched. */
  query: string
  /** Only for agents with hybrid search or reranking: the mode used, the reason for a fallback, and whether hits were reranked. */
  retrieval?: { mode: 'lexical' | 'hybrid'; reason?: string; reranked?: boolean }
  passages: Pick<Hit, 'documentId' | 'passageId' | 'title' | 'score' | 'scores'>[]
  citations: CitationCounts
  attempts: Attempt[]
  /** Why the reply ended. If it was cancelled, it is incomplete. */
  finish: Finish | 'cancelled'
  timings: Timing[]
}

/** Data stored with a reply, as JSON. */
export interface ReplyDetail {
  /** The id of the run of the turn that made the reply. */
  run?: string
  sources?: Source[]
  usage?: Usage | null
  followUps?: FollowUp[]
  include?: Extra[]
  trace?: Trace
}
