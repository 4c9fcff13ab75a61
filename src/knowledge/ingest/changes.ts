import { ReparteeError } from '../../core/errors.ts'
import { InTurn, partOf } from '../../core/fairness/in-turn.ts'
import type { Clock } from '../../core/ports/ports.ts'
import { BaseBusy, type KnowledgeBase } from '../../store/knowledge/base.ts'
import { endContent, PIECE_BYTES, putPiece } from '../../store/knowledge/contents.ts'
import { BUSY_MS, MOST_BUSY_MS } from './when-free.ts'

/** A burst of changes waits for the disk so often at most: conversations wait for the same disk. */
const FLUSH_EVERY_MS = 20
/** After so long, a transaction takes no further change: other agents wait for it. */
const TRANSACTION_MS = 20
/** After so long, others that use the thread have their turn, for as long. */
const FLUSH_MS = 40
/** An agent that changed something may do so again. */
const LATELY_MS = 5_000
/** The end waits no longer for a base that another process is changing. */
const MOST_BUSY_AT_END_MS = 1_000

interface Change {
  addedAt: number
  /** It shares no transaction. */
  isAlone: boolean
  run: (base: KnowledgeBase) => unknown
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

export interface ChangesParts {
  clock: Clock
  /** The file to change, with a note on the disk that there will be work in it. */
  open: (agentId: string) => KnowledgeBase
  /** Something of this agent was changed. */
  changed: (agentId: string) => void
  /** As that of `Owners`. */
  ownerOf: (agentId: string) => string
  /** Called with the time that changes of an owner took, in milliseconds. */
  spent?: (owner: string, ms: number) => void
}

/**
 * Commits changes of knowledge files. Changes of one agent at about the same time share a transaction and a wait for the disk. Keys take turns, and the agents of a
 * key. While another process is changing a base, the changes of its agent wait.
 */
export class Changes {
  readonly #parts: ChangesParts
  readonly #waiting = new InTurn<Change>()
  /** By agent whose base another process is changing: since when, and until when it is not tried. */
  readonly #busy = new Map<string, { since: number; until: number }>()
  #isAwake = false
  /** When the next transactions may begin. */
  #nextAt = Number.NEGATIVE_INFINITY
  /** Large contents whose pieces are being written. */
  readonly #writing = new Set<{ agentId: string; isGone: boolean }>()
  /** The last agent that changed anything, and the last one before it; when. */
  #last: { agentId: string; at: number } | undefined
  #lastBefore: { agentId: string; at: number } | undefined
  #isClosed = false

  constructor(parts: ChangesParts) {
    this.#parts = parts
  }

  /** Resolves once the change is on the disk; with undefined where the agent is removed before. */
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
        // A file of an agent that is gone must not come back.
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
    // Its owner may have changed since some of them were added.
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

  /** A transaction of each agent that has changes, as far as the time allows. */
  #flushOnce(): void {
    const until = performance.now() + FLUSH_MS
    while (this.#commitSome() && performance.now() < until);
  }

  /** Commits changes of the agent whose turn is next. Returns false if no agent may have one. */
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
   * Rejects the change that failed, or puts all back that may be tried again: the others must not fail with one that fails. `failed`: its place, or the number of all,
   * where all could be run. Then each gets a transaction of its own.
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

  /** Returns false if the base of an agent has been busy for too long since a change was added. While other changes of the agent are made, it is not busy. */
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
