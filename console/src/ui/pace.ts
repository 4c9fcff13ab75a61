/** Before more is shown, the page is free for so many times as long as the last showing took. */
const REST = 3

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Shows what grows once a frame at most, and less often where showing it takes long. */
export class Pace {
  readonly #show: () => void
  #isWanted = false
  #isRunning = false

  /** `show` renders before it returns, or in a microtask. */
  constructor(show: () => void) {
    this.#show = show
  }

  /** There is more to show. */
  want(): void {
    this.#isWanted = true
    if (!this.#isRunning) void this.#run()
  }

  /** All is shown. */
  rest(): void {
    this.#isWanted = false
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#isWanted) {
      await frame()
      if (!this.#isWanted) break
      this.#isWanted = false
      const began = performance.now()
      this.#show()
      // Behind the layout and the painting of this frame.
      await pause(0)
      await pause(REST * (performance.now() - began))
    }
    this.#isRunning = false
  }
}
