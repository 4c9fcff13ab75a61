import type { Knowledge } from '../core/knowledge.ts'
import { type ChatModel, EXTRACTIVE } from '../core/model.ts'
import { phrasesIn } from '../core/phrases.ts'
import { ANSWER_THRESHOLD, type Hit, type Quote } from '../core/retrieval.ts'

const MAX_SPAN_CHARS = 1_000

/** The model that needs no provider: it answers with sentences of the knowledge base, or says that it does not know. */
export function extractiveModel(knowledge: Pick<Knowledge, 'extract'>): ChatModel {
  return {
    async generate({ grounding: { agentId, question, history, retrieval, minScore } }) {
      const { quotes, confidence } = retrieval.extract ?? (await knowledge.extract(agentId, { question, history, retrieval }))
      const answered = quotes.length > 0 && confidence >= (minScore ?? ANSWER_THRESHOLD)
      const reply = { model: EXTRACTIVE, usage: null, finish: 'stop' as const, grounding: { answered, confidence } }
      if (!answered) return { ...reply, text: phrasesIn(retrieval.language ?? 'en').dontKnow }
      return { ...reply, text: quotes.map(toMarkdown).join('\n\n'), quotes: spans(quotes, retrieval.hits) }
    },
  }
}

/** What was quoted of each passage, in one piece where the quotes stand close together. */
function spans(quotes: Quote[], hits: Hit[]): Map<number, string> {
  const found = new Map<number, string>()
  for (const { hit, text } of quotes) {
    const passage = hits[hit]!.text
    const before = found.get(hit + 1) ?? text
    const start = Math.min(passage.indexOf(before), passage.indexOf(text))
    const end = Math.max(passage.indexOf(before) + before.length, passage.indexOf(text) + text.length)
    found.set(hit + 1, end - start <= MAX_SPAN_CHARS ? passage.slice(start, end) : before)
  }
  return found
}

/** Last lines that a mark would become a part of. */
const ENDS_IN_CODE_OR_TABLE = /^\s*(?:`{3}|~{3}|\|)/

/** Escapes numbers in brackets of the document, because they are not our marks. Puts the mark of the quote on its own line after a table or a block of code. */
function toMarkdown({ hit, text }: Quote): string {
  const quoted = text.replace(/(?<!\\)\[(?=\d+(?:, ?\d+)*\])/g, '\\[')
  return `${quoted}${ENDS_IN_CODE_OR_TABLE.test(text.slice(text.lastIndexOf('\n') + 1)) ? '\n\n' : ' '}[${hit + 1}]`
}
