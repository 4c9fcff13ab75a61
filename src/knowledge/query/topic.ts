import type { HistoryEntry } from '../../core/message.ts'
import type { Hit } from '../../core/ports/retrieval.ts'

/** Any document may hold a shorter line. */
const LEAST_CHARS = 20
const MOST_CHARS = 200

/**
 * The document that a conversation is about: the one that its last reply quotes. `ask` finds the passages for an earlier question in the conversation before it.
 * Undefined if the last reply quotes nothing, as is usual for a language model.
 */
export function topicOf(
  history: readonly HistoryEntry[],
  ask: (question: string, before: HistoryEntry[]) => readonly Hit[],
): string | undefined {
  const reply = history.findLastIndex(({ role, content }) => role === 'AI' && content.trim() !== '')
  const question = history.slice(0, Math.max(0, reply)).findLastIndex(({ role }) => role === 'USER')
  if (question < 0) return undefined
  const line = longestLine(history[reply]!.content)
  if (line.length < LEAST_CHARS) return undefined
  return ask(history[question]!.content, history.slice(0, question)).find(({ text }) => text.includes(line))?.documentId
}

function longestLine(reply: string): string {
  const lines = reply.split('\n').map((line) => line.replace(/\s?\[\d{1,6}\]/g, '').trim())
  return lines.reduce((longest, line) => (line.length > longest.length ? line : longest), '').slice(0, MOST_CHARS)
}
