/** A body begins with small pieces, or is one. */
const FREE = 1_000

/**
 * Counts the pieces that a body comes in. Each costs a buffer and an event, whatever its size: a megabyte in pieces of one byte takes 400 MB and more than a
 * second.
 */
export class PieceCount {
  readonly #leastBytes: number
  #pieces = 0
  #bytes = 0

  /** `leastBytes`: what pieces must have on average. */
  constructor(leastBytes: number) {
    this.#leastBytes = leastBytes
  }

  /** True where there are too many for their size. */
  isTooMany(piece: { length: number }): boolean {
    this.#pieces++
    this.#bytes += piece.length
    return this.#pieces > FREE && this.#bytes < this.#pieces * this.#leastBytes
  }
}
