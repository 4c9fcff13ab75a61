import { sentences, type TextSpan } from '../../text/sentences.ts'

/** The smallest part of a passage that makes sense as a quote. */
export interface Unit extends TextSpan {
  kind: 'sentence' | 'heading' | 'item' | 'code' | 'row'
}

const FENCE = /^\s*(`{3,}|~{3,})/
const HEADING = /^ {0,3}#{1,6}(?:[ \t]|$)/
const UNDERLINE = /^ {0,3}(?:={2,}|-{2,})[ \t]*$/
const ITEM = /^\s{0,12}(?:[-*+•]|\d{1,3}[.)])[ \t]+/
const RULE = /^[\s|:*_=-]*$/
const MARKUP = /[\n`|#]|^\s*(?:[-*+•]|\d{1,3}[.)])[ \t]/
// An item longer than this is prose, and quoted by the sentence.
const ITEM_CHARS = 300

/** Returns the units of a passage in reading order, for Markdown and plain text. Leaves out rules and blank lines. */
export function unitsOf(text: string): Unit[] {
  if (!MARKUP.test(text)) return sentences(text).map((span) => ({ ...span, kind: 'sentence' }))
  const units: Unit[] = []
  const lines = linesOf(text)
  let prose: TextSpan | undefined
  const flush = (): void => {
    if (prose !== undefined) units.push(...sentencesIn(text, prose.start, prose.end))
    prose = undefined
  }
  for (let at = 0; at < lines.length; at++) {
    const { start, end } = lines[at]!
    const line = text.slice(start, end)
    const fence = FENCE.exec(line)?.[1]
    if (fence !== undefined) {
      flush()
      while (
        at + 1 < lines.length &&
        !text
          .slice(lines[at + 1]!.start, lines[at + 1]!.end)
          .trimStart()
          .startsWith(fence)
      )
        at++
      at = Math.min(at + 1, lines.length - 1)
      units.push({ kind: 'code', start, end: lines[at]!.end })
    } else if (HEADING.test(line)) {
      flush()
      units.push({ kind: 'heading', start, end })
    } else if (prose !== undefined && UNDERLINE.test(line)) {
      units.push({ kind: 'heading', start: prose.start, end: prose.end })
      prose = undefined
    } else if (RULE.test(line)) flush()
    else if (ITEM.test(line)) {
      flush()
      while (at + 1 < lines.length && continues(text, lines[at + 1]!)) at++
      units.push(...itemUnits(text, start, lines[at]!.end))
    } else if (isRow(line)) {
      flush()
      units.push({ kind: 'row', start, end })
    } else if (prose === undefined) prose = { start, end }
    else prose.end = end
  }
  flush()
  return units
}

const isRow = (line: string): boolean => /^\s*\|.*\|\s*$/.test(line) || line.includes(' | ')

/** Returns true if an indented line continues the list item above. */
function continues(text: string, { start, end }: TextSpan): boolean {
  const line = text.slice(start, end)
  return /^(?: {2,}|\t)\S/.test(line) && !ITEM.test(line) && !FENCE.test(line)
}

/** Leaves out the list mark, so that a single item can be quoted as a sentence. */
function itemUnits(text: string, start: number, end: number): Unit[] {
  const from = start + ITEM.exec(text.slice(start, end))![0].length
  if (end - from > ITEM_CHARS) return sentencesIn(text, from, end)
  return end > from ? [{ kind: 'item', start: from, end }] : []
}

function sentencesIn(text: string, start: number, end: number): Unit[] {
  return sentences(text.slice(start, end)).map((span) => ({ kind: 'sentence', start: start + span.start, end: start + span.end }))
}

function linesOf(text: string): TextSpan[] {
  const lines: TextSpan[] = []
  for (let start = 0; start <= text.length; ) {
    const next = text.indexOf('\n', start)
    const end = next < 0 ? text.length : next
    lines.push({ start, end: start + text.slice(start, end).trimEnd().length })
    start = end + 1
  }
  return lines
}

/** Returns the start of the unit's line, with the mark of a list item, which the unit itself leaves out. For a sentence, the start of the unit. */
export function lineStart(text: string, unit: Unit): number {
  return unit.kind === 'sentence' ? unit.start : text.lastIndexOf('\n', unit.start - 1) + 1
}

export const isNumbered = (text: string, unit: Unit): boolean =>
  unit.kind === 'item' && /^\s*\d{1,3}[.)]/.test(text.slice(lineStart(text, unit), unit.start))
