import { InTurn, wholeOf } from '../../core/fairness/in-turn.ts'

/** Units of work that one key may begin in one round of the event loop. A small request is one unit. */
const UNITS_A_ROUND = 16

interface Waiting {
  units: number
  begin(): void
}

/**
 * A fair queue by key. In each round of the event loop, a key may begin only a few units of work; the rest waits. A burst of one key, or of all users with its
 * tokens, does not delay other keys. The users of a key take turns.
 */
export class FairEntry {
  readonly #begun = new Map<string, number>()
  readonly #waiting = new Map<string, InTurn<Waiting>>()
  #isScheduled = false
  #round = 0

  /** The number of the current round. It increases while work begins or waits. */
  get round(): number {
    return this.#round
  }

  /**
   * Returns undefined if the work may begin immediately, else resolves when it may. Work larger than a round is the only work of its key in its round.
   * `callerId`: from `callerIdOf`.
   */
  enter(callerId: string, units = 1): Promise<void> | undefined {
    if (!this.#isScheduled) this.#schedule()
    const keyId = wholeOf(callerId)
    const line = this.#waiting.get(keyId)
    if (line === undefined && this.#take(keyId, units)) return undefined
    return new Promise((resolve) => {
      const all = line ?? new InTurn<Waiting>()
      all.add(callerId, { units, begin: resolve })
      if (line === undefined) this.#waiting.set(keyId, all)
    })
  }

  #take(keyId: string, units: number): boolean {
    const begun = this.#begun.get(keyId) ?? 0
    if (begun > 0 && begun + units > UNITS_A_ROUND) return false
    this.#begun.set(keyId, begun + units)
    return true
  }

  #schedule(): void {
    this.#isScheduled = true
    setImmediate(() => this.#nextRound())
  }

  #nextRound(): void {
    this.#round++
    this.#begun.clear()
    for (const [keyId, line] of this.#waiting) {
      // The next caller waits for a round with enough room, and nobody overtakes it, so that large work gets its turn.
      for (let isFull = false; !isFull; ) {
        const [callerId] = line.owners()
        const first = callerId === undefined ? undefined : line.firstOf(callerId)
        isFull = first === undefined || !this.#take(keyId, first.units)
        if (!isFull) line.takeFrom(callerId!)!.begin()
      }
      if (line.isEmpty) this.#waiting.delete(keyId)
    }
    this.#isScheduled = false
    if (this.#waiting.size > 0) this.#schedule()
  }
}
