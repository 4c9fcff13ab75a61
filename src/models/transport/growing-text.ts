/** A text that grows by a few letters at a time takes many times its size in memory if it is never joined. */
const MOST_PIECES = 100

/** A text that arrives in pieces. */
export class GrowingText {
  /** Joined parts, each longer than the next: a letter is copied again only into a part of twice the length. */
  readonly #parts: string[] = []
  #pieces: string[] = []
  length = 0

  add(piece: string): void {
    this.length += piece.length
    if (piece !== '' && this.#pieces.push(piece) > MOST_PIECES) this.#putTogether()
  }

  toString(): string {
    return [...this.#parts, ...this.#pieces].join('')
  }

  #putTogether(): void {
    let part = this.#pieces.join('')
    this.#pieces = []
    while (this.#parts.length > 0 && this.#parts.at(-1)!.length <= part.length) part = [this.#parts.pop()!, part].join('')
    this.#parts.push(part)
  }
}
