import { setImmediate as nextTurn, setTimeout as pauseMs } from 'node:timers/promises'
import type { Document, Metadata, NewDocument } from '../../core/document.ts'
import { partOf } from '../../core/fairness/in-turn.ts'
import { TurnShares } from '../../core/fairness/turn-shares.ts'
import type { Clock } from '../../core/ports/ports.ts'
import type { NewSite, Site } from '../../core/site.ts'
import { FETCH_RULES, type FetchRules } from '../../net/guarded-fetch.ts'
import { BaseBusy, type KnowledgeBase, type KnowledgeStore } from '../../store/knowledge/base.ts'
import { deletePieces } from '../../store/knowledge/contents.ts'
import { deleteDocumentEvents, listDocumentEvents } from '../../store/knowledge/document-outbox.ts'
import { acceptDocument, acceptVersion, changeDocument, type Extent, removeDocument } from '../../store/knowledge/documents.ts'
import { eraseSome, giveUpStaged, isToErase, markDeleted, raiseVersion } from '../../store/knowledge/index/index.ts'
import { emptySome, Merge } from '../../store/knowledge/index/merge.ts'
import { countSegments } from '../../store/knowledge/index/segments.ts'
import { isOutdated, READING, rereadAll, type Task } from '../../store/knowledge/tasks.ts'
import { eraseDropped, hasDropped, type Unembedded } from '../../store/knowledge/vectors.ts'
import { isTransient } from '../../store/transient.ts'
import { growNear, type NearProgress, putVectors, takeUnembedded } from '../query/vectors/build.ts'
import type { ReadInput } from '../read/read.ts'
import { DocumentReaders, READ_LIMITS, type ReadLimits } from '../reader/reader.ts'
import { Changes } from './changes.ts'
import { FairRoom } from './fair-room.ts'
import { INDEX_LIMITS, type IndexLimits, indexSome, releaseAll, SERVER_LIMITS } from './index-documents.ts'
import { LargeDocuments } from './large-documents.ts'
import { OpenBases } from './open-bases.ts'
import { Owners } from './owners.ts'
import { heldCharsOf } from './passage-list.ts'
import { type DocumentReading, isQuickToRead } from './read-documents.ts'
import { Removals } from './removals.ts'
import { SlowReadings, SMALL_BYTES } from './slow-readings.ts'
import { Bursts } from './web/bursts.ts'
import { WebWork } from './web/web-work.ts'
import { whenFree } from './when-free.ts'
import { WriteFailure } from './write-documents.ts'

export interface IngestOptions {
  store: KnowledgeStore
  clock: Clock
  /** Default: `FETCH_RULES`. */
  fetch?: FetchRules
  read?: ReadLimits
  /** Delay between two pages of a site. */
  crawlDelayMs?: number
  siteTurnMs?: number
  /** Delay before an agent is retried after a turn that failed. */
  retryAfterMs?: number
  /** Time without changes after which the index of an agent is merged. */
  tidyAfterMs?: number
  /** Called when an agent has new passages, or passages whose embedding was orphaned. */
  onIndexed?: (agentId: string) => void
  /** Called for each document that was indexed or failed. */
  onEnded?: (outcome: 'ready' | 'failed') => void
  /** Called with the number of agents that have pending work when it may have changed. */
  onMarked?: (agents: number) => void
  index?: Partial<IndexLimits>
  /** Reports errors of background work, which has no caller. */
  warn?: (about: string, error: unknown) => void
}

/** How often to check if an agent's burst of changes is over. */
const LOOK_FOR_QUIET_EVERY_MS = 8
/** An agent waits this share of its last turn, up to `MOST_PATIENCE_MS`, for an agent with less used time that is in a burst of changes. */
const PATIENCE = 0.1
const MOST_PATIENCE_MS = 40
/** How often to check for work that other processes left. */
const LOOK_EVERY_MS = 1_000
/** One of this many checks also removes bases of deleted agents: a process may end before it removes the base of an agent that it deleted. */
const ORPHANS_EVERY = 30
/** One of this many checks also deletes removed bases that are still on the disk. */
const SWEEP_EVERY = 3_600
const TIDY_AFTER_MS = 1_000
/** An agent with more segments merges some even while documents wait, because a search reads each segment. */
const MOST_SEGMENTS = 64
/** Longest time that an agent's documents wait for its cleaning. */
const MOST_CLEAN_MS = 1_000
/** Failures in a row after which the work of an agent stops. Transient errors, such as a full disk or a lock, are always retried. */
const MAX_FAILURES = 3
const RETRY_AFTER_MS = 2_000
const RETRY_AT_LEAST_EVERY_MS = 15_000
/** Bytes of documents in memory that are being read while others are indexed. */
const MOST_READ_BYTES = 134_217_728
/** A content that another process began to write longer ago is orphaned. */
const WRITTEN_WITHIN_MS = 3_600_000
const NO_BYTES = new Uint8Array(0)

