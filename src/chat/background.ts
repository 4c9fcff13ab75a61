/** Work that nobody waits for, and whose failure only the log hears of. Stopping waits for what runs. */
export class Background {
  readonly #running = new Set<Promise<void>>()
  readonly #keys = new Set<string>()
  readonly #warn: (about: string, error: unknown) => void
  #closed = false

  constructor(warn: (about: string, error: unknown) => void) {
    this.#warn = warn
  }

  run(failure: string, work: () => Promise<void>): void {
    if (this.#closed) return
    const job = work()
      .catch((error: unknown) => this.#warn(failure, error))
      .finally(() => this.#running.delete(job))
    this.#running.add(job)
  }

  /** Does nothing while the same is being done. */
  runOnce(key: string, failure: string, work: () => Promise<void>): void {
    if (this.#keys.has(key)) return
    this.#keys.add(key)
    this.run(failure, () => work().finally(() => this.#keys.delete(key)))
    if (this.#closed) this.#keys.delete(key)
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all(this.#running)
  }
}
