import type { ModelRequest, ModelUsage } from './ports/model.ts'

const BYTES_OF_TOKEN = 3.5

/**
 * Estimates the tokens of a text: one per 3.5 bytes of UTF-8. This is close for English. For code and most other scripts it is above the count of today's
 * tokenizers, so a budget is not exceeded.
 */
export const estimateTokens = (text: string): number => tokensOfBytes(Buffer.byteLength(text))

/** Estimates the tokens of a text from its size in bytes of UTF-8. */
export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / BYTES_OF_TOKEN)

/** Returns the longest text that fits into a number of tokens, in bytes of UTF-8. */
export const bytesOfTokens = (tokens: number): number => Math.floor(tokens * BYTES_OF_TOKEN)

/** Estimates the tokens of a whole prompt. */
export const promptTokens = (messages: { content: string }[]): number =>
  messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)

/** Returns the usage of a call as counted by the provider. Estimates missing counts, and counts of 0, from the prompt and the reply. */
export const countUsage = (usage: ModelUsage | null, { prompt }: Pick<ModelRequest, 'prompt'>, text: string): ModelUsage => ({
  tokensIn: usage?.tokensIn || promptTokens(prompt),
  tokensOut: usage?.tokensOut || estimateTokens(text),
  tokensCached: usage?.tokensCached ?? 0,
})
