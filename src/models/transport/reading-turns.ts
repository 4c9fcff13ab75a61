import { InTurn } from '../../core/fairness/in-turn.ts'

/** Milliseconds for reading in each turn of the event loop. The rest is for requests. */
const READ_MS = 2
/** Time of earlier turns that may remain counted: most answers are short, and a new turn costs more than reading them. */
const UNCOUNTED_MS = READ_MS / 4
/** How many readings that continue after they return may be called in a turn. */
const STEPS = 16

interface Waiting {
  read: () => void
  goesOn: boolean
}

/**
 * Limits the time that providers' answers take in a turn of the event loop. A provider may send any number of small events as fast as the
 * network allows, which would block all requests. Keys take turns, and so do the agents of a key: one of them may have thousands of answers.
 */
export class ReadingTurns {
  readonly #waiting = new InTurn<Waiting>()
  /** Milliseconds used for reading in this turn. */
  #usedMs = 0
  /** Start of the running reading. */
  #startedAt: number | undefined
  /** When a reading returned that continues in promises. */
  #goingOnSince: number | undefined
  /** The number of waiting readings that continue after they return. */
  #goingOn = 0
  #isScheduled = false
  #hasSteps = false
  readonly #clock: () => number

  /** `clock` is in milliseconds and monotonic. */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /** True if there is time left in this turn of the event loop. Time between two readings does not count. */
  get hasTime(): boolean {
    const sinceMs = this.#startedAt === undefined ? 0 : this.#clock() - this.#startedAt
    return this.#usedMs + sinceMs < READ_MS
  }

  /** Calls `read` now, or in a later turn if there is no time left or others wait. `line` is an owner of `InTurn`. */
  run(line: string, read: () => void): void {
    if (this.#waiting.isEmpty && this.hasTime) this.#read(read)
    else this.later(line, read)
  }

  /** Calls `read` in a later turn. `goesOn`: its work continues in promises after it returns, and that time counts, too. */
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
    // All of these run in one turn of the event loop, and promises run after each of them.
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
