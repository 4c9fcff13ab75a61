import { ReparteeError } from '../core/errors.ts'
import { InTurn } from '../core/in-turn.ts'
import { stopped } from './failure.ts'

/** Calls of all agents that may wait. An agent may have as many of them as stay free. */
const MOST_WAITING = 4_096
const RETRY_AFTER_SECONDS = 5

/**
 * Limits the number of calls at the same time. An agent may have as many slots as remain free, so there is always one left for another agent. Its other calls
 * wait in its own line. Free slots go to the lines in turn.
 */
export class CallSlots {
  readonly #slots: AgentShares
  readonly #places: AgentShares
  readonly #waiting = new InTurn<() => void>()

  constructor(slots: number, mostWaiting = MOST_WAITING) {
    this.#slots = new AgentShares(slots)
    this.#places = new AgentShares(mostWaiting)
  }

  /** Resolves when the agent has a slot. Throws `model_failed` if the signal comes first, `unavailable` if too many calls wait. */
  async take(agentId: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw stopped(signal)
    if (this.#slots.mayTake(agentId)) this.#slots.take(agentId)
    else await this.#wait(agentId, signal)
  }

  give(agentId: string): void {
    this.#slots.give(agentId)
    for (;;) {
      const go = this.#waiting.next((waiting) => this.#slots.mayTake(waiting))
      if (go === undefined) return
      go()
    }
  }

  /** The slot is taken before it resolves, so that no other call gets in between. */
  #wait(agentId: string, signal: AbortSignal): Promise<void> {
    if (!this.#places.mayTake(agentId)) throw tooManyWait()
    this.#places.take(agentId)
    return new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave)
        this.#places.give(agentId)
        this.#slots.take(agentId)
        resolve()
      }
      const leave = () => {
        this.#waiting.remove(agentId, go)
        this.#places.give(agentId)
        reject(stopped(signal))
      }
      this.#waiting.add(agentId, go)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}

/** Counts what agents have of a limited number. */
class AgentShares {
  #free: number
  readonly #held = new Map<string, number>()

  constructor(all: number) {
    this.#free = all
  }

  mayTake(agentId: string): boolean {
    return this.#of(agentId) < this.#free
  }

  take(agentId: string): void {
    this.#free--
    this.#held.set(agentId, this.#of(agentId) + 1)
  }

  give(agentId: string): void {
    this.#free++
    const held = this.#of(agentId) - 1
    if (held === 0) this.#held.delete(agentId)
    else this.#held.set(agentId, held)
  }

  #of(agentId: string): number {
    return this.#held.get(agentId) ?? 0
  }
}

const tooManyWait = () =>
  new ReparteeError('unavailable', 'Too many model calls of this agent are waiting. Try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  })
