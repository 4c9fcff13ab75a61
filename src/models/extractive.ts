import { phrasesIn } from '../core/phrases.ts'
import type { Knowledge } from '../core/ports/knowledge.ts'
import { type ChatModel, EXTRACTIVE } from '../core/ports/model.ts'
import type { Hit, Quote } from '../core/ports/retrieval.ts'

const MAX_SPAN_CHARS = 1_000

/** The model without a provider: it answers with sentences of the knowledge base, or says that it does not know. */
export function extractiveModel(knowledge: Pick<Knowledge, 'extract'>): ChatModel {
  return {
    async generate({ grounding: { agentId, question, history, retrieval, minScore } }) {
      const extract = retrieval.extract ?? (await knowledge.extract(agentId, { question, history, retrieval }))
      const { quotes, confidence, found } = extract
      const answered = quotes.length > 0 && (minScore === null ? found === 'answer' : confidence >= minScore)
      const reply = { model: EXTRACTIVE, usage: null, finish: 'stop' as const, grounding: { answered, confidence } }
      const phrases = phrasesIn(retrieval.language ?? 'en')
      // A minimum confidence means that there are no guesses below it.
      const isClosest = found === 'closest' && minScore === null
      if (quotes.length === 0 || !(answered || isClosest)) return { ...reply, text: phrases.dontKnow }
      const shown = answered ? quotes : quotes.slice(0, 1)
      const leadOf = ({ isAbrupt, from }: Quote): string => {
        const lead = !answered ? phrases.closest : isAbrupt ? phrases.from : ''
        return lead.replace('%', () => from)
      }
      const text = shown.map((quote) => toMarkdown(quote, leadOf(quote))).join('\n\n')
      return { ...reply, text, quotes: spans(shown, retrieval.hits) }
    },
  }
}

/** Returns the quoted text of each passage, as one span if the quotes are close together. */
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

/** Lines that a mark would become part of: a code fence or a table row. */
const CODE_OR_ROW = /^\s*(?:`{3}|~{3}|\|)/

/** Escapes bracketed numbers of the document, because they are not our marks. `lead` is the text before the quote, '' for none. */
function toMarkdown({ hit, text }: Quote, lead: string): string {
  const quoted = text.replace(/(?<!\\)\[(?=\d+(?:, ?\d+)*\])/g, '\\[')
  const mark = `[${hit + 1}]`
  const end = endOfProse(quoted)
  if (end > 0) return `${lead && `${lead}:\n\n`}${quoted.slice(0, end)} ${mark}${quoted.slice(end)}`
  return lead === '' ? `${quoted}\n\n${mark}` : `${lead} ${mark}:\n\n${quoted}`
}

/** Returns the position of the mark: at the end, or before a final table or code block and its introducing colon; 0 if nothing is before that. */
function endOfProse(quoted: string): number {
  const lines = quoted.split('\n')
  let last = lines.length - 1
  if (!CODE_OR_ROW.test(lines[last]!)) return quoted.length
  const isCode = !/^\s*\|/.test(lines[last]!)
  do last--
  while (last >= 0 && (isCode ? !CODE_OR_ROW.test(lines[last]!) : CODE_OR_ROW.test(lines[last]!)))
  if (isCode) last--
  while (last >= 0 && lines[last]!.trim() === '') last--
  if (last < 0 || CODE_OR_ROW.test(lines[last]!) || /^#{1,6} /.test(lines[last]!)) return 0
  return lines
    .slice(0, last + 1)
    .join('\n')
    .replace(/\s{0,3}[:：]$/, '').length
}
