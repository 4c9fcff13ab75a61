import type { Clock } from '../core/ports/ports.ts'
import type { RateAsk, RateWindow } from '../store/tables/rate-windows.ts'

export const WINDOW_MS = 60_000
/** An end farther off is of a clock that was set back since: nobody waits for an hour to come again. Clocks of several machines may differ by less. */
const FARTHEST_MS = 2 * WINDOW_MS
/** A process takes so large a part of what all may at once: fewer trips, and at the end of a window that much may be left with another process. */
const PART = 20

/** Takes from what all processes share. */
export type TakeShared = (id: string, ask: RateAsk) => Promise<RateWindow>

/** How a caller stands to one rate. */
export interface RateStanding {
  /** Of the window. */
  limit: number
  remaining: number
  resetMs: number
  /** The one that was asked for is over the limit. */
  isOver: boolean
}

interface Window {
  endsAt: number
  /** What this process may let through, and did. */
  granted: number
  used: number
  /** What all processes together have taken. */
  taken: number
  asking: Promise<void> | undefined
}

/**
 * Counts requests by whoever makes them: so many in a minute that begins with the first. Never more are let through than may, however many processes share
 * the count; each takes some ahead.
 */
export class Rate {
  readonly limit: number
  readonly #name: string
  readonly #clock: Clock
  readonly #takeShared: TakeShared | undefined
  readonly #windows = new Map<string, Window>()
  #sweepAt = 0

  /** `takeShared`: where other processes count, too. */
  constructor(name: string, limit: number, clock: Clock, takeShared?: TakeShared) {
    this.limit = limit
    this.#name = name
    this.#clock = clock
    this.#takeShared = takeShared
  }

  /** One more of this caller. */
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

  /** Those who come meanwhile wait for the same answer. */
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
    // Others may have begun another window meanwhile: what was taken in the one before is gone.
    if (endsAt !== window.endsAt && window.granted > 0) Object.assign(window, { granted: 0, used: 0 })
    window.endsAt = endsAt
    window.taken = Math.min(taken, this.limit)
    window.granted += Math.max(0, Math.min(count, this.limit - (taken - count)))
  }

  /** Once a window: the more callers there are, the less often for each. */
  #sweep(now: number): void {
    this.#sweepAt = now + WINDOW_MS
    for (const [id, { endsAt, asking }] of this.#windows)
      if ((endsAt <= now || endsAt > now + FARTHEST_MS) && asking === undefined) this.#windows.delete(id)
  }
}

/** What callers are held to. */
export interface Rates {
  /** Requests of an API key. */
  key: Rate
  /** Messages of an end user. */
  user: Rate
  /** Keys of an address that are no good. Each process counts its own. */
  address: Rate
}
