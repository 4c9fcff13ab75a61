import type { Clock } from '../core/ports/ports.ts'
import type { RateAsk, RateWindow } from '../store/tables/processes/rate-windows.ts'

export const WINDOW_MS = 60_000
/** A window that ends later than this was started before the clock was set back, so it is restarted. Clocks of several machines may differ by less. */
const FARTHEST_MS = 2 * WINDOW_MS
/** A process reserves 1/20 of the limit at once, to save round trips. At the end of a window this much may be unused in another process. */
const PART = 20

/** Takes from the count that all processes share. */
export type TakeShared = (id: string, ask: RateAsk) => Promise<RateWindow>

/** A caller's state within one rate limit. */
export interface RateStanding {
  /** The limit per window. */
  limit: number
  remaining: number
  resetMs: number
  /** True if this request exceeds the limit. */
  isOver: boolean
}

interface Window {
  endsAt: number
  /** The number of requests that this process may accept, and the number it has accepted. */
  granted: number
  used: number
  /** The number that all processes have reserved. */
  taken: number
  asking: Promise<void> | undefined
}

/** Limits requests per caller in windows of a minute, each starting with a request. Processes share the count and reserve parts, and never exceed it. */
export class Rate {
  readonly limit: number
  readonly #name: string
  readonly #clock: Clock
  readonly #takeShared: TakeShared | undefined
  readonly #windows = new Map<string, Window>()
  #sweepAt = 0

  /** `takeShared`: set if other processes count too. */
  constructor(name: string, limit: number, clock: Clock, takeShared?: TakeShared) {
    this.limit = limit
    this.#name = name
    this.#clock = clock
    this.#takeShared = takeShared
  }

  /** Counts a request of a caller. */
  take(id: string): RateStanding | Promise<RateStanding> {
    const now = this.#clock()
    const window = this.#open(id, now)
    if (window.used < window.granted || window.taken >= this.limit) return this.#count(window, now)
    return this.#ask(id, window).then(() => this.take(id))
  }

  #open(id: string, now: number): Window {
    const known = this.#windows.get(id)
    if (known !== undefined && known.endsAt > now && known.endsAt <= now + FARTHEST_MS) return known
    if (now >= this.#sweepAt || this.#sweepAt > now + FARTHEST_MS) this.#sweep(now)
    const own = this.#takeShared === undefined ? this.limit : 0
    const window = { endsAt: now + WINDOW_MS, granted: own, used: 0, taken: own, asking: undefined }
    this.#windows.set(id, window)
    return window
  }

  #count(window: Window, now: number): RateStanding {
    const isOver = window.used >= window.granted
    if (!isOver) window.used++
    const remaining = window.granted - window.used + Math.max(0, this.limit - window.taken)
    return { limit: this.limit, remaining, resetMs: window.endsAt - now, isOver }
  }

  /** Concurrent requests share one answer. */
  #ask(id: string, window: Window): Promise<void> {
    window.asking ??= this.#takeSome(id, window).finally(() => {
      window.asking = undefined
    })
    return window.asking
  }

  async #takeSome(id: string, window: Window): Promise<void> {
    const count = Math.ceil(this.limit / PART)
    const now = this.#clock()
    const { taken, endsAt } = await this.#takeShared!(`${this.#name}/${id}`, {
      count,
      now,
      windowMs: WINDOW_MS,
      farthestMs: FARTHEST_MS,
    })
    // Another process may have started a new window, so the reservation of the previous one is void.
    if (endsAt !== window.endsAt && window.granted > 0) Object.assign(window, { granted: 0, used: 0 })
    window.endsAt = endsAt
    window.taken = Math.min(taken, this.limit)
    window.granted += Math.max(0, Math.min(count, this.limit - (taken - count)))
  }

  /** Removes expired windows once per window length, so that the cost per caller stays constant. */
  #sweep(now: number): void {
    this.#sweepAt = now + WINDOW_MS
    for (const [id, { endsAt, asking }] of this.#windows)
      if ((endsAt <= now || endsAt > now + FARTHEST_MS) && asking === undefined) this.#windows.delete(id)
  }
}

export interface Rates {
  /** Requests of an API key. */
  key: Rate
  /** Messages of an end user. */
  user: Rate
  /** Invalid keys from an address. Each process counts its own. */
  address: Rate
}
