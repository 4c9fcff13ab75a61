import { wholeOf } from './in-turn.ts'

/** The number of slow jobs, such as documents to read, that make an owner slow within `WITHIN_MS`. */
const MOST = 2
/** The same for the whole that owners belong to, such as a key with its agents (`key/agent`). */
const MOST_OF_WHOLE = 6
const WITHIN_MS = 600_000

/** The owners with too many recent slow jobs. Times are from `performance.now()`. */
export class SlowOwners {
  /** The times of slow jobs, by owner. */
  readonly #times = new Map<string, number[]>()

  /** Records that a job of this owner was slow, or ended its process. */
  note(owner: string, now: number): void {
    for (const known of this.#times.keys()) this.#forgetOld(known, now)
    for (const name of new Set([owner, wholeOf(owner)])) this.#times.set(name, [...(this.#times.get(name) ?? []), now])
  }

  has(owner: string, now: number): boolean {
    return this.#count(owner, now) >= MOST || (owner.includes('/') && this.#count(wholeOf(owner), now) >= MOST_OF_WHOLE)
  }

  #count(owner: string, now: number): number {
    this.#forgetOld(owner, now)
    return this.#times.get(owner)?.length ?? 0
  }

  #forgetOld(owner: string, now: number): void {
    const times = this.#times.get(owner)?.filter((time) => now - time < WITHIN_MS) ?? []
    if (times.length === 0) this.#times.delete(owner)
    else this.#times.set(owner, times)
  }
}
