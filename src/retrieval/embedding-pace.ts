import { setTimeout as pause } from 'node:timers/promises'

/** The vector components per second for all agents. Parsing so many from lists takes a quarter of a processor. */
const NUMBERS_A_SECOND = 2_000_000
/** Assumed for a model without a successful answer. */
const MOST_DIMENSIONS = 8_192

/** Limits how fast passages are embedded. A provider may answer as fast as it is called, and parsing its vectors delays all requests. */
export class EmbeddingPace {
  readonly #clock: () => number
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** By model, from its last answer. */
  readonly #dimensions = new Map<string, number>()
  /** When the next call may begin. */
  #nextAt = 0

  /** `clock` returns milliseconds and never decreases. */
  constructor(
    clock: () => number = () => performance.now(),
    wait: (ms: number, signal: AbortSignal) => Promise<unknown> = (ms, signal) => pause(ms, undefined, { signal }),
  ) {
    this.#clock = clock
    this.#wait = wait
  }

  /** Runs `embed` for a number of texts when the rate allows it. Rejects with an `AbortError` if the signal ends the wait. */
  async run(
    { model, texts, signal }: { model: string; texts: number; signal: AbortSignal },
    embed: () => Promise<Float32Array[]>,
  ): Promise<Float32Array[]> {
    const now = this.#clock()
    const at = Math.max(now, this.#nextAt)
    const numbers = texts * (this.#dimensions.get(model) ?? MOST_DIMENSIONS)
    this.#nextAt = at + (numbers / NUMBERS_A_SECOND) * 1_000
    if (at > now) await this.#wait(at - now, signal)
    try {
      const vectors = await embed()
      this.#dimensions.set(model, vectors[0]?.length ?? MOST_DIMENSIONS)
      return vectors
    } catch (error) {
      this.#dimensions.delete(model)
      throw error
    }
  }
}
