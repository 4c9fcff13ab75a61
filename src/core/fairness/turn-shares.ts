import { wholeOf } from './in-turn.ts'

/** Time used this long ago counts half. */
const HALF_LIFE_MS = 30_000
/** Less time counts as none. */
const LEAST_MS = 1
/** Limits the lead of a waiting owner over the one with the least time, so that its wait is bounded. */
const MOST_AHEAD_MS = 1_000
/** The number of owners whose use is always remembered. */
const FEW = 64

/**
 * The time that each owner, such as an agent, recently used of a thread or process. The owner with the least is next, so a small document need not wait
 * for a turn of each busy agent. For owners within another (`key/agent`), the whole with the least comes first: a key can have any number of agents.
 */
export class TurnShares {
  readonly #used = new Map<string, Used>()
  /** When the last work ended. Owners with less than `LEAST_MS` at that time no longer count. */
  #addedAt = 0
  /** At this number of owners, expired ones are deleted. A search at each call would take longer than the work itself. */
  #mostUsed = FEW

  /** Adds used time. `now` is in milliseconds and never decreases. */
  add(owner: string, ms: number, now: number): void {
    for (const id of new Set([wholeOf(owner), owner])) this.#used.set(id, { ms: this.#of(id, now) + ms, at: now })
    this.#addedAt = now
    if (this.#used.size < this.#mostUsed) return
    for (const [id, used] of this.#used) if (msAt(used, now) < LEAST_MS) this.#used.delete(id)
    this.#mostUsed = Math.max(FEW, 2 * this.#used.size)
  }

  /** Returns the owner with the least time, the first of equal ones. Undefined without owners. `owners` are all that wait. */
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
