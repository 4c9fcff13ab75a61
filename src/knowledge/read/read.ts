import { invalid, ReparteeError } from '../../core/errors.ts'
import type { Block, Reading } from './block.ts'
import { type Cut, cutPassages } from './cut.ts'
import { decodeText } from './decode.ts'
import { readHtml } from './html.ts'
import { readMarkdown } from './markdown.ts'

export interface ReadDocument {
  /** What the document calls itself (front matter, HTML title, first heading); null where it does not say. */
  title: string | null
  passages: Cut[]
}

const MARKDOWN_NAME = /\.(?:md|markdown|mdx)$/i
const TITLE_CHARS = 300

/**
 * Reads a document into passages, whose texts in order are the document as read: no word lost, none doubled, white space aside.
 * Throws `invalid_request` for what is no text or blank, `unsupported_media_type` for a type that nothing here reads.
 */
export function readDocument(mediaType: string, content: Uint8Array, hints: { filename?: string }): ReadDocument {
  const read = readerOf(mediaType, hints.filename)
  if (read === undefined) {
    throw new ReparteeError(
      'unsupported_media_type',
      `documents of type ${mediaType} cannot be read: send text, Markdown or HTML`,
    )
  }
  const { title, blocks } = read(decodeText(content, read === readHtml))
  if (blocks.length === 0) throw invalid('content', 'is blank: there is no text in it')
  return { title: title === null ? null : shortened(title), passages: cutPassages(blocks) }
}

function readerOf(mediaType: string, filename: string | undefined): ((text: string) => Reading) | undefined {
  switch (mediaType.split(';')[0]!.trim().toLowerCase()) {
    case 'text/html':
    case 'application/xhtml+xml':
      return readHtml
    case 'text/markdown':
      return readMarkdown
    case 'text/plain':
      return filename !== undefined && MARKDOWN_NAME.test(filename) ? readMarkdown : readPlain
    default:
      return undefined
  }
}

/** Paragraphs, by blank lines. */
function readPlain(text: string): Reading {
  const blocks: Block[] = []
  for (const part of text.split(/\n(?:[^\S\n]*\n)+/)) {
    const paragraph = part.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()
    if (paragraph !== '') blocks.push({ kind: 'prose', text: paragraph, level: 0 })
  }
  return { title: null, blocks }
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
