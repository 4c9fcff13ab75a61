import { ReparteeError } from '../../core/errors.ts'
import { InTurn, partOf } from '../../core/fairness/in-turn.ts'
import type { Clock } from '../../core/ports/ports.ts'
import { BaseBusy, type KnowledgeBase } from '../../store/knowledge/base.ts'
import { endContent, PIECE_BYTES, putPiece } from '../../store/knowledge/contents.ts'
import { BUSY_MS, MOST_BUSY_MS } from './when-free.ts'

/** Minimum time between two flushes of a burst of changes: conversations wait for the same disk. */
const FLUSH_EVERY_MS = 20
/** Time after which a transaction takes no further change, because other agents wait for it. */
const TRANSACTION_MS = 20
/** Time after which a flush pauses for the same time, so that other work of the thread can run. */
const FLUSH_MS = 40
/** An agent that changed something within this time may do so again. */
const LATELY_MS = 5_000
/** Longest wait at shutdown for a base that another process is changing. */
const MOST_BUSY_AT_END_MS = 1_000

interface Change {
  addedAt: number
  /** The change needs its own transaction. */
  isAlone: boolean
  run: (base: KnowledgeBase) => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

export interface ChangesParts {
  clock: Clock
  /** Opens the base to change, and marks on the disk that it will have pending work. */
  open: (agentId: string) => KnowledgeBase
  /** Called after a change of this agent. */
  changed: (agentId: string) => void
  /** See `Owners.ownerOf`. */
  ownerOf: (agentId: string) => string
  /** Called with the time that changes of an owner took, in milliseconds. */
  spent?: (owner: string, ms: number) => void
}

/**
 * Commits changes to knowledge bases. Concurrent changes of one agent share a transaction and a wait for the disk. Keys take turns, and so do the agents of
 * one key. While another process is changing a base, the changes of its agent wait.
 */
export class Changes {
  readonly #parts: ChangesParts
  readonly #waiting = new InTurn<Change>()
  /** Agents whose base another process is changing: since when, and the time of the next attempt. */
  readonly #busy = new Map<string, { since: number; until: number }>()
  #isAwake = false
  /** When the next transactions may begin. */
  #nextAt = Number.NEGATIVE_INFINITY
  /** Large contents whose pieces are being written. */
  readonly #writing = new Set<{ agentId: string; isGone: boolean }>()
  /** The last agent that changed something, the last other agent before it, and the times. */
  #last: { agentId: string; at: number } | undefined
  #lastBefore: { agentId: string; at: number } | undefined
  #isClosed = false

  constructor(parts: ChangesParts) {
    this.#parts = parts
  }

