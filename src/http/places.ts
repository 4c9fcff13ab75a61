import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey } from '../core/api-key.ts'
import { Shares } from './shares.ts'
import { whenOver } from './when-over.ts'

interface Waiting {
  caller: ApiKey
  go: () => void
}

/** Limits how many requests run at the same time. Others wait. `Shares` divides the places among callers. */
export class Places {
  readonly #shares: Shares
  #waiting: Waiting[] = []

  constructor(places: number) {
    this.#shares = new Shares(places)
  }

  /** Resolves when the request has a place or has ended. Returns undefined if it has one immediately. `request.caller` must be set. */
  take(request: FastifyRequest, reply: FastifyReply): Promise<void> | undefined {
    const caller = request.caller!
    const give = () => this.#give(caller)
    if (this.#shares.mayHave(caller, 1)) {
      this.#shares.take(caller, 1)
      whenOver(request, reply, give)
      return undefined
    }
    return new Promise((resolve) => {
      const go = () => {
        this.#shares.take(caller, 1)
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

  #give(caller: ApiKey): void {
    this.#shares.give(caller, 1)
    for (;;) {
      const at = this.#waiting.findIndex((waiting) => this.#shares.mayHave(waiting.caller, 1))
      if (at < 0) return
      this.#waiting.splice(at, 1)[0]!.go()
    }
  }
}
