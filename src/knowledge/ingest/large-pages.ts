import { InTurn } from '../../core/in-turn.ts'
import { Shares } from '../../core/shares.ts'

/** Each may take as much memory as a document may have. */
const AT_ONCE = 3

/** Limits how many large pages are in memory at once. Other fetches pause, and agents take turns. `Shares` divides the places among agents. */
export class LargePages {
  readonly #shares = new Shares(AT_ONCE)
  readonly #waiting = new InTurn<() => void>()

  /** Returns a place that one page of an agent takes if it is large. */
  placeFor(agentId: string): LargePlace {
    let heldSince: number | undefined
    let waitingSince: number | undefined
    let waitedMs = 0
    /** Ends the wait for a place. */
    let leave = () => {}
    const enter = () => {
      this.#shares.take({ id: agentId }, 1)
      heldSince = performance.now()
    }
    return {
      waitedMs: () => waitedMs + (waitingSince === undefined ? 0 : performance.now() - waitingSince),
      isOverdue: (turnMs) =>
        heldSince !== undefined &&
        performance.now() - heldSince > turnMs &&
        [...this.#waiting.owners()].some((owner) => owner !== agentId),
      take: (signal) => {
        if (heldSince !== undefined) return undefined
        if (this.#shares.mayHave({ id: agentId }, 1)) {
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
            this.#waiting.remove(agentId, go)
          }
          signal.addEventListener('abort', stop, { once: true })
          this.#waiting.add(agentId, go)
        })
      },
      give: () => {
        leave()
        if (heldSince === undefined) return
        heldSince = undefined
        this.#shares.give({ id: agentId }, 1)
        this.#letIn()
      },
    }
  }

  #letIn(): void {
    const next = () => this.#waiting.next((id) => this.#shares.mayHave({ id }, 1))
    for (let go = next(); go !== undefined; go = next()) go()
  }
}

export interface LargePlace {
  /** Returns for how long the page has waited for a place, in milliseconds. */
  waitedMs(): number
  /** Returns true if the page has had a place for longer than `turnMs` while pages of other agents wait for one. */
  isOverdue(turnMs: number): boolean
  /** Returns undefined if a place is free, or a promise that resolves when one is. Rejects with the reason of the signal. */
  take(signal: AbortSignal): Promise<void> | undefined
  /** Also stops waiting; the promise of `take` then never settles. */
  give(): void
}
