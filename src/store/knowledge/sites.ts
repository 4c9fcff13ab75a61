import { createHash } from 'node:crypto'
import type { Page, PageInput } from '../../core/page.ts'
import { type NewSite, type Site, type SiteStatus, type SiteType, siteDefaults } from '../../core/site.ts'
import type { KnowledgeBase } from './base.ts'
import { putContent } from './contents.ts'
import { shortTitle } from './documents.ts'
import type { FetchedContent } from './fetches.ts'
import type { Insertion } from './statements.ts'
import { all, drive, get, together, type Work } from './work.ts'

const HOUR_MS = 3_600_000

/** A sync run of a site, which may have begun before a restart. */
export interface SiteRun {
  number: number
  type: SiteType
  url: string
  maxPages: number
  maxDepth: number
  run: number
  /** How often the run was started since it last made progress. */
  attempts: number
}

/** A page that waits in a run. */
export interface WaitingPage {
  url: string
  depth: number
  /** Its links when it was last read. */
  links: string[]
  /** True if there is a document of it. */
  isHeld: boolean
  /** ETag of the copy that was read last. */
  etag: string | null
  lastModified: string | null
}

/** Result of a page in a run: read again, unchanged, skipped (no text for people, or not for robots), not fetched, or no longer there. */
export type PageState = 'taken' | 'same' | 'left' | 'failed' | 'gone'

interface SiteRow {
  number: number
  id: string
  type: SiteType
  url: string
  max_pages: number
  max_depth: number
  refresh_hours: number | null
  status: SiteStatus
  error_code: string | null
  error_message: string | null
  run: number
  attempts: number
  synced_at: number | null
  due_at: number | null
  created_at: number
  updated_at: number
}

const COLUMNS =
  'number, id, type, url, max_pages, max_depth, refresh_hours, status, error_code, error_message, run, attempts, synced_at, due_at, created_at, updated_at'

