import { InTurn } from './in-turn.ts'
import { Shares } from './shares.ts'

/** Limits how much work runs at the same time. Owners, such as agents, take turns, and `Shares` divides the places among them. */
export class Limiter {
  readonly #places: Shares
  readonly #waiting = new InTurn<() => void>()

  constructor(atOnce: number) {
    this.#places = new Shares(atOnce)
  }

  async run<T>(owner: string, work: () => Promise<T>): Promise<T> {
    if (this.#places.mayHave({ id: owner }, 1)) this.#places.take({ id: owner }, 1)
    else await this.#wait(owner)
    try {
      return await work()
    } finally {
      this.#places.give({ id: owner }, 1)
      this.#letIn()
    }
  }

  /** The place is taken before it resolves, so that nobody gets in between. */
  #wait(owner: string): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        this.#places.take({ id: owner }, 1)
        resolve()
      }
      this.#waiting.add(owner, go)
    })
  }

  #letIn(): void {
    for (;;) {
      const next = this.#waiting.next((owner) => this.#places.mayHave({ id: owner }, 1))
      if (next === undefined) return
      next()
    }
  }
}
