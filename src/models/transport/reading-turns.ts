import { InTurn } from '../../core/fairness/in-turn.ts'

/** Of each turn of the event loop. The rest is for requests. */
const READ_MS = 2
/** So little may come from earlier turns: most answers are short, and a turn that begins costs more than their reading. */
const UNCOUNTED_MS = READ_MS / 4
/** As many readings whose work goes on may be called in a turn. */
const STEPS = 16

interface Waiting {
  read: () => void
  goesOn: boolean
}

/**
 * Limits the time that the answers of providers take in a turn of the event loop. A provider may send as fast as the network allows, in any number of small
 * events, so reading them at once would hold up all requests. Keys take turns, and the agents of a key: the answers for one may be thousands.
 */
export class ReadingTurns {
  readonly #waiting = new InTurn<Waiting>()
  /** Spent on reading in this turn. */
  #usedMs = 0
  /** Of the reading that is going on. */
  #startedAt: number | undefined
  /** When a reading returned whose work goes on. */
  #goingOnSince: number | undefined
  /** The number of waiting readings whose work goes on. */
  #goingOn = 0
  #isScheduled = false
  #hasSteps = false
  readonly #clock: () => number

  /** `clock` in milliseconds; it never goes back. */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** Whether there is time left in this turn of the event loop. Time between two readings does not count. */
  get hasTime(): boolean {
    const sinceMs = this.#startedAt === undefined ? 0 : this.#clock() - this.#startedAt
    return this.#usedMs + sinceMs < READ_MS
  }

  /** Calls `read` now, or in a later turn if there is no time left or others wait. `line`: as owners of `InTurn`. */
  run(line: string, read: () => void): void {
    if (this.#waiting.isEmpty && this.hasTime) this.#read(read)
    else this.later(line, read)
  }

  /** Calls `read` in a later turn. `goesOn`: its work goes on in promises after it returns, and that time counts, too. */
  later(line: string, read: () => void, goesOn = false): void {
    this.#waiting.add(line, { read, goesOn })
    if (goesOn) this.#goingOn++
    this.#schedule()
  }

  #read(read: () => void): void {
    const startedAt = this.#clock()
    this.#startedAt = startedAt
    read()
    this.#usedMs += this.#clock() - startedAt
    this.#startedAt = undefined
    if (this.#usedMs > UNCOUNTED_MS) this.#schedule()
  }

  #schedule(): void {
    if (!this.#isScheduled) setImmediate(() => this.#begin())
    this.#isScheduled = true
    if (this.#hasSteps || this.#goingOn === 0) return
    this.#hasSteps = true
    // Promises are served after each of them, and all are called in one turn.
    for (let i = 1; i < STEPS; i++) setImmediate(() => this.#step())
  }

  #begin(): void {
    this.#isScheduled = false
    this.#hasSteps = false
    this.#usedMs = 0
    this.#goingOnSince = undefined
    this.#step()
  }

  #step(): void {
    if (this.#goingOnSince !== undefined) this.#usedMs += this.#clock() - this.#goingOnSince
    this.#goingOnSince = undefined
    while (!this.#waiting.isEmpty && this.hasTime) {
      const { read, goesOn } = this.#waiting.next()!
      if (goesOn) this.#goingOn--
      this.#read(read)
      if (!goesOn) continue
      this.#goingOnSince = this.#clock()
      break
    }
    if (!this.#waiting.isEmpty) this.#schedule()
  }
}

/** Shared by all answers that this thread reads. */
export const readingTurns = new ReadingTurns(() => performance.now())
