/** Work of so long ago counts half. */
const HALF_LIFE_MS = 30_000
/** Less is as good as none. */
const LEAST_MS = 1
/** An owner that waits counts as at most this far ahead of the one with the least, so that its wait is bounded. */
const MOST_AHEAD_MS = 1_000

/**
 * How much time each owner, such as an agent, had lately of a thread or a process. The owner with the least comes next: a small document of one agent does
 * not wait for a turn of each of many agents with much to do.
 */
export class TurnShares {
  readonly #used = new Map<string, { ms: number; at: number }>()

  /** `now`: in milliseconds, never going back. */
  add(owner: string, ms: number, now: number): void {
    this.#used.set(owner, { ms: this.#of(owner, now) + ms, at: now })
    for (const id of this.#used.keys()) if (this.#of(id, now) < LEAST_MS) this.#used.delete(id)
  }

  /** Returns the owner that had the least, the first of several; undefined if there is none. `owners`: all that wait. */
  least(owners: Iterable<string>, now: number): string | undefined {
    const waiting = [...owners]
    const least = Math.min(...waiting.map((owner) => this.#of(owner, now)))
    for (const owner of waiting)
      if (this.#of(owner, now) > least + MOST_AHEAD_MS) this.#used.set(owner, { ms: least + MOST_AHEAD_MS, at: now })
    return waiting.find((owner) => this.#of(owner, now) === least)
  }

  #of(owner: string, now: number): number {
    const used = this.#used.get(owner)
    return used === undefined ? 0 : used.ms * 2 ** ((used.at - now) / HALF_LIFE_MS)
  }
}
