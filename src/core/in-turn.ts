/**
 * What waits, owner by owner in turn and of each in order of arrival, so that an owner of many does not hold up the others. Of owners within another, such as
 * the users of a key (`key/user`), one has a turn when it is the turn of the whole: a key can make any number of users.
 */
export class InTurn<T> {
  /** What waits if it is one item, as it mostly is: the maps take longer than most of the work that waits. They are empty then. */
  #only: { owner: string; item: T } | undefined
  /** By the whole, then by owner. Whose turn is next stands first. */
  readonly #wholes = new Map<string, Map<string, T[]>>()

  add(owner: string, item: T): void {
    if (this.isEmpty) this.#only = { owner, item }
    else {
      this.#lineUpOnly()
      this.#lineUp(owner, item)
    }
  }

  #lineUpOnly(): void {
    if (this.#only === undefined) return
    const { owner, item } = this.#only
    this.#only = undefined
    this.#lineUp(owner, item)
  }

  #lineUp(owner: string, item: T): void {
    const whole = wholeOf(owner)
    const lines = this.#wholes.get(whole)
    const line = lines?.get(owner)
    if (line !== undefined) line.push(item)
    else if (lines !== undefined) lines.set(owner, [item])
    else this.#wholes.set(whole, new Map([[owner, [item]]]))
  }

  /** Undefined if no owner whose first item `mayGo` has anything that waits. */
  next(mayGo: (owner: string, first: T) => boolean = () => true): T | undefined {
    if (this.#only !== undefined) return mayGo(this.#only.owner, this.#only.item) ? this.takeFrom(this.#only.owner) : undefined
    for (const lines of this.#wholes.values())
      for (const [owner, line] of lines) if (mayGo(owner, line[0]!)) return this.takeFrom(owner)
    return undefined
  }

  /** The owners of what waits; the one whose turn is next comes first. */
  *owners(): Generator<string> {
    if (this.#only !== undefined) yield this.#only.owner
    for (const lines of this.#wholes.values()) yield* lines.keys()
  }

  /** The oldest of an owner, which stays. */
  firstOf(owner: string): T | undefined {
    if (this.#only?.owner === owner) return this.#only.item
    return this.#wholes.get(wholeOf(owner))?.get(owner)?.[0]
  }

  /** The oldest of an owner. */
  takeFrom(owner: string): T | undefined {
    if (this.#only?.owner === owner) {
      const { item } = this.#only
      this.#only = undefined
      return item
    }
    const whole = wholeOf(owner)
    const lines = this.#wholes.get(whole)
    const line = lines?.get(owner)
    if (lines === undefined || line === undefined) return undefined
    const item = line.shift()
    // To the end of the round.
    lines.delete(owner)
    if (line.length > 0) lines.set(owner, line)
    this.#wholes.delete(whole)
    if (lines.size > 0) this.#wholes.set(whole, lines)
    return item
  }

  /** Puts back what was taken from an owner last, in the same order. */
  putBack(owner: string, items: readonly T[]): void {
    this.#lineUpOnly()
    const line = this.#wholes.get(wholeOf(owner))?.get(owner)
    if (line !== undefined) line.unshift(...items)
    else for (const item of items) this.add(owner, item)
  }

  get isEmpty(): boolean {
    return this.#only === undefined && this.#wholes.size === 0
  }

  /** Takes one out that is no longer wanted. */
  remove(owner: string, item: T): void {
    if (this.#only?.owner === owner && this.#only.item === item) this.#only = undefined
    const whole = wholeOf(owner)
    const lines = this.#wholes.get(whole)
    const line = lines?.get(owner)
    const at = line?.indexOf(item) ?? -1
    if (lines === undefined || line === undefined || at < 0) return
    line.splice(at, 1)
    if (line.length === 0) lines.delete(owner)
    if (lines.size === 0) this.#wholes.delete(whole)
  }
}

/** Returns the whole that an owner belongs to, or the owner itself. */
export function wholeOf(owner: string): string {
  const end = owner.indexOf('/')
  return end < 0 ? owner : owner.slice(0, end)
}

/** Returns what an owner is called within its whole. */
export const partOf = (owner: string): string => owner.slice(owner.indexOf('/') + 1)
