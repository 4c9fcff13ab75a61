import type { Span } from '../../text/sentences.ts'
import type { AnswerType } from './answer-types.ts'
import { isNumbered, lineStart, type Unit } from './units.ts'

// Characters. What is quoted along with a unit stays below this: more is for the reader to open.
const MOST = 900
/** A paragraph up to this is quoted whole, from a longer one what follows the sentence. */
const PARAGRAPH = 400
/** A list up to this is quoted whole, although the answer is one of its items. */
const LIST = 400
/** Beginnings of sentences that refer to the sentence before. English, German, French, Spanish. */
const DANGLING =
  /^(?:this|these|that|those|then|however|therefore|in this case|in that case|otherwise|it|they|also|dies|diese[rs]?|dann|jedoch|daher|dadurch|dabei|sie|es|ce|cela|ceci|cette|ces|ils?|elles?|alors|esto|estos?|estas?|entonces|sin embargo)(?!\p{L})/iu

/**
 * The stretch to quote so that a unit makes sense. Of a passage with several blocks, the paragraph of a sentence, and its list of an item; a line that
 * ends in a colon with the list, table or code after it; code with the sentence before it; a row with its table, unless it names its columns itself; for a
 * question how to do something, a step with its steps, and the code that follows. In running text a sentence stays as it is.
 */
export function quotable(text: string, units: readonly Unit[], at: number, type: AnswerType | undefined): Span {
  const unit = units[at]!
  let [first, last] = [at, at]
  const size = (from: number, to: number): number => units[to]!.end - lineStart(text, units[from]!)
  const isIn = (other: Unit | undefined, ...kinds: Unit['kind'][]): boolean => other !== undefined && kinds.includes(other.kind)
  const grow = (most: number, ...kinds: Unit['kind'][]): void => {
    while (isIn(units[first - 1], ...kinds) && size(first - 1, last) <= most) first--
    while (isIn(units[last + 1], ...kinds) && size(first, last + 1) <= most) last++
  }
  switch (unit.kind) {
    case 'row':
      if (!namesItsColumns(text.slice(lineStart(text, unit), unit.end))) grow(MOST, 'row')
      break
    case 'item': {
      if (type === 'how' && isNumbered(text, unit)) grow(MOST, 'item', 'code')
      else if (isBlock(text)) {
        grow(LIST, 'item')
        // A part of a list says no more than its item.
        if (isIn(units[first - 1], 'item') || isIn(units[last + 1], 'item')) [first, last] = [at, at]
      }
      break
    }
    case 'sentence':
      if (isBlock(text)) {
        const isOfParagraph = (a: number, b: number): boolean =>
          isIn(units[a], 'sentence') && isIn(units[b], 'sentence') && !text.slice(units[a]!.end, units[b]!.start).includes('\n')
        let [from, to] = [at, at]
        while (isOfParagraph(from - 1, from)) from--
        while (isOfParagraph(to, to + 1)) to++
        if (size(from, to) <= PARAGRAPH) [first, last] = [from, to]
        else {
          while (last < to && size(first, last + 1) <= PARAGRAPH) last++
          if (first > from && DANGLING.test(text.slice(unit.start, unit.end))) first--
        }
      }
      if (leads(text, units[last]!)) {
        const kind = units[last + 1]?.kind
        if (kind === 'item' || kind === 'code' || kind === 'row') {
          last++
          while (isIn(units[last + 1], kind, ...(kind === 'item' ? ['code' as const] : [])) && size(first, last + 1) <= MOST)
            last++
        }
      } else if (type === 'how' && isIn(units[last + 1], 'code') && size(first, last + 1) <= MOST) last++
      break
    case 'code':
      if (isIn(units[first - 1], 'sentence')) first--
  }
  if (unit.kind !== 'sentence' && unit.kind !== 'code' && last > first && first > 0 && leads(text, units[first - 1]!)) first--
  return { start: last > first || unit.kind === 'row' ? lineStart(text, units[first]!) : unit.start, end: units[last]!.end }
}

/** The passage has several blocks: it is no running text. */
export const isBlock = (text: string): boolean => text.includes('\n\n')
const namesItsColumns = (row: string): boolean => row.split(' | ').every((cell) => /^[^:|]+: /.test(cell))
const leads = (text: string, unit: Unit): boolean =>
  unit.kind !== 'code' && /[:：]\W{0,3}$/u.test(text.slice(Math.max(unit.start, unit.end - 5), unit.end))
