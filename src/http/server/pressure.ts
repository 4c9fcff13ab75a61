/** Interval between two measurements. */
const TICK_MS = 100
/** Late measurements in a row before requests are refused: one expensive request, or one garbage collection, is not overload. */
const LOOKS = 3
/** With fewer requests running, or received since the last measurement, the cause is not their number, but for example another program. */
const LEAST_REQUESTS = 64
/** How far the share of refused requests moves to its target with each measurement. */
const STEP = 0.5
/** A smaller share counts as 0. */
const LEAST_SHARE = 0.02
/** Event loop delays of at least this time are logged. */
const STALL_MS = 200
const MOST_ROUTES = 5

/** A key that asks an agent. */
export interface RequestAsker {
  agentId: string
  /** The id of the key. */
  askedBy: string
}

export interface PressureOptions {
  /** How long work may wait before new work is refused; 0: no limit. */
  maxDelayMs: number
  /** Returns how long the oldest work has waited in queues that all callers share, apart from the event loop, in milliseconds. */
  sharedWait(): number
  /** Returns the same for queues in which agents and keys take turns. With `asker`, only for that key and agent. */
  wait(asker?: RequestAsker): number
  warn(about: string): void
  /** Receives each event loop delay that is worth a log line. */
  stalled(stall: Stall): void
}

/** One object for each route, compared by identity. */
export interface Route {
  method: string | string[]
  url: string
}

export interface Stall {
  ms: number
  /** Routes of the requests that were running, five at most. */
  routes: string[]
}

/**
 * Detects overload and sheds load. Work that has begun continues, and a share of new requests is refused so that the rest is served in time. Otherwise each
 * request would wait for all earlier ones, until no caller waits for its response.
 */
export class Pressure {
  readonly #options: PressureOptions
  readonly #timer: NodeJS.Timeout | undefined
  #lastAt = performance.now()
  #late = 0
  #refused = 0
  #refusedEver = 0
  /** Share of new requests that is refused, from 0 to 1. */
  #share = 0
  /** At the last measurement: the delay of work in shared queues, in milliseconds. */
  #sharedMs = 0
  /** Requests received since the last measurement. */
  #came = 0
  /** Running requests by route. */
  readonly #atWork = new Map<Route, number>()
  /** Routes with running requests since the last measurement. */
  #worked = new Set<Route>()
  /** Running requests. */
  requests = 0

  constructor(options: PressureOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#look(), TICK_MS).unref()
  }

  /** How many requests were refused since the start. */
  get refused(): number {
    return this.#refusedEver
  }

  close(): void {
    clearInterval(this.#timer)
  }

  begin(route: Route): void {
    this.requests++
    this.#atWork.set(route, (this.#atWork.get(route) ?? 0) + 1)
    this.#worked.add(route)
  }

  end(route: Route): void {
    this.requests--
    const left = this.#atWork.get(route)! - 1
    if (left === 0) this.#atWork.delete(route)
    else this.#atWork.set(route, left)
  }

  /** Returns true if the request that has just arrived must be refused. */
  refuses(): boolean {
    this.#came++
    return this.#sharedMs > this.#options.maxDelayMs && this.#isOneTooMany()
  }

  /** Returns the same for a request of a key to an agent, once both are known. Too much work of others is no reason, because callers take turns. */
  refusesFor(asker: RequestAsker): boolean {
    const { maxDelayMs, wait } = this.#options
    if (this.#share === 0 || this.#sharedMs > maxDelayMs || wait(asker) <= maxDelayMs) return false
    return this.#isOneTooMany()
  }

  #isOneTooMany(): boolean {
    if (Math.random() >= this.#share) return false
    this.#refused++
    this.#refusedEver++
    return true
  }

  #look(): void {
    const { maxDelayMs, sharedWait, wait, warn, stalled } = this.#options
    const now = performance.now()
    const stalledMs = now - this.#lastAt - TICK_MS
    this.#lastAt = now
    if (stalledMs >= STALL_MS) stalled({ ms: Math.round(stalledMs), routes: [...this.#worked].slice(0, MOST_ROUTES).map(nameOf) })
    this.#worked = new Set(this.#atWork.keys())
    this.#sharedMs = Math.max(stalledMs, sharedWait())
    const delayMs = Math.max(this.#sharedMs, wait())
    const isLate = maxDelayMs > 0 && delayMs > maxDelayMs && Math.max(this.requests, this.#came) >= LEAST_REQUESTS
    this.#came = 0
    this.#late = isLate ? this.#late + 1 : 0
    const was = this.#share
    // At twice the allowed delay, three of four requests are refused.
    const target = isLate ? 1 - (maxDelayMs / delayMs) ** 2 : 0
    const share = was + STEP * (target - was)
    this.#share = share < LEAST_SHARE || (was === 0 && this.#late < LOOKS) ? 0 : share
    if (was === 0 && this.#share > 0)
      warn(`more comes in than can be done: work waits for ${Math.round(delayMs)} ms, and some of what is new is refused`)
    if (was > 0 && this.#share === 0) {
      warn(`nothing is refused any more; ${this.#refused} requests were`)
      this.#refused = 0
    }
  }
}

const nameOf = ({ method, url }: Route): string => `${method} ${url}`
