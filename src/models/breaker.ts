import { ReparteeError } from '../core/errors.ts'
import { Cache } from '../core/platform/cache.ts'
import type { Clock } from '../core/ports/ports.ts'

export interface BreakerLimits {
  /** Failures in a row that open it. */
  breakerFailures: number
  /** How long it then stays open before one call may try. */
  breakerPauseMs: number
}

/** A call that the breaker let through. It reports its outcome with one of these. */
interface Pass {
  worked(): void
  failed(): void
  /** The call says nothing about the provider: it was stopped, or refused because of its content. */
  dropped(): void
}

/** Breakers that are kept at the same time. */
const MOST_BREAKERS = 10_000

/**
 * One breaker for each agent and model. An agent cannot open the breaker of another agent, because a caller can make any model fail: with a name that the
 * provider does not have, or with a prompt that it does not survive.
 */
export class Breakers {
  readonly #byName = new Cache<Breaker>(MOST_BREAKERS)
  readonly #limits: BreakerLimits
  readonly #clock: Clock

  /** `clock` in milliseconds; it never goes back. */
  constructor(limits: BreakerLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** That of an agent and a model. */
  of(agentId: string, model: string): Breaker {
    return this.#byName.getOrCreate(`${agentId} ${model}`, () => new Breaker(this.#limits, this.#clock))
  }
}

/** Refuses calls for a while after many failures in a row, so that callers do not wait for a model that is down. */
export class Breaker {
  #failures = 0
  /** When one call may try again; undefined while it is closed. */
  #openUntil: number | undefined
  /** The one call that tries. */
  #trial: Pass | undefined
  readonly #limits: BreakerLimits
  readonly #clock: Clock

  /** `clock` in milliseconds; one that never goes back. */
  constructor(limits: BreakerLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Throws `model_failed` while it is open. */
  check(): void {
    if (this.#openUntil === undefined) return
    const waitMs = this.#openUntil - this.#clock()
    if (waitMs <= 0 && this.#trial === undefined) return
    throw new ReparteeError('model_failed', 'The model failed many times in a row. Its calls are paused for a while.', {
      retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
    })
  }

  /** Lets a call through, as its trial if it was open. Throws `model_failed` while it is open. */
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
    // While it is open, only the one that tries tells something new; others began before.
    if (this.#openUntil !== undefined && !isTrial) return
    this.#failures++
    if (!isTrial && this.#failures < this.#limits.breakerFailures) return
    this.#trial = undefined
    this.#openUntil = this.#clock() + this.#limits.breakerPauseMs
  }
}
