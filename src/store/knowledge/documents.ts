import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type {
  Document,
  DocumentSource,
  DocumentStatus,
  ListedDocument,
  Metadata,
  NewDocument,
  Passage,
} from '../../core/document.ts'
import { invalid } from '../../core/errors.ts'
import type { Page, PageInput } from '../../core/page.ts'
import type { KnowledgeBase } from './base.ts'
import { dropContent, putContent } from './contents.ts'
import { raiseVersion } from './index/index.ts'
import { passageIdOf, positionOf } from './passages.ts'
import type { SqlRow } from './rows.ts'
import type { Insertion } from './statements.ts'
import { all, drive, get, type Work } from './work.ts'

/** A row of `document`. */
export interface DocumentRow {
  number: number
  id: string
  title: string
  title_given: number
  source: string
  media_type: string
  bytes: number
  metadata: string
  status: DocumentStatus
  progress: number
  error_code: string | null
  error_message: string | null
  created_at: number
  updated_at: number
  work: DocumentWork | null
  attempts: number
  revision: number
  first: number
  last: number
  indexed_title: string
  generation: number
  url: string | null
  site: number | null
  site_id: string | null
  etag: string | null
  last_modified: string | null
}

/** Pending work of a document: fetch its content, read it, index its passages under a new title, or rebuild its passages by newer rules. */
export type DocumentWork = 'fetch' | 'read' | 'retitle' | 'reread'

export const COLUMNS = `number, id, title, title_given, source, media_type, bytes, metadata, status, progress, error_code, error_message,
  created_at, updated_at, work, attempts, revision, first, last, indexed_title, generation, url, site,
  (SELECT s.id FROM {site s} WHERE s.number = site) AS site_id, etag, last_modified`

/** Set it in every UPDATE that changes metadata or passages, in a transaction that raises the version. */
export const IS_CHANGED = 'changed = (SELECT version + 1 FROM {manifest})'

const DOCUMENT: Insertion = {
  into: 'document',
  columns: [
    ...['title', 'title_given', 'source', 'media_type', 'bytes', 'hash', 'metadata', 'updated_at', 'work', 'url', 'content_hash'],
    ...['id', 'created_at', 'status', 'progress'],
  ],
}

function toDocument(row: DocumentRow): Document {
  const { metadataJson, ...document } = toListed(row)
  return { ...document, metadata: JSON.parse(metadataJson) as Metadata }
}

