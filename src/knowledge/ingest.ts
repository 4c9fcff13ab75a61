import { setImmediate as nextTurn, setTimeout as pauseMs } from 'node:timers/promises'
import type { Document, Metadata, NewDocument } from '../core/document.ts'
import { DocumentError } from '../core/document-error.ts'
import { newId } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { NewSite, Site } from '../core/site.ts'
import { FETCH_RULES, type FetchRules } from '../net/guarded-fetch.ts'
import { acceptDocument, acceptVersion, changeDocument, type Extent, removeDocument } from '../store/knowledge-documents.ts'
import { type Fetch, failFetch, finishFetch, listFetches, startFetches } from '../store/knowledge-fetches.ts'
import { KnowledgeFile } from '../store/knowledge-file.ts'
import { bury, buryStaged, eraseSome, mergeSome, raiseVersion } from '../store/knowledge-index.ts'
import {
  acceptSite,
  endRun,
  listRuns,
  nextDue,
  openDueRuns,
  openRun,
  removeSite,
  type SiteRun,
  startRuns,
} from '../store/knowledge-sites.ts'
import { forgiveTasks } from '../store/knowledge-tasks.ts'
import type { Unembedded } from '../store/knowledge-vectors.ts'
import { DueSites } from './due-sites.ts'
import { fetchPage, toDocumentError } from './fetch-page.ts'
import { fileOf, markPending, unmarkPending } from './files.ts'
import { INDEX_LIMITS, type IndexLimits, indexSome } from './index-documents.ts'
import { NetQueue } from './net-queue.ts'
import { kindOf } from './read/kind.ts'
import { type ReadDocument, type ReadInput, readDocument } from './read/read.ts'
import { DocumentReader, READ_LIMITS, ReaderClosed, type ReadLimits } from './reader/reader.ts'
import { syncSite } from './sync-site.ts'
import { putVectors, takeUnembedded } from './vectors/build.ts'

interface Job {
  agentId: string
  run: (file: KnowledgeFile) => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

export interface IngestOptions {
  folder: string
  clock: Clock
  /** Left out: the usual. */
  fetch?: FetchRules
  read?: ReadLimits
  /** Between two pages of a site. */
  crawlDelayMs?: number
  /** Told when an agent has new passages. */
  onIndexed?: (agentId: string) => void
  index?: IndexLimits
}

/** Some 10 ms of reading. */
const MAX_PLAIN_BYTES = 1_048_576
/** A burst of changes waits for the disk so often at most: conversations wait for the same disk. */
const FLUSH_EVERY_MS = 20
/** Sites that are due, in a file that could not be written. */
const TRY_DUE_AGAIN_MS = 60_000
const PAGES_AT_ONCE = { atOnce: 8, atOnceOfAgent: 4 }
const SITES_AT_ONCE = { atOnce: 4, atOnceOfAgent: 2 }

/** Files kept open for writing. */
const OPEN_FILES = 16
/** Deleted text stays in the write-ahead log until that is folded into the file; a burst of deletes shares one pass. */
const SCRUB_AFTER_MS = 200
/** Work starts when no change has come for so long, or the first has waited so long: what is indexed together costs far less. */
const QUIET_MS = 25
const MAX_WAIT_MS = 500
/** An agent without changes for so long has its index joined into one. */
const REST_AFTER_MS = 1_000
/** A full disk or a lock held by a backup may pass. */
const MAX_FAILURES = 3
const RETRY_AFTER_MS = 2_000

/**
 * The one writer of all knowledge files: takes documents in, indexes them in the background, removes and merges.
 * Lives in a thread of its own; agents take turns.
 */
export class Ingest {
  readonly #folder: string
  readonly #clock: Clock
  readonly #fetchRules: FetchRules
  readonly #crawlDelayMs: number
  readonly #onIndexed: (agentId: string) => void
  readonly #limits: IndexLimits
  readonly #reader: DocumentReader
  readonly #fetches: NetQueue<Fetch>
  readonly #sites: NetQueue<SiteRun>
  readonly #due: DueSites
  readonly #files = new Map<string, KnowledgeFile>()
  #jobs: Job[] = []
  #flushedAt = Number.NEGATIVE_INFINITY
  /** Agents with something to be done, in the order of their turns. */
  readonly #waiting = new Set<string>()
  readonly #marked = new Set<string>()
  readonly #unscrubbed = new Set<string>()
  readonly #failures = new Map<string, number>()
  /** Agents whose documents may hold blame for the end of the process. */
  readonly #unforgiven = new Set<string>()
  #scrubTimer: NodeJS.Timeout | undefined
  /** Agents that came to the end of their work lately, and those among the waiting that are only to be tidied up. */
  readonly #resting = new Set<string>()
  readonly #tidying = new Set<string>()
  #restTimer: NodeJS.Timeout | undefined
  #lastJobAt = 0
  #running: Promise<void> | undefined
  #active: string | undefined
  #closing = false

