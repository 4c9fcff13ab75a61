import { InTurn } from '../../core/fairness/in-turn.ts'

/** Other requests run after this much writing time. */
const SLICE_MS = 5
/** Other requests run after this many bytes, which Node sends after the slice. */
const SLICE_BYTES = 524_288
/** Node needs about as much time again to send the written text. */
const PAUSE_TIMES = 4
/** A pause delays the streams of all keys. */
const MOST_PAUSE_MS = 100

/** Limits the time for writing event streams. Keys take turns, because one may have thousands of streams, or long ones. */
export class WritingTurns {
  readonly #waiting = new InTurn<() => number>()
  readonly #clock: () => number
  #isScheduled = false
  /** Time spent on writing since the queue was last empty. */
  #tookMs = 0
  #pausesUntil = 0

  /** `clock`: returns milliseconds; it is monotonic. */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  /**
   * Calls `write` before the next event of the loop, or after a pause if writing all streams took long the last time. Text that arrives during a pause is sent
   * together. `line`: an owner of `InTurn`. `write` returns how many bytes it wrote.
   */
  soon(line: string, write: () => number): void {
    this.#waiting.add(line, write)
    if (this.#isScheduled) return
    this.#isScheduled = true
    const pauseMs = this.#pausesUntil === 0 ? 0 : this.#pausesUntil - this.#clock()
    if (pauseMs <= 0) queueMicrotask(() => this.#writeSome())
    else setTimeout(() => this.#writeSome(), pauseMs)
  }

  #writeSome(): void {
    const start = this.#clock()
    let now = start
    let bytes = 0
    try {
      for (; !this.#waiting.isEmpty && now - start < SLICE_MS && bytes < SLICE_BYTES; now = this.#clock())
        bytes += this.#waiting.next()!()
    } finally {
      // Also after an error: other streams must continue.
      this.#tookMs += now - start
      if (this.#waiting.isEmpty) this.#rest(now)
      else setImmediate(() => this.#writeSome())
    }
  }

  #rest(now: number): void {
    this.#isScheduled = false
    this.#pausesUntil = this.#tookMs <= SLICE_MS ? 0 : now + Math.min(MOST_PAUSE_MS, PAUSE_TIMES * this.#tookMs)
    this.#tookMs = 0
  }
}

/** Shared by all streams of this process. */
export const writingTurns = new WritingTurns(() => performance.now())
