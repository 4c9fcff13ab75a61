/** A least-recently-used cache with a maximum number of values. */
export class Cache<V> {
  readonly #values = new Map<string, V>()
  /** The value that was used last. */
  #newest: { name: string; value: V } | undefined
  readonly #maxSize: number

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** If `create` throws, nothing is cached. */
  getOrCreate(name: string, create: () => V): V {
    if (this.#newest?.name === name) return this.#newest.value
    const value = this.#values.get(name) ?? create()
    this.#newest = { name, value }
    // Moves the value to the end, so that the first is the least recently used.
    this.#values.delete(name)
    this.#values.set(name, value)
    if (this.#values.size > this.#maxSize) this.#values.delete(this.#values.keys().next().value!)
    return value
  }

  get names(): string[] {
    return [...this.#values.keys()]
  }
}
