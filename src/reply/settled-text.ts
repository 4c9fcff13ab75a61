import { sentences } from '../text/sentences.ts'
import type { ReplyTarget } from './reply-target.ts'
import { findMarks, withoutMarks } from './statements.ts'

/** `read` returns at most `chars` characters from a position on. */
type GrowingText = Pick<ReplyTarget, 'text' | 'length' | 'settle'> & { read(start: number, chars: number): string }

const LONG_SENTENCE_CHARS = 1_000
const MAX_SENTENCE_CHARS = 4_000
/** A long reply is settled in pieces, since each call checks its last section again. */
const LONG_REPLY_CHARS = 2_000
const PIECE_CHARS = 200
/** Text before these last characters does not change. */
const SETTLED_CHARS = 8_000

/**
 * The growing text of a turn in its final form, for readers from whom text cannot be taken back. A mark `[n]` is buffered until its sentence is complete,
 * then sent with its final number or dropped. Words are sent at once. Without marks, a piece costs its own length, not that of the text before it.
 */
export class SettledText {
  readonly #turn: GrowingText
  /** The text up to its last mark, with checked marks. The text after it was sent unchanged. */
  #settled = ''
  /** The end of `#settled` in the turn's text. */
  #settledEnd = 0
  /** The end of the sent text in the turn's text. */
  #end = 0
  /** The beginning of the sentence that is not complete yet. */
  #open = 0
  /** The text length at which the next check runs. */
  #nextLook = 1
  #isOff = false

  constructor(turn: GrowingText) {
    this.#turn = turn
  }

  /** Returns the text that was settled since the last call; empty if there is none. */
  next(): string {
    const { length } = this.#turn
    if (this.#isOff || length < this.#nextLook) return ''
    this.#nextLook = length + 1
    const end = this.#findEnd(length)
    if (end <= this.#end) return ''
    const more = this.#read(this.#end, end)
    if (more.includes('[')) return end > LONG_REPLY_CHARS && more.length < PIECE_CHARS ? '' : this.#settle(end)
    this.#end = end
    return more
  }

  #settle(end: number): string {
    const sentChars = this.#settled.length + this.#end - this.#settledEnd
    const from = Math.max(0, sentChars - SETTLED_CHARS)
    const settled = this.#turn.settle(this.#turn.text.slice(0, end))
    this.#isOff = !settled.startsWith(this.#sentFrom(from), from)
    if (this.#isOff) return ''
    this.#settled = settled
    this.#settledEnd = end
    this.#end = end
    return settled.slice(sentChars)
  }

  /** Returns the unsent rest of the final reply. Undefined if the reply does not begin with the sent text. */
  rest(kept: string): string | undefined {
    const sent = this.#sentFrom(0)
    return kept.startsWith(sent) ? kept.slice(sent.length) : undefined
  }

  /** Returns the sent text from a position on. */
  #sentFrom(from: number): string {
    const behind = Math.max(0, from - this.#settled.length)
    return this.#settled.slice(from) + this.#read(this.#settledEnd + behind, this.#end)
  }

  #read(start: number, end: number): string {
    return this.#turn.read(start, end - start)
  }

  /** Returns the end of the settled text: before the first bracket of the open sentence, and before trailing white space, which may belong to a mark. */
  #findEnd(length: number): number {
    const text = this.#read(this.#open, length)
    const from = this.#open
    if (!text.includes('[')) {
      const settled = text.trimEnd().length
      // The next sentence with a bracket is not searched further back. Some languages have no spaces.
      const far = text.length - LONG_SENTENCE_CHARS
      if (far > 0) this.#open += Math.max(0, text.lastIndexOf(' ', far)) || far
      return settled === 0 ? this.#end : from + settled
    }
    // The last sentence is open until the next one begins.
    const tail = text.slice(0, MAX_SENTENCE_CHARS)
    const start = sentences(withoutMarks(tail, findMarks(tail).marks)).at(-1)?.start ?? 0
    this.#open += start
    const openChars = length - this.#open
    if (start === 0 && openChars > MAX_SENTENCE_CHARS) {
      // The sentence does not end, so the rest is sent with the whole reply.
      this.#isOff = true
      return 0
    }
    // A long sentence is checked again only after it has grown by a part of its length. A check per word would take quadratic time.
    if (openChars > LONG_SENTENCE_CHARS) this.#nextLook += Math.min(openChars, MAX_SENTENCE_CHARS) >> 2
    const bracket = text.indexOf('[', start)
    return from + text.slice(0, bracket === -1 ? text.length : bracket).trimEnd().length
  }
}
