/** An owner may have so many slow documents in `WITHIN_MS`. */
const MOST = 2
const WITHIN_MS = 600_000

/** Which owners had too many slow documents lately. Times are given by `performance.now()`. */
export class SlowOwners {
  /** By owner: when that happened. */
  readonly #times = new Map<string, number[]>()

  /** Another document of this owner was slow, or ended the process. */
  note(owner: string, now: number): void {
    for (const known of this.#times.keys()) this.#forgetOld(known, now)
    this.#times.set(owner, [...(this.#times.get(owner) ?? []), now])
  }

  has(owner: string, now: number): boolean {
    this.#forgetOld(owner, now)
    return (this.#times.get(owner)?.length ?? 0) >= MOST
  }

  /** How many had any lately. */
  count(now: number): number {
    for (const owner of this.#times.keys()) this.#forgetOld(owner, now)
    return this.#times.size
  }

  #forgetOld(owner: string, now: number): void {
    const times = this.#times.get(owner)?.filter((time) => now - time < WITHIN_MS) ?? []
    if (times.length === 0) this.#times.delete(owner)
    else this.#times.set(owner, times)
  }
}
