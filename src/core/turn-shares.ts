/** Work of so long ago counts half. */
const HALF_LIFE_MS = 30_000
/** Less is as good as none. */
const LEAST_MS = 1

/**
 * How much time each agent had lately, of a thread or a process. The agent with the least comes next: a small document of one does not wait for a turn of
 * each of many agents with much to do.
 */
export class TurnShares {
  readonly #used = new Map<string, { ms: number; at: number }>()

  /** `now`: in milliseconds, never going back. */
  add(agentId: string, ms: number, now: number): void {
    this.#used.set(agentId, { ms: this.#of(agentId, now) + ms, at: now })
    for (const id of this.#used.keys()) if (this.#of(id, now) < LEAST_MS) this.#used.delete(id)
  }

  /** Returns the agent that had the least, the first of several; undefined if there is none. */
  least(agentIds: Iterable<string>, now: number): string | undefined {
    let found: string | undefined
    let least = Number.POSITIVE_INFINITY
    for (const agentId of agentIds) {
      const used = this.#of(agentId, now)
      if (used >= least) continue
      found = agentId
      least = used
    }
    return found
  }

  #of(agentId: string, now: number): number {
    const used = this.#used.get(agentId)
    return used === undefined ? 0 : used.ms * 2 ** ((used.at - now) / HALF_LIFE_MS)
  }
}
