/** Counts the pieces of a body. Each piece costs a buffer and an event: 1 MB in pieces of one byte takes 400 MB and more than a second. */
export class PieceCount {
  readonly #leastBytes: number
  readonly #free: number
  readonly #large: { bytes: number; leastBytes: number } | undefined
  #pieces = 0
  #bytes = 0

  /**
   * `leastBytes`: the minimum average size of a piece. `free`: the number of pieces that may have any size, so that short bodies are never rejected.
   * `large`: the minimum average size after this many bytes.
   */
  constructor(leastBytes: number, free: number, large?: { bytes: number; leastBytes: number }) {
    this.#leastBytes = leastBytes
    this.#free = free
    this.#large = large
  }

  /** Returns true if the pieces are too small. */
  isTooMany(piece: { length: number }): boolean {
    this.#pieces++
    this.#bytes += piece.length
    if (this.#pieces <= this.#free) return false
    const { bytes, leastBytes } = this.#large ?? { bytes: Number.POSITIVE_INFINITY, leastBytes: 1 }
    const largeBytes = Math.max(0, this.#bytes - bytes)
    return this.#pieces > (this.#bytes - largeBytes) / this.#leastBytes + largeBytes / leastBytes
  }
}
