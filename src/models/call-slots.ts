import { ReparteeError } from '../core/errors.ts'
import { InTurn } from '../core/fairness/in-turn.ts'
import { type Asker, TenantShares } from '../core/fairness/shares.ts'
import { stopped } from './transport/failure.ts'

/** Maximum waiting calls. `TenantShares` divides them. */
const MOST_WAITING = 4_096
const RETRY_AFTER_SECONDS = 5

/** The agent and key of a call. */
export interface CallOwner {
  agentId: string
  /** The API key of the request that makes the call. Undefined if no request makes it. */
  keyId?: string | undefined
}

/** Calls without a key share the part of one key: for example, calls that embed documents. */
export const toAsker = ({ agentId, keyId }: CallOwner): Asker => ({
  caller: keyId === undefined ? { id: '', userId: agentId } : { id: keyId },
  agentId,
})
/** Returns an owner for `InTurn`. */
export const toLine = ({ agentId, keyId = '' }: CallOwner): string => `${keyId}/${agentId}`

interface Waiting {
  owner: CallOwner
  go(): void
}

/**
 * Limits the number of concurrent calls. `TenantShares` divides the slots among keys and agents, so one is always left for another key.
 * Other calls wait in one queue per key and agent. Free slots go to the keys in turn, and to the agents of a key.
 */
export class CallSlots {
  readonly #slots: TenantShares
  readonly #places: TenantShares
  readonly #waiting = new InTurn<Waiting>()

  constructor(slots: number, mostWaiting = MOST_WAITING) {
    this.#slots = new TenantShares(slots)
    this.#places = new TenantShares(mostWaiting)
  }

  /** Resolves when the call has a slot. Throws `model_failed` if the signal comes first, `unavailable` if too many calls wait. */
  async take(owner: CallOwner, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw stopped(signal)
    if (this.#mayHave(owner)) this.#slots.take(toAsker(owner), 1)
    else await this.#wait(owner, signal)
  }

  give(owner: CallOwner): void {
    this.#slots.give(toAsker(owner), 1)
    for (;;) {
      const next = this.#waiting.next((_, waiting) => this.#mayHave(waiting.owner))
      if (next === undefined) return
      next.go()
    }
  }

  /** The first slot is always available, whatever the shares. */
  #mayHave(owner: CallOwner): boolean {
    return this.#slots.isUntouched || this.#slots.mayHave(toAsker(owner), 1)
  }

  /** Takes the slot before it resolves, so that no other call gets it. */
  #wait(owner: CallOwner, signal: AbortSignal): Promise<void> {
    const asker = toAsker(owner)
    if (!this.#places.mayHave(asker, 1)) throw tooManyWait()
    this.#places.take(asker, 1)
    return new Promise<void>((resolve, reject) => {
      const waiting = {
        owner,
        go: () => {
          signal.removeEventListener('abort', leave)
          this.#places.give(asker, 1)
          this.#slots.take(asker, 1)
          resolve()
        },
      }
      const leave = () => {
        this.#waiting.remove(toLine(owner), waiting)
        this.#places.give(asker, 1)
        reject(stopped(signal))
      }
      this.#waiting.add(toLine(owner), waiting)
      signal.addEventListener('abort', leave, { once: true })
    })
  }
}

const tooManyWait = () =>
  new ReparteeError('unavailable', 'Too many model calls are waiting. Try again in a moment.', {
    retryAfter: RETRY_AFTER_SECONDS,
  })
