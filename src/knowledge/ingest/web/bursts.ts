/** An agent's work waits until it has had no change for so long, or for the longest time: what is indexed together costs far less. */
const QUIET_MS = 25
/** In the midst of many changes, each soon after the one before. */
const QUIET_IN_BURST_MS = 100
const BURST = 5
const MAX_WAIT_MS = 500

interface Burst {
  changedAt: number
  /** Changes in a row before this one, each soon after the one before. */
  row: number
  /** The first change, or the end of the agent's last turn. */
  since: number
}

/** Changes of documents that came lately, by agent. Times are in milliseconds of one clock. */
export class Bursts {
  /** In the order of their last changes. */
  readonly #bursts = new Map<string, Burst>()

  changed(agentId: string, now: number): void {
    for (const [id, { changedAt }] of this.#bursts) {
      if (now - changedAt < MAX_WAIT_MS) break
      this.#bursts.delete(id)
    }
    const last = this.#bursts.get(agentId)
    this.#bursts.delete(agentId)
    const isInRow = last !== undefined && now - last.changedAt < QUIET_IN_BURST_MS
    this.#bursts.set(agentId, isInRow ? { ...last, changedAt: now, row: last.row + 1 } : { changedAt: now, row: 0, since: now })
  }

  /** Returns true if the agent's work need not wait for more changes. */
  isOver(agentId: string, now: number): boolean {
    const burst = this.#bursts.get(agentId)
    if (burst === undefined) return true
    const quietMs = burst.row < BURST ? QUIET_MS : QUIET_IN_BURST_MS
    return now - burst.changedAt >= quietMs || now - burst.since >= MAX_WAIT_MS
  }

  endTurn(agentId: string, now: number): void {
    const burst = this.#bursts.get(agentId)
    if (burst !== undefined) burst.since = now
  }
}
