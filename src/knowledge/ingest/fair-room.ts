import { wholeOf } from '../../core/fairness/in-turn.ts'
import { type Sharer, Shares } from '../../core/fairness/shares.ts'
import type { Owners } from './owners.ts'

export interface FairRoomParts {
  /** The total amount. */
  most: number
  /** Returns the amounts in use, by agent. */
  held: () => Iterable<[agentId: string, amount: number]>
  owners: Owners
  /** Returns the agent whose turn comes first. */
  next: (agentIds: Iterable<string>) => string | undefined
  /** Called if there may be room for the amount that the agent waits for. */
  wake: (agentId: string) => void
}

/**
 * Limits how much of something, such as documents, is in memory. `Shares` divides the room among keys. An agent without room waits. The agents of a key enter
 * in order of arrival, so that small amounts cannot overtake a large one again and again.
 */
export class FairRoom {
  readonly #parts: FairRoomParts
  /** By agent: how much it waits for. */
  readonly #waiting = new Map<string, number>()

  constructor(parts: FairRoomParts) {
    this.#parts = parts
  }

  /** Returns true if the agent may take the amount now. An amount larger than the share of its key must be the only one. */
  mayEnter(agentId: string, amount: number): boolean {
    return this.#isFirst(agentId) && this.#hasRoom(this.#shares(), agentId, amount)
  }

  /** Returns true if there is room for that amount. Ignores waiting agents. */
  hasRoom(agentId: string, amount: number): boolean {
    return this.#hasRoom(this.#shares(), agentId, amount)
  }

  /** Adds the agent to the queue for this amount. */
  wait(agentId: string, amount: number): void {
    this.#waiting.set(agentId, amount)
  }

  isWaiting(agentId: string): boolean {
    return this.#waiting.has(agentId)
  }

  /** Removes the agent from the queue. */
  leave(agentId: string): void {
    this.#waiting.delete(agentId)
  }

  /** Wakes the next agent that has room. Call it when there may be more room, or when a waiting agent has entered or left. */
  wake(): void {
    if (this.#waiting.size === 0) return
    const shares = this.#shares()
    const firsts = new Map<string, string>()
    for (const agentId of this.#waiting.keys()) {
      const key = this.#sharerOf(agentId).id
      if (!firsts.has(key)) firsts.set(key, agentId)
    }
    const mayEnter = (agentId: string) => this.#hasRoom(shares, agentId, this.#waiting.get(agentId)!)
    const next = this.#parts.next(firsts.values().filter(mayEnter))
    if (next !== undefined) this.#parts.wake(next)
  }

  /** For a turn of an agent: `enter` returns true if the agent may take the amount. `end` queues the agent if it was refused, and wakes the next one. */
  visit(agentId: string): { enter: (amount: number) => boolean; end: () => void } {
    let refused: number | undefined
    let hasEntered = false
    return {
      enter: (amount) => {
        const mayEnter = this.mayEnter(agentId, amount)
        hasEntered ||= mayEnter
        if (!mayEnter) refused = Math.min(refused ?? amount, amount)
        return mayEnter
      },
      end: () => {
        // The agent moves to the end of the queue.
        if (hasEntered || refused === undefined) this.leave(agentId)
        if (refused !== undefined) this.wait(agentId, refused)
        this.wake()
      },
    }
  }

  #isFirst(agentId: string): boolean {
    const key = this.#sharerOf(agentId).id
    const first = this.#waiting.keys().find((id) => this.#sharerOf(id).id === key)
    return first === undefined || first === agentId
  }

  #shares(): Shares {
    const shares = new Shares(this.#parts.most)
    for (const [agentId, amount] of this.#parts.held()) shares.take(this.#sharerOf(agentId), amount)
    return shares
  }

  #hasRoom(shares: Shares, agentId: string, amount: number): boolean {
    return shares.isUntouched || shares.mayHave(this.#sharerOf(agentId), amount)
  }

  #sharerOf(agentId: string): Sharer {
    return { id: wholeOf(this.#parts.owners.ownerOf(agentId)) }
  }
}
