/** Short bodies may have pieces of any size. */
const FREE = 200

/** Counts the pieces of a body. Each piece costs a buffer and an event: 1 MB in pieces of one byte takes 400 MB and more than a second. */
export class PieceCount {
  readonly #leastBytes: number
  #pieces = 0
  #bytes = 0

  /** `leastBytes`: the smallest average size of a piece. */
  constructor(leastBytes: number) {
    this.#leastBytes = leastBytes
  }

  /** Returns true if the pieces are too small. */
  isTooMany(piece: { length: number }): boolean {
    this.#pieces++
    this.#bytes += piece.length
    return this.#pieces > FREE && this.#bytes < this.#pieces * this.#leastBytes
  }
}
