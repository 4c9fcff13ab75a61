/** Cache size for all bases of a thread: lists, passages, sketches and vectors. About 5,000 passages fit in completely. */
const CACHE_BYTES = 32 * 1024 * 1024

/**
 * Bytes shared by several caches, so that the most used base gets most of them. Entries not used while half of the bytes were refilled
 * are dropped from all caches. Two generations cost less than a list in order of use (LRU).
 */
export class CacheBudget {
  readonly #half: number
  readonly #caches = new Set<{ age: () => void }>()
  #young = 0

  constructor(maxBytes = CACHE_BYTES) {
    this.#half = maxBytes / 2
  }

  join(cache: { age: () => void }): void {
    this.#caches.add(cache)
  }

  leave(cache: { age: () => void }): void {
    this.#caches.delete(cache)
  }

  spend(bytes: number): void {
    this.#young += bytes
    if (this.#young <= this.#half) return
    for (const cache of this.#caches) cache.age()
    this.#young = bytes
  }
}

/** Caches values within a byte budget that several caches share. */
export class ByteCache<K, V> {
  readonly #budget: CacheBudget
  #young = new Map<K, { value: V; bytes: number }>()
  #old = new Map<K, { value: V; bytes: number }>()

  constructor(budget: CacheBudget) {
    this.#budget = budget
    budget.join(this)
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young.value
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old.value, old.bytes)
    return old?.value
  }

  set(key: K, value: V, bytes: number): void {
    this.#budget.spend(bytes)
    this.#young.set(key, { value, bytes })
  }

  /** Drops entries that were not used since the last call. */
  age(): void {
    this.#old = this.#young
    this.#young = new Map()
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  /** Drops all entries and leaves the budget. */
  close(): void {
    this.#budget.leave(this)
    this.clear()
  }
}
