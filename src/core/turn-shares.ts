import { wholeOf } from './in-turn.ts'

/** Work of so long ago counts half. */
const HALF_LIFE_MS = 30_000
/** Less is as good as none. */
const LEAST_MS = 1
/** An owner that waits counts as at most this far ahead of the one with the least, so that its wait is bounded. */
const MOST_AHEAD_MS = 1_000

/**
 * How much time each owner, such as an agent, had lately of a thread or a process. The owner with the least comes next: a small document of one agent does
 * not wait for a turn of each of many agents with much to do. Of owners within another (`key/agent`), the whole with the least time comes first, because a
 * key can fill any number of agents.
 */
export class TurnShares {
  readonly #used = new Map<string, { ms: number; at: number }>()

  /** `now`: in milliseconds, never going back. */
  add(owner: string, ms: number, now: number): void {
    for (const id of new Set([wholeOf(owner), owner])) this.#used.set(id, { ms: this.#of(id, now) + ms, at: now })
    for (const id of this.#used.keys()) if (this.#of(id, now) < LEAST_MS) this.#used.delete(id)
  }

  /** Returns the owner that had the least, the first of several; undefined if there is none. `owners`: all that wait. */
  least(owners: Iterable<string>, now: number): string | undefined {
    const waiting = [...owners]
    const whole = this.#leastOf(new Set(waiting.map(wholeOf)), now)
    return this.#leastOf(new Set(waiting.filter((owner) => wholeOf(owner) === whole)), now)
  }

  #leastOf(ids: ReadonlySet<string>, now: number): string | undefined {
    const least = Math.min(...ids.values().map((id) => this.#of(id, now)))
    for (const id of ids)
      if (this.#of(id, now) > least + MOST_AHEAD_MS) this.#used.set(id, { ms: least + MOST_AHEAD_MS, at: now })
    return ids.values().find((id) => this.#of(id, now) === least)
  }

  #of(id: string, now: number): number {
    const used = this.#used.get(id)
    return used === undefined ? 0 : used.ms * 2 ** ((used.at - now) / HALF_LIFE_MS)
  }
}
