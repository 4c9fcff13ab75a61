import { ReparteeError } from '../../core/errors.ts'
import { InTurn, partOf } from '../../core/in-turn.ts'
import type { Clock } from '../../core/ports.ts'
import type { KnowledgeBase } from '../../store/knowledge-base.ts'
import { endContent, PIECE_BYTES, putPiece } from '../../store/knowledge-contents.ts'

/** A burst of changes waits for the disk so often at most: conversations wait for the same disk. */
const FLUSH_EVERY_MS = 20
/** After so long, a transaction takes no further change: other agents wait for it. */
const TRANSACTION_MS = 20
/** After so long, others that use the thread have their turn, for as long. */
const FLUSH_MS = 40

interface Change {
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
 * key.
 */
export class Changes {
  readonly #parts: ChangesParts
  readonly #waiting = new InTurn<Change>()
  #isAwake = false
  /** When the next transactions may begin. */
  #nextAt = Number.NEGATIVE_INFINITY
  /** Large contents whose pieces are being written. */
  readonly #writing = new Set<{ agentId: string; isGone: boolean }>()
  #isClosed = false

  constructor(parts: ChangesParts) {
    this.#parts = parts
  }

  /** Resolves once the change is on the disk; with undefined where the agent is removed before. */
  commit<T>(agentId: string, run: (base: KnowledgeBase) => T): Promise<T> {
    if (this.#isClosed)
      return Promise.reject(new ReparteeError('unavailable', 'The service is stopping. Send it again.', { retryAfter: 5 }))
    return new Promise((resolve, reject) => {
      this.#waiting.add(this.#parts.ownerOf(agentId), { run, resolve, reject })
      this.#wake()
    })
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
    do this.#commitSome()
    while (!this.#waiting.isEmpty && performance.now() < until)
  }

  /** Commits changes of the agent whose turn is next. */
  #commitSome(): void {
    const [owner] = this.#waiting.owners()
    if (owner === undefined) return
    const start = performance.now()
    const next = () => (performance.now() < start + TRANSACTION_MS ? this.#waiting.takeFrom(owner) : undefined)
    this.#commitAll(partOf(owner), this.#waiting.takeFrom(owner)!, next)
    this.#parts.spent?.(owner, performance.now() - start)
  }

  #commitAll(agentId: string, first: Change, next: () => Change | undefined): void {
    const taken: Change[] = []
    const results: unknown[] = []
    try {
      const base = this.#parts.open(agentId)
      base.write(() => {
        for (let change: Change | undefined = first; change !== undefined; change = next()) {
          taken.push(change)
          results.push(change.run(base))
        }
      })
    } catch (error) {
      this.#retry(agentId, taken.length === 0 ? [first] : taken, results.length, error)
      return
    }
    for (const [i, change] of taken.entries()) change.resolve(results[i] as never)
    this.#parts.changed(agentId)
  }

  /** One that fails must not fail the others: those before it share a transaction again. Where all could be run, each gets a transaction of its own. */
  #retry(agentId: string, changes: Change[], failed: number, error: unknown): void {
    if (changes.length === 1) {
      changes[0]!.reject(error)
      return
    }
    const before = changes.slice(0, failed)
    const [first, ...others] = failed < changes.length ? before : []
    if (first !== undefined) this.#commitAll(agentId, first, () => others.shift())
    for (const change of first === undefined ? changes : changes.slice(failed)) this.#commitAll(agentId, change, () => undefined)
  }
}
