import type { KnowledgeBase } from './base.ts'
import { type Extent, removeDocuments } from './documents.ts'
import type { SiteRun } from './sites.ts'

// The documents of all agents wait for each transaction of the ingest thread. Every function here does a bounded part of the work in one transaction, which
// the caller opens.

interface SiteDocument {
  number: number
  id: string
  url: string | null
}

/** Documents or pages that one transaction checks. */
const REMOVED_AT_ONCE = 200
/** Pages that one transaction deletes: each may have half a megabyte of links. */
const FORGOTTEN_AT_ONCE = 20
const PAGE_TABLES = ['page', 'page_links']

/** Returns the next documents of a site after a number. Documents that were added individually belong to no site. */
const documentsOf = (base: KnowledgeBase, site: number, after: number): SiteDocument[] =>
  base.all(
    'SELECT number, id, url FROM {document} WHERE site = ? AND number > ? ORDER BY number LIMIT ?',
    site,
    after,
    REMOVED_AT_ONCE,
  )

const countDocuments = (base: KnowledgeBase, site: number): number =>
  base.get<{ n: number }>('SELECT count(*) AS n FROM {document} WHERE site = ?', site)!.n

/**
 * Says which missing documents a run may remove. `whole`: every page was fetched. `broken`: some were not, and documents linked from them may still exist.
 * `small`: the run of a whole site found less than half of its documents, for example if its first page is an outage notice.
 */
export type RemovalStep = 'whole' | 'small' | 'broken'

const IS_FOUND = "state IN ('taken', 'same')"

export function judgeRun(base: KnowledgeBase, { number, run, type }: SiteRun): RemovalStep {
  if (base.get(`SELECT 1 FROM {page} WHERE site = ? AND run = ? AND state = 'failed' LIMIT 1`, number, run)) return 'broken'
  if (type !== 'site') return 'whole'
  const { found } = base.get<{ found: number }>(
    `SELECT count(*) AS found FROM {page} WHERE site = ? AND run = ? AND ${IS_FOUND}`,
    number,
    run,
  )!
  return 2 * found < countDocuments(base, number) ? 'small' : 'whole'
}

/**
 * Number of consecutive `small` runs that must miss a document before it is removed. Also applies to `broken` runs of a site with more
 * documents than `maxPages`: with one broken page and ever new links, the site would otherwise grow without limit.
 */
const MISSED_RUNS = 3

/** The removed extents, and the document after which the removal continues; undefined when there are no more. */
interface Removed {
  extents: Extent[]
  last: number | undefined
}

/**
 * Removes documents whose pages no longer exist, and after a `whole` run all documents that it did not find. If the run is `small`, or the site has
 * more than `maxPages` documents, removes documents that several runs in a row did not find. The caller marks the returned extents as deleted.
 */
export function removeGone(
  base: KnowledgeBase,
  { number, run, maxPages }: SiteRun,
  finding: RemovalStep,
  after: number,
): Removed {
  const documents = documentsOf(base, number, after)
  const oldest = finding === 'small' || countDocuments(base, number) > maxPages ? run - MISSED_RUNS : 0
  const pages = base.getMany<{ run: number; state: string }>(
    'SELECT run, state FROM {page} WHERE site = ? AND url = ?',
    documents.map(({ url }) => [number, url ?? '']),
  )
  const gone = documents.filter(({ url }, i) => {
    const page = pages[i]
    if (url === null) return true
    if (page?.run === run) return !['taken', 'same', 'failed'].includes(page.state)
    // The run did not follow the links of pages that could not be fetched, so documents behind those links may still exist.
    return finding === 'whole' || (page !== undefined && page.run < oldest)
  })
  return { extents: leave(base, number, gone), last: documents.at(-1)?.number }
}

/**
 * Deletes pages of earlier runs, from an address on. If the run is not `whole`, pages that have a document stay. Returns the last address that was checked,
 * or undefined when there are no more.
 */
export function forgetPages(
  base: KnowledgeBase,
  { number, run }: SiteRun,
  finding: RemovalStep,
  after: string,
): string | undefined {
  const pages = base.all<{ url: string; run: number }>(
    'SELECT url, run FROM {page} WHERE site = ? AND url > ? ORDER BY url LIMIT ?',
    number,
    after,
    REMOVED_AT_ONCE,
  )
  const old = pages.filter((page) => page.run < run)
  const documents = base.getMany(
    'SELECT 1 FROM {document} WHERE url = ?',
    old.map(({ url }) => [url]),
  )
  const forgotten = old.filter((_, i) => finding === 'whole' || documents[i] === undefined)
  const some = forgotten.slice(0, FORGOTTEN_AT_ONCE)
  for (const { url } of some) for (const table of PAGE_TABLES) base.delete(table, 'site = ? AND url = ?', number, url)
  return some.length < forgotten.length ? some.at(-1)!.url : pages.at(-1)?.url
}

/** Moves documents of a site to another site that has their page, and removes the others. */
function leave(base: KnowledgeBase, site: number, documents: readonly SiteDocument[]): Extent[] {
  const others = base.getMany<{ site: number }>(
    `SELECT site FROM {page} WHERE url = ? AND site <> ? AND state IN ('waiting', 'taken', 'same', 'failed') ORDER BY site LIMIT 1`,
    documents.map(({ url }) => [url, site]),
  )
  for (const [i, other] of others.entries())
    if (other !== undefined) base.update('document', { set: 'site = ?', where: 'id = ?' }, other.site, documents[i]!.id)
  const gone = documents.filter((_, i) => others[i] === undefined)
  return removeDocuments(
    base,
    gone.map(({ id }) => id),
  )
}

/** Returns true if a site has documents, but none of this address. */
export const hasOthersThan = (base: KnowledgeBase, { number }: SiteRun, url: string): boolean =>
  base.get('SELECT 1 FROM {document} WHERE site = ? LIMIT 1', number) !== undefined &&
  base.get('SELECT 1 FROM {document} WHERE url = ? AND site = ?', url, number) === undefined

/** Stops the run of a site before its removal. Returns false if there is no such site. */
export const closeRun = (base: KnowledgeBase, id: string): boolean =>
  base.updateOne('site', { set: 'run_open = 0, due_at = NULL', where: 'id = ?', returning: 'number' }, id) !== undefined

/**
 * Removes documents of a site, then its pages, then the site. Documents that another site also has move to that site. The caller marks the passages of the
 * returned extents as deleted. Returns undefined when nothing is left.
 */
export function removeSome(base: KnowledgeBase, id: string): Extent[] | undefined {
  const row = base.get<{ number: number }>('SELECT number FROM {site} WHERE id = ?', id)
  if (row === undefined) return undefined
  const documents = documentsOf(base, row.number, 0)
  if (documents.length > 0) return leave(base, row.number, documents)
  const pages = base.all<{ url: string }>(
    'SELECT url FROM {page} WHERE site = ? ORDER BY url LIMIT ?',
    row.number,
    FORGOTTEN_AT_ONCE,
  )
  const last = pages.at(-1)
  if (last !== undefined) for (const table of PAGE_TABLES) base.delete(table, 'site = ? AND url <= ?', row.number, last.url)
  if (pages.length < FORGOTTEN_AT_ONCE) base.delete('site', 'number = ?', row.number)
  return []
}
