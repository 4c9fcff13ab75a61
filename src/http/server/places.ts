import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../../core/api-key.ts'
import { ReparteeError } from '../../core/errors.ts'
import { InTurn } from '../../core/fairness/in-turn.ts'
import { type Asker, TenantShares } from '../../core/fairness/shares.ts'
import { whenOver } from './when-over.ts'
import { holdUntilDone } from './while-held.ts'

interface Waiting {
  asker: Asker
  go: () => void
}

/** A slot rests for this multiple of the time that its work took. */
const REST_TIMES = 4
const MAX_REST_MS = 1_000

/** Limits how many requests run at the same time. Other requests wait; keys, and users of a key, take turns. `TenantShares` divides the slots. */
export class Places {
  readonly #shares: TenantShares
  readonly #waiting = new InTurn<Waiting>()

  constructor(places: number) {
    this.#shares = new TenantShares(places)
  }

  /** Whether a request waits for a slot. */
  get isWaitedFor(): boolean {
    return !this.#waiting.isEmpty
  }

  /** Whether a request of another key waits for a slot. */
  isWaitedForBeside(key: { id: string }): boolean {
    for (const line of this.#waiting.owners()) if (this.#waiting.firstOf(line)!.asker.caller.id !== key.id) return true
    return false
  }

  /** Resolves when the request has a slot or has ended. Returns undefined if it has one immediately. `request.caller` must be set. */
  take(request: FastifyRequest, reply: FastifyReply, agentId?: string): Promise<void> | undefined {
    const asker = toAsker(request, agentId)
    const hold = () => void holdUntilDone(request, reply, () => this.#give(asker))
    const entered = this.#enter(asker, request, reply)
    if (entered === true) return hold()
    return entered.then((hasPlace) => {
      if (hasPlace) hold()
    })
  }

  /** Runs work in a slot. Throws `unavailable` if the caller disconnects first. */
  async within<T>(request: FastifyRequest, reply: FastifyReply, agentId: string, work: () => Promise<T>): Promise<T> {
    const asker = toAsker(request, agentId)
    if (!(await this.#enter(asker, request, reply))) throw new ReparteeError('unavailable', 'The caller has left.')
    try {
      return await work()
    } finally {
      this.#give(asker)
    }
  }

  /**
   * Runs work in a slot that then rests for `restTimes` times the duration of the work, at most a second. Work that blocks others, such as long transactions,
   * then runs only part of the time. Throws `unavailable` if the caller disconnects first.
   */
  async withRest<T>(
    request: FastifyRequest,
    reply: FastifyReply,
    agentId: string | undefined,
    work: () => Promise<T>,
    restTimes = REST_TIMES,
  ): Promise<T> {
    const asker = toAsker(request, agentId)
    if (!(await this.#enter(asker, request, reply))) throw new ReparteeError('unavailable', 'The caller has left.')
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      const restMs = restTimes * (performance.now() - startedAt)
      setTimeout(() => this.#give(asker), Math.min(restMs, MAX_REST_MS)).unref()
    }
  }

  /** Returns true, or a promise for whether the request has a slot: it has none if it ended first. */
  #enter(asker: Asker, request: FastifyRequest, reply: FastifyReply): true | Promise<boolean> {
    if (this.#shares.mayHave(asker, 1)) {
      this.#shares.take(asker, 1)
      return true
    }
    return new Promise((resolve) => {
      const go = () => {
        this.#shares.take(asker, 1)
        stay()
        resolve(true)
      }
      const line = lineOf(asker)
      const waiting = { asker, go }
      const leave = () => {
        this.#waiting.remove(line, waiting)
        resolve(false)
      }
      this.#waiting.add(line, waiting)
      const stay = whenOver(request, reply, leave)
    })
  }

  #give(asker: Asker): void {
    this.#shares.give(asker, 1)
    for (;;) {
      const next = this.#waiting.next((_, waiting) => this.#shares.mayHave(waiting.asker, 1))
      if (next === undefined) return
      next.go()
    }
  }
}

/** A request whose path names no agent counts for the agent of its key if the key has exactly one. */
function toAsker({ caller }: FastifyRequest, agentId: string | undefined): Asker {
  const { agentIds } = caller!
  return { caller: caller!, agentId: agentId ?? (agentIds?.length === 1 ? agentIds[0] : undefined) }
}

/** Returns the owner of the queue: agents take turns, and so do the callers of each agent. */
const lineOf = ({ caller, agentId }: Asker): string =>
  callerIdOf(agentId === undefined ? caller : { id: agentId, userId: callerIdOf(caller) })
