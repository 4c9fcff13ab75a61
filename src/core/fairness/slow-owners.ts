import { wholeOf } from './in-turn.ts'

/** An owner may have so many slow jobs, such as documents to read, in `WITHIN_MS`. */
const MOST = 2
/** A whole that owners belong to, such as a key with its agents (`key/agent`). */
const MOST_OF_WHOLE = 6
const WITHIN_MS = 600_000

/** Which owners had too many slow jobs lately. Times are given by `performance.now()`. */
export class SlowOwners {
  /** By owner: when that happened. */
  readonly #times = new Map<string, number[]>()

  /** Another job of this owner was slow, or ended its process. */
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