/**
 * The only writer of all knowledge bases: accepts documents, indexes them in the background, deletes and merges.
 * Runs in its own thread. Agents take turns.
 */
export class Ingest {
  readonly #store: KnowledgeStore
  readonly #clock: Clock
  readonly #startedAt: number
  readonly #onIndexed: (agentId: string) => void
  readonly #onEnded: (outcome: 'ready' | 'failed') => void
  readonly #onMarked: (agents: number) => void
  readonly #warn: (about: string, error: unknown) => void
  readonly #retryAfterMs: number
  readonly #tidyAfterMs: number
  readonly #limits: IndexLimits
  readonly #reader: DocumentReaders
  readonly #bases: OpenBases
  readonly #changes: Changes
  readonly #web: WebWork
  readonly #removals: Removals
  /** Agents with work to do. `#shares` chooses the next. */
  readonly #waiting = new Set<string>()
  /** Agents whose pending work is marked on the disk. */
  readonly #marked = new Set<string>()
  /** Agents whose base is known not to be outdated. */
  readonly #current = new Set<string>()
  readonly #failures = new Map<string, number>()
  /** Timers of agents whose base could not be written and is retried. */
  readonly #later = new Map<string, NodeJS.Timeout>()
  /** By agent: attempts that do not count and are not yet subtracted in the store. */
  readonly #unreleased = new Map<string, Set<Task>>()
  /** Slow documents, by agent. */
  readonly #slow = new Map<string, SlowReadings<Task, DocumentReading | undefined>>()
  /** Memory for documents that are being read. */
  readonly #room: FairRoom
  readonly #large: LargeDocuments
  /** Agents that finished their work recently, and waiting agents whose index is only to be merged. */
  readonly #resting = new Set<string>()
  readonly #tidying = new Set<string>()
  /** By agent with documents to index: milliseconds that its turns clean before one indexes again. */
  readonly #cleanMs = new Map<string, number>()
  /** Merges in progress, by agent. */
  readonly #merges = new Map<string, Merge>()
  #restTimer: NodeJS.Timeout | undefined
  #lookTimer: NodeJS.Timeout | undefined
  #looks = 0
  readonly #bursts = new Bursts()
  readonly #owners = new Owners()
  readonly #shares = new TurnShares()
  #running: Promise<void> | undefined
  #active: string | undefined
  /** By agent with more work: milliseconds that its last turn took. */
  readonly #turnMs = new Map<string, number>()
  #closing = false

