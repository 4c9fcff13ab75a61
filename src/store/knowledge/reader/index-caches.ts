import type { ReadableBase } from '../base.ts'
import { ByteCache, type CacheBudget } from './cache.ts'
import { Filters } from './filters.ts'
import type { Sketch } from './sketch.ts'
import type { HeadCache } from './term-lists.ts'
import { Vocabulary } from './vocabulary.ts'

/** What an index has read and what stays valid when the base changes. All questions share it. */
export class IndexCaches {
  readonly base: ReadableBase
  readonly mostReadAtOnce: number
  readonly vocabulary = new Vocabulary()
  readonly filters = new Filters()
  readonly heads: HeadCache
  /** By passage id; the data of an id never changes. */
  readonly sketches: ByteCache<number, Sketch>
  /** How often lookups caused `NotYet` since the last answer. */
  yields = 0

  /** `mostReadAtOnce`: maximum number of passages of a list whose data is read with its `df`. */
  constructor(base: ReadableBase, budget: CacheBudget, mostReadAtOnce: number) {
    this.base = base
    this.mostReadAtOnce = mostReadAtOnce
    this.heads = new ByteCache(budget)
    this.sketches = new ByteCache(budget)
  }

  close(): void {
    this.heads.close()
    this.sketches.close()
  }
}
