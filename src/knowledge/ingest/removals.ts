import { setImmediate as nextTurn } from 'node:timers/promises'
import type { KnowledgeStore } from '../../store/knowledge/base.ts'

/** Deletes the rows of removed bases, a slice in each turn of the event loop, so that changes of other agents are not delayed. */
export class Removals {
  readonly #store: Pick<KnowledgeStore, 'removeSome'>
  #running: Promise<void> | undefined
  #isClosed = false
  /** False at the start: a process that crashed may have left removed bases. */
  #isDone = false

  constructor(store: Pick<KnowledgeStore, 'removeSome'>) {
    this.#store = store
  }

  start(): void {
    this.#isDone = false
    this.continue()
  }

  /** Continues a deletion that failed. */
  continue(): void {
    if (this.#isDone || this.#isClosed) return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#running
  }

  async #run(): Promise<void> {
    try {
      do await nextTurn()
      while (!this.#isClosed && this.#store.removeSome())
      this.#isDone = !this.#isClosed
    } catch {
      // The store is not reachable. The next `continue` retries.
    }
  }
}
