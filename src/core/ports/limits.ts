/** What the settings say that operations keep to; times in milliseconds. docs/configuration.md tells each, with its default. */
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
  /** A session whose turn did not say for so long that it still runs is free again. */
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
  /** Also of replies whose sender did not ask for it. */
  keepTraces: boolean
  auditDays: number
  webhookDays: number
}

/** Of one import. A conversation is stored in one transaction, in which others wait. */
export const MAX_IMPORTED_MESSAGES = 5_000

/** Page size of every paged list (specification 8). */
export const pageLimit = { min: 1, max: 100, default: 50 } as const

/** The most that `maxOutputTokens` of an agent may be. */
export const MAX_OUTPUT_TOKENS = 1_000_000
