/** Time without changes before an agent's work starts, limited by `MAX_WAIT_MS`: documents that are indexed together cost far less. */
const QUIET_MS = 25
/** The same after more than `BURST` changes in quick succession. */
const QUIET_IN_BURST_MS = 100
const BURST = 5
const MAX_WAIT_MS = 500

interface Burst {
  changedAt: number
  /** Number of changes before this one in quick succession. */
  row: number
  /** Time of the first change, or of the end of the agent's last turn. */
  since: number
}

/** Recent changes of documents, by agent. Times are in milliseconds of one clock. */
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

  /** Returns true if the agent's work does not need to wait for more changes. */
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
