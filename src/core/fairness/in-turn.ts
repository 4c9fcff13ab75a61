import { Round } from './round.ts'

/**
 * A fair queue: owners take turns, and an owner's items leave in order of arrival. A key can create any number of users,
 * so owners within another, such as the users of a key (`key/user`), share the turns of the whole.
 */
export class InTurn<T> {
  /** The only waiting item, the usual case. The maps are then empty: they cost more than most of the waiting work. */
  #only: { owner: string; item: T } | undefined
  /** By whole, then by owner. */
  readonly #wholes = new Round<Round<T[]>>()

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
    let lines = this.#wholes.get(whole)
    if (lines === undefined) {
      lines = new Round()
      this.#wholes.add(whole, lines)
    }
    const line = lines.get(owner)
    if (line === undefined) lines.add(owner, [item])
    else line.push(item)
  }

  /**
   * Removes the next item. Undefined if `mayGo` rejects the first item of every owner. `mayWholeGo` returns false for a whole without an allowed owner,
   * to skip its owners.
   */
  next(
    mayGo: (owner: string, first: T) => boolean = () => true,
    mayWholeGo: (whole: string) => boolean = () => true,
  ): T | undefined {
    if (this.#only !== undefined) return mayGo(this.#only.owner, this.#only.item) ? this.takeFrom(this.#only.owner) : undefined
    for (let whole = this.#wholes.first; whole !== undefined; whole = whole.after) {
      if (!mayWholeGo(whole.name)) continue
      for (let line = whole.value.first; line !== undefined; line = line.after)
        if (mayGo(line.name, line.value[0]!)) return this.takeFrom(line.name)
    }
    return undefined
  }

  /** Yields the owners of waiting items. The next one in turn comes first. */
  *owners(): Generator<string> {
    if (this.#only !== undefined) yield this.#only.owner
    for (let whole = this.#wholes.first; whole !== undefined; whole = whole.after)
      for (let line = whole.value.first; line !== undefined; line = line.after) yield line.name
  }

  /** Returns the oldest item of an owner without removing it. */
  firstOf(owner: string): T | undefined {
    if (this.#only?.owner === owner) return this.#only.item
    return this.#wholes.get(wholeOf(owner))?.get(owner)?.[0]
  }

  /** Removes and returns the oldest item of an owner. */
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
    if (line.length > 0) lines.moveToEnd(owner)
    else lines.delete(owner)
    if (lines.isEmpty) this.#wholes.delete(whole)
    else this.#wholes.moveToEnd(whole)
    return item
  }

  /** Puts back the items that were last taken from an owner, in the same order. */
  putBack(owner: string, items: readonly T[]): void {
    this.#lineUpOnly()
    const line = this.#wholes.get(wholeOf(owner))?.get(owner)
    if (line !== undefined) line.unshift(...items)
    else for (const item of items) this.add(owner, item)
  }

  get isEmpty(): boolean {
    return this.#only === undefined && this.#wholes.isEmpty
  }

  /** Removes an item that is no longer wanted. */
  remove(owner: string, item: T): void {
    if (this.#only?.owner === owner && this.#only.item === item) this.#only = undefined
    const whole = wholeOf(owner)
    const lines = this.#wholes.get(whole)
    const line = lines?.get(owner)
    const at = line?.indexOf(item) ?? -1
    if (lines === undefined || line === undefined || at < 0) return
    line.splice(at, 1)
    if (line.length === 0) lines.delete(owner)
    if (lines.isEmpty) this.#wholes.delete(whole)
  }
}

/** Returns the whole that an owner belongs to, or the owner itself. */
export function wholeOf(owner: string): string {
  const end = owner.indexOf('/')
  return end < 0 ? owner : owner.slice(0, end)
}

/** Returns the name of an owner within its whole. */
export const partOf = (owner: string): string => owner.slice(owner.indexOf('/') + 1)
