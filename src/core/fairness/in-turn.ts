import { Round } from './round.ts'

/**
 * What waits, owner by owner in turn and of each in order of arrival, so that an owner of many does not hold up the others. Of owners within another, such as
 * the users of a key (`key/user`), one has a turn when it is the turn of the whole: a key can make any number of users.
 */
export class InTurn<T> {
  /** What waits if it is one item, as it mostly is: the maps take longer than most of the work that waits. They are empty then. */
  #only: { owner: string; item: T } | undefined
  /** By the whole, then by owner. */
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
   * Undefined if no owner whose first item `mayGo` has anything that waits. `mayWholeGo`: returns false for a whole of which no owner may go, so that they are not
   * looked at one by one.
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

  /** The owners of what waits; the one whose turn is next comes first. */
  *owners(): Generator<string> {
    if (this.#only !== undefined) yield this.#only.owner
    for (let whole = this.#wholes.first; whole !== undefined; whole = whole.after)
      for (let line = whole.value.first; line !== undefined; line = line.after) yield line.name
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
    if (line.length > 0) lines.moveToEnd(owner)
    else lines.delete(owner)
    if (lines.isEmpty) this.#wholes.delete(whole)
    else this.#wholes.moveToEnd(whole)
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
    return this.#only === undefined && this.#wholes.isEmpty
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
    if (lines.isEmpty) this.#wholes.delete(whole)
  }
}

/** Returns the whole that an owner belongs to, or the owner itself. */
export function wholeOf(owner: string): string {
  const end = owner.indexOf('/')
  return end < 0 ? owner : owner.slice(0, end)
}

/** Returns what an owner is called within its whole. */
export const partOf = (owner: string): string => owner.slice(owner.indexOf('/') + 1)
