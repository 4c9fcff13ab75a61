import { ReparteeError } from '../core/errors.ts'

export interface Turn {
  /** Aborted when the session is deleted or the service must stop. */
  signal: AbortSignal
  /** Lets the next send of the session go. Safe to call twice. */
  end(): void
}

interface Waiter {
  start: () => void
  timer: NodeJS.Timeout
}

interface Line {
  agentId: string
  abort: AbortController
  waiting: Waiter[]
}

export interface TurnQueueLimits {
  maxWaitingSends: number
  maxWaitMs: number
}

/** One turn at a time for each session; others wait in order of arrival, so many and so long. */
export class TurnQueue {
  readonly #lines = new Map<string, Line>()
  readonly #limits: TurnQueueLimits

  constructor(limits: TurnQueueLimits) {
    this.#limits = limits
  }

  /** How many turns are running. */
  get running(): number {
    return this.#lines.size
  }

  /** Resolves when it is this send's turn. Throws `session_busy` where too many wait already, or it took too long. */
  take(agentId: string, sessionId: string): Promise<Turn> {
    const line = this.#lines.get(sessionId)
    if (line === undefined) return Promise.resolve(this.#open(agentId, sessionId, []))
    if (line.waiting.length >= this.#limits.maxWaitingSends) return Promise.reject(busy())
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        start: () => {
          clearTimeout(waiter.timer)
          resolve(this.#open(agentId, sessionId, line.waiting))
        },
        timer: setTimeout(() => {
          line.waiting.splice(line.waiting.indexOf(waiter), 1)
          reject(busy())
        }, this.#limits.maxWaitMs),
      }
      line.waiting.push(waiter)
    })
  }

  /** Stops the turn that is running in a session, if one is. */
  abort(sessionId: string): void {
    this.#lines.get(sessionId)?.abort.abort()
  }

  /** Stops the turns that are running: of one agent, or all. */
  abortAll(agentId?: string): void {
    for (const line of this.#lines.values()) if (agentId === undefined || line.agentId === agentId) line.abort.abort()
  }

  #open(agentId: string, sessionId: string, waiting: Waiter[]): Turn {
    const abort = new AbortController()
    // The array is kept across turns: a waiter's time-out must find itself in it.
    this.#lines.set(sessionId, { agentId, abort, waiting })
    let ended = false
    return {
      signal: abort.signal,
      end: () => {
        if (ended) return
        ended = true
        const next = waiting.shift()
        if (next) next.start()
        else this.#lines.delete(sessionId)
      },
    }
  }
}

const busy = () => new ReparteeError('session_busy', 'Too many messages wait for their turn in this session.', { retryAfter: 1 })
