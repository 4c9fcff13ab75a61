/** Limits from the settings; times in milliseconds. docs/configuration.md describes each with its default. */
export interface Limits {
  maxBodyBytes: number
  maxUploadBytes: number
  maxMessageChars: number
  maxContextChars: number
  maxNameChars: number
  maxDelayMs: number
  maxConnections: number
  uploadsAtOnce: number
  heldBytes: number
  maxWaitingSends: number
  maxWaitMs: number
  turnTimeoutMs: number
  /** A session is free again if its turn has not renewed its lease for this time. */
  leaseMs: number
  maxReplyChars: number
  modelTimeoutMs: number
  modelRetries: number
  modelConcurrency: number
  breaker: boolean
  breakerFailures: number
  breakerPauseMs: number
  sideCallTimeoutMs: number
  queryRewriting: boolean
  embeddingTimeoutMs: number
  historyTokens: number
  passageTokens: number
  heartbeatMs: number
  streamStallMs: number
  listReadMs: number
  keepAnswersMs: number
  /** Stores traces even if the sender did not request them. */
  keepTraces: boolean
  auditDays: number
  webhookDays: number
}

/** The most messages of one import. A conversation is stored in one transaction, for which others wait. */
export const MAX_IMPORTED_MESSAGES = 5_000

/** Page size of every paged list (specification 8). */
export const pageLimit = { min: 1, max: 100, default: 50 } as const

/** The maximum of an agent's `maxOutputTokens`. */
export const MAX_OUTPUT_TOKENS = 1_000_000
