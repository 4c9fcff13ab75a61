import { TenantShares } from '../../core/fairness/shares.ts'
import { type CallOwner, toAsker } from '../call-slots.ts'

/** Limit of all answers together. */
const MOST_BYTES = 268_435_456
/** Bytes of each answer that do not count: the number of calls limits them. */
const FREE_BYTES = 65_536

/** Limits the memory for unfinished answers: a provider may leave thousands open, each just below its maximum. `TenantShares` divides it. */
export class HeldBytes {
  readonly #shares: TenantShares

  constructor(bytes = MOST_BYTES) {
    this.#shares = new TenantShares(bytes)
  }

  open(owner: CallOwner): Held {
    return new Held(this.#shares, owner)
  }
}

/** The buffered bytes of one answer. */
export class Held {
  #bytes = 0
  readonly #shares: TenantShares
  readonly #owner: CallOwner

  constructor(shares: TenantShares, owner: CallOwner) {
    this.#shares = shares
    this.#owner = owner
  }

  /** Returns false if there is no room for this many bytes. */
  set(bytes: number): boolean {
    const more = Math.max(0, bytes - FREE_BYTES) - this.#bytes
    if (more === 0) return true
    const asker = toAsker(this.#owner)
    if (more > 0 && !this.#shares.mayHave(asker, more)) return false
    if (more > 0) this.#shares.take(asker, more)
    else this.#shares.give(asker, -more)
    this.#bytes += more
    return true
  }

  /** Releases all bytes. Safe to call twice. */
  end(): void {
    this.set(0)
  }
}

/** Shared by all answers. */
export const heldBytes = new HeldBytes()
