import { BaseGone, type ReadableBase } from '../base.ts'
import { get, type Work } from '../work.ts'
import { CacheBudget } from './cache.ts'
import { NotYet } from './filters.ts'
import { IndexCaches } from './index-caches.ts'
import { IndexRead } from './index-read.ts'
import { Snapshot, VERSION } from './snapshot.ts'
import { MOST_READ_AT_ONCE } from './term-lists.ts'
import type { SimilarWords } from './vocabulary.ts'

/** One agent's index in memory, as far as questions have read it. */
export class KnowledgeIndex {
  readonly base: ReadableBase
  readonly caches: IndexCaches
  readonly #epoch: number
  readonly #budget: CacheBudget
  #snapshot: Snapshot | undefined
  /** Words that were looked up for questions that are not answered yet. */
  readonly #lookedUp = new WeakMap<object, Map<string, SimilarWords>>()

  /** `mostReadAtOnce`: see `IndexCaches`. */
  constructor(base: ReadableBase, budget = new CacheBudget(), mostReadAtOnce = MOST_READ_AT_ONCE) {
    this.base = base
    this.caches = new IndexCaches(base, budget, mostReadAtOnce)
    this.#epoch = base.epoch
    this.#budget = budget
  }

  /**
   * Returns the result of work on one version of the base; from PostgreSQL, a promise of it. `question`: the same object for each retry of a question after
   * `NotYet`. Its looked-up words stay valid even if the base changes in between: otherwise a question to a base that changes all the time might never be
   * answered. Throws `BaseGone`.
   */
  read<T>(work: (read: IndexRead) => Work<T>, question?: object): T {
    return this.base.perform(() => this.#read(work, question))
  }

  *#read<T>(work: (read: IndexRead) => Work<T>, question: object | undefined): Work<T> {
    const version = (yield* get<{ version: number }>(VERSION))?.version
    if (version === undefined) throw new BaseGone()
    const lookedUp = (question && this.#lookedUp.get(question)) ?? new Map<string, SimilarWords>()
    // Work on PostgreSQL starts over if the base changes between two round trips.
    if (question !== undefined && this.base.isRemote) this.#lookedUp.set(question, lookedUp)
    try {
      const result = yield* work(new IndexRead(this.caches, yield* this.#snapshotOf(version), lookedUp))
      this.caches.yields = 0
      return result
    } catch (error) {
      if (error instanceof NotYet && question !== undefined) this.#lookedUp.set(question, lookedUp)
      throw error
    }
  }

  *#snapshotOf(version: number): Work<Snapshot> {
    if (this.#snapshot?.version === version) return this.#snapshot
    const loaded = yield* Snapshot.load(version, this.#snapshot, this.#budget)
    const current = this.#snapshot
    // Another question may have loaded this version, or a later one, at the same time.
    if (current !== undefined && current.version >= version) {
      loaded.close()
      return current.version === version ? current : loaded
    }
    current?.close()
    this.#snapshot = loaded
    return loaded
  }

  /** True if the database may have lost data that was read. */
  get isOutdated(): boolean {
    return this.base.epoch !== this.#epoch
  }

  close(): void {
    this.base.close()
    this.forget()
  }

  /** Frees the caches. */
  forget(): void {
    this.caches.close()
    this.#snapshot?.close()
  }
}
