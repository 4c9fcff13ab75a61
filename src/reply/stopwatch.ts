export interface Timing {
  step: string
  /** To the microsecond. */
  ms: number
}

/** How long each step of a turn took. */
export class Stopwatch {
  readonly laps: Timing[] = []
  #last = performance.now()

  lap(step: string): void {
    const now = performance.now()
    this.laps.push({ step, ms: Math.round((now - this.#last) * 1000) / 1000 })
    this.#last = now
  }
}
