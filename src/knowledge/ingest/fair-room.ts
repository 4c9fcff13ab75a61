import { wholeOf } from '../../core/fairness/in-turn.ts'
import { type Sharer, Shares } from '../../core/fairness/shares.ts'
import type { Owners } from './owners.ts'

export interface FairRoomParts {
  /** The amount of all. */
  most: number
  /** What is held, by agent. */
  held: () => Iterable<[agentId: string, amount: number]>
  owners: Owners
  /** Returns the agent whose turn comes first. */
  next: (agentIds: Iterable<string>) => string | undefined
  /** There may be room for what the agent waits for. */
  wake: (agentId: string) => void
}

/**
 * Limits how much of something, such as documents, is in memory. `Shares` divides the room among keys. An agent without room waits. The agents of a key enter in
 * order of arrival, so that small amounts cannot overtake a large one again and again.
 */
export class FairRoom {
  readonly #parts: FairRoomParts
  /** By agent: how much it waits for. */
  readonly #waiting = new Map<string, number>()

  constructor(parts: FairRoomParts) {
    this.#parts = parts
  }

  /** What is larger than the share of its key has room alone. */
  mayEnter(agentId: string, amount: number): boolean {
    return this.#isFirst(agentId) && this.#hasRoom(this.#shares(), agentId, amount)
  }

  /** Returns true if there is room for that amount. Agents that wait make no difference. */
  hasRoom(agentId: string, amount: number): boolean {
    return this.#hasRoom(this.#shares(), agentId, amount)
  }

  /** The agent waits for so much. */
  wait(agentId: string, amount: number): void {
    this.#waiting.set(agentId, amount)
  }

  isWaiting(agentId: string): boolean {
    return this.#waiting.has(agentId)
  }

  /** The agent waits no longer. */
  leave(agentId: string): void {
    this.#waiting.delete(agentId)
  }

  /** To be called when there may be more room, or one that waited has entered or left. */
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

  /** For a turn of an agent: `enter` returns true if it may have so much more. `end` has it wait if it may not, and lets the next one in. */
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
        // To the end of the line.
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
