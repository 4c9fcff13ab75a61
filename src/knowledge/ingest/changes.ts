import { ReparteeError } from '../../core/errors.ts'
import type { Clock } from '../../core/ports.ts'
import type { KnowledgeBase } from '../../store/knowledge-base.ts'
import { endContent, PIECE_BYTES, putPiece } from '../../store/knowledge-contents.ts'

/** A burst of changes waits for the disk so often at most: conversations wait for the same disk. */
const FLUSH_EVERY_MS = 20

interface Change {
  agentId: string
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
}

/** Changes of knowledge files. All asked for at about the same time share one transaction an agent, and one wait for the disk. */
export class Changes {
  readonly #parts: ChangesParts
  #waiting: Change[] = []
  #flushedAt = Number.NEGATIVE_INFINITY
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
      if (this.#waiting.push({ agentId, run, resolve, reject }) > 1) return
      const wait = this.#flushedAt + FLUSH_EVERY_MS - performance.now()
      if (wait > 0) setTimeout(() => this.flush(), wait)
      else setImmediate(() => this.flush())
    })
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
    for (const change of this.#waiting) if (change.agentId === agentId) change.resolve(undefined as never)
    this.#waiting = this.#waiting.filter((change) => change.agentId !== agentId)
  }

  flush(): void {
    this.#flushedAt = performance.now()
    const changes = this.#waiting
    this.#waiting = []
    for (const [agentId, group] of Map.groupBy(changes, (change) => change.agentId)) this.#together(agentId, group)
  }

  /** Commits the changes that wait, and rejects later ones. */
  close(): void {
    this.flush()
    this.#isClosed = true
  }

  #together(agentId: string, changes: readonly Change[]): void {
    try {
      const base = this.#parts.open(agentId)
      const results = base.write(() => changes.map((change) => change.run(base)))
      for (const [i, change] of changes.entries()) change.resolve(results[i] as never)
      this.#parts.changed(agentId)
    } catch (error) {
      // One that fails must not fail the others: each gets a transaction of its own.
      if (changes.length === 1) changes[0]!.reject(error)
      else for (const change of changes) this.#together(agentId, [change])
    }
  }
}
