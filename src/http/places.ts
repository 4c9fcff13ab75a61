import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../core/api-key.ts'
import { ReparteeError } from '../core/errors.ts'
import { InTurn } from '../core/in-turn.ts'
import { type Sharer, Shares } from '../core/shares.ts'
import { whenOver } from './when-over.ts'
import { holdUntilDone } from './while-held.ts'

interface Waiting {
  caller: Sharer
  go: () => void
}

/** How many times as long as the work a place stays empty after it, and at most for how long. */
const REST_TIMES = 4
const MAX_REST_MS = 1_000

/** Limits how many requests run at the same time. Others wait, and keys and users of a key take turns. `Shares` divides the places among callers. */
export class Places {
  readonly #shares: Shares
  readonly #waiting = new InTurn<Waiting>()

  constructor(places: number) {
    this.#shares = new Shares(places)
  }

  /** Whether a request waits for a place. */
  get isWaitedFor(): boolean {
    return !this.#waiting.isEmpty
  }

  /**
   * Resolves when the request has a place or has ended. Returns undefined if it has one immediately. Places are divided among sharers, or among callers:
   * then `request.caller` must be set.
   */
  take(request: FastifyRequest, reply: FastifyReply, sharer?: Sharer): Promise<void> | undefined {
    const caller = sharer ?? request.caller!
    const hold = () => void holdUntilDone(request, reply, () => this.#give(caller))
    const entered = this.#enter(caller, request, reply)
    if (entered === true) return hold()
    return entered.then((hasPlace) => {
      if (hasPlace) hold()
    })
  }

  /** Does work in a place. Throws `unavailable` if the caller leaves before. */
  async within<T>(request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    const caller = request.caller!
    if (!(await this.#enter(caller, request, reply))) throw new ReparteeError('unavailable', 'The caller has left.')
    try {
      return await work()
    } finally {
      this.#give(caller)
    }
  }

  /**
   * Does work in a place that then stays empty for a while, so that work which others wait behind, such as long transactions, is only done for a part of the
   * time. Throws `unavailable` if the caller leaves before.
   */
  async withRest<T>(request: FastifyRequest, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    const caller = request.caller!
    if (!(await this.#enter(caller, request, reply))) throw new ReparteeError('unavailable', 'The caller has left.')
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      const restMs = REST_TIMES * (performance.now() - startedAt)
      setTimeout(() => this.#give(caller), Math.min(restMs, MAX_REST_MS)).unref()
    }
  }

  /** True, or a promise that resolves to whether the request has a place: it has none if it ended before. */
  #enter(caller: Sharer, request: FastifyRequest, reply: FastifyReply): true | Promise<boolean> {
    if (this.#shares.mayHave(caller, 1)) {
      this.#shares.take(caller, 1)
      return true
    }
    return new Promise((resolve) => {
      const go = () => {
        this.#shares.take(caller, 1)
        stay()
        resolve(true)
      }
      const waiting = { caller, go }
      const leave = () => {
        this.#waiting.remove(callerIdOf(caller), waiting)
        resolve(false)
      }
      this.#waiting.add(callerIdOf(caller), waiting)
      const stay = whenOver(request, reply, leave)
    })
  }

  #give(caller: Sharer): void {
    this.#shares.give(caller, 1)
    for (;;) {
      const next = this.#waiting.next((_, waiting) => this.#shares.mayHave(waiting.caller, 1))
      if (next === undefined) return
      next.go()
    }
  }
}
