import { joinHeadings, SEPARATOR_CHARS } from '../../core/headings.ts'
import { sentences } from '../../text/sentences.ts'
import type { Block } from './block.ts'
import { headingText } from './heading.ts'

/** A passage before it has an id and an index. */
export interface Cut {
  text: string
  /** The headings above it, outermost first; empty without headings. If they are too long, only the innermost ones. */
  heading: string
  /** The page on which the passage begins. */
  page: number | null
}

// In characters. A shorter document without headings stays whole, because its topic is often named only in its first lines.
const WHOLE = 2000
const MAX = 1500
/** A section with less text is joined with the next one, unless it answers a question. */
const SECTION = 150
/** A longer line is not a lead (an introduction that ends in a colon). */
const LEAD = 500
const REPEATED_LEAD = 300
/** Limit for the headings above a passage, if there are several. In ordinary documents, one path of a thousand has half as many characters. */
const MOST_HEADING_CHARS = 400
const QUESTION = /[?？؟]\W{0,3}$/u
const ITEM = /^(?:[-*+•]|\d{1,9}[.)])[ \t]/

interface Piece {
  text: string
  path: string[]
  block: Block
}

/**
 * Cuts a document along its structure into passages of up to about 1,500 characters: one for each section, and more for a longer one. Headings, and a
 * line that ends in a colon, stay with the next text on their page. Lists, tables and code are split only if longer than a passage, and between lines.
 * The lead of a list, the head of a table and the fences of code are then repeated.
 */
export function cutPassages(blocks: Block[]): Cut[] {
  const pieces = placed(blocks)
  const total = pieces.reduce((sum, piece) => sum + piece.text.length + 2, -2)
  const isPaged = pieces.at(-1)?.block.page !== pieces[0]?.block.page
  const hasSections = pieces.some(({ block }, at) => at > 0 && block.kind === 'heading')
  if (total <= WHOLE && !isPaged && !hasSections) return [passage(pieces)]
  const passages: Cut[] = []
  let open: Piece[] = []
  const flush = (kept: number): void => {
    if (kept > 0) passages.push(passage(open.slice(0, kept)))
    open = open.slice(kept)
  }
  for (const piece of pieces) {
    const lead = leadStart(open)
    const size = sizeOf(open)
    // A page starts a passage, so that a citation names the right page. Headings without text stay with the next text.
    const isNewPage = piece.block.page !== open.at(-1)?.block.page && open.some(({ block }) => block.kind !== 'heading')
    if (isNewPage) flush(open.length)
    else if (lead > 0 && isNewSection(piece, open, lead)) flush(lead)
    else if (size + piece.text.length > MAX && (lead > 0 || size > LEAD)) flush(lead > 0 ? lead : open.length)
    open.push(piece)
  }
  flush(open.length)
  return passages
}

const sizeOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, piece) => sum + piece.text.length + 2, 0)

/** Returns true if the piece belongs to another section than the open pieces. `filled`: how many of them come before the lead. */
function isNewSection(piece: Piece, open: readonly Piece[], filled: number): boolean {
  const last = open[filled - 1]!
  const isHeading = piece.block.kind === 'heading'
  // Text without a heading of its own can follow a section that has ended.
  if (!isHeading && (open.length > filled || piece.path.join() === last.path.join())) return false
  const content = open.slice(0, filled).filter(({ block }) => block.kind !== 'heading')
  const isQuestion = [piece.path.at(-1), last.path.at(-1)].some((heading) => heading !== undefined && QUESTION.test(heading))
  return isQuestion || sizeOf(content) >= SECTION
}

/** Returns the index from which the open pieces only introduce the next one: headings, and a line that ends in a colon. */
function leadStart(open: readonly Piece[]): number {
  let at = open.length
  if (isLead(open[at - 1])) at--
  while (at > 0 && open[at - 1]!.block.kind === 'heading') at--
  return at
}

const isLead = (piece: Piece | undefined): boolean =>
  piece?.block.kind === 'prose' && piece.text.length < LEAD && /[:：]\W{0,3}$/u.test(piece.text)

function passage(pieces: Piece[]): Cut {
  const content = pieces.filter((piece) => piece.block.kind !== 'heading')
  const shared = (content.length > 0 ? content : pieces).map((piece) => piece.path).reduce(commonStart)
  return { text: joined(pieces), heading: headingOf(shared), page: (content[0] ?? pieces[0])?.block.page ?? null }
}

