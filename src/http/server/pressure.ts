/** How often it looks. */
const TICK_MS = 100
/** Of so many looks in a row before anything is refused: one hard request, or one collection of garbage, is not too much work. */
const LOOKS = 3
/** With fewer requests at work, or come since the last look, it is not their number that makes them slow, but another program, say. */
const LEAST_REQUESTS = 64
/** How far the share of new requests that is refused goes, with each look, to where it should be. */
const STEP = 0.5
/** Less is none. */
const LEAST_SHARE = 0.02
/** Delays of the event loop from here on are logged. */
const STALL_MS = 200
const MOST_ROUTES = 5

/** A key that asks an agent. */
export interface RequestAsker {
  agentId: string
  /** The id of the key. */
  askedBy: string
}

export interface PressureOptions {
  /** Work may wait for so long before new work is refused; 0: for ever. */
  maxDelayMs: number
  /** For how long the oldest work has waited elsewhere than in the event loop, where all wait in one line, in milliseconds. */
  sharedWait(): number
  /** The same where agents and keys take turns; of what one key asks one agent, where they are named. */
  wait(asker?: RequestAsker): number
  warn(about: string): void
  /** Receives each delay of the event loop that is worth a line in the log. */
  stalled(stall: Stall): void
}

/** One object for each route: compared by identity. */
export interface Route {
  method: string | string[]
  url: string
}

export interface Stall {
  ms: number
  /** Routes of the requests that were running, some of them where there were many. */
  routes: string[]
}

/**
 * Tells when more comes in than can be done: what has begun goes on, and of what is new so much is refused as it takes for the rest to be served in
 * time. Without it every request would wait behind all that came before, until nobody waits for any answer any more.
 */
export class Pressure {
  readonly #options: PressureOptions
  readonly #timer: NodeJS.Timeout | undefined
  #lastAt = performance.now()
  #late = 0
  #refused = 0
  #refusedEver = 0
  /** Of new requests, from 0 to 1. */
  #share = 0
  /** At the last look: how late everybody's work was, in milliseconds. */
  #sharedMs = 0
  /** Since the last look. */
  #came = 0
  /** By route: requests that are being worked on. */
  readonly #atWork = new Map<Route, number>()
  /** Routes that were worked on since the last look. */
  #worked = new Set<Route>()
  /** Requests that are being worked on. */
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

  /** Returns true if the request that has just come in is one too many. */
  refuses(): boolean {
    this.#came++
    return this.#sharedMs > this.#options.maxDelayMs && this.#isOneTooMany()
  }

  /** The same for what a key asks an agent, once both are known. Too much work of others is no reason: they take turns. */
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
    // Twice as late as it may be: three of four are too many.
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
