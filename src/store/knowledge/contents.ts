import type { KnowledgeBase } from './base.ts'
import type { Insertion } from './statements.ts'

const CONTENT: Insertion = { into: 'content', columns: ['document', 'content'] }
const LARGE_CONTENT: Insertion = { into: 'large_content', columns: ['since'] }
const PIECE: Insertion = { into: 'content_piece', columns: ['content', 'number', 'bytes'] }

/** Larger contents are written in pieces of this size, one transaction each, because other writes wait for every transaction. */
export const PIECE_BYTES = 1_000_000
const PIECES_A_DELETION = 4

/** The content of a document that waits to be read. */
export interface Content {
  bytes: Uint8Array
  /** Its number, if it was written in pieces. */
  large: number | undefined
}

/** Stores the content of a document and drops the one before. Runs in a transaction of the caller. */
export function putContent(base: KnowledgeBase, document: number, { bytes, large }: Content): void {
  dropContent(base, document)
  const take = { set: 'document = ?, since = NULL', where: 'number = ?', returning: 'number' }
  // Another process may have deleted its pieces as orphaned.
  if (large !== undefined && base.updateOne('large_content', take, document, large) !== undefined) return
  base.insert(CONTENT, document, bytes)
}

/** Returns the content of a document; empty if it has none. */
export function contentOf(base: KnowledgeBase, document: number): Uint8Array {
  const small = base.get<{ content: Uint8Array }>('SELECT content FROM {content} WHERE document = ?', document)
  if (small !== undefined) return small.content
  const large = base.get<{ number: number }>('SELECT number FROM {large_content} WHERE document = ?', document)
  if (large === undefined) return new Uint8Array(0)
  const pieces = base.all<{ bytes: Uint8Array }>(
    'SELECT bytes FROM {content_piece} WHERE content = ? ORDER BY number',
    large.number,
  )
  return Buffer.concat(pieces.map(({ bytes }) => bytes))
}

/** Drops the content of a document; `deletePieces` deletes the pieces later. Runs in a transaction of the caller. */
export function dropContent(base: KnowledgeBase, document: number): void {
  base.delete('content', 'document = ?', document)
  base.update('large_content', { set: 'document = NULL', where: 'document = ?' }, document)
}

/** Writes piece `number` (from 0) of a large content, and returns the number of the content. Runs in a transaction of the caller. */
export function putPiece(base: KnowledgeBase, large: number | undefined, number: number, bytes: Uint8Array, at: number): number {
  const content = large ?? base.insert(LARGE_CONTENT, at)
  base.insert(PIECE, content, number, bytes)
  return content
}

/** Ends the writing of a large content. `deletePieces` deletes it if it belongs to no document. Runs in a transaction of the caller. */
export function endContent(base: KnowledgeBase, large: number): void {
  base.update('large_content', { set: 'since = NULL', where: 'number = ?' }, large)
}

/**
 * Deletes some pieces of large contents that belong to no document, in one transaction. Contents that are still being written are orphaned if they
 * were begun before `since`. Returns false when nothing is left.
 */
export function deletePieces(base: KnowledgeBase, since: number): boolean {
  const sql = 'SELECT number FROM {large_content} WHERE document IS NULL AND (since IS NULL OR since < ?) ORDER BY number LIMIT 1'
  const large = base.get<{ number: number }>(sql, since)?.number
  if (large === undefined) return false
  base.write(
    () => {
      const pieces = base.all<{ number: number }>(
        'SELECT number FROM {content_piece} WHERE content = ? ORDER BY number LIMIT ?',
        large,
        PIECES_A_DELETION,
      )
      const last = pieces.at(-1)
      if (last === undefined) base.delete('large_content', 'number = ?', large)
      else base.delete('content_piece', 'content = ? AND number <= ?', large, last.number)
    },
    { durable: false },
  )
  return true
}
