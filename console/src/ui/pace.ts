/** After each render, the page stays idle for this many times the duration of the render. */
const REST = 3

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Limits how often growing content is rendered: once per frame at most, less often if rendering is slow. */
export class Pace {
  readonly #show: () => void
  #isWanted = false
  #isRunning = false

  /** `show` renders before it returns, or in a microtask. */
  constructor(show: () => void) {
    this.#show = show
  }

  /** Requests a render of new content. */
  want(): void {
    this.#isWanted = true
    if (!this.#isRunning) void this.#run()
  }

  /** Cancels a requested render, because everything is shown. */
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
      // Wait until the layout and the painting of this frame are done.
      await pause(0)
      await pause(REST * (performance.now() - began))
    }
    this.#isRunning = false
  }
}
