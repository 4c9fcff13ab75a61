/** An owner may have so many slow jobs, such as documents to read, in `WITHIN_MS`. */
const MOST = 2
const WITHIN_MS = 600_000

/** Which owners had too many slow jobs lately. Times are given by `performance.now()`. */
export class SlowOwners {
  /** By owner: when that happened. */
  readonly #times = new Map<string, number[]>()

  /** Another job of this owner was slow, or ended its process. */
  note(owner: string, now: number): void {
    for (const known of this.#times.keys()) this.#forgetOld(known, now)
    this.#times.set(owner, [...(this.#times.get(owner) ?? []), now])
  }

  has(owner: string, now: number): boolean {
    this.#forgetOld(owner, now)
    return (this.#times.get(owner)?.length ?? 0) >= MOST
  }

  #forgetOld(owner: string, now: number): void {
    const times = this.#times.get(owner)?.filter((time) => now - time < WITHIN_MS) ?? []
    if (times.length === 0) this.#times.delete(owner)
    else this.#times.set(owner, times)
  }
}
