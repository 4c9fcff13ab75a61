export interface Timing {
  step: string
  /** Milliseconds, rounded to the microsecond. */
  ms: number
}

/** Measures the duration of each step of a turn. */
export class Stopwatch {
  readonly laps: Timing[] = []
  #last = performance.now()

  lap(step: string): void {
    const now = performance.now()
    this.laps.push({ step, ms: Math.round((now - this.#last) * 1000) / 1000 })
    this.#last = now
  }
}
