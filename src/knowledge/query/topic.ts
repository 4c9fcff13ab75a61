import type { HistoryEntry } from '../../core/message.ts'
import type { Hit } from '../../core/ports/retrieval.ts'
import type { Work } from '../../store/knowledge/work.ts'

/** A shorter line may be in any document. */
const LEAST_CHARS = 20
const MOST_CHARS = 200

/**
 * Returns the id of the document that the last reply quotes: the topic of the conversation. Undefined if the reply quotes nothing, as is usual for a language
 * model. `ask` returns the passages found for an earlier question in the conversation before it.
 */
export function* topicOf(
  history: readonly HistoryEntry[],
  ask: (question: string, before: HistoryEntry[]) => Work<readonly Hit[]>,
): Work<string | undefined> {
  const reply = history.findLastIndex(({ role, content }) => role === 'AI' && content.trim() !== '')
  const question = history.slice(0, Math.max(0, reply)).findLastIndex(({ role }) => role === 'USER')
  if (question < 0) return undefined
  const line = longestLine(history[reply]!.content)
  if (line.length < LEAST_CHARS) return undefined
  const hits = yield* ask(history[question]!.content, history.slice(0, question))
  return hits.find(({ text }) => text.includes(line))?.documentId
}

function longestLine(reply: string): string {
  const lines = reply.split('\n').map((line) => line.replace(/\s?\[\d{1,6}\]/g, '').trim())
  return lines.reduce((longest, line) => (line.length > longest.length ? line : longest), '').slice(0, MOST_CHARS)
}
