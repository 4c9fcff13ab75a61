import { ReparteeError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'

export interface BreakerLimits {
  /** Failures in a row that open it. */
  breakerFailures: number
  /** How long it then stays open before one call may try. */
  breakerPauseMs: number
}

/** A call that was let through, and must say what became of it. */
interface Pass {
  worked(): void
  failed(): void
  /** It says nothing about the provider: it was stopped, or refused for what it asked. */
  dropped(): void
}

/** Spares a provider that is down, and those who would wait for it: after many failures in a row calls are refused at once for a while. */
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

  /** Throws `model_failed` where the provider is to be spared. */
  enter(): Pass {
    const isTrial = this.#openUntil !== undefined
    const waitMs = (this.#openUntil ?? 0) - this.#clock()
    if (isTrial && (waitMs > 0 || this.#trial !== undefined)) {
      throw new ReparteeError(
        'model_failed',
        'The model failed: its provider failed many times in a row and is left alone for a while.',
        { retryAfter: Math.max(1, Math.ceil(waitMs / 1000)) },
      )
    }
    const pass: Pass = {
      worked: () => this.#close(),
      failed: () => this.#failed(pass),
      dropped: () => {
        if (this.#trial === pass) this.#trial = undefined
      },
    }
    if (isTrial) this.#trial = pass
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