  constructor({
    folder,
    clock,
    fetch = FETCH_RULES,
    read = READ_LIMITS,
    crawlDelayMs = 250,
    index = INDEX_LIMITS,
    onIndexed = () => {},
  }: IngestOptions) {
    this.#folder = folder
    this.#clock = clock
    this.#fetchRules = fetch
    this.#crawlDelayMs = crawlDelayMs
    this.#onIndexed = onIndexed
    this.#limits = index
    this.#reader = new DocumentReader(read)
    const wake = (agentId: string) => {
      if (!this.#closing && this.#marked.has(agentId)) this.#schedule(agentId)
    }
    this.#fetches = new NetQueue({
      ...PAGES_AT_ONCE,
      list: listFetches,
      start: startFetches,
      run: (agentId, task, signal) => this.#fetch(agentId, task, signal),
      wake,
    })
    this.#sites = new NetQueue({
      ...SITES_AT_ONCE,
      list: listRuns,
      start: startRuns,
      run: (agentId, run, signal) => this.#sync(agentId, run, signal),
      wake,
    })
    this.#due = new DueSites(folder, (agentId) => {
      this.#commitSites(agentId, (file) => openDueRuns(file, this.#clock())).catch(() =>
        this.#due.set(agentId, this.#clock() + TRY_DUE_AGAIN_MS),
      )
    })
  }

  add(agentId: string, id: string, document: NewDocument): Promise<Document> {
    const at = this.#clock()
    return this.#commit(agentId, (file) => acceptDocument(file, id, document, at))
  }

  replace(agentId: string, id: string, document: NewDocument): Promise<Document | undefined> {
    const at = this.#clock()
    return this.#commit(agentId, (file) => acceptVersion(file, id, document, at))
  }

  change(agentId: string, id: string, change: { title?: string; metadata?: Metadata }): Promise<Document | undefined> {
    const at = this.#clock()
    return this.#commit(agentId, (file) => {
      raiseVersion(file)
      this.#unscrubbed.add(agentId)
      return changeDocument(file, id, change, at)
    })
  }

  remove(agentId: string, id: string): Promise<boolean> {
    return this.#commit(agentId, (file) => {
      const extent = removeDocument(file, id)
      if (extent === undefined) return false
      this.#bury(agentId, file, [extent])
      return true
    })
  }

  addSite(agentId: string, id: string, site: NewSite): Promise<Site> {
    return this.#commitSites(agentId, (file) => acceptSite(file, id, site, this.#clock()))
  }

  refreshSite(agentId: string, id: string): Promise<Site | undefined> {
    return this.#commitSites(agentId, (file) => openRun(file, id, this.#clock()))
  }

  removeSite(agentId: string, id: string): Promise<boolean> {
    return this.#commitSites(agentId, (file) => {
      const extents = removeSite(file, id)
      this.#bury(agentId, file, extents ?? [])
      return extents !== undefined
    })
  }

  /** Passages that still need a vector of this model. */
  takeUnembedded(agentId: string, model: string, most: number): Unembedded[] {
    return takeUnembedded(this.#open(agentId), model, most)
  }

  /** False where they are of no use any more. */
  putVectors(agentId: string, model: string, ids: number[], vectors: Float32Array[]): boolean {
    return putVectors(this.#open(agentId), model, ids, vectors)
  }

  /**
   * Takes up the work of these agents, as `markPending` left it noted. `hasDied`: a thread before this one ended over it, and what was under
   * way may be the cause; the end of the whole process is nobody's fault.
   */
  resume(agentIds: readonly string[], hasDied = false): void {
    for (const agentId of agentIds) {
      if (!hasDied) this.#unforgiven.add(agentId)
      this.#marked.add(agentId)
      this.#schedule(agentId)
    }
  }

  removeAgent(agentId: string): void {
    for (const queue of [this.#fetches, this.#sites]) queue.removeAgent(agentId)
    for (const agents of [this.#waiting, this.#unscrubbed, this.#resting, this.#tidying]) agents.delete(agentId)
    for (const job of this.#jobs.filter((job) => job.agentId === agentId)) job.resolve(undefined as never)
    this.#jobs = this.#jobs.filter((job) => job.agentId !== agentId)
    this.#close(agentId)
    KnowledgeFile.remove(fileOf(this.#folder, agentId))
    this.#due.set(agentId, null)
    this.#unmark(agentId)
  }

  /** Waits for the transaction under way; what is still to be done is taken up after the next start. */
  async close(): Promise<void> {
    this.#closing = true
    for (const queue of [this.#fetches, this.#sites]) queue.close()
    this.#due.close()
    this.#flush()
    clearTimeout(this.#scrubTimer)
    clearTimeout(this.#restTimer)
    this.#reader.close()
    await this.#running
    for (const [agentId, file] of this.#files) {
      file.scrub()
      this.#close(agentId)
    }
  }

  /** All changes asked for at about the same time share one transaction an agent, and one wait for the disk. */
  #commit<T>(agentId: string, run: (file: KnowledgeFile) => T): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#jobs.push({ agentId, run, resolve, reject }) > 1) return
      const wait = this.#flushedAt + FLUSH_EVERY_MS - performance.now()
      if (wait > 0) setTimeout(() => this.#flush(), wait)
      else setImmediate(() => this.#flush())
    })
  }

  #flush(): void {
    this.#flushedAt = performance.now()
    const jobs = this.#jobs
    this.#jobs = []
    for (const [agentId, group] of Map.groupBy(jobs, (job) => job.agentId)) this.#together(agentId, group)
  }

  #together(agentId: string, jobs: readonly Job[]): void {
    try {
      const file = this.#open(agentId)
      this.#mark(agentId)
      const results = file.write(() => jobs.map((job) => job.run(file)))
      for (const [i, job] of jobs.entries()) job.resolve(results[i] as never)
      this.#lastJobAt = performance.now()
      this.#tidying.delete(agentId)
      this.#schedule(agentId)
    } catch (error) {
      // One that fails must not fail the others: each gets a transaction of its own.
      if (jobs.length === 1) jobs[0]!.reject(error)
      else for (const job of jobs) this.#together(agentId, [job])
    }
  }

  #open(agentId: string): KnowledgeFile {
    let file = this.#files.get(agentId)
    if (file === undefined) {
      file = KnowledgeFile.openToWrite(fileOf(this.#folder, agentId))
      const opened = file
      opened.write(() => buryStaged(opened))
      for (const idle of this.#files.keys()) {
        if (this.#files.size < OPEN_FILES) break
        if (idle !== this.#active && !this.#waiting.has(idle) && !this.#unscrubbed.has(idle)) this.#close(idle)
      }
    } else this.#files.delete(agentId)
    this.#files.set(agentId, file)
    return file
  }

  #close(agentId: string): void {
    this.#files.get(agentId)?.close()
    this.#files.delete(agentId)
  }

  #schedule(agentId: string): void {
    this.#waiting.add(agentId)
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
  }

  async #work(): Promise<void> {
    for (;;) {
      await this.#quiet()
      const [agentId] = this.#waiting
      if (agentId === undefined || this.#closing) return
      this.#waiting.delete(agentId)
      this.#active = agentId
      const more = await this.#tryTurn(agentId)
      this.#active = undefined
      // An agent without a mark was deleted meanwhile.
      if (more && (this.#marked.has(agentId) || this.#tidying.has(agentId))) this.#waiting.add(agentId)
      else if (!this.#waiting.has(agentId) && (this.#marked.has(agentId) || this.#tidying.has(agentId))) this.#rest(agentId)
    }
  }

  /** Lets requests in, and waits for the end of a burst of them, but not for long. */
  async #quiet(): Promise<void> {
    const start = performance.now()
    await nextTurn()
    while (!this.#closing && performance.now() - this.#lastJobAt < QUIET_MS && performance.now() - start < MAX_WAIT_MS)
      await pauseMs(QUIET_MS / 3)
  }

  #rest(agentId: string): void {
    if (this.#fetches.isBusy(agentId) || this.#sites.isBusy(agentId)) return
    // Commits that did not wait for the disk must be on it before the note is gone that there is work.
    const file = this.#files.get(agentId)
    if (this.#marked.has(agentId)) file?.write(() => file.run('UPDATE manifest SET version = version'))
    this.#unmark(agentId)
    if (this.#tidying.delete(agentId)) return
    this.#resting.add(agentId)
    clearTimeout(this.#restTimer)
    this.#restTimer = setTimeout(() => {
      for (const rested of this.#resting) {
        this.#tidying.add(rested)
        this.#schedule(rested)
      }
      this.#resting.clear()
    }, REST_AFTER_MS)
  }

  async #tryTurn(agentId: string): Promise<boolean> {
    try {
      const more = await this.#turn(agentId)
      this.#failures.delete(agentId)
      return more
    } catch (error) {
      const failures = (this.#failures.get(agentId) ?? 0) + 1
      // Deleted meanwhile.
      if (!this.#marked.has(agentId) && !this.#tidying.has(agentId)) return false
      if (failures >= MAX_FAILURES) {
        // Left alone until the next change or start, so that the others get their turns.
        process.emitWarning(`the knowledge base of agent ${agentId} cannot be written: ${String(error)}`)
        this.#marked.delete(agentId)
        this.#failures.delete(agentId)
        return false
      }
      this.#failures.set(agentId, failures)
      await pauseMs(RETRY_AFTER_MS)
      return true
    }
  }

  /** One piece of an agent's work: erasing before indexing, indexing before merging. False when nothing is left. */
  async #turn(agentId: string): Promise<boolean> {
    const file = this.#open(agentId)
    if (this.#unforgiven.delete(agentId)) file.write(() => forgiveTasks(file))
    if (eraseSome(file)) {
      this.#unscrubbed.add(agentId)
      return true
    }
    if (this.#unscrubbed.has(agentId)) this.#scrubSoon()
    for (const queue of [this.#fetches, this.#sites]) queue.fill(agentId, file)
    const isOver = () => this.#closing || !this.#files.has(agentId)
    const read = (input: ReadInput) => this.#read(input)
    if (await indexSome(file, { clock: this.#clock, limits: this.#limits, read, isOver })) {
      this.#onIndexed(agentId)
      return true
    }
    return mergeSome(file, () => KnowledgeFile.openToRead(fileOf(this.#folder, agentId))!, this.#tidying.has(agentId))
  }

  /** Plain text needs no program that could be broken: here it is read at once, elsewhere it would wait for a process. */
  async #read(input: ReadInput): Promise<ReadDocument> {
    const kind = kindOf(input.content, input.mediaType, input.filename)
    const isPlain = (kind === 'text' || kind === 'markdown') && input.content.length <= MAX_PLAIN_BYTES
    return isPlain ? readDocument(input) : this.#reader.read('document', input)
  }

  /** A change that may change when sites are due. */
  async #commitSites<T>(agentId: string, run: (file: KnowledgeFile) => T): Promise<T> {
    const done = await this.#commit(agentId, (file) => ({ result: run(file), due: nextDue(file) }))
    // Undefined where the agent was removed meanwhile.
    if (done !== undefined) this.#due.set(agentId, done.due)
    return done?.result as T
  }

  #bury(agentId: string, file: KnowledgeFile, extents: readonly Extent[]): void {
    if (extents.length === 0) return
    for (const { first, last, indexedTitle } of extents) bury(file, first, last, indexedTitle)
    raiseVersion(file)
    this.#unscrubbed.add(agentId)
  }

  async #sync(agentId: string, run: SiteRun, signal: AbortSignal): Promise<void> {
    let failure: DocumentError | undefined
    try {
      await syncSite(
        {
          fetch: (input) => fetchPage(this.#fetchRules, input),
          reader: this.#reader,
          commit: (work) => {
            // A file of an agent that is gone must not come back.
            signal.throwIfAborted()
            return this.#commit(agentId, work)
          },
          clock: this.#clock,
          ids: newId,
          userAgent: this.#fetchRules.userAgent,
          pauseMs: this.#crawlDelayMs,
          signal,
        },
        run,
      )
    } catch (error) {
      // Going down, or the agent is gone: the run goes on after the next start.
      if (signal.aborted || error instanceof ReaderClosed) return
      failure = error instanceof DocumentError ? error : toDocumentError(error)
    }
    if (signal.aborted) return
    await this.#commitSites(agentId, (file) => this.#bury(agentId, file, endRun(file, run, failure, this.#clock())))
  }

  async #fetch(agentId: string, task: Fetch, signal: AbortSignal): Promise<void> {
    let keep: (file: KnowledgeFile) => void
    try {
      const fetched = await fetchPage(this.#fetchRules, { ...task, signal })
      keep = (file) => finishFetch(file, task, fetched, this.#clock())
    } catch (error) {
      // Going down, or the agent is gone: nothing is said about the page.
      if (signal.aborted) return
      const failure = toDocumentError(error)
      keep = (file) => failFetch(file, task, failure, this.#clock())
    }
    // What could not be kept is fetched again later.
    if (!signal.aborted) await this.#commit(agentId, keep).catch(() => {})
  }

  #scrubSoon(): void {
    this.#scrubTimer ??= setTimeout(() => {
      this.#scrubTimer = undefined
      for (const agentId of this.#unscrubbed) {
        const file = this.#files.get(agentId)
        if (file === undefined || file.scrub()) this.#unscrubbed.delete(agentId)
      }
      if (this.#unscrubbed.size > 0) this.#scrubSoon()
    }, SCRUB_AFTER_MS)
  }

  #mark(agentId: string): void {
    if (this.#marked.has(agentId)) return
    markPending(this.#folder, agentId)
    this.#marked.add(agentId)
  }

  #unmark(agentId: string): void {
    if (this.#marked.delete(agentId)) unmarkPending(this.#folder, agentId)
  }
}
