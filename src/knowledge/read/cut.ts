import { sentences } from '../../text/sentences.ts'
import type { Block } from './block.ts'
import { headingText } from './markdown.ts'

/** A passage before it has an id and an index. */
export interface Cut {
  text: string
  /** The headings above it, outermost first, joined by ` › `; empty where there are none. */
  heading: string
  /** On which it begins. */
  page: number | null
}

// Characters. A shorter document stays whole: what it is about is said once, often in its first lines.
const WHOLE = 2000
const MAX = 1500
// A heading begins a passage once there is this much before it; shorter sections stand together.
const SECTION = 500
const HEADING_SEPARATOR = ' › '

interface Piece {
  text: string
  path: string[]
  block: Block
}

/**
 * Cuts a document along its structure into passages of up to about 1,500 characters.
 * A heading, and a line that ends in a colon, stay with what follows on their page; lists, tables and code are broken between lines, and only if longer than a passage.
 */
export function cutPassages(blocks: Block[]): Cut[] {
  const pieces = placed(blocks)
  const total = pieces.reduce((sum, piece) => sum + piece.text.length + 2, -2)
  const isPaged = pieces.at(-1)?.block.page !== pieces[0]?.block.page
  if (total <= WHOLE && !isPaged) return [passage(pieces)]
  const passages: Cut[] = []
  let open: Piece[] = []
  let size = 0
  const flush = (kept: number): void => {
    const rest = open.slice(kept)
    if (kept > 0) passages.push(passage(open.slice(0, kept)))
    open = rest
    size = rest.reduce((sum, piece) => sum + piece.text.length + 2, 0)
  }
  for (const piece of pieces) {
    const lead = leadStart(open)
    // A page begins a passage, so that a citation names the right one; headings alone go with what follows.
    const isNewPage = piece.block.page !== open.at(-1)?.block.page && open.some(({ block }) => block.kind !== 'heading')
    if (isNewPage) flush(open.length)
    else if (piece.block.kind === 'heading' && size >= SECTION && lead > 0) flush(lead)
    else if (size + piece.text.length > MAX && open.length > 0) flush(lead > 0 ? lead : open.length)
    open.push(piece)
    size += piece.text.length + 2
  }
  flush(open.length)
  return passages
}

/** From where on the open pieces only lead up to the next one: headings, and a line that ends in a colon. */
function leadStart(open: Piece[]): number {
  let at = open.length
  const last = open[at - 1]
  if (last?.block.kind === 'prose' && last.text.length < SECTION && /[:：]$/u.test(last.text)) at--
  while (at > 0 && open[at - 1]!.block.kind === 'heading') at--
  return at
}

function passage(pieces: Piece[]): Cut {
  const content = pieces.filter((piece) => piece.block.kind !== 'heading')
  const shared = (content.length > 0 ? content : pieces).map((piece) => piece.path).reduce(commonStart)
  return { text: joined(pieces), heading: shared.join(HEADING_SEPARATOR), page: (content[0] ?? pieces[0])?.block.page ?? null }
}

function commonStart(a: string[], b: string[]): string[] {
  const differs = a.findIndex((heading, at) => heading !== b[at])
  return differs < 0 ? a : a.slice(0, differs)
}

/** Pieces of one block follow on the next line, blocks after a blank one. */
function joined(pieces: Piece[]): string {
  let text = ''
  for (const [at, piece] of pieces.entries()) {
    if (at > 0) text += pieces[at - 1]!.block === piece.block ? '\n' : '\n\n'
    text += piece.text
  }
  return text
}

/** Each block with the headings above it; one that is longer than a passage in pieces. */
function placed(blocks: Block[]): Piece[] {
  const pieces: Piece[] = []
  const above: { level: number; text: string }[] = []
  for (const block of blocks) {
    if (block.kind === 'heading') {
      while (above.length > 0 && above.at(-1)!.level >= block.level) above.pop()
      above.push({ level: block.level, text: headingText(block.text) })
    }
    const path = above.map((heading) => heading.text).filter((text) => text !== '')
    for (const text of broken(block)) pieces.push({ text, path, block })
  }
  return pieces
}

function broken(block: Block): string[] {
  if (block.text.length <= MAX) return [block.text]
  const parts = block.kind === 'prose' || block.kind === 'heading' ? bySentence(block.text) : block.text.split('\n')
  const pieces: string[] = []
  let open = ''
  for (const part of parts.flatMap(bounded)) {
    const glue = block.kind === 'prose' || block.kind === 'heading' ? '' : '\n'
    if (open !== '' && open.length + glue.length + part.length > MAX) {
      pieces.push(open)
      open = part
    } else open = open === '' ? part : open + glue + part
  }
  if (open !== '') pieces.push(open)
  return pieces.map((piece) => piece.replace(/^\n+/, '').trimEnd()).filter((piece) => piece !== '')
}

/** The whole text, cut before each sentence. */
function bySentence(text: string): string[] {
  const starts = sentences(text).map((sentence) => sentence.start)
  return starts.map((start, at) => text.slice(at === 0 ? 0 : start, starts[at + 1]))
}

/** A stretch longer than a passage, cut at spaces where there are any, and never within a character. */
function bounded(part: string): string[] {
  const pieces: string[] = []
  let at = 0
  while (part.length - at > MAX) {
    const space = part.slice(at, at + MAX).lastIndexOf(' ')
    let end = at + (space > MAX / 2 ? space : MAX)
    if (/[\udc00-\udfff]/.test(part[end]!)) end--
    pieces.push(part.slice(at, end))
    at = end
  }
  pieces.push(part.slice(at))
  return pieces
}
