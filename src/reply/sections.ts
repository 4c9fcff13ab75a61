import { findMarks, type Mark, withoutMarks } from './statements.ts'

/** A section ends at the first blank line after this many characters that is not in a code block, */
const SECTION_CHARS = 1_000
/** or, without one, at the last line or word before this. */
const MAX_SECTION_CHARS = 4_000
/** A statement is judged by up to 1,000 characters before its mark, which may be in the section before. */
const CONTEXT_CHARS = 1_000

/** A part of a reply whose marks are checked together. Its end depends only on the text before it. */
export interface Section {
  /** The position in the reply at which the next section begins. */
  end: number
  inCode: boolean
  /** The end of the text before the section, without marks, and the section itself. */
  text: string
  /** The position in `text` at which the section begins. */
  start: number
  marks: Mark[]
}

/** The state before the first section of a reply. */
export const BEGINNING: Section = { end: 0, inCode: false, text: '', start: 0, marks: [] }

/** Returns the section after another. Undefined while it is not complete. */
export function sectionAfter(text: string, before: Section): Section | undefined {
  const { end: start, inCode } = before
  const end = endOfSection(text, start, inCode)
  return end === undefined ? undefined : toSection(text.slice(start, end), before)
}

/** Returns the text after the last complete section. */
export const openSection = (text: string, before: Section): Section => toSection(text.slice(before.end), before)

function toSection(text: string, before: Section): Section {
  const context = contextAfter(before)
  const { marks, inCode } = findMarks(text, before.inCode)
  const moved = marks.map((mark) => ({ ...mark, start: mark.start + context.length, end: mark.end + context.length }))
  return { end: before.end + text.length, inCode, text: context + text, start: context.length, marks: moved }
}

function contextAfter({ text, marks }: Section): string {
  const bare = withoutMarks(text, marks)
  if (bare.length <= CONTEXT_CHARS) return bare
  const line = bare.indexOf('\n', bare.length - 2 * CONTEXT_CHARS)
  const start = bare.length - CONTEXT_CHARS
  return bare.slice(line === -1 ? start : Math.min(line + 1, start))
}

function endOfSection(text: string, start: number, inCode: boolean): number | undefined {
  const most = start + MAX_SECTION_CHARS
  const breaks = /```|\n\n/g
  breaks.lastIndex = start
  for (let found = breaks.exec(text); found !== null && found.index < most; found = breaks.exec(text)) {
    if (found[0] === '```') inCode = !inCode
    else if (!inCode && found.index - start >= SECTION_CHARS) return found.index + 2
  }
  // A blank line or a code fence could still begin at the last character.
  if (text.length < most + 2) return undefined
  for (const gap of ['\n', ' ']) {
    const at = text.lastIndexOf(gap, most - 1)
    if (at >= start + SECTION_CHARS) return at + 1
  }
  return most
}
