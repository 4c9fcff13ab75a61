import { DocumentError } from '../../core/document-error.ts'
import type { Cut } from './cut.ts'

/** Includes the title and headings that each passage repeats. Several such documents are in memory while they are indexed. */
const MAX_INDEXED_CHARS = 30_000_000

/** Throws `DocumentError` if the passages are too long, including the title and headings that are indexed with each of them. */
export function refuseTooMuch(title: string, passages: readonly Pick<Cut, 'heading' | 'text'>[]): void {
  const chars = passages.reduce((sum, { heading, text }) => sum + title.length + heading.length + text.length, 0)
  if (chars > MAX_INDEXED_CHARS)
    throw new DocumentError(
      'too_large',
      `With the title and the headings above each passage, the document holds more than ${MAX_INDEXED_CHARS / 1e6} million characters. Send it in parts, or with shorter headings and a shorter title.`,
    )
}
