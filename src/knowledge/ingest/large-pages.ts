import { InTurn, wholeOf } from '../../core/fairness/in-turn.ts'
import { type Sharer, Shares } from '../../core/fairness/shares.ts'

/** Each large page may take as much memory as a document is allowed. */
const AT_ONCE = 3

/** Limits how many large pages are in memory at once. Other fetches pause, and owners take turns. `Shares` divides the slots among keys. */
export class LargePages {
  readonly #shares = new Shares(AT_ONCE)
  readonly #waiting = new InTurn<() => void>()

  /** Returns a slot that one page takes if it is large. `owner`: an agent, with its key (`key/agent`) if the key is known. */
  placeFor(owner: string): LargePlace {
    const sharer = toSharer(owner)
    let heldSince: number | undefined
    let waitingSince: number | undefined
    let waitedMs = 0
    /** Ends the wait for a slot. */
    let leave = () => {}
    const enter = () => {
      this.#shares.take(sharer, 1)
      heldSince = performance.now()
    }
    return {
      waitedMs: () => waitedMs + (waitingSince === undefined ? 0 : performance.now() - waitingSince),
      isOverdue: (turnMs) =>
        heldSince !== undefined &&
        performance.now() - heldSince > turnMs &&
        [...this.#waiting.owners()].some((other) => other !== owner),
      take: (signal) => {
        if (heldSince !== undefined) return undefined
        leave()
        if (this.#shares.mayHave(sharer, 1)) {
          enter()
          return undefined
        }
        if (signal.aborted) return Promise.reject(signal.reason)
        waitingSince = performance.now()
        return new Promise((resolve, reject) => {
          const stop = () => {
            leave()
            reject(signal.reason)
          }
          const endWait = () => {
            signal.removeEventListener('abort', stop)
            leave = () => {}
            waitedMs += performance.now() - waitingSince!
            waitingSince = undefined
          }
          const go = () => {
            endWait()
            enter()
            resolve()
          }
          leave = () => {
            endWait()
            this.#waiting.remove(owner, go)
          }
          signal.addEventListener('abort', stop, { once: true })
          this.#waiting.add(owner, go)
        })
      },
      give: () => {
        leave()
        if (heldSince === undefined) return
        heldSince = undefined
        this.#shares.give(sharer, 1)
        this.#letIn()
      },
    }
  }

  #letIn(): void {
    const next = () => this.#waiting.next((owner) => this.#shares.mayHave(toSharer(owner), 1))
    for (let go = next(); go !== undefined; go = next()) go()
  }
}

const toSharer = (owner: string): Sharer => ({ id: wholeOf(owner) })

export interface LargePlace {
  /** Returns how long the page has waited for a slot, in milliseconds. */
  waitedMs(): number
  /** Returns true if the page has used a slot for longer than `turnMs` while pages of other owners wait. */
  isOverdue(turnMs: number): boolean
  /**
   * Returns undefined if a slot is free, or a promise that resolves when one is. Rejects with the reason of the signal. Replaces an earlier call that
   * still waits: the promise of that call never settles.
   */
  take(signal: AbortSignal): Promise<void> | undefined
  /** Releases the slot or stops waiting. After that, a waiting promise of `take` never settles. */
  give(): void
}
