import { setTimeout as pauseMs } from 'node:timers/promises'
import robotsModule from 'robots-parser'
import { DocumentError } from '../../../core/document-error.ts'
import type { Clock, Ids } from '../../../core/ports/ports.ts'
import { MAX_LINK_CHARS } from '../../../core/site.ts'
import { FetchError } from '../../../net/fetch-error.ts'
import type { Fetched, FetchInput } from '../../../net/guarded-fetch.ts'
import type { KnowledgeBase } from '../../../store/knowledge/base.ts'
import { hasOthersThan } from '../../../store/knowledge/site-removal.ts'
import {
  addPages,
  endPage,
  isOpen,
  keepPage,
  nextPage,
  type PageState,
  rootOf,
  type SiteRun,
  type WaitingPage,
} from '../../../store/knowledge/sites.ts'
import type { Sitemap } from '../../read/sitemap.ts'
import type { DocumentReader } from '../../reader/reader.ts'
import { toDocumentError } from './fetch-page.ts'

export interface SiteParts {
  fetch: (input: FetchInput) => Promise<Fetched>
  read: DocumentReader['read']
  /** Commits to the agent's file. */
  commit: <T>(work: (base: KnowledgeBase) => T) => Promise<T>
  /** Commits work that stores a content. A large content is written first, and its number is passed to `work`. */
  commitContent: <T>(content: Uint8Array, work: (base: KnowledgeBase, large?: number) => T) => Promise<T>
  clock: Clock
  ids: Ids
  /** The name of this service in robots.txt. */
  userAgent: string
  /** Delay between two pages of a site. */
  pauseMs: number
  signal: AbortSignal
  /** Returns true if other agents wait, and the rest must run later. */
  isTurnOver: () => boolean
  /** Sitemaps that all turns of a run share. */
  sitemaps: Sitemaps
}

/** URLs of sitemaps. The ones in `waiting` are read next. */
export interface Sitemaps {
  seen: Set<string>
  waiting: string[]
}

/** Longest accepted crawl delay between two pages, in seconds. A longer one is shortened. */
const MAX_CRAWL_DELAY = 10
const MAX_SITEMAPS = 50
/** URLs of a sitemap or a page that are checked and stored at once. */
const ADDRESSES_AT_ONCE = 1_000
const ROBOTS_BYTES = 512_000
const PATTERN_CHARS = 10_000
const MAX_RULES = 5_000
/** Matching a URL takes its length times the rules and the patterns. This many steps take about 30 ms. */
const MAX_MATCH_STEPS = 10_000_000
const RULE = /^\s*(?:allow|disallow|crawl-delay)\s*:/i
const HTML = /^(?:text\/html|application\/xhtml\+xml)\b/i
// Files that no reader can convert to text. They are not fetched.
const NO_DOCUMENT =
  /\.(?:png|jpe?g|gif|webp|svg|ico|avif|bmp|css|m?js|json|xml|rss|atom|woff2?|ttf|eot|mp[34]|m4[av]|webm|avi|mov|wav|ogg|zip|gz|tgz|bz2|xz|7z|rar|exe|dmg|iso|jar|wasm)$/i

/** The robots.txt rules of each host of the pages. */
class Robots {
  readonly #parts: SiteParts
  readonly #hosts = new Map<string, Promise<HostRules>>()
  /** The longest crawl delay of these hosts, in milliseconds. */
  delayMs = 0

  constructor(parts: SiteParts) {
    this.#parts = parts
  }

