import type { Block } from '../block.ts'

/** A line of text on a page. Lengths are in points, `y` from the bottom. */
export interface Line {
  text: string
  /** Font size of most of its characters. */
  size: number
  left: number
  right: number
  y: number
}

/** A line this much larger than the text is a heading, if it is not longer than `HEADING_CHARS`. */
const HEADING_SCALE = 1.15
const HEADING_CHARS = 200
const HEADING_LEVELS = 4
/** Distance between two lines, in font sizes, that starts a paragraph. */
const PARAGRAPH_STEP = 1.75
/** A line that ends before this share of the widest has an intended line break: a list, a table or an address. */
const FULL_LINE = 0.85
/** Share of pages with the same line at an edge, from which it is a running header or footer. */
const FURNITURE_SHARE = 0.6
const FURNITURE_PAGES = 4
/** Lines at each end of a page that may be headers or footers. */
const EDGE_LINES = 2
const BULLET = /^(?:[•◦▪‣·●○■–]|[-*]\s|\(?(?:\d{1,3}|[a-z])[.)]\s)/u

/** Detects paragraphs, lists and headings, which a PDF does not mark. */
export function toBlocks(pages: readonly (readonly Line[])[]): Block[] {
  const kept = withoutFurniture(pages)
  const textSize = commonSize(kept)
  const levelOf = headingLevels(kept, textSize)
  const blocks: Block[] = []
  for (const [at, lines] of kept.entries()) {
    let open: { lines: Line[]; level: number } | undefined
    const end = () => {
      if (open !== undefined) blocks.push({ ...toBlock(open.lines, open.level), page: at + 1 })
      open = undefined
    }
    for (const line of lines) {
      const level = levelOf(line)
      const last = open?.lines.at(-1)
      if (last !== undefined && (open!.level !== level || beginsAnew(last, line))) end()
      open ??= { lines: [], level }
      open.lines.push(line)
    }
    end()
  }
  return joinAcrossPages(blocks)
}

function beginsAnew(last: Line, line: Line): boolean {
  const step = last.y - line.y
  const size = Math.max(last.size, line.size, 1)
  // A step up the page is another column, and a large step down another paragraph.
  return step < -size || step > size * PARAGRAPH_STEP
}

function toBlock(lines: readonly Line[], level: number): Block {
  const widest = lines.reduce((most, line) => Math.max(most, line.right), 0)
  if (level > 0) return { kind: 'heading', level, text: `${'#'.repeat(level)} ${lines.map((line) => line.text).join(' ')}` }
  let text = ''
  for (const [i, { text: words, right }] of lines.entries()) {
    const next = lines[i + 1]
    text += words
    if (next === undefined) break
    const goesOn = right >= widest * FULL_LINE && !BULLET.test(next.text)
    if (!goesOn) text += '\n'
    else if (/\p{L}-$/u.test(text) && /^\p{Ll}/u.test(next.text)) text = text.slice(0, -1)
    // Lines of scripts without spaces are joined without a space.
    else if (
      !(
        /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。]$/u.test(text) &&
        /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(next.text)
      )
    )
      text += ' '
  }
  const isList = lines.length > 1 && lines.filter((line) => BULLET.test(line.text)).length >= 2
  return { kind: isList ? 'list' : 'prose', level: 0, text }
}

/** Joins a paragraph that continues on the next page. */
function joinAcrossPages(blocks: readonly Block[]): Block[] {
  const joined: Block[] = []
  for (const block of blocks) {
    const last = joined.at(-1)
    const runsOn =
      last?.kind === 'prose' &&
      block.kind === 'prose' &&
      last.page !== block.page &&
      /[\p{L}\p{N},;-]$/u.test(last.text) &&
      /^\p{Ll}/u.test(block.text)
    if (!runsOn) joined.push({ ...block })
    else if (/\p{L}-$/u.test(last.text)) last.text = last.text.slice(0, -1) + block.text
    else last.text += ` ${block.text}`
  }
  return joined
}

/** Removes running headers, footers and page numbers: lines that are the same on most pages, except for numbers. */
function withoutFurniture(pages: readonly (readonly Line[])[]): readonly (readonly Line[])[] {
  const filled = pages.filter((lines) => lines.length > 0)
  if (filled.length < FURNITURE_PAGES) return pages
  const alike = (line: Line): string => `${line.text.replace(/\d+|\b[ivxlc]+\b/giu, '#')}@${Math.round(line.y / 3)}`
  const counts = new Map<string, number>()
  const edges = (lines: readonly Line[]): Line[] => [...new Set([...lines.slice(0, EDGE_LINES), ...lines.slice(-EDGE_LINES)])]
  for (const lines of filled) for (const key of new Set(edges(lines).map(alike))) counts.set(key, (counts.get(key) ?? 0) + 1)
  const least = filled.length * FURNITURE_SHARE
  const kept = pages.map((lines) => {
    const edge = new Set(edges(lines))
    return lines.filter((line) => !edge.has(line) || counts.get(alike(line))! < least)
  })
  return kept.some((lines) => lines.length > 0) ? kept : pages
}

function commonSize(pages: readonly (readonly Line[])[]): number {
  const chars = new Map<number, number>()
  for (const line of pages.flat()) chars.set(line.size, (chars.get(line.size) ?? 0) + line.text.length)
  return [...chars].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? 0
}

/** Returns a function for the heading level of a line: larger font sizes are higher levels. */
function headingLevels(pages: readonly (readonly Line[])[], textSize: number): (line: Line) => number {
  const isHeading = ({ size, text }: Line) =>
    size >= textSize * HEADING_SCALE && text.length <= HEADING_CHARS && /\p{L}{2}/u.test(text) && textSize > 0
  const largest = [
    ...new Set(
      pages
        .flat()
        .filter(isHeading)
        .map((line) => line.size),
    ),
  ]
    .toSorted((a, b) => b - a)
    .slice(0, HEADING_LEVELS - 1)
  return (line) => {
    if (!isHeading(line)) return 0
    const at = largest.indexOf(line.size)
    return at === -1 ? HEADING_LEVELS : at + 1
  }
}
