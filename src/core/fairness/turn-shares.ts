import { wholeOf } from './in-turn.ts'

/** Work of so long ago counts half. */
const HALF_LIFE_MS = 30_000
/** Less is as good as none. */
const LEAST_MS = 1
/** An owner that waits counts as at most this far ahead of the one with the least, so that its wait is bounded. */
const MOST_AHEAD_MS = 1_000
/** Owners whose past is remembered in any case. */
const FEW = 64

/**
 * How much time each owner, such as an agent, had lately of a thread or a process. The owner with the least comes next: a small document of one agent does
 * not wait for a turn of each of many agents with much to do. Of owners within another (`key/agent`), the whole with the least time comes first, because a
 * key can fill any number of agents.
 */
export class TurnShares {
  readonly #used = new Map<string, Used>()
  /** Of the last work. What was less than `LEAST_MS` then counts no more. */
  #addedAt = 0
  /** At this number of owners, expired ones are deleted. A search at each call would take longer than the work itself. */
  #mostUsed = FEW

  /** `now`: in milliseconds, never going back. */
  add(owner: string, ms: number, now: number): void {
    for (const id of new Set([wholeOf(owner), owner])) this.#used.set(id, { ms: this.#of(id, now) + ms, at: now })
    this.#addedAt = now
    if (this.#used.size < this.#mostUsed) return
    for (const [id, used] of this.#used) if (msAt(used, now) < LEAST_MS) this.#used.delete(id)
    this.#mostUsed = Math.max(FEW, 2 * this.#used.size)
  }

  /** Returns the owner that had the least, the first of several; undefined if there is none. `owners`: all that wait. */
  least(owners: Iterable<string>, now: number): string | undefined {
    const byWhole = Map.groupBy(owners, wholeOf)
    const whole = this.#leastOf([...byWhole.keys()], now)
    return whole === undefined ? undefined : this.#leastOf(byWhole.get(whole)!, now)
  }

  #leastOf(ids: readonly string[], now: number): string | undefined {
    const used = ids.map((id) => this.#of(id, now))
    const least = used.reduce((a, b) => Math.min(a, b), Infinity)
    for (const [at, ms] of used.entries())
      if (ms > least + MOST_AHEAD_MS) this.#used.set(ids[at]!, { ms: least + MOST_AHEAD_MS, at: now })
    return ids[used.indexOf(least)]
  }

  #of(id: string, now: number): number {
    const used = this.#used.get(id)
    return used === undefined || msAt(used, this.#addedAt) < LEAST_MS ? 0 : msAt(used, now)
  }
}

interface Used {
  ms: number
  at: number
}

const msAt = ({ ms, at }: Used, now: number): number => ms * 2 ** ((at - now) / HALF_LIFE_MS)
