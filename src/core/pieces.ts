/** Counts the pieces of a body. Each piece costs a buffer and an event: 1 MB in pieces of one byte takes 400 MB and more than a second. */
export class PieceCount {
  readonly #leastBytes: number
  readonly #free: number
  #pieces = 0
  #bytes = 0

  /** `leastBytes`: the smallest average size of a piece; `free`: how many may have any size, so that short bodies may come as they like. */
  constructor(leastBytes: number, free: number) {
    this.#leastBytes = leastBytes
    this.#free = free
  }

  /** Returns true if the pieces are too small. */
  isTooMany(piece: { length: number }): boolean {
    this.#pieces++
    this.#bytes += piece.length
    return this.#pieces > this.#free && this.#bytes < this.#pieces * this.#leastBytes
  }
}
