import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../core/api-key.ts'
import { ReparteeError } from '../core/errors.ts'
import { InTurn } from '../core/in-turn.ts'
import { type Sharer, Shares } from '../core/shares.ts'
import { whenOver } from './when-over.ts'
import { holdUntilDone } from './while-held.ts'

/** Who takes a place. */
interface Entrant {
  caller: Sharer
  /** The agent that the request is about, and the caller within it; undefined where only callers share. */
  agent: Sharer | undefined
}

interface Waiting {
  entrant: Entrant
  go: () => void
}

/** How many times as long as the work a place stays empty after it, and at most for how long. */
const REST_TIMES = 4
const MAX_REST_MS = 1_000

/**
 * Limits how many requests run at the same time. Others wait, and keys and users of a key take turns. `Shares` divides the places among callers, and where
 * requests name their agent also among agents: a tenant may have one key for many agents, or many keys for one.
 */
export class Places {
  readonly #ofCallers: Shares
  readonly #ofAgents: Shares
  readonly #waiting = new InTurn<Waiting>()

  constructor(places: number) {
    this.#ofCallers = new Shares(places)
    this.#ofAgents = new Shares(places)
  }

  /** Whether a request waits for a place. */
  get isWaitedFor(): boolean {
    return !this.#waiting.isEmpty
  }

  /** Resolves when the request has a place or has ended. Returns undefined if it has one immediately. `request.caller` must be set. */
  take(request: FastifyRequest, reply: FastifyReply, agentId?: string): Promise<void> | undefined {
    const entrant = toEntrant(request, agentId)
    const hold = () => void holdUntilDone(request, reply, () => this.#give(entrant))
    const entered = this.#enter(entrant, request, reply)
    if (entered === true) return hold()
    return entered.then((hasPlace) => {
      if (hasPlace) hold()
    })
  }

  /** Does work in a place. Throws `unavailable` if the caller leaves before. */
  async within<T>(request: FastifyRequest, reply: FastifyReply, agentId: string, work: () => Promise<T>): Promise<T> {
    const entrant = toEntrant(request, agentId)
    if (!(await this.#enter(entrant, request, reply))) throw new ReparteeError('unavailable', 'The caller has left.')
    try {
      return await work()
    } finally {
      this.#give(entrant)
    }
  }

  /**
   * Does work in a place that then stays empty for a while, so that work which others wait behind, such as long transactions, is only done for a part of the
   * time. Throws `unavailable` if the caller leaves before.
   */
  async withRest<T>(request: FastifyRequest, reply: FastifyReply, agentId: string, work: () => Promise<T>): Promise<T> {
    const entrant = toEntrant(request, agentId)
    if (!(await this.#enter(entrant, request, reply))) throw new ReparteeError('unavailable', 'The caller has left.')
    const startedAt = performance.now()
    try {
      return await work()
    } finally {
      const restMs = REST_TIMES * (performance.now() - startedAt)
      setTimeout(() => this.#give(entrant), Math.min(restMs, MAX_REST_MS)).unref()
    }
  }

  /** True, or a promise that resolves to whether the request has a place: it has none if it ended before. */
  #enter(entrant: Entrant, request: FastifyRequest, reply: FastifyReply): true | Promise<boolean> {
    if (this.#mayEnter(entrant)) {
      this.#take(entrant)
      return true
    }
    return new Promise((resolve) => {
      const go = () => {
        this.#take(entrant)
        stay()
        resolve(true)
      }
      const owner = callerIdOf(entrant.agent ?? entrant.caller)
      const waiting = { entrant, go }
      const leave = () => {
        this.#waiting.remove(owner, waiting)
        resolve(false)
      }
      this.#waiting.add(owner, waiting)
      const stay = whenOver(request, reply, leave)
    })
  }

  #mayEnter({ caller, agent }: Entrant): boolean {
    return this.#ofCallers.mayHave(caller, 1) && (agent === undefined || this.#ofAgents.mayHave(agent, 1))
  }

  #take({ caller, agent }: Entrant): void {
    this.#ofCallers.take(caller, 1)
    if (agent !== undefined) this.#ofAgents.take(agent, 1)
  }

  #give({ caller, agent }: Entrant): void {
    this.#ofCallers.give(caller, 1)
    if (agent !== undefined) this.#ofAgents.give(agent, 1)
    for (;;) {
      const next = this.#waiting.next((_, { entrant }) => this.#mayEnter(entrant))
      if (next === undefined) return
      next.go()
    }
  }
}

function toEntrant({ caller }: FastifyRequest, agentId: string | undefined): Entrant {
  return { caller: caller!, agent: agentId === undefined ? undefined : { id: agentId, userId: callerIdOf(caller!) } }
}