  constructor({
    store,
    clock,
    fetch = FETCH_RULES,
    read = READ_LIMITS,
    crawlDelayMs = 250,
    siteTurnMs = 60_000,
    retryAfterMs = RETRY_AFTER_MS,
    tidyAfterMs = TIDY_AFTER_MS,
    index = {},
    onIndexed = () => {},
    onEnded = () => {},
    onMarked = () => {},
    warn = () => {},
  }: IngestOptions) {
    this.#store = store
    this.#clock = clock
    this.#startedAt = clock()
    this.#onIndexed = onIndexed
    this.#onEnded = onEnded
    this.#onMarked = onMarked
    this.#warn = warn
    this.#retryAfterMs = retryAfterMs
    this.#tidyAfterMs = tidyAfterMs
    this.#limits = { ...INDEX_LIMITS, ...(store.isShared ? SERVER_LIMITS : {}), ...index }
    const inTurn = {
      owners: this.#owners,
      next: (agentIds: Iterable<string>) => this.#least(agentIds, performance.now()),
      wake: (agentId: string) => this.#wake(agentId),
    }
    this.#room = new FairRoom({
      ...inTurn,
      most: MOST_READ_BYTES,
      held: () => this.#slow.entries().map(([agentId, { bytes }]) => [agentId, bytes]),
    })
    this.#large = new LargeDocuments({ ...inTurn, most: this.#limits.heldChars })
    this.#reader = new DocumentReaders(read)
    const isBusy = (agentId: string) => agentId === this.#active || this.#waiting.has(agentId) || this.#isReading(agentId)
    this.#bases = new OpenBases(store, isBusy, warn)
    this.#changes = new Changes({
      clock,
      ownerOf: (agentId) => this.#owners.ownerOf(agentId),
      spent: (owner, ms) => this.#shares.add(owner, ms, performance.now()),
      open: (agentId) => {
        const base = this.#bases.open(agentId)
        this.#mark(agentId)
        return base
      },
      changed: (agentId) => {
        this.#bursts.changed(agentId, performance.now())
        this.#tidying.delete(agentId)
        this.#schedule(agentId)
      },
    })
    this.#web = new WebWork({
      store,
      clock,
      rules: fetch,
      crawlDelayMs,
      siteTurnMs,
      reader: this.#reader,
      owners: this.#owners,
      ended: onEnded,
      changes: this.#changes,
      markDeleted: (agentId, base, extents) => this.#markDeleted(agentId, base, extents),
      wake: (agentId) => this.#wake(agentId),
    })
    this.#removals = new Removals(store)
    if (store.isShared) this.#lookTimer = setInterval(() => this.#tryLook(), LOOK_EVERY_MS)
  }

  /** `askedBy`: the id of the API key of the request, here and below. */
  add(agentId: string, id: string, document: NewDocument, askedBy?: string): Promise<Document> {
    this.#owners.note(agentId, askedBy)
    const at = this.#clock()
    return this.#changes.commitContent(agentId, document.content ?? NO_BYTES, (base, large) =>
      acceptDocument(base, id, document, at, large),
    )
  }

  replace(agentId: string, id: string, document: NewDocument, askedBy?: string): Promise<Document | undefined> {
    this.#owners.note(agentId, askedBy)
    const at = this.#clock()
    return this.#changes.commitContent(agentId, document.content ?? NO_BYTES, (base, large) =>
      acceptVersion(base, id, document, at, large),
    )
  }

  change(
    agentId: string,
    id: string,
    change: { title?: string; metadata?: Metadata },
    askedBy?: string,
  ): Promise<Document | undefined> {
    this.#owners.note(agentId, askedBy)
    const at = this.#clock()
    return this.#changes.commit(agentId, (base) => {
      raiseVersion(base)
      this.#bases.scrubLater(agentId)
      return changeDocument(base, id, change, at)
    })
  }

  remove(agentId: string, id: string): Promise<boolean> {
    return this.#changes.commit(agentId, (base) => {
      const extent = removeDocument(base, id)
      if (extent === undefined) return false
      this.#markDeleted(agentId, base, [extent])
      return true
    })
  }

  addSite(agentId: string, id: string, site: NewSite, askedBy?: string): Promise<Site> {
    this.#owners.note(agentId, askedBy)
    return this.#web.addSite(agentId, id, site)
  }

  refreshSite(agentId: string, id: string, askedBy?: string): Promise<Site | undefined> {
    this.#owners.note(agentId, askedBy)
    return this.#web.refreshSite(agentId, id)
  }

  removeSite(agentId: string, id: string): Promise<boolean> {
    return this.#web.removeSite(agentId, id)
  }

  /** Resolves to passages that need a vector of this model, or to none if another process embeds them. */
  takeUnembedded(agentId: string, model: string, most: number): Promise<Unembedded[]> {
    return this.#whenFree(() => {
      const base = this.#bases.find(agentId)
      if (base === undefined || !this.#store.claimEmbedding(agentId)) return []
      const passages = takeUnembedded(base, model, most)
      if (passages.length === 0) {
        this.#store.endEmbedding(agentId)
        this.#eraseDropped(agentId, base)
      }
      return passages
    })
  }

  /** Resolves to false if the vectors are no longer needed. */
  putVectors(agentId: string, model: string, ids: number[], vectors: (Float32Array | null)[]): Promise<boolean> {
    return this.#whenFree(() => {
      const base = this.#bases.find(agentId)
      if (base === undefined) return false
      const isUseful = putVectors(base, model, ids, vectors)
      if (!isUseful) this.#eraseDropped(agentId, base)
      return isUseful
    })
  }

  /** Schedules turns that erase the vectors of a dropped space. */
  #eraseDropped(agentId: string, base: KnowledgeBase): void {
    if (!hasDropped(base)) return
    this.#mark(agentId)
    this.#schedule(agentId)
  }

  growNear(agentId: string, model: string): Promise<NearProgress> {
    return this.#whenFree(() => {
      const base = this.#bases.find(agentId)
      return base === undefined ? 'done' : growNear(base, model)
    })
  }

  listDocumentEvents(agentId: string, most: number): Document[] {
    const base = this.#bases.find(agentId)
    return base === undefined ? [] : listDocumentEvents(base, most)
  }

  deleteDocumentEvents(agentId: string, told: readonly { id: string; updatedAt: number }[]): Promise<void> {
    return this.#whenFree(() => {
      const base = this.#bases.find(agentId)
      base?.write(() => deleteDocumentEvents(base, told), { bringsWork: false })
    })
  }

  #whenFree<T>(work: () => T): Promise<T> {
    return whenFree(work, () => this.#closing)
  }

  /** Resumes the pending work of these agents, as marked in the store. */
  resume(agentIds: readonly string[]): void {
    for (const agentId of agentIds) {
      this.#owners.resume(agentId)
      this.#marked.add(agentId)
      this.#schedule(agentId)
    }
    this.#onMarked(this.#marked.size)
  }

  /** After an upgrade, rebuilds passages of older rules in the background. Searches use the old passages until then. */
  rereadOutdated(): void {
    const agentIds = this.#store.listOutdated(READING)
    for (const agentId of agentIds) {
      this.#mark(agentId)
      this.#schedule(agentId)
    }
    if (agentIds.length > 0) this.#store.endOutdated(READING)
  }

  async removeAgent(agentId: string): Promise<void> {
    this.#web.removeAgent(agentId)
    this.#owners.forget(agentId)
    for (const agents of [this.#waiting, this.#resting, this.#tidying, this.#cleanMs]) agents.delete(agentId)
    clearTimeout(this.#later.get(agentId))
    this.#later.delete(agentId)
    this.#changes.removeAgent(agentId)
    this.#current.delete(agentId)
    this.#merges.delete(agentId)
    this.#unreleased.delete(agentId)
    this.#slow.delete(agentId)
    this.#leaveRooms(agentId)
    const wasMarked = this.#marked.delete(agentId)
    this.#onMarked(this.#marked.size)
    await this.#whenFree(() => this.#bases.remove(agentId)).catch((error) => {
      // The next check removes the base.
      this.#looks = 0
      throw error
    })
    this.#removals.start()
    if (wasMarked) this.#store.unmarkPending(agentId)
  }

  /** Waits for the transaction in progress. The remaining work is resumed after the next start. */
  async close(): Promise<void> {
    this.#closing = true
    this.#web.close()
    this.#changes.close()
    clearTimeout(this.#restTimer)
    clearInterval(this.#lookTimer)
    for (const timer of this.#later.values()) clearTimeout(timer)
    this.#reader.close()
    await this.#running
    this.#releaseAttempts()
    await this.#removals.close()
    this.#bases.close()
    this.#store.close()
  }

  #tryLook(): void {
    try {
      this.#look()
    } catch {
      // The store is not reachable. The next check retries.
    }
  }

  /** Resumes work that other processes left, and renews the leases of work in progress: otherwise another process would take and restart it. */
  #look(): void {
    const isBegun = (agentId: string) =>
      this.#isUnderWay(agentId) || this.#large.of(agentId) !== undefined || this.#merges.has(agentId)
    this.#store.keepHeld([...this.#marked, ...this.#tidying].filter(isBegun))
    this.resume(this.#store.list().pending.filter((agentId) => !this.#marked.has(agentId)))
    for (const agentId of this.#store.listForsaken()) this.#onIndexed(agentId)
    this.#web.lookForDue()
    this.#removals.continue()
    const look = this.#looks++
    // A busy base is listed again next time.
    if (look % ORPHANS_EVERY === 0) for (const agentId of this.#store.listOrphans()) this.removeAgent(agentId).catch(() => {})
    if (look % SWEEP_EVERY === 0) this.#removals.start()
  }

  /** Schedules an agent with pending work, because something that it waited for is available. */
  #wake(agentId: string): void {
    if (!this.#closing && this.#marked.has(agentId)) this.#schedule(agentId)
  }

  #schedule(agentId: string): void {
    this.#waiting.add(agentId)
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
  }

  async #work(): Promise<void> {
    for (;;) {
      const agentId = await this.#next()
      if (agentId === undefined) return
      this.#waiting.delete(agentId)
      this.#active = agentId
      const start = performance.now()
      const more = await this.#tryTurn(agentId)
      this.#active = undefined
      const now = performance.now()
      this.#shares.add(this.#owners.ownerOf(agentId), now - start, now)
      if (more) this.#turnMs.set(agentId, now - start)
      else this.#turnMs.delete(agentId)
      this.#bursts.endTurn(agentId, now)
      // An agent without a mark was deleted during its turn.
      if (more && (this.#marked.has(agentId) || this.#tidying.has(agentId))) this.#waiting.add(agentId)
      else if (
        !this.#waiting.has(agentId) &&
        !this.#later.has(agentId) &&
        (this.#marked.has(agentId) || this.#tidying.has(agentId))
      ) {
        this.#tryRest(agentId)
        this.#shares.add(this.#owners.ownerOf(agentId), performance.now() - now, performance.now())
      }
    }
  }

  /** Lets requests run, then waits for an agent without a burst of changes. Resolves to undefined if no work is left. */
  async #next(): Promise<string | undefined> {
    await nextTurn()
    const begunAt = performance.now()
    for (;;) {
      if (this.#closing || this.#waiting.size === 0) return undefined
      const now = performance.now()
      const ready = [...this.#waiting].filter((agentId) => this.#bursts.isOver(agentId, now))
      const next = this.#least(ready, now)
      // Without this wait, a small document could wait for a long turn of another agent.
      if (next !== undefined && (now - begunAt >= this.#patienceMs(next) || next === this.#least(this.#waiting, now))) return next
      await pauseMs(LOOK_FOR_QUIET_EVERY_MS)
    }
  }

  /** Returns the agent that used the least time recently, among the agents of the key that used the least. */
  #least(agentIds: Iterable<string>, now: number): string | undefined {
    const owner = this.#shares.least(
      [...agentIds].map((agentId) => this.#owners.ownerOf(agentId)),
      now,
    )
    return owner && partOf(owner)
  }

  #patienceMs(agentId: string): number {
    return Math.min((this.#turnMs.get(agentId) ?? 0) * PATIENCE, MOST_PATIENCE_MS)
  }

  #tryRest(agentId: string): void {
    try {
      this.#rest(agentId)
    } catch {
      // The next turn reports the error.
      this.#tryLater(agentId, this.#retryAfterMs)
    }
  }

  /** Schedules the agent again after `ms`. Other agents get their turns until then. */
  #tryLater(agentId: string, ms: number): void {
    clearTimeout(this.#later.get(agentId))
    const again = () => {
      this.#later.delete(agentId)
      if (this.#marked.has(agentId) || this.#tidying.has(agentId)) this.#schedule(agentId)
    }
    this.#later.set(agentId, setTimeout(again, ms).unref())
  }

  #rest(agentId: string): void {
    if (this.#isUnderWay(agentId)) return
    // Commits that did not wait for the disk must be durable before the mark of pending work is removed.
    const base = this.#bases.get(agentId)?.held
    if (this.#marked.has(agentId)) base?.write(() => base.run('UPDATE manifest SET version = version'))
    if (!this.#store.unmarkPending(agentId)) {
      this.#schedule(agentId)
      return
    }
    this.#marked.delete(agentId)
    this.#owners.rest(agentId)
    this.#onIndexed(agentId)
    this.#onMarked(this.#marked.size)
    if (this.#tidying.delete(agentId)) {
      // The write-ahead log is large after a burst of documents.
      base?.scrub()
      return
    }
    this.#resting.add(agentId)
    clearTimeout(this.#restTimer)
    this.#restTimer = setTimeout(() => {
      for (const rested of this.#resting) {
        this.#tidying.add(rested)
        this.#schedule(rested)
      }
      this.#resting.clear()
    }, this.#tidyAfterMs)
  }

  async #tryTurn(agentId: string): Promise<boolean> {
    try {
      const more = await this.#turn(agentId)
      this.#failures.delete(agentId)
      return more
    } catch (error) {
      const failures = (this.#failures.get(agentId) ?? 0) + 1
      // The agent was deleted during its turn.
      if (!this.#marked.has(agentId) && !this.#tidying.has(agentId)) return false
      this.#failures.set(agentId, failures)
      if (failures === 1 && !(error instanceof BaseBusy))
        this.#warn(`the knowledge base of agent ${agentId} cannot be worked on`, error)
      if (isTransient(error)) this.#tryLater(agentId, Math.min(this.#retryAfterMs * failures, RETRY_AT_LEAST_EVERY_MS))
      // Attempts at each document are counted, so these failures end by themselves.
      else if (failures < MAX_FAILURES || error instanceof WriteFailure) this.#tryLater(agentId, this.#retryAfterMs)
      else {
        // The work of the agent stops until the next change or start.
        this.#marked.delete(agentId)
        this.#failures.delete(agentId)
        this.#leaveRooms(agentId)
        this.#web.leave(agentId)
        this.#owners.rest(agentId)
      }
      return false
    }
  }

  /** Does one part of an agent's work: cleaning and indexing in turns, then merging. Resolves to false if nothing is left. */
  async #turn(agentId: string): Promise<boolean> {
    const hold = this.#store.hold(agentId)
    if (hold === false) {
      // The process that has the lease of the base does the work.
      this.#marked.delete(agentId)
      this.#tidying.delete(agentId)
      this.#leaveSlow(agentId)
      this.#leaveRooms(agentId)
      this.#web.leave(agentId)
      this.#owners.rest(agentId)
      return false
    }
    const base = this.#bases.open(agentId).held
    if (hold === 'taken') {
      this.#merges.delete(agentId)
      this.#leaveSlow(agentId)
      this.#leaveRooms(agentId)
      giveUpStaged(base)
    }
    if (!this.#current.has(agentId)) {
      if (isOutdated(base)) base.write(() => rereadAll(base))
      this.#current.add(agentId)
    }
    // Cleaning and indexing take turns of equal length. Otherwise cleaning would fall behind.
    const start = performance.now()
    const cleanMs = this.#cleanMs.get(agentId) ?? 1
    const isCrowded = countSegments(base) > MOST_SEGMENTS
    if (cleanMs > 0 && ((isCrowded && this.#mergeSome(agentId, base)) || this.#clean(agentId, base))) {
      this.#cleanMs.set(agentId, cleanMs - (performance.now() - start))
      return true
    }
    this.#web.fill(agentId, base)
    const isOver = () => this.#closing || this.#bases.get(agentId) === undefined
    const read = (input: ReadInput, isWanted: () => boolean) =>
      this.#reader.read('document', input, this.#owners.ownerOf(agentId), isWanted)
    const unreleased = this.#unreleasedOf(agentId)
    const slow = this.#slowOf(agentId)
    const visit = this.#room.visit(agentId)
    const isWork = await indexSome(base, {
      agentId,
      clock: this.#clock,
      limits: this.#limits,
      read,
      isOver,
      unreleased,
      slow,
      mayRead: (bytes) => bytes <= SMALL_BYTES || visit.enter(bytes),
      othersWait: () => this.#waiting.size > Number(this.#waiting.has(agentId)),
      othersChange: () => this.#changes.isUsedBesides(agentId),
      large: this.#large,
      ended: this.#onEnded,
    }).finally(() => (isOver() ? this.#leaveRooms(agentId) : visit.end()))
    if (slow.size === 0) this.#slow.delete(agentId)
    if (unreleased.size === 0) this.#unreleased.delete(agentId)
    if (isWork) {
      // A crowded index gets twice the time: merging takes about as long as indexing, and erasing follows.
      this.#cleanMs.set(agentId, Math.min((performance.now() - start) * (isCrowded ? 2 : 1), MOST_CLEAN_MS))
      this.#onIndexed(agentId)
      if (this.#merges.has(agentId)) this.#mergeSome(agentId, base)
      return true
    }
    this.#cleanMs.delete(agentId)
    return (cleanMs <= 0 && this.#clean(agentId, base)) || this.#mergeSome(agentId, base)
  }

  /** Removes some data that is no longer needed. Returns false if nothing is left, so that a merge can begin. */
  #clean(agentId: string, base: KnowledgeBase): boolean {
    const isMerging = this.#merges.has(agentId)
    // Passages are erased after the merge in progress and the deletion of the lists that it replaced. These lists contain their words too.
    if (isMerging && isToErase(base)) return this.#mergeSome(agentId, base)
    if (!isMerging && emptySome(base)) return true
    const since = this.#store.isShared ? this.#clock() - WRITTEN_WITHIN_MS : this.#startedAt
    if (eraseDropped(base) || deletePieces(base, since) || (!isMerging && eraseSome(base))) {
      this.#bases.scrubLater(agentId)
      return true
    }
    this.#bases.scrub(agentId)
    return false
  }

  #leaveRooms(agentId: string): void {
    this.#large.leave(agentId)
    this.#room.leave(agentId)
    this.#room.wake()
  }

  #slowOf(agentId: string): SlowReadings<Task, DocumentReading | undefined> {
    const known = this.#slow.get(agentId)
    if (known !== undefined) return known
    const slow = new SlowReadings<Task, DocumentReading | undefined>({
      isQuick: isQuickToRead,
      settled: () => {
        if (this.#slow.get(agentId) === slow) this.#wake(agentId)
        this.#room.wake()
      },
      givenUp: (task) => {
        if (this.#slow.get(agentId) === slow) this.#unreleasedOf(agentId).add(task)
      },
      sizeOf: (reading) => (reading === undefined ? 0 : heldCharsOf(reading.passages)),
      mayHold: (bytes) => this.#room.hasRoom(agentId, bytes),
    })
    this.#slow.set(agentId, slow)
    return slow
  }

  /** Discards readings in progress. The attempts do not count: another process took the lease, mostly because this one was too busy. */
  #leaveSlow(agentId: string): void {
    for (const task of this.#slow.get(agentId)?.documents() ?? []) this.#unreleasedOf(agentId).add(task)
    this.#slow.delete(agentId)
  }

  #unreleasedOf(agentId: string): Set<Task> {
    const known = this.#unreleased.get(agentId)
    if (known !== undefined) return known
    const unreleased = new Set<Task>()
    this.#unreleased.set(agentId, unreleased)
    return unreleased
  }

  #releaseAttempts(): void {
    for (const [agentId, slow] of this.#slow) {
      try {
        const base = this.#bases.get(agentId)?.held
        if (base !== undefined) releaseAll(base, { slow, unreleased: this.#unreleasedOf(agentId) })
      } catch {
        // If this fails, the attempts count. A document has several.
      }
    }
  }

  /** Returns true if a slow document of this agent is still being read. */
  #isReading(agentId: string): boolean {
    return (this.#slow.get(agentId)?.underWay() ?? 0) > 0
  }

  /** Returns true if work of the agent is in progress or waits outside of its turns. */
  #isUnderWay(agentId: string): boolean {
    return (
      this.#web.isBusy(agentId) || this.#isReading(agentId) || this.#large.isWaiting(agentId) || this.#room.isWaiting(agentId)
    )
  }

  #mergeSome(agentId: string, base: KnowledgeBase): boolean {
    const merge = this.#merges.get(agentId) ?? Merge.begin(base, this.#tidying.has(agentId))
    if (merge === undefined) return false
    // Removed first, so that a merge that fails is restarted.
    this.#merges.delete(agentId)
    if (merge.step(base, this.#limits.mergeMs)) this.#merges.set(agentId, merge)
    return true
  }

  #markDeleted(agentId: string, base: KnowledgeBase, extents: readonly Extent[]): void {
    if (extents.length === 0) return
    for (const { first, last, indexedTitle } of extents) markDeleted(base, first, last, indexedTitle)
    raiseVersion(base)
    this.#bases.scrubLater(agentId)
  }

  #mark(agentId: string): void {
    if (this.#marked.has(agentId)) return
    this.#store.markPending(agentId)
    this.#marked.add(agentId)
    this.#onMarked(this.#marked.size)
  }
}
