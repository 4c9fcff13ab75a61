import { InTurn } from '../../core/fairness/in-turn.ts'
import type { Statement } from '../database.ts'

interface Write {
  statements: Statement[]
  /** When it began to wait, on the clock of `performance`. */
  since: number
}

/** Returns the agent of a write: the first parameter of its first statement. */
export const agentOf = ({ statements }: Pick<Write, 'statements'>): string => String(statements[0]!.params[0])

/** A queue of writes. Agents take turns; the writes of one agent stay in order. */
export class WritesInTurn<W extends Write> {
  readonly #waiting = new InTurn<W>()
  /** When each waiting agent was last served. */
  readonly #servedAt = new Map<string, number>()

  get isEmpty(): boolean {
    return this.#waiting.isEmpty
  }

  add(write: W): void {
    this.#waiting.add(agentOf(write), write)
  }

  take(most: number): W[] {
    const taken: W[] = []
    const now = performance.now()
    while (taken.length < most) {
      const write = this.#waiting.next()
      if (write === undefined) break
      taken.push(write)
      const agent = agentOf(write)
      if (this.#waiting.firstOf(agent) === undefined) this.#servedAt.delete(agent)
      else this.#servedAt.set(agent, now)
    }
    return taken
  }

  /** Puts back the writes that were taken last and not written, in the same order. */
  putBack(writes: readonly W[]): void {
    for (const [agent, its] of Map.groupBy(writes, agentOf)) this.#waiting.putBack(agent, its)
  }

  /** Returns how long the next agent has waited for its turn, in milliseconds. */
  waitMs(): number {
    for (const agent of this.#waiting.owners()) {
      const { since } = this.#waiting.firstOf(agent)!
      return performance.now() - Math.max(since, this.#servedAt.get(agent) ?? 0)
    }
    return 0
  }
}
