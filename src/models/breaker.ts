import { ReparteeError } from '../core/errors.ts'
import { Cache } from '../core/platform/cache.ts'
import type { Clock } from '../core/ports/ports.ts'

export interface BreakerLimits {
  /** Consecutive failures that open it. */
  breakerFailures: number
  /** How long it stays open before one trial call, in milliseconds. */
  breakerPauseMs: number
}

/** A call that the breaker let through. The caller reports the outcome with one of these. */
interface Pass {
  worked(): void
  failed(): void
  /** The call says nothing about the provider: it was stopped, or refused because of its content. */
  dropped(): void
}

/** Maximum breakers in memory. */
const MOST_BREAKERS = 10_000

/**
 * One breaker for each agent and model. An agent cannot open the breaker of another agent, because a caller can make any model fail:
 * with a name that the provider does not have, or with a prompt that crashes the model.
 */
export class Breakers {
  readonly #byName = new Cache<Breaker>(MOST_BREAKERS)
  readonly #limits: BreakerLimits
  readonly #clock: Clock

  /** `clock` is in milliseconds and monotonic. */
  constructor(limits: BreakerLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Returns the breaker of an agent and a model. */
  of(agentId: string, model: string): Breaker {
    return this.#byName.getOrCreate(`${agentId} ${model}`, () => new Breaker(this.#limits, this.#clock))
  }
}

/** Refuses calls for a while after consecutive failures, so that callers do not wait for a model that is down. */
export class Breaker {
  #failures = 0
  /** When one trial call is allowed; undefined while the breaker is closed. */
  #openUntil: number | undefined
  /** The running trial call. */
  #trial: Pass | undefined
  readonly #limits: BreakerLimits
  readonly #clock: Clock

  /** `clock` is in milliseconds and monotonic. */
  constructor(limits: BreakerLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Throws `model_failed` while the breaker is open. */
  check(): void {
    if (this.#openUntil === undefined) return
    const waitMs = this.#openUntil - this.#clock()
    if (waitMs <= 0 && this.#trial === undefined) return
    throw new ReparteeError('model_failed', 'The model failed many times in a row. Its calls are paused for a while.', {
      retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
    })
  }

  /** Lets a call through, as the trial if the breaker was open. Throws `model_failed` while it is open. */
  enter(): Pass {
    this.check()
    const pass: Pass = {
      worked: () => this.#close(),
      failed: () => this.#failed(pass),
      dropped: () => {
        if (this.#trial === pass) this.#trial = undefined
      },
    }
    if (this.#openUntil !== undefined) this.#trial = pass
    return pass
  }

  #close(): void {
    this.#failures = 0
    this.#openUntil = undefined
    this.#trial = undefined
  }

  #failed(pass: Pass): void {
    const isTrial = this.#trial === pass
    // While it is open, only the trial counts. The other calls began before.
    if (this.#openUntil !== undefined && !isTrial) return
    this.#failures++
    if (!isTrial && this.#failures < this.#limits.breakerFailures) return
    this.#trial = undefined
    this.#openUntil = this.#clock() + this.#limits.breakerPauseMs
  }
}
