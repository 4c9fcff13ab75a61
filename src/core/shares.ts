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
  readonly #held = new Map<string, Held>()

  constructor(all: number) {
    this.#all = all
    this.#free = all
  }

  get isUntouched(): boolean {
    return this.#free === this.#all
  }

  mayHave({ id, userId }: Sharer, amount: number): boolean {
    const held = this.#held.get(id)
    const left = this.#free - (held?.amount ?? 0)
    return amount <= left && (userId === undefined || (held?.ofUsers.get(userId) ?? 0) + amount <= left)
  }

  take(sharer: Sharer, amount: number): void {
    this.#add(sharer, amount)
  }

  give(sharer: Sharer, amount: number): void {
    this.#add(sharer, -amount)
  }

  #add({ id, userId }: Sharer, amount: number): void {
    this.#free -= amount
    let held = this.#held.get(id)
    if (held === undefined) {
      held = { amount: 0, ofUsers: new Map() }
      this.#held.set(id, held)
    }
    held.amount += amount
    if (held.amount === 0) this.#held.delete(id)
    if (userId === undefined) return
    const ofUser = (held.ofUsers.get(userId) ?? 0) + amount
    if (ofUser === 0) held.ofUsers.delete(userId)
    else held.ofUsers.set(userId, ofUser)
  }
}

interface Held {
  amount: number
  ofUsers: Map<string, number>
}
