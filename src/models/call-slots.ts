import { InTurn } from '../core/in-turn.ts'
import { stopped } from './failure.ts'

/** So many calls at once; others wait. Those who wait are served agent by agent in turn, so that one busy agent does not hold up the others. */
export class CallSlots {
  #free: number
  readonly #waiting = new InTurn<() => void>()

  constructor(slots: number) {
    this.#free = slots
  }

  /** Resolves when a slot was taken. Throws `model_failed` where the signal comes first. */
  async take(agentId: string, signal: AbortSignal): Promise<void> {
    if (signal.aborted) throw stopped(signal)
    if (this.#free > 0) {
      this.#free--
      return
    }
    await new Promise<void>((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.remove(agentId, go)
        reject(stopped(signal))
      }
      this.#waiting.add(agentId, go)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  give(): void {
    const go = this.#waiting.next()
    if (go === undefined) this.#free++
    else go()
  }
}
