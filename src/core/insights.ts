/** Statistics about an agent's conversations in a time span. */
export interface Insights {
  /** The days with turns, in order. A day is one of UTC. */
  days: InsightDay[]
  ratings: Ratings
  /** Questions that the knowledge base could not answer, grouped by similarity, most frequent first. */
  unanswered: UnansweredQuestion[]
  /** Cited documents, most cited first, then documents that were never cited, newest first. */
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
  /** In US dollars. Includes only replies with a known price. */
  cost: number
  /** Null if no reply has a recorded duration. */
  latencyMs: { p50: number; p95: number } | null
}

export interface UnansweredQuestion {
  /** The most recent wording. */
  question: string
  count: number
  lastAskedAt: number
  /** The sessions in which it was asked; only the latest ones if there are many. */
  sessionIds: string[]
}

export interface DocumentInsight extends Ratings {
  documentId: string
  title: string
  cited: number
}
