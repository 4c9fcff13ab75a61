import { stopped } from './failure.ts'

/** So many calls at once; others wait. Those who wait are served agent by agent in turn, so that one busy agent does not hold up the others. */
export class CallSlots {
  #free: number
  /** Those who wait, by agent; the agent whose turn is next stands first. */
  readonly #waiting = new Map<string, (() => void)[]>()

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
      const line = this.#waiting.get(agentId) ?? []
      this.#waiting.set(agentId, line)
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        line.splice(line.indexOf(go), 1)
        if (line.length === 0 && this.#waiting.get(agentId) === line) this.#waiting.delete(agentId)
        reject(stopped(signal))
      }
      line.push(go)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  give(): void {
    const [next] = this.#waiting
    if (next === undefined) {
      this.#free++
      return
    }
    const [agentId, line] = next
    const go = line.shift()!
    // The agent goes to the end of the round.
    this.#waiting.delete(agentId)
    if (line.length > 0) this.#waiting.set(agentId, line)
    go()
  }
}
