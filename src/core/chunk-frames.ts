import { PieceCount } from './pieces.ts'

const LINE_FEED = 0x0a

/**
 * Follows the chunks of an HTTP/1.1 body (RFC 9112 7.1) before Node parses them. Node makes a buffer and an event of each chunk, and what is read at once may hold
 * ten thousand.
 */
export class ChunkFrames {
  readonly #pieces: PieceCount
  /** How many bytes of the current chunk, and of the line end behind it, are missing. */
  #left = 0
  /** The size in the current line, as far as it was read; undefined before its first digit. */
  #size: number | undefined
  /** True behind the digits of the current line. The rest of the line is ignored. */
  #isBehindSize = false
  #isOver = false

  /** `leastBytes`: as for `PieceCount`. */
  constructor(leastBytes: number) {
    this.#pieces = new PieceCount(leastBytes)
  }

  /** True after the last chunk, or after something that is no chunk. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Adds bytes from `start` on. Returns the place behind the body, or the length of `read` where the body goes on; undefined if the chunks are too small. */
  add(read: Buffer, start: number): number | undefined {
    let at = start
    while (at < read.length && !this.#isOver) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, read.length - at)
        this.#left -= skipped
        at += skipped
        continue
      }
      at = this.#addLine(read, at)
      if (read[at - 1] === LINE_FEED && !this.#endLine()) return undefined
    }
    return at
  }

  /** Returns the place behind the line, or the length of `read` where the line goes on. */
  #addLine(read: Buffer, start: number): number {
    let at = start
    for (; !this.#isBehindSize && at < read.length; at++) {
      const digit = digitOf(read[at]!)
      if (digit === undefined) this.#isBehindSize = true
      else this.#size = (this.#size ?? 0) * 16 + digit
    }
    const feed = read.indexOf(LINE_FEED, Math.max(start, at - 1))
    return feed < 0 ? read.length : feed + 1
  }

  /** Returns false if the chunks are too small. */
  #endLine(): boolean {
    const length = this.#size ?? 0
    this.#size = undefined
    this.#isBehindSize = false
    this.#isOver = length === 0
    if (this.#isOver) return true
    this.#left = length + '\r\n'.length
    return !this.#pieces.isTooMany({ length })
  }
}

function digitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}
