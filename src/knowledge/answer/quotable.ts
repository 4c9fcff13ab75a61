import { innermost, joinHeadings, splitHeadings } from '../../core/headings.ts'
import type { Hit } from '../../core/ports/retrieval.ts'
import type { TextSpan } from '../../text/sentences.ts'
import { dangles } from './abrupt.ts'
import type { AnswerType } from './answer-types.ts'
import { isNumbered, lineStart, type Unit } from './units.ts'

// All sizes are characters, as `widthOf` counts them. A unit and the text quoted with it stay below this: the reader can open the rest.
const MOST = 900
/** A paragraph up to this size is quoted whole. A longer one is quoted from the sentence on. */
const PARAGRAPH = 400
/** A list up to this size is quoted whole, although the answer is one of its items. */
const LIST = 400
/**
 * Returns the part to quote so that a unit makes sense. In a passage with several blocks, that is a short section from the unit at `earliest` to its end, or
 * the unit's block with the next blocks that fit. A block is a paragraph, a list, a table or code, with the line that introduces it. For a question how to
 * do something, steps are quoted alone. In running text, a sentence is quoted alone.
 */
export function quotable(
  text: string,
  units: readonly Unit[],
  at: number,
  type: AnswerType | undefined,
  earliest: number,
): TextSpan {
  const unit = units[at]!
  const isSteps = type === 'how' && isNumbered(text, unit)
  let [first, last] = [at, at]
  const width = widthOf(text)
  const size = (from: number, to: number): number => width * (units[to]!.end - lineStart(text, units[from]!))
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
      if (isSteps) grow(MOST, 'item', 'code')
      else if (isBlock(text)) {
        grow(LIST, 'item')
        // A part of a list says no more than its item, so only whole lists are quoted.
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
          if (first > from && dangles(text.slice(unit.start, unit.end))) first--
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
  if (isBlock(text) && !isSteps) [first, last] = withSection(text, units, [first, last], size, earliest)
  if (unit.kind !== 'sentence' && unit.kind !== 'code' && last > first && first > 0 && leads(text, units[first - 1]!)) first--
  // The text that this line introduces was a picture, or is too long.
  while (last > Math.max(first, at) && leads(text, units[last]!)) last--
  return { start: last > first || unit.kind === 'row' ? lineStart(text, units[first]!) : unit.start, end: units[last]!.end }
}

/** A section up to this size is quoted to its end. From a longer one, the blocks after the answer are quoted. */
const SECTION = 800
/** Text up to this size before the answer is quoted, too. */
const SHORT_OPENING = 40

type Range = [first: number, last: number]

/** Returns the range with the rest of its section, from the unit at `earliest` on, as far as whole blocks fit. */
function withSection(
  text: string,
  units: readonly Unit[],
  [first, last]: Range,
  size: (from: number, to: number) => number,
  earliest: number,
): Range {
  let from = first
  let to = last
  while (from > 0 && units[from - 1]!.kind !== 'heading') from--
  while (to + 1 < units.length && units[to + 1]!.kind !== 'heading') to++
  if (size(from, to) <= SECTION) return [startIn(text, units, Math.max(from, earliest), from), to]
  // An item of a long list is quoted alone.
  if (units[last]!.kind === 'item' && units[last + 1]?.kind === 'item') return [first, last]
  while (last < to) {
    const end = endOfBlock(text, units, last + 1, to)
    if (size(first, end) > SECTION) break
    last = end
  }
  return [first, last]
}

/** Returns the first unit of a quote that contains the unit at `at`, in a section that begins at `from`. */
function startIn(text: string, units: readonly Unit[], at: number, from: number): number {
  let start = at
  // A list, a table and code make sense with the line that introduces them.
  while (start > from && units[start]!.kind !== 'sentence') start--
  while (start > from && units[start - 1]!.kind === 'sentence' && dangles(text.slice(units[start]!.start, units[start]!.end)))
    start--
  return widthOf(text) * (units[start]!.start - units[from]!.start) <= SHORT_OPENING ? from : start
}

/** Returns the last unit of the block that begins at `at`: a paragraph, list, table or code. A line that introduces a block is part of it. */
function endOfBlock(text: string, units: readonly Unit[], at: number, most: number): number {
  const { kind } = units[at]!
  let end = at
  if (kind === 'code') return end
  while (
    end < most &&
    units[end + 1]!.kind === kind &&
    (kind !== 'sentence' || !text.slice(units[end]!.end, units[end + 1]!.start).includes('\n'))
  )
    end++
  return end < most && leads(text, units[end]!) ? endOfBlock(text, units, end + 1, most) : end
}

const WIDE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/gu
/** The part of a text that is checked. */
const SAMPLE_CHARS = 200

/** Returns the weight of a character of the text: a character of Chinese, Japanese or Korean says as much as 2.5 letters of an alphabet. */
export function widthOf(text: string): number {
  const sample = text.slice(0, SAMPLE_CHARS)
  return 1 + (1.5 * (sample.match(WIDE)?.length ?? 0)) / Math.max(1, sample.length)
}

/** True if the passage has several blocks, so it is not running text. */
export const isBlock = (text: string): boolean => text.includes('\n\n')
const namesItsColumns = (row: string): boolean => row.split(' | ').every((cell) => /^[^:|]+: /.test(cell))
const leads = (text: string, unit: Unit): boolean =>
  unit.kind !== 'code' &&
  unit.kind !== 'heading' &&
  /[:：]\W{0,3}$/u.test(text.slice(Math.max(unit.start, unit.end - 5), unit.end))

const MOST_NAME_CHARS = 100
/** The separator between the name of a page and the name of its site. */
const SITE = /^\s?[-–—|·:]\s/u

type Place = Pick<Hit, 'title' | 'heading' | 'text'>

/** Returns the heading above a position in the text of a passage, as plain text; empty if there is none. */
export function headingAbove({ heading, text }: Place, start: number): string {
  const above = text
    .slice(0, start)
    .match(/^ {0,3}#{1,6}[ \t].*$/gm)
    ?.at(-1)
  return plain(above ?? innermost(heading))
}

/** Returns the title of a passage and the heading above a position in its text, as plain text. */
export function sectionOf(passage: Place, start: number): string {
  const { title, heading } = passage
  const own = headingAbove(passage, start)
  const top = splitHeadings(heading)[0]!
  // "Lamps - Manual" on a page with the heading "Lamps": the rest is the name of the site.
  const isOfSite = top !== '' && title.startsWith(top) && SITE.test(title.slice(top.length))
  const whole = plain(isOfSite ? top : title)
  const name = own === whole ? whole : joinHeadings(whole, own)
  return name.length <= MOST_NAME_CHARS ? name : own || whole
}

/** Returns a title or heading without its markup. */
const plain = (text: string): string =>
  text
    .trim()
    .replace(/^#{1,6}|#{1,6}$/g, '')
    .replace(/!?\[([^[\]]*)\]\([^()]*\)/g, '$1')
    .replace(/[*`~<>[\]\\]/g, '')
    .replace(/[›\s]+/g, ' ')
    .trim()
