import type { Clock } from '../../core/ports/ports.ts'
import type { KnowledgeBase, KnowledgeStore } from '../../store/knowledge/base.ts'
import { deletePieces } from '../../store/knowledge/contents.ts'
import { eraseSome, giveUpStaged, isToErase } from '../../store/knowledge/index/index.ts'
import { emptySome, Merge } from '../../store/knowledge/index/merge.ts'
import { countSegments } from '../../store/knowledge/index/segments.ts'
import { isOutdated, rereadAll, type Task } from '../../store/knowledge/tasks.ts'
import { eraseDropped } from '../../store/knowledge/vectors.ts'
import type { ReadInput } from '../read/read.ts'
import type { DocumentReaders } from '../reader/reader.ts'
import type { AgentQueue } from './agent-queue.ts'
import type { Changes } from './changes.ts'
import { FairRoom } from './fair-room.ts'
import { type IndexLimits, indexSome, releaseAll } from './index-documents.ts'
import { LargeDocuments } from './large-documents.ts'
import type { OpenBases } from './open-bases.ts'
import type { Owners } from './owners.ts'
import { heldCharsOf } from './passage-list.ts'
import { type DocumentReading, isQuickToRead } from './read-documents.ts'
import { SlowReadings, SMALL_BYTES } from './slow-readings.ts'
import type { WebWork } from './web/web-work.ts'

/** An agent with more segments merges some even while documents wait, because a search reads each segment. */
const MOST_SEGMENTS = 64
/** Longest time that an agent's documents wait for its cleaning. */
const MOST_CLEAN_MS = 1_000
/** Bytes of documents in memory that are being read while others are indexed. */
const MOST_READ_BYTES = 134_217_728
/** A content that another process began to write longer ago is orphaned. */
const WRITTEN_WITHIN_MS = 3_600_000

export interface AgentTurnsParts {
  store: KnowledgeStore
  clock: Clock
  limits: IndexLimits
  owners: Owners
  queue: AgentQueue
  reader: DocumentReaders
  bases: OpenBases
  changes: Changes
  web: WebWork
  isClosing: () => boolean
  /** True if the agent has no documents to index, and its index is only to be merged. */
  isTidying: (agentId: string) => boolean
  /** Schedules an agent with pending work, because something that it waited for is available. */
  wake: (agentId: string) => void
  /** Called when an agent has new passages. */
  onIndexed: (agentId: string) => void
  onEnded: (outcome: 'ready' | 'failed') => void
}

/** What is in progress for one agent between its turns. */
interface AgentState {
  /** Documents that are being read outside of turns. */
  slow: SlowReadings<Task, DocumentReading | undefined> | undefined
  /** Attempts that do not count and are not yet subtracted in the store. */
  readonly unreleased: Set<Task>
  /** Milliseconds that turns clean before one indexes again; undefined without documents to index. */
  cleanMs: number | undefined
  merge: Merge | undefined
}

const isEmpty = ({ slow, unreleased, cleanMs, merge }: AgentState): boolean =>
  slow === undefined && unreleased.size === 0 && cleanMs === undefined && merge === undefined

/** Does the work of agents, a part of one agent's work in each turn: cleaning and indexing in turns, then merging. */
export class AgentTurns {
  readonly #parts: AgentTurnsParts
  readonly #startedAt: number
  /** Only of agents with something in progress. */
  readonly #states = new Map<string, AgentState>()
  /** Agents whose base is known not to be outdated. */
  readonly #current = new Set<string>()
  /** Memory for documents that are being read. */
  readonly #room: FairRoom
  readonly #large: LargeDocuments

  constructor(parts: AgentTurnsParts) {
    const { clock, owners, queue, wake, limits } = parts
    this.#parts = parts
    this.#startedAt = clock()
    const inTurn = { owners, wake, next: (agentIds: Iterable<string>) => queue.least(agentIds) }
    this.#room = new FairRoom({ ...inTurn, most: MOST_READ_BYTES, held: () => this.#heldBytes() })
    this.#large = new LargeDocuments({ ...inTurn, most: limits.heldChars })
  }

