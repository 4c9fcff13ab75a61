import { PieceCount } from './pieces.ts'

const LINE_FEED = 0x0a
/** A longer line has an extension, which is not looked at. */
const MOST_SIZE_CHARS = 16

/**
 * Follows the chunks of an HTTP/1.1 body (RFC 9112 7.1) before Node parses them. Node makes a buffer and an event of each chunk, and what is read at once may hold
 * ten thousand.
 */
export class ChunkFrames {
  readonly #pieces: PieceCount
  /** Bytes of the chunk under way that have not come yet, with the line end behind it. */
  #left = 0
  /** The beginning of a line that says the size of a chunk. */
  #line = ''
  #isOver = false

  /** `leastBytes`: as for `PieceCount`. */
  constructor(leastBytes: number) {
    this.#pieces = new PieceCount(leastBytes)
  }

  /** Whether the last chunk has come, or something that is no chunk. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Adds bytes from `start` on. Returns the place behind the body, or the length of `read` where the body goes on; undefined if the chunks are too small. */
  add(read: Buffer, start: number): number | undefined {
    let at = start
    while (at < read.length) {
      if (this.#left > 0) {
        const skipped = Math.min(this.#left, read.length - at)
        this.#left -= skipped
        at += skipped
        continue
      }
      const feed = read.indexOf(LINE_FEED, at)
      const end = feed < 0 ? read.length : feed
      this.#line += read.toString('latin1', at, Math.min(end, at + MOST_SIZE_CHARS - this.#line.length))
      at = feed < 0 ? end : end + 1
      if (feed < 0) break
      const length = Number.parseInt(this.#line, 16)
      this.#line = ''
      this.#isOver = !(length > 0)
      if (this.#isOver) break
      if (this.#pieces.isTooMany({ length })) return undefined
      this.#left = length + '\r\n'.length
    }
    return at
  }
}
