import { callerIdOf } from '../api-key.ts'
import { InTurn } from './in-turn.ts'
import { type Sharer, Shares } from './shares.ts'

interface Waiting {
  sharer: Sharer
  go: () => void
}

/** Limits how much work runs at the same time. Sharers, such as callers of an agent, take turns, and `Shares` divides the slots among them. */
export class Limiter {
  readonly #places: Shares
  readonly #waiting = new InTurn<Waiting>()

  constructor(atOnce: number) {
    this.#places = new Shares(atOnce)
  }

  async run<T>(sharer: Sharer, work: () => Promise<T>): Promise<T> {
    if (this.#places.mayHave(sharer, 1)) this.#places.take(sharer, 1)
    else await this.#wait(sharer)
    try {
      return await work()
    } finally {
      this.#places.give(sharer, 1)
      this.#letIn()
    }
  }

  /** Takes the slot before it resolves, so that no other work can take it first. */
  #wait(sharer: Sharer): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        this.#places.take(sharer, 1)
        resolve()
      }
      this.#waiting.add(callerIdOf(sharer), { sharer, go })
    })
  }

  #letIn(): void {
    const mayGo = (_: string, { sharer }: Waiting) => this.#places.mayHave(sharer, 1)
    const mayWholeGo = (id: string) => this.#places.mayHave({ id }, 1)
    while (this.#places.hasRoom) {
      const next = this.#waiting.next(mayGo, mayWholeGo)
      if (next === undefined) return
      next.go()
    }
  }
}
