import { createHash } from 'node:crypto'
import type { KnowledgeBase } from './base.ts'
import { putContent } from './contents.ts'

/** A document whose content must be fetched. */
export interface Fetch {
  number: number
  /** Revision of the request. Content fetched for this revision is not used for a newer request. */
  revision: number
  url: string
  /** ETag of the copy that was read last. */
  etag: string | null
  lastModified: string | null
}

/** The result of a fetch. */
export interface FetchedContent {
  /** False if the copy that was read last is still current. */
  changed: boolean
  contentType: string | null
  body: Uint8Array
  etag: string | null
  lastModified: string | null
}

/** Returns the next documents to fetch, least recently changed first, without the numbers in `except`. */
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
      `SELECT number, revision, url, etag, last_modified, content_hash FROM {document} WHERE work = 'fetch' ORDER BY updated_at, number LIMIT ?`,
      most + except.size,
    )
    .filter(({ number }) => !except.has(number))
    .slice(0, most)
    .map(({ number, revision, url, content_hash, etag, last_modified }) => ({
      number,
      revision,
      url,
      // Without a stored copy, the request must not be conditional.
      etag: content_hash === null ? null : etag,
      lastModified: content_hash === null ? null : last_modified,
    }))
}

export function startFetches(base: KnowledgeBase, fetches: readonly Fetch[]): void {
  for (const { number } of fetches)
    base.update('document', { set: `status = 'processing'`, where: `number = ? AND work = 'fetch'` }, number)
}

/** Schedules fetched content to be read, unless it is unchanged. Runs in the caller's transaction. */
export function finishFetch(
  base: KnowledgeBase,
  { number, revision, url }: Fetch,
  content: FetchedContent,
  at: number,
  large?: number,
): void {
  const hash = content.changed ? createHash('sha256').update(content.body).digest() : undefined
  const known = base.get<{ content_hash: Uint8Array | null }>(
    `SELECT content_hash FROM {document} WHERE number = ? AND work = 'fetch' AND revision = ? AND url = ?`,
    number,
    revision,
    url,
  )
  // The document was deleted or replaced, fetched by another call, or requested again.
  if (known === undefined) return
  const isSame = hash === undefined || (known.content_hash !== null && hash.equals(known.content_hash))
  if (isSame) {
    base.update(
      'document',
      {
        set: `status = 'ready', progress = 1, news = 1, attempts = 0,
         work = CASE WHEN title <> indexed_title AND title_given = 1 AND last >= first THEN 'retitle' END,
         etag = coalesce(?, etag), last_modified = coalesce(?, last_modified)`,
        where: 'number = ?',
      },
      content.etag,
      content.lastModified,
      number,
    )
    return
  }
  base.update(
    'document',
    {
      set: `work = 'read', attempts = 0, revision = revision + 1, media_type = ?, bytes = ?, content_hash = ?, etag = ?,
       last_modified = ?, updated_at = ?`,
      where: 'number = ?',
    },
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

/** Marks a fetch as failed. Passages of an earlier copy stay searchable. Runs in the caller's transaction. */
export function failFetch(
  base: KnowledgeBase,
  { number, revision, url }: Fetch,
  error: { code: string; message: string },
  at: number,
): void {
  base.update(
    'document',
    {
      set: `status = 'failed', progress = 0, news = 1, work = NULL, error_code = ?, error_message = ?, updated_at = ?`,
      where: `number = ? AND work = 'fetch' AND revision = ? AND url = ?`,
    },
    error.code,
    error.message,
    at,
    number,
    revision,
    url,
  )
}
