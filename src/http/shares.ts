import type { ApiKey } from '../core/api-key.ts'

/**
 * What there is a limited amount of, such as places or memory. A key may have as much as stays free, so that there is always some left for a key that has none;
 * of what its key may have, a user with a token may have as much as stays for the others. Whoever holds a key can make users without end.
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

  mayHave({ id, userId }: ApiKey, amount: number): boolean {
    const left = this.#free - this.#of(id)
    return amount <= left && (userId === undefined || this.#of(`${id}/${userId}`) + amount <= left)
  }

  take({ id, userId }: ApiKey, amount: number): void {
    this.#free -= amount
    this.#add(id, amount)
    if (userId !== undefined) this.#add(`${id}/${userId}`, amount)
  }

  give({ id, userId }: ApiKey, amount: number): void {
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