  async isAllowed(url: string): Promise<boolean> {
    const { origin } = new URL(url)
    let rules = this.#hosts.get(origin)
    if (rules === undefined) {
      rules = findRules(this.#parts, origin)
      this.#hosts.set(origin, rules)
    }
    const { isAllowed, delayMs } = await rules
    this.delayMs = Math.max(this.delayMs, delayMs)
    return isAllowed(url)
  }
}

// The types of the package declare an ES module, but it is not one.
const robotsParser = robotsModule as unknown as typeof robotsModule.default

interface HostRules {
  isAllowed: (url: string) => boolean
  delayMs: number
}

/**
 * Updates the documents of a site from its pages, one at a time, as its robots.txt allows. Continues a run that began earlier. Resolves to false if its turn
 * ended first. Throws `DocumentError` if the site cannot be read at all.
 */
export async function syncSite(parts: SiteParts, run: SiteRun): Promise<boolean> {
  const { commit, signal } = parts
  const robots = new Robots(parts)
  // Reads robots.txt before anything else, to distinguish a site that is not reachable from one that denies access.
  await robots.isAllowed(run.url)
  if (run.type === 'sitemap' && !(await addSitemaps(parts, run))) return false
  for (;;) {
    signal.throwIfAborted()
    const page = await commit((base) => (isOpen(base, run) ? nextPage(base, run) : undefined))
    if (page === undefined) return true
    // Pauses also at the start of a turn, because the last one may have just ended.
    if (page.depth > 0) await pauseMs(Math.max(parts.pauseMs, robots.delayMs), undefined, { signal })
    await syncPage(parts, run, robots, page)
    if (parts.isTurnOver()) return false
  }
}

async function syncPage(parts: SiteParts, run: SiteRun, robots: Robots, page: WaitingPage): Promise<void> {
  const { commit, clock, ids, signal } = parts
  const end = (state: PageState) => commit((base) => endPage(base, run, page.url, state))
  const isFirst = page.depth === 0
  // The first page ignores robots.txt, because the owner specified it.
  if (!isFirst && (page.url.length > MAX_LINK_CHARS || !(await robots.isAllowed(page.url)))) return end('left')
  let fetched: Fetched
  try {
    fetched = await parts.fetch({ url: page.url, etag: page.etag, lastModified: page.lastModified, signal })
    // The redirect target has its own state: it is not the page that was read last.
    if (!fetched.changed && fetched.url !== page.url) fetched = await parts.fetch({ url: page.url, signal })
    // A broken server sends an empty page, or redirects to a page that asks for a password.
    if ((isFirst || page.isHeld) && fetched.changed && fetched.body.length === 0)
      throw new FetchError('fetch_failed', 'was empty')
    if (!isFirst && page.isHeld && fetched.isElsewhere && !belongsTo(run, await commit((base) => rootOf(base, run)), fetched.url))
      throw new FetchError('fetch_failed', 'was out of the site for the moment')
    if (
      isFirst &&
      fetched.isElsewhere &&
      !belongsTo(run, run.url, fetched.url) &&
      (await commit((base) => hasOthersThan(base, run, fetched.url)))
    )
      throw new FetchError('fetch_failed', `leads to ${fetched.url} for the moment, where it did not lead before`)
  } catch (error) {
    signal.throwIfAborted()
    if (isFirst) throw toDocumentError(error)
    const isGone = error instanceof FetchError && (error.status === 404 || error.status === 410)
    // The links of its last successful fetch remain valid.
    if (!isGone) await addLinks(parts, run, page, page.links)
    return end(isGone ? 'gone' : 'failed')
  }
  const isOfHost = new URL(fetched.url).host === new URL(page.url).host
  if (!isFirst && fetched.url !== page.url && isOfHost && !(await robots.isAllowed(fetched.url))) return end('left')
  const { links, noIndex } = await linksOf(parts, page, fetched)
  const root = isFirst ? fetched.url : await commit((base) => rootOf(base, run))
  if (fetched.url !== page.url) {
    if (!isFirst && (fetched.url.length > MAX_LINK_CHARS || !belongsTo(run, root, fetched.url))) return end('left')
    await commit((base) => {
      if (!isOpen(base, run)) return
      endPage(base, run, page.url, 'left')
      addPages(base, { ...run, maxPages: Number.MAX_SAFE_INTEGER }, [fetched.url], page.depth)
    })
  }
  const own = run.type === 'site' ? links.filter((link) => belongsTo(run, root, link)) : []
  await addLinks(parts, run, page, own)
  await parts.commitContent(fetched.body, (base, large) => {
    if (!isOpen(base, run)) return
    const state = noIndex ? 'left' : keepPage(base, run, fetched.url, ids(), fetched, clock(), large)
    endPage(base, run, fetched.url, state, own)
  })
}

/**
 * Adds the pages that a page links to, in small transactions, because the documents of all agents wait for each one. The page ends after this:
 * a run that is interrupted in between starts with it again.
 */
async function addLinks({ commit }: SiteParts, run: SiteRun, { depth }: WaitingPage, links: readonly string[]): Promise<void> {
  if (depth >= run.maxDepth) return
  for (let at = 0; at < links.length; at += ADDRESSES_AT_ONCE) {
    const some = links.slice(at, at + ADDRESSES_AT_ONCE)
    if (!(await commit((base) => isOpen(base, run) && addPages(base, run, some, depth + 1)))) return
  }
}

/** Returns the links of a page. If the page has not changed, its links are the same as before. */
async function linksOf(
  { read }: SiteParts,
  page: WaitingPage,
  { changed, contentType, body, url }: Fetched,
): Promise<{ links: string[]; noIndex: boolean }> {
  if (!changed) return { links: page.links, noIndex: false }
  if (!HTML.test(contentType ?? '')) return { links: [], noIndex: false }
  return read('links', { content: body.slice(), mediaType: contentType ?? '', url })
}

/** Returns true if the page is on the same host. For type `site`, it must also be in the folder of the first page. */
function belongsTo({ type }: SiteRun, root: string, page: string): boolean {
  const [from, to] = [new URL(root), new URL(page)]
  if (to.host !== from.host) return false
  const folder = from.pathname.slice(0, from.pathname.lastIndexOf('/') + 1)
  return type !== 'site' || (to.pathname.startsWith(folder) && !NO_DOCUMENT.test(to.pathname))
}

/** Continues with `parts.sitemaps`. Resolves to false if the turn ended first. */
async function addSitemaps(parts: SiteParts, run: SiteRun): Promise<boolean> {
  const { seen, waiting } = parts.sitemaps
  if (seen.size === 0) waiting.push(run.url)
  for (let url = waiting.shift(); url !== undefined && seen.size < MAX_SITEMAPS; url = waiting.shift()) {
    if (seen.has(url)) continue
    seen.add(url)
    try {
      const fetched = await parts.fetch({ url, signal: parts.signal })
      const sitemap = await parts.read('sitemap', { content: fetched.body.slice(), mediaType: fetched.contentType ?? '' })
      const hasPages = await addFound(parts, run, sitemap.pages)
      if (url === run.url && !hasPages && sitemap.sitemaps.length === 0)
        throw new DocumentError('fetch_failed', 'The address holds no sitemap: it names no pages.')
      const others = new Set(ownOf(run, sitemap.sitemaps.slice(0, ADDRESSES_AT_ONCE))).difference(new Set([...seen, ...waiting]))
      // The remaining sitemaps would never be read.
      waiting.push(...[...others].slice(0, MAX_SITEMAPS - seen.size - waiting.length))
      if (!isWhole(sitemap)) await failSitemap(parts, run, url)
    } catch (error) {
      parts.signal.throwIfAborted()
      if (url === run.url) throw error instanceof DocumentError ? error : toDocumentError(error)
      await failSitemap(parts, run, url)
    }
    if (parts.isTurnOver()) return false
  }
  waiting.length = 0
  return true
}

/** Returns false for an empty sitemap, because the site may be broken temporarily. */
const isWhole = ({ pages, sitemaps, isComplete }: Sitemap): boolean => isComplete && pages.length + sitemaps.length > 0

/** Records a sitemap that cannot be read. The run is then incomplete, and does not remove pages that it did not find. */
const failSitemap = ({ commit }: SiteParts, run: SiteRun, url: string): Promise<void> =>
  commit((base) => {
    addPages(base, { ...run, maxPages: Number.MAX_SAFE_INTEGER }, [url], 0)
    endPage(base, run, url, 'failed')
  })

/** Adds the pages of a sitemap in small transactions. Resolves to false if none of them belongs to the site. */
async function addFound({ commit }: SiteParts, run: SiteRun, addresses: readonly string[]): Promise<boolean> {
  let hasPages = false
  for (let at = 0; at < addresses.length; at += ADDRESSES_AT_ONCE) {
    const pages = ownOf(run, addresses.slice(at, at + ADDRESSES_AT_ONCE))
    hasPages ||= pages.length > 0
    if (pages.length > 0 && !(await commit((base) => addPages(base, run, pages, 1)))) break
  }
  return hasPages
}

const ownOf = (run: SiteRun, addresses: readonly string[]): string[] =>
  addresses.flatMap(pageOf).filter((page) => belongsTo(run, run.url, page))

function pageOf(address: string): string[] {
  const url = URL.parse(address)
  if (url === null || url.href.length > MAX_LINK_CHARS || !/^https?:$/.test(url.protocol)) return []
  url.hash = ''
  return [url.href]
}

/**
 * Returns the part of a robots.txt that applies to this service, so that a hostile file costs little. The parser stores each rule once for each robot of its
 * group. Matching a pattern with `*` takes time in proportion to the lengths of pattern and URL.
 */
export function heeded(text: string, userAgent: string): string {
  const own = userAgent.toLowerCase()
  const lines: string[] = []
  let patterns = 0
  let rules = 0
  /** Robots of the group that is being read. */
  const robots = new Set<string>()
  let isNamingRobots = false
  for (const line of text.split(/\r\n|\r|\n/)) {
    const robot = /^\s*user-agent\s*:([^#]*)/i.exec(line)?.[1]?.split('/', 1)[0]?.trim().toLowerCase()
    if (robot === undefined) {
      if (!RULE.test(line)) continue
      isNamingRobots = false
      if (++rules > MAX_RULES) break
      if (line.includes('*')) patterns += line.length
      if (patterns <= PATTERN_CHARS || !line.includes('*')) lines.push(line)
      continue
    }
    const named = robot === '*' || robot === own ? robot : '-'
    if (!isNamingRobots) robots.clear()
    isNamingRobots = true
    // Each robot is written once per group. All other robots count as one.
    if (!robots.has(named)) lines.push(`user-agent: ${named}`)
    robots.add(named)
  }
  return lines.join('\n')
}

/** RFC 9309: a missing robots.txt allows everything; one that exists but cannot be fetched allows nothing. */
async function findRules({ fetch, userAgent, signal }: SiteParts, origin: string): Promise<HostRules> {
  const url = `${origin}/robots.txt`
  let text = ''
  try {
    const { body } = await fetch({ url, accept: 'text/plain', signal })
    text = Buffer.from(body.subarray(0, ROBOTS_BYTES)).toString('utf8')
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof FetchError) || error.status === undefined || error.status >= 500) throw toDocumentError(error)
  }
  return toRules(url, heeded(text, userAgent), userAgent)
}

/** Returns the rules of a robots.txt. A URL that would take too long to match is not allowed. */
export function toRules(url: string, text: string, userAgent: string): HostRules {
  const rules = robotsParser(url, text)
  const stepsPerChar = text.split('\n').reduce((sum, line) => sum + (line.includes('*') ? line.length : 1), 0)
  return {
    isAllowed: (page) => page.length * stepsPerChar <= MAX_MATCH_STEPS && rules.isAllowed(page, userAgent) !== false,
    delayMs: Math.min(rules.getCrawlDelay(userAgent) ?? 0, MAX_CRAWL_DELAY) * 1_000,
  }
}
