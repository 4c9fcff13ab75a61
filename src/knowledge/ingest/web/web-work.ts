import { DocumentError } from '../../../core/document-error.ts'
import { SlowOwners } from '../../../core/fairness/slow-owners.ts'
import { newId } from '../../../core/platform/ids.ts'
import type { Clock } from '../../../core/ports/ports.ts'
import type { NewSite, Site } from '../../../core/site.ts'
import type { FetchRules } from '../../../net/guarded-fetch.ts'
import type { KnowledgeBase, KnowledgeStore } from '../../../store/knowledge/base.ts'
import type { Extent } from '../../../store/knowledge/documents.ts'
import { type Fetch, failFetch, finishFetch, listFetches, startFetches } from '../../../store/knowledge/fetches.ts'
import {
  closeRun,
  forgetPages,
  judgeRun,
  type RemovalStep,
  removeGone,
  removeSome,
} from '../../../store/knowledge/site-removal.ts'
import {
  acceptSite,
  endRun,
  forgetAttempts,
  isOpen,
  listRuns,
  nextDue,
  openDueRuns,
  openRun,
  type SiteRun,
  startRuns,
} from '../../../store/knowledge/sites.ts'
import { type DocumentReaders, ReaderClosed } from '../../reader/reader.ts'
import type { Changes } from '../changes.ts'
import { LargePages, type LargePlace } from '../large-pages.ts'
import type { Owners } from '../owners.ts'
import { DueSites } from './due-sites.ts'
import { fetchPage, toDocumentError } from './fetch-page.ts'
import { NetQueue } from './net-queue.ts'
import { type Sitemaps, syncSite } from './sync-site.ts'

/** Delay before due sites are retried if the base could not be written. */
const TRY_DUE_AGAIN_MS = 60_000
/** Fewer than for a document: a crash counts for both, and the site should fail first. */
const MAX_ATTEMPTS = 3
const PAGES_AT_ONCE = { atOnce: 16, atOnceOfAgent: 4 }
/** The same for slow pages. */
const SLOW_PAGES_AT_ONCE = { atOnce: 16, atOnceOfAgent: 4 }
/** A page that takes longer while pages of other agents wait is fetched again in the queue for slow pages. */
const PAGE_TURN_MS = 1_000
const LOOK_MS = 250
/** The oldest pages, which are searched for slow ones. */
const LISTED_PAGES = 1_000
const SITES_AT_ONCE = { atOnce: 8, atOnceOfAgent: 2 }

export interface WebWorkParts {
  store: KnowledgeStore
  clock: Clock
  rules: FetchRules
  /** Delay between two pages of a site. */
  crawlDelayMs: number
  /** Milliseconds after which a site makes room for a site of another agent: a site may take hours. */
  siteTurnMs: number
  reader: DocumentReaders
  owners: Owners
  /** Called for each page that could not be fetched. */
  ended: (outcome: 'failed') => void
  changes: Changes
  /** Hides passages, in the transaction of the caller. */
  markDeleted: (agentId: string, base: KnowledgeBase, extents: readonly Extent[]) => void
  /** Called if there may be room for more work of an agent, or its work may be complete. */
  wake: (agentId: string) => void
}

/** Fetches pages and sites in the background, and refreshes sites when they are due. */
export class WebWork {
  readonly #parts: WebWorkParts
  readonly #fetches: NetQueue<Fetch>
  readonly #slowFetches: NetQueue<Fetch>
  /** Pages that were slow while others waited, by agent. */
  readonly #slowPages = new Map<string, Set<number>>()
  /** Agents whose pages are all fetched in the queue for slow pages. */
  readonly #slowAgents = new SlowOwners()
  readonly #sites: NetQueue<SiteRun>
  readonly #largePages = new LargePages()
  /** For slow pages and for sites, which may keep their slots for long. */
  readonly #slowLargePages = new LargePages()
  readonly #due: DueSites
  /** By site: the sitemaps of a run that waits for its next turn. After a restart they are read again. */
  readonly #sitemaps = new Map<string, Sitemaps & { run: number }>()
  /** Agents whose stored due time is known to be correct: a crash may have come between a commit and the due time. */
  readonly #noted = new Set<string>()

