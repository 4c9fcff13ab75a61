import { sentences, type TextSpan } from '../text/sentences.ts'

/** A run of adjacent citation marks in a reply. */
export interface Mark {
  /** The start of the run, including the space before it. */
  start: number
  end: number
  /** The n of each, in order. */
  numbers: number[]
}

/**
 * Skips code, in which `a[1]` is no citation, and marks that are the text of a link. White space matches only from its beginning, so that a long run takes
 * linear and not quadratic time.
 */
const CODE_OR_MARKS =
  /```[\s\S]*?(?:```|$)|`[^`\n]*`|(?<![ \t])[ \t]*(?<!\\)\[\d{1,3}(?:, ?\d{1,3})*\](?!\()(?:[ \t]*\[\d{1,3}(?:, ?\d{1,3})*\](?!\())*/g

/** Returns the marks of a text in order, and whether it ends in a code block. `inCode`: the text begins in one. */
export function findMarks(text: string, inCode = false): { marks: Mark[]; inCode: boolean } {
  const marks: Mark[] = []
  const fence = inCode ? text.indexOf('```') : 0
  if (fence === -1) return { marks, inCode: true }
  const from = inCode ? fence + 3 : 0
  let endsInCode = false
  CODE_OR_MARKS.lastIndex = from
  for (const { 0: found, index: start } of text.matchAll(CODE_OR_MARKS)) {
    endsInCode = found.startsWith('```') && (found.length < 6 || !found.endsWith('```'))
    if (found.startsWith('`')) continue
    marks.push({ start, end: start + found.length, numbers: (found.match(/\d+/g) ?? []).map(Number) })
  }
  CODE_OR_MARKS.lastIndex = 0
  return { marks, inCode: endsInCode }
}

/** The maximum length of a statement: the text nearest to the mark. */
const MAX_CHARS = 1_000

/**
 * Returns the statements of each mark, nearest first: the words before it in its sentence, the sentence, and the sentence with the previous one.
 * For a mark alone on its line: the block above it. Offsets refer to `text`.
 */
export function statementsOf(text: string, marks: Mark[]): string[][] {
  const bare = withoutMarks(text, marks)
  const spans = sentences(bare)
  let at = 0
  return marks.map((mark, i) => {
    while (at + 1 < spans.length && spans[at + 1]!.start < mark.start) at++
    const span = spans[at]
    if (span === undefined || span.start >= mark.start) return []
    if (standsAlone(text, mark)) return [blockAbove(bare, mark.start)]
    const from = Math.max(span.start, marks[i - 1]?.end ?? 0)
    const whole = { start: span.start, end: Math.max(span.end, mark.start) }
    const before = spans[at - 1]
    return [
      cut(bare, { start: from, end: mark.start }),
      cut(bare, whole),
      ...(before === undefined ? [] : [cut(bare, { start: before.start, end: whole.end })]),
    ]
  })
}

/** Returns the text with spaces in place of marks, because a mark after a full stop must not hide it. */
export function withoutMarks(text: string, marks: Mark[]): string {
  let bare = ''
  let end = 0
  for (const mark of marks) {
    bare += text.slice(end, mark.start) + ' '.repeat(mark.end - mark.start)
    end = mark.end
  }
  return bare + text.slice(end)
}

const cut = (text: string, { start, end }: TextSpan): string => text.slice(Math.max(start, end - MAX_CHARS), end)

const BLANK = /[^\S\n]/

function standsAlone(text: string, { start, end }: Mark): boolean {
  let lineStart = start
  // A search for the last line break would read a line with many marks once per mark.
  while (lineStart > 0 && BLANK.test(text[lineStart - 1]!)) lineStart--
  const isFirst = lineStart === 0 || text[lineStart - 1] === '\n'
  return isFirst && /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 50))
}

/** Returns the text back to the last blank line. */
function blockAbove(text: string, end: number): string {
  const block = text.slice(Math.max(0, end - MAX_CHARS), end).trimEnd()
  return block.slice(block.lastIndexOf('\n\n') + 1)
}
