/** What waits, owner by owner in turn and of each in order of arrival, so that an owner of many does not hold up the others. */
export class InTurn<T> {
  /** The owner whose turn is next stands first. */
  readonly #lines = new Map<string, T[]>()

  add(owner: string, item: T): void {
    const line = this.#lines.get(owner)
    if (line === undefined) this.#lines.set(owner, [item])
    else line.push(item)
  }

  /** Undefined if no owner whose first item `mayGo` has anything that waits. */
  next(mayGo: (owner: string, first: T) => boolean = () => true): T | undefined {
    for (const [owner, line] of this.#lines) {
      if (!mayGo(owner, line[0]!)) continue
      return this.takeFrom(owner)
    }
    return undefined
  }

  /** The owners of what waits; the one whose turn is next comes first. */
  get owners(): IterableIterator<string> {
    return this.#lines.keys()
  }

  /** The oldest of an owner, which stays. */
  firstOf(owner: string): T | undefined {
    return this.#lines.get(owner)?.[0]
  }

  /** The oldest of an owner. */
  takeFrom(owner: string): T | undefined {
    const line = this.#lines.get(owner)
    if (line === undefined) return undefined
    const item = line.shift()
    // To the end of the round.
    this.#lines.delete(owner)
    if (line.length > 0) this.#lines.set(owner, line)
    return item
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }

  /** Takes one out that is no longer wanted. */
  remove(owner: string, item: T): void {
    const line = this.#lines.get(owner)
    if (line === undefined) return
    line.splice(line.indexOf(item), 1)
    if (line.length === 0) this.#lines.delete(owner)
  }
}
