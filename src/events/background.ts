/** Work that no caller waits for. Failures are only logged. `close` waits for running work. */
export class Background {
  readonly #running = new Set<Promise<void>>()
  readonly #keys = new Set<string>()
  readonly #warn: (about: string, error: unknown) => void
  #isClosed = false

  constructor(warn: (about: string, error: unknown) => void) {
    this.#warn = warn
  }

  run(failure: string, work: () => Promise<void>): void {
    if (this.#isClosed) return
    const job = work()
      .catch((error: unknown) => this.#warn(failure, error))
      .finally(() => this.#running.delete(job))
    this.#running.add(job)
  }

  /** Does nothing while work with the same key is running. */
  runOnce(key: string, failure: string, work: () => Promise<void>): void {
    if (this.#keys.has(key)) return
    this.#keys.add(key)
    this.run(failure, () => work().finally(() => this.#keys.delete(key)))
    if (this.#isClosed) this.#keys.delete(key)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#running)
  }
}
