/** Every limit is a setting; these are the defaults (see docs/configuration.md). */
export interface Limits {
  maxBodyBytes: number
  maxUploadBytes: number
  maxMessageChars: number
  maxContextChars: number
  maxNameChars: number
  maxWaitingSends: number
  maxWaitMs: number
  turnTimeoutMs: number
}

/** Page size of every paged list (specification 8). */
export const pageLimit = { min: 1, max: 100, default: 50 } as const
