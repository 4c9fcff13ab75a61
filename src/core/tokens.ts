import type { ModelRequest, ModelUsage } from './ports/model.ts'

const BYTES_OF_TOKEN = 3.5

/**
 * Tokens of a text, estimated: one for 3.5 bytes of UTF-8. That is close for English, and above the count of today's tokenizers for
 * most other scripts and for code, so a budget holds.
 */
export const estimateTokens = (text: string): number => tokensOfBytes(Buffer.byteLength(text))

/** The same, of a text of so many bytes of UTF-8. */
export const tokensOfBytes = (bytes: number): number => Math.ceil(bytes / BYTES_OF_TOKEN)

/** The longest text that so many tokens have room for, in bytes of UTF-8. */
export const bytesOfTokens = (tokens: number): number => Math.floor(tokens * BYTES_OF_TOKEN)

/** The same, of all that is sent. */
export const promptTokens = (messages: { content: string }[]): number =>
  messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)

/** Returns the usage of a call as the provider counted it. What it does not count, or counts as 0, is estimated from the prompt and the reply. */
export const countUsage = (usage: ModelUsage | null, { prompt }: Pick<ModelRequest, 'prompt'>, text: string): ModelUsage => ({
  tokensIn: usage?.tokensIn || promptTokens(prompt),
  tokensOut: usage?.tokensOut || estimateTokens(text),
  tokensCached: usage?.tokensCached ?? 0,
})
