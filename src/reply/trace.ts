import type { Extra } from '../core/message.ts'
import type { Finish, ModelUsage } from '../core/ports/model.ts'
import type { Hit, Suggestion } from '../core/ports/retrieval.ts'
import type { CitationCounts, Source } from './cite.ts'
import type { Timing } from './stopwatch.ts'

export type FollowUp = Suggestion & { id: string }

export interface Usage extends ModelUsage {
  /** In US dollars; null where the price is not known. */
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

/** Shows how a reply was made. */
export interface Trace {
  grounding: Grounding
  /** The query as searched. */
  query: string
  /** Of an agent that searches by meaning, or reranks: whether it did, and why not. */
  retrieval?: { mode: 'lexical' | 'hybrid'; reason?: string; reranked?: boolean }
  passages: Pick<Hit, 'documentId' | 'passageId' | 'title' | 'score' | 'scores'>[]
  citations: CitationCounts
  attempts: Attempt[]
  /** Why the reply ended; cancelled: it is what there was by then. */
  finish: Finish | 'cancelled'
  timings: Timing[]
}

/** What is stored with a reply, as JSON. */
export interface ReplyDetail {
  /** Names the run of the turn that made it. */
  run?: string
  sources?: Source[]
  usage?: Usage | null
  followUps?: FollowUp[]
  include?: Extra[]
  trace?: Trace
}
