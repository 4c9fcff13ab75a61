/** Questions whose vectors are remembered: the same one is often asked again, and every rewrite asks twice. */
const MAX_HELD = 500

/** Vectors of the questions asked last, by model. */
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