  constructor(parts: WebWorkParts) {
    this.#parts = parts
    const { store, clock, wake, owners } = parts
    const fetches = { start: startFetches, wake, owners }
    this.#fetches = new NetQueue({
      ...fetches,
      ...PAGES_AT_ONCE,
      list: (base, except, most, agentId) => {
        if (this.#slowAgents.has(agentId, performance.now())) return []
        const slow = this.#slowPages.get(agentId) ?? []
        return listFetches(base, new Set([...except, ...slow, ...this.#slowFetches.numbersOf(agentId)]), most)
      },
      turnMs: PAGE_TURN_MS,
      run: (agentId, task, signal, isTurnOver) => this.#fetchInTurn(agentId, task, signal, isTurnOver),
    })
    this.#slowFetches = new NetQueue({
      ...fetches,
      ...SLOW_PAGES_AT_ONCE,
      list: (base, except, most, agentId) => {
        const slow = this.#slowPages.get(agentId)
        const areAll = this.#slowAgents.has(agentId, performance.now())
        if (!areAll && slow === undefined) return []
        const found = listFetches(base, new Set([...except, ...this.#fetches.numbersOf(agentId)]), areAll ? most : LISTED_PAGES)
        return found.filter(({ number }) => areAll || slow!.has(number)).slice(0, most)
      },
      // A page is fetched as a whole.
      turnMs: Number.POSITIVE_INFINITY,
      run: (agentId, task, signal) =>
        this.#fetch(this.#slowLargePages.placeFor(owners.ownerOf(agentId)), agentId, task, signal).finally(() =>
          this.#forgetSlowPage(agentId, task),
        ),
    })
    this.#sites = new NetQueue({
      ...SITES_AT_ONCE,
      list: listRuns,
      start: startRuns,
      turnMs: parts.siteTurnMs,
      run: (agentId, run, signal, isTurnOver) => this.#sync(agentId, run, signal, isTurnOver),
      wake,
      owners,
    })
    this.#due = new DueSites(store, (agentId) => {
      this.#commitSites(agentId, (base) => openDueRuns(base, clock())).catch(() =>
        this.#due.set(agentId, clock() + TRY_DUE_AGAIN_MS),
      )
    })
  }

  get #queues() {
    return [this.#fetches, this.#slowFetches, this.#sites]
  }

  addSite(agentId: string, id: string, site: NewSite): Promise<Site> {
    return this.#commitSites(agentId, (base) => acceptSite(base, id, site, this.#parts.clock()))
  }

  refreshSite(agentId: string, id: string): Promise<Site | undefined> {
    return this.#commitSites(agentId, (base) => openRun(base, id, this.#parts.clock()))
  }

  /** Removes the site in small transactions, because the documents of all agents wait for each one. */
  async removeSite(agentId: string, id: string): Promise<boolean> {
    this.#forgetSitemaps(agentId)
    if (!(await this.#commitSites(agentId, (base) => closeRun(base, id)))) return false
    for (let isLeft = true; isLeft && this.#isThere(agentId); )
      isLeft = await this.#commitSites(agentId, (base) => {
        const extents = removeSome(base, id)
        this.#parts.markDeleted(agentId, base, extents ?? [])
        return extents !== undefined
      })
    return true
  }

  /** Returns false if the agent was deleted: its base must not be created again. */
  #isThere(agentId: string): boolean {
    return this.#noted.has(agentId)
  }

  /** Reads the due times that other processes stored. */
  lookForDue(): void {
    this.#due.look()
  }

  isBusy(agentId: string): boolean {
    return this.#queues.some((queue) => queue.isBusy(agentId))
  }

  /** Starts waiting work of an agent, as far as there are free slots. */
  fill(agentId: string, base: KnowledgeBase): void {
    if (!this.#noted.has(agentId)) this.#note(agentId, nextDue(base))
    for (const queue of this.#queues) queue.fill(agentId, base)
  }

  /** Removes the agent from all queues: another process does its work, or the work was stopped. */
  leave(agentId: string): void {
    for (const queue of this.#queues) queue.leave(agentId)
  }

  removeAgent(agentId: string): void {
    this.#forgetSitemaps(agentId)
    for (const queue of this.#queues) queue.removeAgent(agentId)
    this.#slowPages.delete(agentId)
    this.#due.set(agentId, null)
    this.#noted.delete(agentId)
  }

  /** Aborts the work in progress, which is resumed after the next start. */
  close(): void {
    // An orderly shutdown does not count as an attempt.
    for (const [agentId, sites] of this.#sites.underWay()) {
      const forget = (base: KnowledgeBase) => {
        for (const site of sites) forgetAttempts(base, site)
      }
      this.#parts.changes.commit(agentId, forget).catch(() => {})
    }
    for (const queue of this.#queues) queue.close()
    this.#due.close()
  }

  /** Commits a change that may affect when sites are due. */
  async #commitSites<T>(agentId: string, run: (base: KnowledgeBase) => T): Promise<T> {
    const done = await this.#parts.changes.commit(agentId, (base) => ({ result: run(base), due: nextDue(base) }))
    // Undefined if the agent was removed in between.
    if (done !== undefined) this.#note(agentId, done.due)
    return done?.result as T
  }

  #forgetSitemaps(agentId: string): void {
    for (const place of this.#sitemaps.keys()) if (place.startsWith(`${agentId} `)) this.#sitemaps.delete(place)
  }

  #note(agentId: string, due: number | null): void {
    this.#due.set(agentId, due)
    this.#noted.add(agentId)
  }

  async #sync(agentId: string, run: SiteRun, signal: AbortSignal, isTurnOver: () => boolean): Promise<void> {
    const { rules, reader, owners, clock, crawlDelayMs, changes } = this.#parts
    const place = `${agentId} ${run.number}`
    const kept = this.#sitemaps.get(place)
    const sitemaps = kept?.run === run.run ? kept : { run: run.run, seen: new Set<string>(), waiting: [] }
    this.#sitemaps.delete(place)
    let failure: DocumentError | undefined
    const large = this.#slowLargePages.placeFor(owners.ownerOf(agentId))
    try {
      if (run.attempts >= MAX_ATTEMPTS)
        throw new DocumentError('internal_error', 'Reading this site stopped the service several times.')
      const isDone = await syncSite(
        {
          fetch: (input) => {
            // A site has one large page in memory at a time.
            large.give()
            return fetchPage(rules, { ...input, whenLarge: large.take })
          },
          read: (what, input) => reader.read(what, input, owners.ownerOf(agentId), () => !signal.aborted),
          commit: (work) => {
            // The base of a deleted agent must not be created again.
            signal.throwIfAborted()
            return changes.commit(agentId, work)
          },
          commitContent: (content, work) => {
            signal.throwIfAborted()
            return changes.commitContent(agentId, content, work)
          },
          clock,
          ids: newId,
          userAgent: rules.userAgent,
          pauseMs: crawlDelayMs,
          signal,
          isTurnOver,
          sitemaps,
        },
        run,
      )
      // The base of a deleted agent must not be created again.
      signal.throwIfAborted()
      if (!isDone) {
        this.#sitemaps.set(place, sitemaps)
        await changes.commit(agentId, (base) => forgetAttempts(base, run.number))
        return
      }
    } catch (error) {
      // The service is stopping, or the agent was deleted. The run continues after the next start.
      if (signal.aborted || error instanceof ReaderClosed) return
      failure = error instanceof DocumentError ? error : toDocumentError(error)
    } finally {
      large.give()
    }
    await this.#removeUnfound(agentId, run, signal, failure !== undefined)
    if (!signal.aborted) await this.#commitSites(agentId, (base) => endRun(base, run, failure, clock()))
  }

  /**
   * Removes what the run did not find, in small transactions. The run stays open until then, and continues here after a crash. If the run failed, only deletes
   * pages of earlier runs.
   */
  async #removeUnfound(agentId: string, run: SiteRun, signal: AbortSignal, hasFailed: boolean): Promise<void> {
    const { changes, markDeleted } = this.#parts
    const commit = <T>(work: (base: KnowledgeBase) => T): Promise<T | undefined> =>
      signal.aborted
        ? Promise.resolve(undefined)
        : changes.commit(agentId, (base) => (isOpen(base, run) ? work(base) : undefined))
    const finding: RemovalStep = (!hasFailed && (await commit((base) => judgeRun(base, run)))) || 'broken'
    const removeNext = (after: number) =>
      commit((base) => {
        const { extents, last } = removeGone(base, run, finding, after)
        markDeleted(agentId, base, extents)
        return last
      })
    for (let after: number | undefined = hasFailed ? undefined : 0; after !== undefined; ) after = await removeNext(after)
    const forgetNext = (after: string) => commit((base) => forgetPages(base, run, finding, after))
    for (let after: string | undefined = ''; after !== undefined; ) after = await forgetNext(after)
  }

  /** Aborts the fetch if it takes longer than its turn and other agents wait. The page is then fetched again as a slow one. */
  async #fetchInTurn(
    agentId: string,
    task: Fetch,
    signal: AbortSignal,
    isTurnOver: (pausedMs: number) => boolean,
  ): Promise<void> {
    const own = new AbortController()
    const place = this.#largePages.placeFor(this.#parts.owners.ownerOf(agentId))
    const looking = setInterval(() => {
      if (isTurnOver(place.waitedMs()) || place.isOverdue(PAGE_TURN_MS)) own.abort()
    }, LOOK_MS)
    await this.#fetch(place, agentId, task, AbortSignal.any([signal, own.signal])).finally(() => clearInterval(looking))
    if (!own.signal.aborted || signal.aborted) return
    this.#slowAgents.note(agentId, performance.now())
    this.#slowPages.set(agentId, (this.#slowPages.get(agentId) ?? new Set()).add(task.number))
  }

  #forgetSlowPage(agentId: string, { number }: Fetch): void {
    const pages = this.#slowPages.get(agentId)
    pages?.delete(number)
    if (pages?.size === 0) this.#slowPages.delete(agentId)
  }

  async #fetch(place: LargePlace, agentId: string, task: Fetch, signal: AbortSignal): Promise<void> {
    await this.#fetchIn(place, agentId, task, signal).finally(place.give)
  }

  async #fetchIn(place: LargePlace, agentId: string, task: Fetch, signal: AbortSignal): Promise<void> {
    const { rules, clock, changes, ended } = this.#parts
    let keep: () => Promise<void>
    try {
      const fetched = await fetchPage(rules, { ...task, signal, whenLarge: place.take })
      keep = () => changes.commitContent(agentId, fetched.body, (base, large) => finishFetch(base, task, fetched, clock(), large))
    } catch (error) {
      // The service is stopping, or the agent was deleted: the page is not marked as failed.
      if (signal.aborted) return
      const failure = toDocumentError(error)
      keep = () => changes.commit(agentId, (base) => failFetch(base, task, failure, clock()))
      ended('failed')
    }
    // A page that could not be stored is fetched again later.
    if (!signal.aborted) await keep().catch(() => {})
  }
}
