import { setTimeout as pause } from 'node:timers/promises'

/** Numbers of vectors in a second, of all agents. Parsing so many takes a quarter of a processor where they come as lists. */
const NUMBERS_A_SECOND = 2_000_000
/** Assumed for a model that has not answered yet, or has failed. */
const MOST_DIMENSIONS = 8_192

/** Limits how fast passages are embedded: a provider may answer as fast as it is asked, and reading its vectors takes time from all requests. */
export class EmbeddingPace {
  readonly #clock: () => number
  readonly #wait: (ms: number, signal: AbortSignal) => Promise<unknown>
  /** By name of the model, from its last answer. */
  readonly #dimensions = new Map<string, number>()
  /** When the next call may begin. */
  #nextAt = 0

  /** `clock` in milliseconds; it never goes back. */
  constructor(
    clock: () => number = () => performance.now(),
    wait: (ms: number, signal: AbortSignal) => Promise<unknown> = (ms, signal) => pause(ms, undefined, { signal }),
  ) {
    this.#clock = clock
    this.#wait = wait
  }

  /** Embeds so many texts when it is their turn. Rejects with an `AbortError` if the signal ends the wait. */
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
