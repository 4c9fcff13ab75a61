/** What came of an agent's conversations in a stretch of time. */
export interface Insights {
  /** Those with turns, in order; a day is one of UTC. */
  days: InsightDay[]
  ratings: Ratings
  /** Questions that the knowledge base could not answer, alike ones together, most frequent first. */
  unanswered: UnansweredQuestion[]
  /** Those that were cited, most cited first, then the newest of those that never were. */
  documents: DocumentInsight[]
}

export interface Ratings {
  up: number
  down: number
}

export interface InsightDay {
  /** `YYYY-MM-DD`. */
  date: string
  turns: number
  sessions: number
  users: number
  tokensIn: number
  tokensOut: number
  /** In US dollars, of the replies whose price is known. */
  cost: number
  /** Null where no reply says how long it took. */
  latencyMs: { p50: number; p95: number } | null
}

export interface UnansweredQuestion {
  /** As it was asked last. */
  question: string
  count: number
  lastAskedAt: number
  /** Those in which it was asked; the latest of them, where they are many. */
  sessionIds: string[]
}

export interface DocumentInsight extends Ratings {
  documentId: string
  title: string
  cited: number
}
