import { DocumentError } from '../../core/document-error.ts'
import { cleanText } from '../../core/text.ts'
import type { Reading } from './block.ts'
import { type Cut, cutPassages } from './cut.ts'
import { charsetIn, decodePage, decodeText } from './decode.ts'
import { refuseTooMuch } from './indexed-chars.ts'
import { type Kind, kindOf, kinds, mediaTypeOf } from './kind.ts'

export interface ReadInput {
  /** The media type as sent, with its charset if any. It may be empty or wrong. */
  mediaType: string
  filename?: string
  content: Uint8Array
}

export interface ReadDocument {
  /** The detected media type. */
  mediaType: string
  /** The title from front matter, HTML title, properties or first heading, or null without one. */
  title: string | null
  passages: Cut[]
}

const TITLE_CHARS = 300
/** About 8,000 pages of text. A larger file is not a normal document and would need an index of its own. */
const MAX_CHARS = 20_000_000
/**
 * Reads a document into passages. Their texts, in order, are the text of the document. No word is lost or repeated; white space may differ.
 * Loads each reader when it is first used. Throws `DocumentError`.
 */
export async function readDocument({ mediaType, filename, content }: ReadInput): Promise<ReadDocument> {
  const kind = kindOf(content, mediaType, filename)
  const { title, blocks } = await read(kind, content, mediaType)
  // Escapes and archives can contain characters that the decoder does not see and no store accepts.
  const filled = blocks
    .filter(({ kind, text }) => kind === 'end' || text.trim() !== '')
    .map((block) => ({ ...block, text: cleanText(block.text) }))
  if (filled.every(({ kind }) => kind === 'end'))
    throw new DocumentError('blank', BLANK[kind] ?? 'There is no text in the document.')
  if (filled.reduce((sum, block) => sum + block.text.length, 0) > MAX_CHARS)
    throw new DocumentError('too_large', `The document holds more than ${MAX_CHARS / 1e6} million characters. Send it in parts.`)
  const passages = cutPassages(filled)
  const named = title === null ? null : shortened(cleanText(title))
  refuseTooMuch(named ?? '', passages)
  return { mediaType: mediaTypeOf[kind], title: named, passages }
}

const BLANK: Partial<Record<Kind, string>> = {
  pdf: 'There is no text in the PDF: its pages may be pictures, which text recognition (OCR) can turn into text.',
}

async function read(kind: Kind, content: Uint8Array, mediaType: string): Promise<Reading> {
  const text = () => decodeText(content, charsetIn(mediaType))
  switch (kind) {
    case 'text':
      return (await import('./formats/plain.ts')).readPlain(await text())
    case 'markdown':
      return (await import('./formats/markdown.ts')).readMarkdown(await text())
    case 'html':
      return (await import('./formats/html.ts')).readHtml(await decodePage({ content, mediaType }))
    case 'csv':
      return (await import('./formats/csv.ts')).readCsv(await text())
    case 'json':
      return (await import('./formats/json.ts')).readJson(await text())
    case 'pdf':
      return (await import('./formats/pdf.ts')).readPdf(content)
    case 'docx':
      return (await import('./formats/office/docx.ts')).readDocx(content)
    case 'xlsx':
      return (await import('./formats/office/xlsx.ts')).readXlsx(content)
    case 'pptx':
      return (await import('./formats/office/pptx.ts')).readPptx(content)
  }
}

const ready = new Set<Kind>()

/**
 * Loads the reader for this document, so that the load time does not count for the first document. Resolves to true if code was loaded.
 * Throws `DocumentError`.
 */
export async function load({ mediaType, filename, content }: ReadInput): Promise<boolean> {
  const kind = kindOf(content, mediaType, filename)
  if (ready.has(kind)) return false
  await LOAD[kind]()
  ready.add(kind)
  return true
}

/** Loads the readers for all kinds of documents. */
export async function loadAll(): Promise<void> {
  // `load` reports a missing package for the document that needs it.
  const isLoaded = (kind: Kind) =>
    LOAD[kind]().then(
      () => ready.add(kind),
      () => {},
    )
  await Promise.all(kinds.map(isLoaded))
}

const LOAD: Record<Kind, () => Promise<unknown>> = {
  text: () => import('./formats/plain.ts'),
  markdown: () => import('./formats/markdown.ts'),
  html: () => import('./formats/html.ts'),
  csv: () => import('./formats/csv.ts'),
  json: () => import('./formats/json.ts'),
  pdf: async () => (await import('./formats/pdf.ts')).loadPdfJs(),
  docx: () => import('./formats/office/docx.ts'),
  xlsx: () => import('./formats/office/xlsx.ts'),
  pptx: () => import('./formats/office/pptx.ts'),
}

function shortened(title: string): string {
  const line = title.replace(/\s+/gu, ' ').trim()
  return line.length <= TITLE_CHARS
    ? line
    : `${line
        .slice(0, TITLE_CHARS - 1)
        .toWellFormed()
        .replace('\ufffd', '')}…`
}
