import { ReparteeError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'

export interface BreakerLimits {
  /** Failures in a row that open it. */
  breakerFailures: number
  /** How long it then stays open before one call may try. */
  breakerPauseMs: number
}

/** Spares a provider that is down, and those who would wait for it: after many failures in a row calls are refused at once for a while. */
export class Breaker {
  #failures = 0
  #openUntil = 0
  #trying = false
  readonly #limits: BreakerLimits
  readonly #clock: Clock

  constructor(limits: BreakerLimits, clock: Clock) {
    this.#limits = limits
    this.#clock = clock
  }

  /** Throws `model_failed` where the provider is to be spared. Each call that is let through must report to `worked`, `failed` or `leftOpen`. */
  check(): void {
    if (this.#failures < this.#limits.breakerFailures) return
    const waitMs = this.#openUntil - this.#clock()
    if (waitMs > 0 || this.#trying) {
      throw new ReparteeError(
        'model_failed',
        'The model failed: its provider failed many times in a row and is left alone for a while.',
        {
          retryAfter: Math.max(1, Math.ceil(waitMs / 1000)),
        },
      )
    }
    this.#trying = true
  }

  worked(): void {
    this.#failures = 0
    this.#trying = false
  }

  failed(): void {
    this.#failures++
    this.#trying = false
    this.#openUntil = this.#clock() + this.#limits.breakerPauseMs
  }

  /** The call says nothing about the provider: it was stopped, or refused for what it asked. */
  leftOpen(): void {
    this.#trying = false
  }
}