  /** Resolves when the change is on the disk, or to undefined if the agent is removed first. */
  commit<T>(agentId: string, run: (base: KnowledgeBase) => T): Promise<T> {
    if (this.#isClosed)
      return Promise.reject(new ReparteeError('unavailable', 'The service is stopping. Send it again.', { retryAfter: 5 }))
    if (this.#last?.agentId !== agentId) this.#lastBefore = this.#last
    this.#last = { agentId, at: performance.now() }
    return new Promise((resolve, reject) => {
      this.#waiting.add(this.#parts.ownerOf(agentId), { addedAt: performance.now(), isAlone: false, run, resolve, reject })
      this.#wake()
    })
  }

  /** Returns true if another agent changed something in the last seconds. */
  isUsedBesides(agentId: string): boolean {
    const other = this.#last?.agentId === agentId ? this.#lastBefore : this.#last
    return other !== undefined && performance.now() - other.at < LATELY_MS
  }

  #wake(): void {
    if (this.#isAwake) return
    this.#isAwake = true
    const wait = this.#nextAt - performance.now()
    if (wait > 0) setTimeout(() => this.#flush(), wait)
    else setImmediate(() => this.#flush())
  }

  /** Commits a change that stores a content. Writes a large content in pieces first, and passes its number to `run`. */
  async commitContent<T>(agentId: string, bytes: Uint8Array, run: (base: KnowledgeBase, large?: number) => T): Promise<T> {
    if (bytes.length <= PIECE_BYTES) return this.commit(agentId, run)
    const at = this.#parts.clock()
    const writing = { agentId, isGone: false }
    this.#writing.add(writing)
    let large: number | undefined
    try {
      for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
        const piece = bytes.subarray(start, start + PIECE_BYTES)
        large = await this.commit(agentId, (base) => putPiece(base, large, start / PIECE_BYTES, piece, at))
        // The base of a deleted agent must not be created again.
        if (writing.isGone) return undefined as T
      }
      const number = large!
      return await this.commit(agentId, (base) => {
        const result = run(base, number)
        endContent(base, number)
        return result
      })
    } catch (error) {
      const number = large
      if (number !== undefined && !writing.isGone) this.commit(agentId, (base) => endContent(base, number)).catch(() => {})
      throw error
    } finally {
      this.#writing.delete(writing)
    }
  }

  removeAgent(agentId: string): void {
    for (const writing of this.#writing) if (writing.agentId === agentId) writing.isGone = true
    this.#busy.delete(agentId)
    // The owner of the agent may have changed since some changes were added.
    for (const owner of [...this.#waiting.owners()].filter((owner) => partOf(owner) === agentId))
      for (let change = this.#waiting.takeFrom(owner); change !== undefined; change = this.#waiting.takeFrom(owner))
        change.resolve(undefined as never)
  }

  /** Commits the changes that wait, and rejects later ones. */
  close(): void {
    this.#isClosed = true
    while (!this.#waiting.isEmpty) this.#flushOnce()
  }

  #flush(): void {
    this.#isAwake = false
    const start = performance.now()
    this.#flushOnce()
    const end = performance.now()
    this.#nextAt = Math.max(start + FLUSH_EVERY_MS, end + (end - start))
    if (!this.#waiting.isEmpty) this.#wake()
  }

  /** Runs one transaction per agent with changes, until the time is over. */
  #flushOnce(): void {
    const until = performance.now() + FLUSH_MS
    while (this.#commitSome() && performance.now() < until);
  }

  /** Commits changes of the agent whose turn is next. Returns false if no agent can have a turn. */
  #commitSome(): boolean {
    const start = performance.now()
    const owner = this.#waiting.owners().find((waiting) => !this.#isBusy(partOf(waiting), start))
    if (owner === undefined) return false
    const agentId = partOf(owner)
    const taken: Change[] = []
    const results: unknown[] = []
    try {
      const base = this.#parts.open(agentId)
      base.write(() => {
        for (let change = this.#next(owner, taken, start); change !== undefined; change = this.#next(owner, taken, start)) {
          taken.push(change)
          results.push(change.run(base))
        }
      })
    } catch (error) {
      this.#fail(owner, taken, results.length, error)
      this.#parts.spent?.(owner, performance.now() - start)
      return true
    }
    for (const [i, change] of taken.entries()) change.resolve(results[i] as never)
    this.#busy.delete(agentId)
    this.#parts.spent?.(owner, performance.now() - start)
    this.#parts.changed(agentId)
    return true
  }

  /** Returns the next change of a transaction, or undefined at its end. */
  #next(owner: string, taken: readonly Change[], start: number): Change | undefined {
    const isEnd =
      taken.length > 0 &&
      (performance.now() >= start + TRANSACTION_MS || taken[0]!.isAlone || this.#waiting.firstOf(owner)?.isAlone)
    return isEnd ? undefined : this.#waiting.takeFrom(owner)
  }

  /**
   * Rejects a change that failed in its own transaction. Otherwise puts all changes back, because the others must not fail with it. `failed`: its index, or the
   * number of changes if all of them ran. In that case each change gets its own transaction.
   */
  #fail(owner: string, taken: Change[], failed: number, error: unknown): void {
    const first = taken[0] ?? this.#waiting.takeFrom(owner)!
    if (error instanceof BaseBusy && this.#mayWait(partOf(owner), first.addedAt)) {
      this.#waiting.putBack(owner, taken.length === 0 ? [first] : taken)
      return
    }
    if (taken.length <= 1) {
      first.reject(error)
      return
    }
    for (const change of taken[failed] === undefined ? taken : [taken[failed]]) change.isAlone = true
    this.#waiting.putBack(owner, taken)
  }

  /** Returns false if the base of an agent has been busy for too long since a change was added. A successful change of the agent ends the busy time. */
  #mayWait(agentId: string, addedAt: number): boolean {
    const now = performance.now()
    const { since } = this.#busy.get(agentId) ?? { since: now }
    this.#busy.set(agentId, { since, until: now + BUSY_MS })
    return now < Math.max(since, addedAt) + (this.#isClosed ? MOST_BUSY_AT_END_MS : MOST_BUSY_MS)
  }

  #isBusy(agentId: string, now: number): boolean {
    return !this.#isClosed && now < (this.#busy.get(agentId)?.until ?? 0)
  }
}
