import { ReparteeError } from '../core/errors.ts'
import { InTurn } from '../core/in-turn.ts'
import { Shares } from '../core/shares.ts'
import { stopped } from './failure.ts'

/** Calls of all agents that may wait. `Shares` divides the places. */
const MOST_WAITING = 4_096
const RETRY_AFTER_SECONDS = 5

/** Whose call it is. */
export interface CallOwner {
  agentId: string
  /** The key of the request that it is made for. Undefined if it is made for none. */
  keyId?: string | undefined
}

/** Names are given to `Shares`: the keys divide the part of their agent. */
const toSharer = ({ agentId, keyId }: CallOwner) => ({ id: agentId, userId: keyId })
const toLine = ({ agentId, keyId = '' }: CallOwner): string => `${agentId} ${keyId}`

interface Waiting {
  owner: CallOwner
  go(): void
}

/**
 * Limits the number of calls at the same time. An agent may have as many slots as remain free, so there is always one left for another agent, and the keys that
 * use it divide its part in the same way. Other calls wait, for each agent and key in a line of its own. Free slots go to the lines in turn.
 */
export class CallSlots {
  readonly #slots: Shares
  readonly #places: Shares
  readonly #waiting = new InTurn<Waiting>()

  constructor(slots: number, mostWaiting = MOST_WAITING) {
    this.#slots = new Shares(slots)
    this.#places = new Shares(mostWaiting)
  }

  /** Resolves when the call has a slot. Throws `model_failed` if the signal comes first, `unavailable` if too many calls wait. */
  async take(owner: CallOwner, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw stopped(signal)
    if (this.#mayHave(owner)) this.#slots.take(toSharer(owner), 1)
    else await this.#wait(owner, signal)
  }

  give(owner: CallOwner): void {
    this.#slots.give(toSharer(owner), 1)
    for (;;) {
      const next = this.#waiting.next((_, waiting) => this.#mayHave(waiting.owner))
      if (next === undefined) return
      next.go()
    }
  }

  /** One is always given, whatever the shares. */
  #mayHave(owner: CallOwner): boolean {
    return this.#slots.isUntouched || this.#slots.mayHave(toSharer(owner), 1)
  }

  /** The slot is taken before it resolves, so that no other call gets in between. */
  #wait(owner: CallOwner, signal: AbortSignal): Promise<void> {
    const sharer = toSharer(owner)
    if (!this.#places.mayHave(sharer, 1)) throw tooManyWait()
    this.#places.take(sharer, 1)
    return new Promise<void>((resolve, reject) => {
      const waiting = {
        owner,
        go: () => {
          signal.removeEventListener('abort', leave)
          this.#places.give(sharer, 1)
          this.#slots.take(sharer, 1)
          resolve()
        },
      }
      const leave = () => {
        this.#waiting.remove(toLine(owner), waiting)
        this.#places.give(sharer, 1)
        reject(stopped(signal))
      }
      this.#waiting.add(toLine(owner), waiting)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}

const tooManyWait = () =>
  new ReparteeError('unavailable', 'Too many model calls of this agent are waiting. Try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  })
