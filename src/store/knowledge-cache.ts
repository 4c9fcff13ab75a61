/**
 * Keeps values within a budget of bytes: what was not used while half of it was filled anew is dropped.
 * Two generations cost less than a list in order of use.
 */
export class ByteCache<K, V> {
  #young = new Map<K, { value: V; bytes: number }>()
  #old = new Map<K, { value: V; bytes: number }>()
  #youngBytes = 0
  #half: number

  constructor(maxBytes: number) {
    this.#half = maxBytes / 2
  }

  get(key: K): V | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young.value
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old.value, old.bytes)
    return old?.value
  }

  set(key: K, value: V, bytes: number): void {
    if (this.#youngBytes + bytes > this.#half) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    this.#young.set(key, { value, bytes })
    this.#youngBytes += bytes
  }

  /** Starts empty, with another budget. */
  clear(maxBytes: number): void {
    this.#half = maxBytes / 2
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
  }
}