function toListed(row: DocumentRow): ListedDocument {
  return {
    id: row.id,
    title: row.title,
    source: JSON.parse(row.source) as DocumentSource,
    mediaType: row.media_type,
    bytes: row.bytes,
    metadataJson: row.metadata,
    status: row.status,
    progress: row.progress,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    passageCount: row.last - row.first + 1,
    sourceId: row.site_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

const rowOf = (id: string): Work<DocumentRow | undefined> =>
  get<DocumentRow>(`SELECT ${COLUMNS} FROM {document} WHERE id = ?`, id)

export function* findDocument(id: string): Work<Document | undefined> {
  const row = yield* rowOf(id)
  return row === undefined ? undefined : toDocument(row)
}

/** Maximum number of characters of titles, sources, URLs and metadata on one page. */
const PAGE_CHARS = 262_144
const charsOf = ({ title, source, url, metadata }: DocumentRow): number =>
  title.length + source.length + (url?.length ?? 0) + metadata.length

/** Returns documents, newest first; fewer than the limit if their texts are long. Undefined if the cursor is not a document of this base. */
export function* listDocuments(page: PageInput & { status?: DocumentStatus }): Work<Page<ListedDocument> | undefined> {
  const after = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : (yield* rowOf(page.cursor))?.number
  if (after === undefined) return undefined
  const [condition, params] = page.status === undefined ? ['', []] : ['status = ? AND', [page.status]]
  const seen = { rows: 0, chars: 0 }
  const isLast = (row: SqlRow) => {
    seen.rows++
    seen.chars += charsOf(row as unknown as DocumentRow)
    return seen.rows > 1 && seen.chars > PAGE_CHARS
  }
  const sql = `SELECT ${COLUMNS} FROM {document} WHERE ${condition} number < ? ORDER BY number DESC LIMIT ?`
  const [rows, counted] = yield [
    { sql, params: [...params, after, page.limit + 1], isLast },
    { sql: `SELECT count(*) AS total FROM {document} WHERE ${condition} true`, params },
  ]
  const { items, hasMore } = pageOf(rows as unknown as DocumentRow[], page.limit)
  return { items, hasMore, total: counted![0]!['total'] as number }
}

/** Returns the first rows, at most `limit`, with at most `PAGE_CHARS` characters if there are several. */
function pageOf(rows: readonly DocumentRow[], limit: number): { items: ListedDocument[]; hasMore: boolean } {
  const items: ListedDocument[] = []
  let chars = 0
  for (const row of rows) {
    chars += charsOf(row)
    if (items.length === limit || (items.length > 0 && chars > PAGE_CHARS)) return { items, hasMore: true }
    items.push(toListed(row))
  }
  return { items, hasMore: false }
}

/** Returns passages in reading order. Undefined if the document does not exist or the cursor is not one of its passages. */
export function* listPassages(documentId: string, page: PageInput): Work<Page<Passage> | undefined> {
  const document = yield* rowOf(documentId)
  if (document === undefined) return undefined
  const total = document.last - document.first + 1
  const after = page.cursor === undefined ? -1 : positionOf(document.id, document.generation, page.cursor)
  if (after === undefined || after >= total) return undefined
  const rows = yield* all<Omit<Passage, 'id' | 'index'> & { position: number }>(
    'SELECT position, text, heading, page FROM {passage} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?',
    document.first + after,
    document.last,
    page.limit,
  )
  const items = rows.map((row) => ({
    id: passageIdOf(document.id, document.generation, row.position),
    index: row.position,
    text: row.text,
    heading: row.heading,
    page: row.page,
  }))
  return { items, hasMore: after + 1 + items.length < total, total }
}

export function* countDocuments(): Work<number> {
  return (yield* get<{ documents: number }>('SELECT count(*) AS documents FROM {document}'))?.documents ?? 0
}

/** Reads one index entry per document. The result changes only with the version of the base. */
export function* countPassages(): Work<number> {
  const sql = 'SELECT coalesce(sum(last - first + 1), 0) AS passages FROM {document}'
  return (yield* get<{ passages: number }>(sql))?.passages ?? 0
}

const hashOf = (...parts: (string | Uint8Array)[]): Uint8Array => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
const NO_BYTES = new Uint8Array(0)

/** Identifies a document by title and bytes, even in another folder, and a web page by its URL. */
const identityOf = ({ title, source, content = NO_BYTES }: NewDocument): Uint8Array =>
  hashOf(`${title ?? ''}\0${sourceTitle(source)}\0`, content)

const sourceTitle = (source: DocumentSource): string =>
  source.type === 'file' ? posix.basename(source.filename) : source.type === 'url' ? source.url : ''

/** Limit for default titles: a URL can be long, and `source` contains all of it. */
const SHORT_TITLE = 300
export const shortTitle = (title: string): string => (title.length <= SHORT_TITLE ? title : `${title.slice(0, SHORT_TITLE - 1)}…`)

const urlOf = ({ source }: NewDocument): string | null => (source.type === 'url' ? source.url : null)

/** Returns the values that a new document and a new version of a document share. */
const given = (document: NewDocument, at: number) => [
  document.title ?? shortTitle(sourceTitle(document.source)),
  document.title === undefined ? 0 : 1,
  JSON.stringify(document.source),
  document.mediaType,
  document.content?.length ?? 0,
  identityOf(document),
  JSON.stringify(document.metadata),
  at,
  document.content === undefined ? 'fetch' : 'read',
  urlOf(document),
  document.content === undefined ? null : hashOf(document.content),
]

/**
 * Adds a document to be read later. A document with the same title and bytes stays, gets the new path, and is retried if it failed.
 * A document with the same URL is fetched again. `large`: number of content that was written in pieces. Runs in the caller's transaction.
 */
export function acceptDocument(base: KnowledgeBase, id: string, document: NewDocument, at: number, large?: number): Document {
  const url = urlOf(document)
  const same = base.get<{ id: string; status: DocumentStatus }>(
    url === null ? 'SELECT id, status FROM {document} WHERE hash = ?' : 'SELECT id, status FROM {document} WHERE url = ?',
    url ?? identityOf(document),
  )
  if (same !== undefined) {
    if (url !== null) return acceptAgain(base, same.id, document, at)!
    if (same.status === 'failed') return acceptVersion(base, same.id, document, at, large)!
    moveDocument(base, same.id, document.source, at)
    return drive(base, findDocument(same.id))!
  }
  const number = base.insert(DOCUMENT, ...given(document, at), id, at, 'queued', 0)
  if (document.content !== undefined) putContent(base, number, { bytes: document.content, large })
  return drive(base, findDocument(id))!
}

/** Updates the path of a file that was sent again from another folder. */
function moveDocument(base: KnowledgeBase, id: string, source: DocumentSource, at: number): void {
  const text = JSON.stringify(source)
  if (base.get('SELECT 1 FROM {document} WHERE id = ? AND source = ?', id, text) !== undefined) return
  raiseVersion(base)
  base.update('document', { set: `source = ?, updated_at = ?, ${IS_CHANGED}`, where: 'id = ?' }, text, at, id)
}

/** Fetches a known URL again. Title and metadata stay if they are not given. */
function acceptAgain(base: KnowledgeBase, id: string, document: NewDocument, at: number): Document | undefined {
  if (document.title !== undefined) changeDocument(base, id, { title: document.title }, at)
  if (Object.keys(document.metadata).length > 0) changeDocument(base, id, { metadata: document.metadata }, at)
  base.update(
    'document',
    {
      set: `status = 'queued', progress = 0, attempts = 0, error_code = NULL, error_message = NULL, updated_at = ?,
       content_hash = CASE WHEN work = 'read' THEN NULL ELSE content_hash END, work = 'fetch', revision = revision + 1`,
      where: 'id = ?',
    },
    at,
    id,
  )
  dropContent(base, drive(base, rowOf(id))!.number)
  return drive(base, findDocument(id))
}

/**
 * Accepts a new version; the present passages stay until it is read. Content that is already read is not read again. `large`: see `acceptDocument`.
 * Undefined if the document does not exist. Throws `invalid_request` if another document has the URL. Runs in the caller's transaction.
 */
export function acceptVersion(
  base: KnowledgeBase,
  id: string,
  document: NewDocument,
  at: number,
  large?: number,
): Document | undefined {
  const row = drive(base, rowOf(id))
  if (row === undefined) return undefined
  const url = urlOf(document)
  if (url !== null && base.get('SELECT 1 FROM {document} WHERE url = ? AND number <> ?', url, row.number) !== undefined)
    throw invalid('body.url', 'is the address of another document of this agent')
  if (isUnchanged(base, row, document)) {
    moveDocument(base, id, document.source, at)
    return changeDocument(base, id, { metadata: document.metadata }, at)
  }
  raiseVersion(base)
  base.update(
    'document',
    {
      set: `title = ?, title_given = ?, source = ?, media_type = ?, bytes = ?, hash = ?, metadata = ?, updated_at = ?, work = ?, url = ?,
       content_hash = ?, status = 'queued', progress = 0, attempts = 0, revision = revision + 1, error_code = NULL, error_message = NULL,
       etag = NULL, last_modified = NULL, site = NULL, ${IS_CHANGED}`,
      where: 'id = ?',
    },
    ...given(document, at),
    id,
  )
  if (document.content === undefined) dropContent(base, row.number)
  else putContent(base, row.number, { bytes: document.content, large })
  return drive(base, findDocument(id))
}

function isUnchanged(base: KnowledgeBase, row: DocumentRow, document: NewDocument): boolean {
  return (
    document.content !== undefined &&
    row.status === 'ready' &&
    row.work === null &&
    // The hash contains the title of the upload, which may have changed since.
    (document.title ?? row.title) === row.title &&
    (document.source.type === 'file' || row.media_type === document.mediaType) &&
    base.get('SELECT 1 FROM {document} WHERE number = ? AND hash = ?', row.number, identityOf(document)) !== undefined
  )
}

/** Changes title or metadata. A new title reindexes the passages in the background; they stay searchable. Runs in the caller's transaction. */
export function changeDocument(
  base: KnowledgeBase,
  id: string,
  change: { title?: string; metadata?: Metadata },
  at: number,
): Document | undefined {
  if (change.metadata !== undefined) {
    raiseVersion(base)
    base.update(
      'document',
      { set: `metadata = ?, updated_at = ?, ${IS_CHANGED}`, where: 'id = ?' },
      JSON.stringify(change.metadata),
      at,
      id,
    )
  }
  if (change.title !== undefined) {
    base.update(
      'document',
      {
        set: `title = ?, title_given = 1, updated_at = ?, revision = revision + 1, attempts = CASE WHEN work IS NULL THEN 0 ELSE attempts END,
         work = CASE WHEN work IS NULL AND last >= first THEN 'retitle' ELSE work END`,
        where: 'id = ?',
      },
      change.title,
      at,
      id,
    )
  }
  return drive(base, findDocument(id))
}

/** The passages that a document has in the index. */
export interface Extent {
  first: number
  last: number
  indexedTitle: string
}

/** Removes a document. Undefined if it does not exist. Runs in the caller's transaction; the caller marks the returned extent as deleted. */
export const removeDocument = (base: KnowledgeBase, id: string): Extent | undefined => removeDocuments(base, [id])[0]

/** Removes documents, and ignores ids that do not exist. Runs in a transaction of the caller, who marks the passages of the returned extents as deleted. */
export function removeDocuments(base: KnowledgeBase, ids: readonly string[]): Extent[] {
  const rows = base.getMany<Extent & { number: number }>(
    'SELECT number, first, last, indexed_title AS "indexedTitle" FROM {document} WHERE id = ?',
    ids.map((id) => [id]),
  )
  return rows.flatMap((row) => {
    if (row === undefined) return []
    dropContent(base, row.number)
    base.delete('document', 'number = ?', row.number)
    return [{ first: row.first, last: row.last, indexedTitle: row.indexedTitle }]
  })
}
