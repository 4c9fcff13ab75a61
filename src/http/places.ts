import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../core/api-key.ts'
import { whenOver } from './when-over.ts'

interface Waiting {
  caller: string
  go: () => void
}

/**
 * So many requests are served at once that each hold something scarce until they are over; the others wait. A caller may have as many places as stay
 * free, so that there is always one left for somebody who has none, however slow the others are.
 */
export class Places {
  #free: number
  readonly #taken = new Map<string, number>()
  #waiting: Waiting[] = []

  constructor(places: number) {
    this.#free = places
  }

  /** Resolves when the request has a place, or is over; undefined where it has one now. The caller must be known. */
  take(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const caller = callerIdOf(request.caller!)
    const give = () => this.#give(caller)
    if (this.#mayHave(caller)) {
      this.#hold(caller)
      whenOver(request, reply, give)
      return undefined
    }
    return new Promise((resolve) => {
      const go = () => {
        this.#hold(caller)
        stay()
        whenOver(request, reply, give)
        resolve()
      }
      const waiting = { caller, go }
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting)
        resolve()
      }
      this.#waiting.push(waiting)
      const stay = whenOver(request, reply, leave)
    })
  }

  #mayHave(caller: string): boolean {
    return this.#free > (this.#taken.get(caller) ?? 0)
  }

  #hold(caller: string): void {
    this.#free--
    this.#taken.set(caller, (this.#taken.get(caller) ?? 0) + 1)
  }

  #give(caller: string): void {
    this.#free++
    const taken = this.#taken.get(caller)! - 1
    if (taken === 0) this.#taken.delete(caller)
    else this.#taken.set(caller, taken)
    for (;;) {
      const at = this.#waiting.findIndex((waiting) => this.#mayHave(waiting.caller))
      if (at < 0) return
      this.#waiting.splice(at, 1)[0]!.go()
    }
  }
}