  /** Resolves to `lost` if another process has the lease of the base, which then does the work. */
  async take(agentId: string): Promise<'more' | 'done' | 'lost'> {
    const { store, bases, web } = this.#parts
    const lease = store.hold(agentId)
    if (lease === false) {
      this.#discardReadings(agentId)
      this.leave(agentId)
      web.leave(agentId)
      return 'lost'
    }
    const base = bases.open(agentId).held
    const state = this.#stateOf(agentId)
    if (lease === 'taken') {
      state.merge = undefined
      this.#discardReadings(agentId)
      this.leave(agentId)
      giveUpStaged(base)
    }
    if (!this.#current.has(agentId)) {
      if (isOutdated(base)) base.write(() => rereadAll(base))
      this.#current.add(agentId)
    }
    try {
      return (await this.#workOn(agentId, base, state)) ? 'more' : 'done'
    } finally {
      if (isEmpty(state)) this.#states.delete(agentId)
    }
  }

  /** Resolves to false if nothing is left. */
  async #workOn(agentId: string, base: KnowledgeBase, state: AgentState): Promise<boolean> {
    // Cleaning and indexing take turns of equal length. Otherwise cleaning would fall behind.
    const start = performance.now()
    const cleanMs = state.cleanMs ?? 1
    const isCrowded = countSegments(base) > MOST_SEGMENTS
    if (cleanMs > 0 && ((isCrowded && this.#mergeSome(agentId, base, state)) || this.#clean(agentId, base, state))) {
      state.cleanMs = cleanMs - (performance.now() - start)
      return true
    }
    this.#parts.web.fill(agentId, base)
    if (await this.#index(agentId, base, state)) {
      // A crowded index gets twice the time: merging takes about as long as indexing, and erasing follows.
      state.cleanMs = Math.min((performance.now() - start) * (isCrowded ? 2 : 1), MOST_CLEAN_MS)
      this.#parts.onIndexed(agentId)
      if (state.merge !== undefined) this.#mergeSome(agentId, base, state)
      return true
    }
    state.cleanMs = undefined
    return (cleanMs <= 0 && this.#clean(agentId, base, state)) || this.#mergeSome(agentId, base, state)
  }

  async #index(agentId: string, base: KnowledgeBase, state: AgentState): Promise<boolean> {
    const { clock, limits, owners, queue, reader, bases, changes, isClosing, onEnded } = this.#parts
    const isOver = () => isClosing() || bases.get(agentId) === undefined
    const slow = this.#slowOf(agentId, state)
    const visit = this.#room.visit(agentId)
    const isWork = await indexSome(base, {
      agentId,
      clock,
      limits,
      read: (input: ReadInput, isWanted: () => boolean) => reader.read('document', input, owners.ownerOf(agentId), isWanted),
      isOver,
      unreleased: state.unreleased,
      slow,
      mayRead: (bytes) => bytes <= SMALL_BYTES || visit.enter(bytes),
      othersWait: () => queue.size > Number(queue.has(agentId)),
      othersChange: () => changes.isUsedBesides(agentId),
      large: this.#large,
      ended: onEnded,
    }).finally(() => (isOver() ? this.leave(agentId) : visit.end()))
    if (slow.size === 0) state.slow = undefined
    return isWork
  }

  /** Removes some data that is no longer needed. Returns false if nothing is left, so that a merge can begin. */
  #clean(agentId: string, base: KnowledgeBase, state: AgentState): boolean {
    const { store, clock, bases } = this.#parts
    const isMerging = state.merge !== undefined
    // Passages are erased after the merge in progress and the deletion of the lists that it replaced. These lists contain their words too.
    if (isMerging && isToErase(base)) return this.#mergeSome(agentId, base, state)
    if (!isMerging && emptySome(base)) return true
    const since = store.isShared ? clock() - WRITTEN_WITHIN_MS : this.#startedAt
    if (eraseDropped(base) || deletePieces(base, since) || (!isMerging && eraseSome(base))) {
      bases.scrubLater(agentId)
      return true
    }
    bases.scrub(agentId)
    return false
  }

  #mergeSome(agentId: string, base: KnowledgeBase, state: AgentState): boolean {
    const merge = state.merge ?? Merge.begin(base, this.#parts.isTidying(agentId))
    if (merge === undefined) return false
    // Removed first, so that a merge that fails is restarted.
    state.merge = undefined
    if (merge.step(base, this.#parts.limits.mergeMs)) state.merge = merge
    return true
  }

  /** Returns true if work of the agent is in progress between its turns. */
  isBegun(agentId: string): boolean {
    return this.isUnderWay(agentId) || this.#large.of(agentId) !== undefined || this.#states.get(agentId)?.merge !== undefined
  }

  /** Returns true if work of the agent is in progress or waits outside of its turns. */
  isUnderWay(agentId: string): boolean {
    const isWaiting = this.#large.isWaiting(agentId) || this.#room.isWaiting(agentId)
    return this.#parts.web.isBusy(agentId) || this.isReading(agentId) || isWaiting
  }

  /** Returns true if a slow document of this agent is still being read. */
  isReading(agentId: string): boolean {
    return (this.#states.get(agentId)?.slow?.underWay() ?? 0) > 0
  }

  /** Gives up the memory that the agent has or waits for. */
  leave(agentId: string): void {
    this.#large.leave(agentId)
    this.#room.leave(agentId)
    this.#room.wake()
  }

  /** The agent is deleted. */
  forget(agentId: string): void {
    this.#states.delete(agentId)
    this.#current.delete(agentId)
    this.leave(agentId)
  }

  /** Subtracts the attempts at documents that are being read, because the service stops. */
  releaseAttempts(): void {
    for (const [agentId, { slow, unreleased }] of this.#states) {
      if (slow === undefined) continue
      try {
        const base = this.#parts.bases.get(agentId)?.held
        if (base !== undefined) releaseAll(base, { slow, unreleased })
      } catch {
        // If this fails, the attempts count. A document has several.
      }
    }
  }

  /** Discards readings in progress. The attempts do not count: another process took the lease, mostly because this one was too busy. */
  #discardReadings(agentId: string): void {
    const state = this.#stateOf(agentId)
    for (const task of state.slow?.documents() ?? []) state.unreleased.add(task)
    state.slow = undefined
  }

  #stateOf(agentId: string): AgentState {
    let state = this.#states.get(agentId)
    if (state === undefined) {
      state = { slow: undefined, unreleased: new Set(), cleanMs: undefined, merge: undefined }
      this.#states.set(agentId, state)
    }
    return state
  }

  #slowOf(agentId: string, state: AgentState): SlowReadings<Task, DocumentReading | undefined> {
    if (state.slow !== undefined) return state.slow
    const slow = new SlowReadings<Task, DocumentReading | undefined>({
      isQuick: isQuickToRead,
      settled: () => {
        if (state.slow === slow && this.#states.get(agentId) === state) this.#parts.wake(agentId)
        this.#room.wake()
      },
      givenUp: (task) => {
        if (state.slow === slow) state.unreleased.add(task)
      },
      sizeOf: (reading) => (reading === undefined ? 0 : heldCharsOf(reading.passages)),
      mayHold: (bytes) => this.#room.hasRoom(agentId, bytes),
    })
    state.slow = slow
    return slow
  }

  *#heldBytes(): Generator<[agentId: string, bytes: number]> {
    for (const [agentId, { slow }] of this.#states) if (slow !== undefined) yield [agentId, slow.bytes]
  }
}
