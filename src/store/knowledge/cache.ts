/** Kept at hand of all bases of a thread: lists, passages and their sketches, vectors. Some 5,000 passages are held by it whole. */
const CACHE_BYTES = 32 * 1024 * 1024

/**
 * Bytes that several caches share, so that the base that is asked most has most of them: what was not used while half of them were filled
 * anew is dropped, whosever it is. Two generations cost less than a list in order of use.
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

/** Keeps values within a budget that it shares with others. */
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

  /** Drops what was not used since it did so last. */
  age(): void {
    this.#old = this.#young
    this.#young = new Map()
  }

  clear(): void {
    this.#young.clear()
    this.#old.clear()
  }

  /** Gives back what it has. */
  close(): void {
    this.#budget.leave(this)
    this.clear()
  }
}
