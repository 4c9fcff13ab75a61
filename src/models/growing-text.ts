/** A text that grows by a few letters at a time takes many times its size if it is not put together now and then. */
const MOST_PIECES = 100

/** A text that arrives in pieces. */
export class GrowingText {
  #pieces: string[] = []
  length = 0

  add(piece: string): void {
    this.length += piece.length
    if (piece !== '' && this.#pieces.push(piece) > MOST_PIECES) this.#pieces = [this.#pieces.join('')]
  }

  toString(): string {
    return this.#pieces.join('')
  }
}
