/** Keeps up to a number of values by name. A new one replaces the one that was used longest ago. */
export class Cache<V> {
  readonly #values = new Map<string, V>()
  /** The one that was used last. */
  #newest: { name: string; value: V } | undefined
  readonly #maxSize: number

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** `create` may throw; then nothing is kept. */
  getOrCreate(name: string, create: () => V): V {
    if (this.#newest?.name === name) return this.#newest.value
    const value = this.#values.get(name) ?? create()
    this.#newest = { name, value }
    // The newest is last, so that the first is the one to remove.
    this.#values.delete(name)
    this.#values.set(name, value)
    if (this.#values.size > this.#maxSize) this.#values.delete(this.#values.keys().next().value!)
    return value
  }

  get names(): string[] {
    return [...this.#values.keys()]
  }
}
