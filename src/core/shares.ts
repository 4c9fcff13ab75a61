/** Who takes a share: a key or one of its users, or an agent or one of the keys that use it. */
export interface Sharer {
  id: string
  /** Someone within it. */
  userId?: string | undefined
}

/**
 * Divides a limited amount, such as memory, among keys. A key may take as much as remains free, so there is always some left for other keys. The users of a
 * key divide the part of that key in the same way, because a key can make any number of users.
 */
export class Shares {
  readonly #all: number
  #free: number
  readonly #held = new Map<string, number>()

  constructor(all: number) {
    this.#all = all
    this.#free = all
  }

  get isUntouched(): boolean {
    return this.#free === this.#all
  }

  mayHave({ id, userId }: Sharer, amount: number): boolean {
    const left = this.#free - this.#of(id)
    return amount <= left && (userId === undefined || this.#of(`${id}/${userId}`) + amount <= left)
  }

  take({ id, userId }: Sharer, amount: number): void {
    this.#free -= amount
    this.#add(id, amount)
    if (userId !== undefined) this.#add(`${id}/${userId}`, amount)
  }

  give({ id, userId }: Sharer, amount: number): void {
    this.#free += amount
    this.#add(id, -amount)
    if (userId !== undefined) this.#add(`${id}/${userId}`, -amount)
  }

  #of(name: string): number {
    return this.#held.get(name) ?? 0
  }

  #add(name: string, amount: number): void {
    const held = this.#of(name) + amount
    if (held === 0) this.#held.delete(name)
    else this.#held.set(name, held)
  }
}
