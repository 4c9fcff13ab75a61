import { createHash } from 'node:crypto'
import type { KnowledgeBase } from './base.ts'
import { putContent } from './contents.ts'

/** A document whose content is to be fetched. */
export interface Fetch {
  number: number
  /** Of the request for the content. A newer request is not answered with what was fetched for this one. */
  revision: number
  url: string
  /** Of the copy that was read last. */
  etag: string | null
  lastModified: string | null
}

/** What came from the web. */
export interface FetchedContent {
  /** False: the copy that was read last is still the newest. */
  changed: boolean
  contentType: string | null
  body: Uint8Array
  etag: string | null
  lastModified: string | null
}

/** Returns the next documents to fetch, in the order of their last changes, without those of `except`. */
export function listFetches(base: KnowledgeBase, except: ReadonlySet<number>, most: number): Fetch[] {
  return base
    .all<{
      number: number
      revision: number
      url: string
      etag: string | null
      last_modified: string | null
      content_hash: Uint8Array | null
    }>(
      `SELECT number, revision, url, etag, last_modified, content_hash FROM document WHERE work = 'fetch' ORDER BY updated_at, number LIMIT ?`,
      most + except.size,
    )
    .filter(({ number }) => !except.has(number))
    .slice(0, most)
    .map(({ number, revision, url, content_hash, etag, last_modified }) => ({
      number,
      revision,
      url,
      // Nothing is held that could be still the newest.
      etag: content_hash === null ? null : etag,
      lastModified: content_hash === null ? null : last_modified,
    }))
}

export function startFetches(base: KnowledgeBase, fetches: readonly Fetch[]): void {
  for (const { number } of fetches)
    base.run(`UPDATE document SET status = 'processing' WHERE number = ? AND work = 'fetch'`, number)
}

/** Hands what was fetched on to be read, unless it was read before. In a transaction of the caller. */
export function finishFetch(
  base: KnowledgeBase,
  { number, revision, url }: Fetch,
  content: FetchedContent,
  at: number,
  large?: number,
): void {
  const hash = content.changed ? createHash('sha256').update(content.body).digest() : undefined
  const known = base.get<{ content_hash: Uint8Array | null }>(
    `SELECT content_hash FROM document WHERE number = ? AND work = 'fetch' AND revision = ? AND url = ?`,
    number,
    revision,
    url,
  )
  // Deleted, replaced, fetched by another call, or asked for again.
  if (known === undefined) return
  const isSame = hash === undefined || (known.content_hash !== null && hash.equals(known.content_hash))
  if (isSame) {
    base.run(
      `UPDATE document SET status = 'ready', progress = 1, news = 1, attempts = 0,
         work = CASE WHEN title <> indexed_title AND title_given = 1 AND last >= first THEN 'retitle' END,
         etag = coalesce(?, etag), last_modified = coalesce(?, last_modified) WHERE number = ?`,
      content.etag,
      content.lastModified,
      number,
    )
    return
  }
  base.run(
    `UPDATE document SET work = 'read', attempts = 0, revision = revision + 1, media_type = ?, bytes = ?, content_hash = ?, etag = ?,
       last_modified = ?, updated_at = ? WHERE number = ?`,
    content.contentType ?? '',
    content.body.length,
    hash,
    content.etag,
    content.lastModified,
    at,
    number,
  )
  putContent(base, number, { bytes: content.body, large })
}

/** Passages of an earlier copy go on answering. In a transaction of the caller. */
export function failFetch(
  base: KnowledgeBase,
  { number, revision, url }: Fetch,
  error: { code: string; message: string },
  at: number,
): void {
  base.run(
    `UPDATE document SET status = 'failed', progress = 0, news = 1, work = NULL, error_code = ?, error_message = ?, updated_at = ?
     WHERE number = ? AND work = 'fetch' AND revision = ? AND url = ?`,
    error.code,
    error.message,
    at,
    number,
    revision,
    url,
  )
}
