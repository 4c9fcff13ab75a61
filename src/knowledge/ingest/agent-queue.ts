import { setImmediate as nextTurn, setTimeout as pauseMs } from 'node:timers/promises'
import { partOf } from '../../core/fairness/in-turn.ts'
import { TurnShares } from '../../core/fairness/turn-shares.ts'
import type { Owners } from './owners.ts'
import { Bursts } from './web/bursts.ts'

/** How often to check if an agent's burst of changes is over. */
const LOOK_FOR_QUIET_EVERY_MS = 8
/** An agent waits this share of its last turn, up to `MOST_PATIENCE_MS`, for an agent with less used time that is in a burst of changes. */
const PATIENCE = 0.1
const MOST_PATIENCE_MS = 40

/** Agents with work to do. Next is the agent that used the least time recently, once its burst of changes is over. */
export class AgentQueue {
  readonly #owners: Owners
  readonly #waiting = new Set<string>()
  /** By agent with more work: milliseconds that its last turn took. */
  readonly #turnMs = new Map<string, number>()
  readonly #bursts = new Bursts()
  readonly #shares = new TurnShares()

  constructor(owners: Owners) {
    this.#owners = owners
  }

  get size(): number {
    return this.#waiting.size
  }

  has(agentId: string): boolean {
    return this.#waiting.has(agentId)
  }

  add(agentId: string): void {
    this.#waiting.add(agentId)
  }

  delete(agentId: string): void {
    this.#waiting.delete(agentId)
  }

  /** Records a change: more of them may follow soon. */
  changed(agentId: string): void {
    this.#bursts.changed(agentId, performance.now())
  }

  /** Adds time that an owner used. */
  spent(owner: string, ms: number): void {
    this.#shares.add(owner, ms, performance.now())
  }

  /** Lets requests run, then waits for an agent without a burst of changes, and removes it. Resolves to undefined if no work is left. */
  async next(isClosing: () => boolean): Promise<string | undefined> {
    await nextTurn()
    const begunAt = performance.now()
    for (;;) {
      if (isClosing() || this.#waiting.size === 0) return undefined
      const now = performance.now()
      const ready = [...this.#waiting].filter((agentId) => this.#bursts.isOver(agentId, now))
      const next = this.least(ready, now)
      // Without this wait, a small document could wait for a long turn of another agent.
      if (next !== undefined && (now - begunAt >= this.#patienceMs(next) || next === this.least(this.#waiting, now))) {
        this.#waiting.delete(next)
        return next
      }
      await pauseMs(LOOK_FOR_QUIET_EVERY_MS)
    }
  }

  /** Adds the time of a turn that began at `start` to its owner. `more`: the agent has more work. Returns the current time. */
  endTurn(agentId: string, start: number, more: boolean): number {
    const now = performance.now()
    this.#shares.add(this.#owners.ownerOf(agentId), now - start, now)
    if (more) this.#turnMs.set(agentId, now - start)
    else this.#turnMs.delete(agentId)
    this.#bursts.endTurn(agentId, now)
    return now
  }

  /** Returns the agent that used the least time recently, among the agents of the key that used the least. */
  least(agentIds: Iterable<string>, now = performance.now()): string | undefined {
    const owner = this.#shares.least(
      [...agentIds].map((agentId) => this.#owners.ownerOf(agentId)),
      now,
    )
    return owner && partOf(owner)
  }

  #patienceMs(agentId: string): number {
    return Math.min((this.#turnMs.get(agentId) ?? 0) * PATIENCE, MOST_PATIENCE_MS)
  }
}
