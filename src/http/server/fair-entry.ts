import { InTurn, wholeOf } from '../../core/fairness/in-turn.ts'

/** Units of work of one key that begin in one round of the event loop. A small request is one unit. */
const UNITS_A_ROUND = 16

interface Waiting {
  units: number
  begin(): void
}

/**
 * A fair queue by key: in each round of the event loop, only a few units of work of a key begin, and the rest waits. A burst of one key, or of all users with
 * its tokens, does not delay the requests of other keys. The users of a key take turns in what it has.
 */
export class FairEntry {
  readonly #begun = new Map<string, number>()
  readonly #waiting = new Map<string, InTurn<Waiting>>()
  #isScheduled = false
  #round = 0

  /** The number of the round. It changes while work begins or waits. */
  get round(): number {
    return this.#round
  }

  /**
   * Returns undefined if the work may begin at once, else resolves when it may. Work of more units than a round has takes a round of its key alone. `callerId` as `callerIdOf`
   * makes it.
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
      // Whose turn it is waits for a round with enough room, so that large work gets its turn.
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
