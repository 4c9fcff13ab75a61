import type { Document, Metadata, NewDocument } from '../../core/document.ts'
import type { Clock } from '../../core/ports/ports.ts'
import type { NewSite, Site } from '../../core/site.ts'
import { FETCH_RULES, type FetchRules } from '../../net/guarded-fetch.ts'
import type { KnowledgeBase, KnowledgeStore } from '../../store/knowledge/base.ts'
import { deleteDocumentEvents, listDocumentEvents } from '../../store/knowledge/document-outbox.ts'
import { acceptDocument, acceptVersion, changeDocument, type Extent, removeDocument } from '../../store/knowledge/documents.ts'
import { markDeleted, raiseVersion } from '../../store/knowledge/index/index.ts'
import { READING } from '../../store/knowledge/tasks.ts'
import { hasDropped, type Unembedded } from '../../store/knowledge/vectors.ts'
import { growNear, type NearProgress, putVectors, takeUnembedded } from '../query/vectors/build.ts'
import { DocumentReaders, READ_LIMITS, type ReadLimits } from '../reader/reader.ts'
import { AgentQueue } from './agent-queue.ts'
import { AgentTurns } from './agent-turns.ts'
import { Changes } from './changes.ts'
import { INDEX_LIMITS, type IndexLimits, SERVER_LIMITS } from './index-documents.ts'
import { OpenBases } from './open-bases.ts'
import { Owners } from './owners.ts'
import { PendingWork } from './pending-work.ts'
import { Removals } from './removals.ts'
import { WebWork } from './web/web-work.ts'
import { whenFree } from './when-free.ts'

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

/** How often to check for work that other processes left. */
const LOOK_EVERY_MS = 1_000
/** One of this many checks also removes bases of deleted agents: a process may end before it removes the base of an agent that it deleted. */
const ORPHANS_EVERY = 30
/** One of this many checks also deletes removed bases that are still on the disk. */
const SWEEP_EVERY = 3_600
const TIDY_AFTER_MS = 1_000
const RETRY_AFTER_MS = 2_000
const NO_BYTES = new Uint8Array(0)

/**
 * The only writer of all knowledge bases: accepts documents, indexes them in the background, deletes and merges.
 * Runs in its own thread. Agents take turns.
 */
export class Ingest {
  readonly #store: KnowledgeStore
  readonly #clock: Clock
  readonly #onIndexed: (agentId: string) => void
  readonly #reader: DocumentReaders
  readonly #bases: OpenBases
  readonly #changes: Changes
  readonly #web: WebWork
  readonly #removals: Removals
  readonly #owners = new Owners()
  readonly #turns: AgentTurns
  readonly #work: PendingWork
  #lookTimer: NodeJS.Timeout | undefined
  #looks = 0

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
    this.#onIndexed = onIndexed
    this.#reader = new DocumentReaders(read)
    const queue = new AgentQueue(this.#owners)
    const isBusy = (agentId: string) => this.#work.isBusy(agentId) || this.#turns.isReading(agentId)
    this.#bases = new OpenBases(store, isBusy, warn)
    this.#changes = new Changes({
      clock,
      ownerOf: (agentId) => this.#owners.ownerOf(agentId),
      spent: (owner, ms) => queue.spent(owner, ms),
      open: (agentId) => {
        const base = this.#bases.open(agentId)
        this.#work.mark(agentId)
        return base
      },
      changed: (agentId) => this.#work.changed(agentId),
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
      wake: (agentId) => this.#work.wake(agentId),
    })
    this.#turns = new AgentTurns({
      ...{ store, clock, onIndexed, onEnded },
      limits: { ...INDEX_LIMITS, ...(store.isShared ? SERVER_LIMITS : {}), ...index },
      owners: this.#owners,
      queue,
      reader: this.#reader,
      bases: this.#bases,
      changes: this.#changes,
      web: this.#web,
      isClosing: () => this.#work.isClosing,
      isTidying: (agentId) => this.#work.isTidying(agentId),
      wake: (agentId) => this.#work.wake(agentId),
    })
    this.#work = new PendingWork({
      ...{ store, queue, retryAfterMs, tidyAfterMs, onIndexed, onMarked, warn },
      turns: this.#turns,
      owners: this.#owners,
      bases: this.#bases,
      web: this.#web,
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
    this.#work.mark(agentId)
    this.#work.schedule(agentId)
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
    return whenFree(work, () => this.#work.isClosing)
  }

  /** Resumes the pending work of these agents, as marked in the store. */
  resume(agentIds: readonly string[]): void {
    this.#work.resume(agentIds)
  }

  /** After an upgrade, rebuilds passages of older rules in the background. Searches use the old passages until then. */
  rereadOutdated(): void {
    const agentIds = this.#store.listOutdated(READING)
    for (const agentId of agentIds) {
      this.#work.mark(agentId)
      this.#work.schedule(agentId)
    }
    if (agentIds.length > 0) this.#store.endOutdated(READING)
  }

  async removeAgent(agentId: string): Promise<void> {
    this.#web.removeAgent(agentId)
    this.#owners.forget(agentId)
    const wasMarked = this.#work.forget(agentId)
    this.#changes.removeAgent(agentId)
    this.#turns.forget(agentId)
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
    this.#work.stop()
    this.#web.close()
    this.#changes.close()
    clearInterval(this.#lookTimer)
    this.#reader.close()
    await this.#work.stopped()
    this.#turns.releaseAttempts()
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
    this.#store.keepHeld(this.#work.agents.filter((agentId) => this.#turns.isBegun(agentId)))
    this.resume(this.#store.list().pending.filter((agentId) => !this.#work.isMarked(agentId)))
    for (const agentId of this.#store.listForsaken()) this.#onIndexed(agentId)
    this.#web.lookForDue()
    this.#removals.continue()
    const look = this.#looks++
    // A busy base is listed again next time.
    if (look % ORPHANS_EVERY === 0) for (const agentId of this.#store.listOrphans()) this.removeAgent(agentId).catch(() => {})
    if (look % SWEEP_EVERY === 0) this.#removals.start()
  }

  #markDeleted(agentId: string, base: KnowledgeBase, extents: readonly Extent[]): void {
    if (extents.length === 0) return
    for (const { first, last, indexedTitle } of extents) markDeleted(base, first, last, indexedTitle)
    raiseVersion(base)
    this.#bases.scrubLater(agentId)
  }
}
