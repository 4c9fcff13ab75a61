/**
 * Tokens of a text, estimated: one for 3.5 bytes of UTF-8. That is close for English, and above the count of today's tokenizers for
 * most other scripts and for code, so a budget holds.
 */
export const estimateTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 3.5)

/** The same, of all that is sent. */
export const promptTokens = (messages: { content: string }[]): number =>
  messages.reduce((sum, { content }) => sum + estimateTokens(content), 0)