function* toSite(row: SiteRow): Work<Site> {
  const [states, documentCount] = yield* together(
    all<{ state: string; n: number }>(
      'SELECT state, count(*) AS n FROM {page} WHERE site = ? AND run = ? GROUP BY state',
      row.number,
      row.run,
    ),
    get<{ documents: number }>('SELECT count(*) AS documents FROM {document} WHERE site = ?', row.number),
  )
  const counts = new Map(states.map(({ state, n }) => [state, n]))
  return {
    id: row.id,
    type: row.type,
    url: row.url,
    maxPages: row.max_pages,
    maxDepth: row.max_depth,
    refreshHours: row.refresh_hours,
    status: row.status,
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    pages: {
      found: [...counts.values()].reduce((sum, n) => sum + n, 0),
      taken: counts.get('taken') ?? 0,
      unchanged: counts.get('same') ?? 0,
      failed: counts.get('failed') ?? 0,
    },
    documents: documentCount!.documents,
    syncedAt: row.synced_at,
    nextSyncAt: row.due_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
}

const SITE: Insertion = {
  into: 'site',
  columns: ['id', 'type', 'url', 'max_pages', 'max_depth', 'refresh_hours', 'status', 'created_at', 'updated_at'],
}
const PAGE: Insertion = {
  into: 'page',
  columns: ['site', 'url', 'run', 'depth', 'place', 'state'],
  onConflict: {
    key: ['site', 'url'],
    set: 'run = excluded.run, depth = excluded.depth, place = excluded.place, state = excluded.state',
  },
}
const LINKS: Insertion = {
  into: 'page_links',
  columns: ['site', 'url', 'links'],
  onConflict: { key: ['site', 'url'], set: 'links = excluded.links' },
}
/** A document of a page. */
const PAGE_DOCUMENT: Insertion = {
  into: 'document',
  columns: [
    ...['id', 'title', 'title_given', 'source', 'media_type', 'bytes', 'hash', 'metadata', 'status', 'progress'],
    ...['created_at', 'updated_at', 'url', 'site'],
  ],
}

const rowOf = (id: string): Work<SiteRow | undefined> => get<SiteRow>(`SELECT ${COLUMNS} FROM {site} WHERE id = ?`, id)

export function* findSite(id: string): Work<Site | undefined> {
  const row = yield* rowOf(id)
  return row === undefined ? undefined : yield* toSite(row)
}

/** Returns ids, newest first. Undefined if the cursor is not a site of this base. */
export function* listSiteIds(page: PageInput): Work<Page<string> | undefined> {
  const after = page.cursor === undefined ? Number.MAX_SAFE_INTEGER : (yield* rowOf(page.cursor))?.number
  if (after === undefined) return undefined
  const [rows, counted] = yield* together(
    all<{ id: string }>('SELECT id FROM {site} WHERE number < ? ORDER BY number DESC LIMIT ?', after, page.limit + 1),
    get<{ total: number }>('SELECT count(*) AS total FROM {site}'),
  )
  const ids = rows.map(({ id }) => id)
  return { items: ids.slice(0, page.limit), hasMore: ids.length > page.limit, total: counted!.total }
}

type SiteSettings = Pick<Site, 'maxPages' | 'maxDepth' | 'refreshHours'>

/** Stores a site and opens a run. The same type and URL are the same site: settings in the request replace its own. Runs in the caller's transaction. */
export function acceptSite(base: KnowledgeBase, id: string, site: NewSite, at: number): Site {
  const known = base.get<SiteSettings & { id: string }>(
    'SELECT id, max_pages AS "maxPages", max_depth AS "maxDepth", refresh_hours AS "refreshHours" FROM {site} WHERE type = ? AND url = ?',
    site.type,
    site.url,
  )
  const before: SiteSettings = known ?? siteDefaults
  const { maxPages = before.maxPages, maxDepth = before.maxDepth, refreshHours = before.refreshHours } = site
  if (known === undefined) base.insert(SITE, id, site.type, site.url, maxPages, maxDepth, refreshHours, 'queued', at, at)
  else
    base.update(
      'site',
      { set: 'max_pages = ?, max_depth = ?, refresh_hours = ?, updated_at = ?', where: 'id = ?' },
      maxPages,
      maxDepth,
      refreshHours,
      at,
      known.id,
    )
  return openRun(base, known?.id ?? id, at)!
}

/** Opens a sync run of a site, unless one is open. Returns undefined if the site does not exist. Runs in the caller's transaction. */
export function openRun(base: KnowledgeBase, id: string, at: number): Site | undefined {
  const set = `run = run + 1, run_open = 1, attempts = 0, status = 'queued', error_code = NULL, error_message = NULL, due_at = NULL, updated_at = ?`
  const row = base.updateOne<{ number: number; url: string; type: SiteType; run: number }>(
    'site',
    { set, where: 'id = ? AND run_open = 0', returning: 'number, url, type, run' },
    at,
    id,
  )
  if (row !== undefined && row.type !== 'sitemap') addPages(base, { ...row, maxPages: 1 }, [row.url], 0)
  return drive(base, findSite(id))
}

/** Number of sites whose runs one transaction opens. */
const RUNS_AT_ONCE = 200

/** Opens some runs of sites that are due: the documents of all agents wait for each transaction. Runs in the caller's transaction. */
export function openDueRuns(base: KnowledgeBase, at: number): void {
  const due = base.all<{ id: string }>('SELECT id FROM {site} WHERE due_at <= ? ORDER BY due_at LIMIT ?', at, RUNS_AT_ONCE)
  for (const { id } of due) openRun(base, id, at)
}

/** Returns when the next site is due; null if none is. */
export function nextDue(base: KnowledgeBase): number | null {
  return base.get<{ at: number | null }>('SELECT min(due_at) AS at FROM {site} WHERE due_at IS NOT NULL')!.at
}

export function listRuns(base: KnowledgeBase, except: ReadonlySet<number>, most: number): SiteRun[] {
  return base
    .all<SiteRow>(`SELECT ${COLUMNS} FROM {site} WHERE run_open = 1 ORDER BY updated_at, number LIMIT ?`, most + except.size)
    .filter(({ number }) => !except.has(number))
    .slice(0, most)
    .map((row) => ({ ...row, maxPages: row.max_pages, maxDepth: row.max_depth }))
}

/** Counts an attempt. Runs in the caller's transaction. */
export function startRuns(base: KnowledgeBase, runs: readonly SiteRun[]): void {
  for (const { number } of runs)
    base.update('site', { set: `status = 'processing', attempts = attempts + 1`, where: 'number = ?' }, number)
}

/** Returns true if the run is open: no other call has ended it or removed its site. */
export const isOpen = (base: KnowledgeBase, { number, run }: SiteRun): boolean =>
  base.get('SELECT 1 FROM {site} WHERE number = ? AND run = ? AND run_open = 1', number, run) !== undefined

const PAGES_AT_ONCE = 500

/** Adds pages that this run has not seen yet, up to `maxPages`. Returns false if there is no room left. Runs in the caller's transaction. */
export function addPages(
  base: KnowledgeBase,
  { number, run, maxPages }: Pick<SiteRun, 'number' | 'run' | 'maxPages'>,
  urls: readonly string[],
  depth: number,
): boolean {
  let { seen } = base.get<{ seen: number }>('SELECT count(*) AS seen FROM {page} WHERE site = ? AND run = ?', number, run)!
  const all = [...new Set(urls)]
  for (let at = 0; at < all.length && seen < maxPages; at += PAGES_AT_ONCE) {
    const some = all.slice(at, at + PAGES_AT_ONCE)
    const known = base.getMany<{ run: number }>(
      'SELECT run FROM {page} WHERE site = ? AND url = ?',
      some.map((url) => [number, url]),
    )
    const fresh = some.filter((_, i) => known[i] === undefined || known[i].run < run).slice(0, maxPages - seen)
    base.insertMany(
      PAGE,
      fresh.map((url, i) => [number, url, run, depth, seen + i, 'waiting']),
    )
    seen += fresh.length
  }
  return seen < maxPages
}

export function nextPage(base: KnowledgeBase, { number, run }: SiteRun): WaitingPage | undefined {
  const page = base.get<{ url: string; depth: number }>(
    `SELECT url, depth FROM {page} WHERE site = ? AND state = 'waiting' AND run = ? ORDER BY depth, place LIMIT 1`,
    number,
    run,
  )
  if (page === undefined) return undefined
  const held = base.get<{ etag: string | null; lastModified: string | null }>(
    'SELECT etag, last_modified AS "lastModified" FROM {document} WHERE url = ? AND content_hash IS NOT NULL',
    page.url,
  )
  const links = base.get<{ links: string }>('SELECT links FROM {page_links} WHERE site = ? AND url = ?', number, page.url)
  return {
    ...page,
    links: links === undefined ? [] : (JSON.parse(links.links) as string[]),
    isHeld: held !== undefined,
    etag: held?.etag ?? null,
    lastModified: held?.lastModified ?? null,
  }
}

/** Sets the state of a page. `links`: its links; the old ones stay if left out. Runs in the caller's transaction. */
export function endPage(base: KnowledgeBase, { number, run }: SiteRun, url: string, state: PageState, links?: string[]): void {
  const change = { set: 'state = ?', where: 'site = ? AND url = ? AND run = ?', returning: 'url' }
  const page = base.updateOne('page', change, state, number, url, run)
  if (page !== undefined && links !== undefined) putLinks(base, number, url, links)
  forgetAttempts(base, number)
}

function putLinks(base: KnowledgeBase, site: number, url: string, links: readonly string[]): void {
  if (links.length === 0) base.delete('page_links', 'site = ? AND url = ?', site, url)
  else base.insert(LINKS, site, url, JSON.stringify(links))
}

/** Resets the attempts of a run that made progress or ended its turn. Runs in the caller's transaction. */
export const forgetAttempts = (base: KnowledgeBase, number: number): void => {
  base.update('site', { set: 'attempts = 0', where: 'number = ? AND attempts > 0' }, number)
}

/** Returns the URL whose folder contains the pages of a site: its first page, after redirects. */
export function rootOf(base: KnowledgeBase, { number, run, url }: SiteRun): string {
  const first = base.get<{ url: string }>(
    `SELECT url FROM {page} WHERE site = ? AND run = ? AND depth = 0 AND state IN ('taken', 'same') LIMIT 1`,
    number,
    run,
  )
  return first?.url ?? url
}

/**
 * Stores a fetched page to be read; content that was already read is not read again. `url` is the address after redirects, and
 * the document's identity. Runs in the caller's transaction.
 */
export function keepPage(
  base: KnowledgeBase,
  run: SiteRun,
  url: string,
  id: string,
  content: FetchedContent,
  at: number,
  large?: number,
): PageState {
  const known = base.get<{ number: number; content_hash: Uint8Array | null; site: number | null }>(
    'SELECT number, content_hash, site FROM {document} WHERE url = ?',
    url,
  )
  if (!content.changed) return known === undefined ? 'failed' : 'same'
  const hash = createHash('sha256').update(content.body).digest()
  if (known?.content_hash != null && hash.equals(known.content_hash)) {
    base.update(
      'document',
      { set: 'etag = ?, last_modified = ?', where: 'number = ?' },
      content.etag,
      content.lastModified,
      known.number,
    )
    return 'same'
  }
  const values = [content.contentType ?? '', content.body.length, hash, content.etag, content.lastModified, at]
  const number =
    known?.number ??
    base.insert(
      PAGE_DOCUMENT,
      ...[id, shortTitle(url), 0, JSON.stringify({ type: 'url', url }), '', 0, new Uint8Array(0), '{}', 'queued', 0],
      ...[at, at, url, run.number],
    )
  base.update(
    'document',
    {
      set: `media_type = ?, bytes = ?, content_hash = ?, etag = ?, last_modified = ?, updated_at = ?, work = 'read', status = 'queued',
       progress = 0, attempts = 0, revision = revision + 1, error_code = NULL, error_message = NULL`,
      where: 'number = ?',
    },
    ...values,
    number,
  )
  putContent(base, number, { bytes: content.body, large })
  return 'taken'
}

/** Ends a run, after `removeGone` and `forgetPages` of site-removal.ts. Runs in the caller's transaction. */
export function endRun(
  base: KnowledgeBase,
  { number, run }: SiteRun,
  error: { code: string; message: string } | undefined,
  at: number,
): void {
  base.update(
    'site',
    {
      set: `run_open = 0, status = ?, error_code = ?, error_message = ?, synced_at = ?, updated_at = ?,
       due_at = CASE WHEN refresh_hours IS NULL THEN NULL ELSE ? + cast(refresh_hours * ${HOUR_MS} AS BIGINT) END`,
      where: 'number = ? AND run = ? AND run_open = 1',
    },
    error === undefined ? 'ready' : 'failed',
    error?.code ?? null,
    error?.message ?? null,
    at,
    at,
    at,
    number,
    run,
  )
}