/** Joins the innermost headings, up to a limit. Each passage repeats them, and a small document could become a hundred times larger in the index. */
function headingOf(path: readonly string[]): string {
  let from = path.length - 1
  for (let chars = 0; from > 0; from--) {
    chars += path[from]!.length + SEPARATOR_CHARS
    if (chars + path[from - 1]!.length > MOST_HEADING_CHARS) break
  }
  return joinHeadings(...path.slice(Math.max(0, from)))
}

function commonStart(a: string[], b: string[]): string[] {
  const differs = a.findIndex((heading, at) => heading !== b[at])
  return differs < 0 ? a : a.slice(0, differs)
}

/** Joins pieces of one block by a line break, and blocks by a blank line. */
function joined(pieces: Piece[]): string {
  let text = ''
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) text += pieces[at - 1]!.block === piece.block ? '\n' : '\n\n'
    text += piece.text
  }
  return text
}

/** Returns each block with the headings above it. A block that is longer than a passage is split into pieces. */
function placed(blocks: Block[]): Piece[] {
  const pieces: Piece[] = []
  const above: { level: number; text: string }[] = []
  for (const block of blocks) {
    const { kind, level } = block
    if (kind === 'heading' || kind === 'end') while (above.length > 0 && above.at(-1)!.level >= level) above.pop()
    if (kind === 'end') continue
    if (kind === 'heading') above.push({ level, text: headingText(block.text) })
    const path = above.map((heading) => heading.text).filter((text) => text !== '')
    const lead = isLead(pieces.at(-1)) ? pieces.at(-1)!.text : ''
    for (const text of broken(block, lead)) pieces.push({ text, path, block })
  }
  return pieces
}

function broken({ kind, text }: Block, lead: string): string[] {
  if (text.length <= MAX) return [text]
  switch (kind) {
    case 'list':
      return grouped(items(text), '\n', lead.length <= REPEATED_LEAD && lead !== '' ? `${lead}\n\n` : '')
    case 'table': {
      const lines = text.split('\n')
      const hasHead = /^\|(?: --- \|)+$/.test(lines[1] ?? '')
      const head = hasHead ? `${lines[0]}\n${lines[1]}\n` : ''
      return head.length > MAX / 3 ? grouped(lines, '\n') : grouped(lines.slice(hasHead ? 2 : 0), '\n', head, head)
    }
    case 'code': {
      const lines = text.split('\n')
      const fence = /^(`{3,}|~{3,})/.exec(text)?.[1]
      if (fence === undefined || lines[0]!.length > 100 || lines.at(-1) !== fence) return grouped(lines, '\n')
      return grouped(lines.slice(1, -1), '\n').map((piece) => `${lines[0]}\n${piece}\n${fence}`)
    }
    default:
      return grouped(bySentence(text), '')
  }
}

/** Joins parts up to the size of a passage. `first` is put before the first piece, and `again` before each other piece. */
function grouped(parts: string[], glue: string, again = '', first = ''): string[] {
  const pieces: string[] = []
  let open = ''
  const most = MAX - again.length
  for (const part of parts.flatMap((long) => bounded(long, most))) {
    if (open !== '' && open.length + glue.length + part.length > most) {
      pieces.push(open)
      open = part
    } else open = open === '' ? part : open + glue + part
  }
  if (open !== '') pieces.push(open)
  return pieces
    .map((piece) => piece.replace(/^\n+/, '').trimEnd())
    .filter((piece) => piece !== '')
    .map((piece, at) => (at === 0 ? first : again) + piece)
}

/** Returns the items of a list with their content. An item that is longer than a passage is split into lines. */
function items(text: string): string[] {
  const all: string[][] = []
  for (const line of text.split('\n')) {
    if (ITEM.test(line) || all.length === 0) all.push([line])
    else all.at(-1)!.push(line)
  }
  return all.flatMap((lines) => {
    const item = lines.join('\n')
    return item.length <= MAX ? [item] : lines
  })
}

/** Returns the whole text, cut before each sentence. */
function bySentence(text: string): string[] {
  const starts = sentences(text).map((sentence) => sentence.start)
  return starts.map((start, at) => text.slice(at === 0 ? 0 : start, starts[at + 1]))
}

/** Splits a text that is longer than `most`, at spaces if possible, and never within a character. */
function bounded(part: string, most: number): string[] {
  const pieces: string[] = []
  let at = 0
  while (part.length - at > most) {
    const space = part.slice(at, at + most).lastIndexOf(' ')
    let end = at + (space > most / 2 ? space : most)
    if (/[\udc00-\udfff]/.test(part[end]!)) end--
    pieces.push(part.slice(at, end))
    at = end
  }
  pieces.push(part.slice(at))
  return pieces
}
