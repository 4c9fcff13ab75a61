/** The size of the cache: questions are often repeated, and every rewrite searches twice. */
const MAX_HELD = 500

/** A cache of the vectors of recent questions, by model. */
export class QuestionVectors {
  readonly #held = new Map<string, Float32Array>()

  get(model: string, question: string): Float32Array | undefined {
    return this.#held.get(`${model}\0${question}`)
  }

  set(model: string, question: string, vector: Float32Array): void {
    if (this.#held.size >= MAX_HELD) this.#held.delete(this.#held.keys().next().value!)
    this.#held.set(`${model}\0${question}`, vector)
  }
}
