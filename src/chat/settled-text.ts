import { sentences } from '../text/sentences.ts'
import { findMarks, withoutMarks } from './statements.ts'
import type { Turn } from './turn.ts'

const LONG_SENTENCE_CHARS = 1_000
const MAX_SENTENCE_CHARS = 4_000
/** A long reply is settled in pieces, since each time its last section is checked again. */
const LONG_REPLY_CHARS = 2_000
const PIECE_CHARS = 200
/** What was settled further back does not change. */
const SETTLED_CHARS = 8_000

/**
 * The text of a turn as it will be kept, while it grows, for readers that nothing can be taken back from: a mark `[n]` is held until its
 * sentence is complete, and comes out as it stays, with its final number or not at all. Words come as soon as they are there.
 */
export class SettledText {
  readonly #turn: Pick<Turn, 'text' | 'length' | 'settle'>
  #sent = ''
  /** How much of the turn's text that is. */
  #end = 0
  /** Where the sentence begins that is not complete yet. */
  #open = 0
  /** The length of the text from which it is looked at again. */
  #nextLook = 1
  #isOff = false

  constructor(turn: Pick<Turn, 'text' | 'length' | 'settle'>) {
    this.#turn = turn
  }

  /** All that was handed out. */
  get sent(): string {
    return this.#sent
  }

  /** Returns the text that was settled since the last call; empty if there is none. */
  next(): string {
    if (this.#isOff || this.#turn.length < this.#nextLook) return ''
    const { text } = this.#turn
    this.#nextLook = text.length + 1
    const end = this.#findEnd(text)
    if (end <= this.#end) return ''
    const more = text.slice(this.#end, end)
    const isMarked = more.includes('[')
    if (isMarked && end > LONG_REPLY_CHARS && more.length < PIECE_CHARS) return ''
    const settled = isMarked ? this.#turn.settle(text.slice(0, end)) : this.#sent + more
    const from = Math.max(0, this.#sent.length - SETTLED_CHARS)
    this.#isOff = !settled.startsWith(this.#sent.slice(from), from)
    if (this.#isOff) return ''
    this.#end = end
    return this.#give(settled)
  }

  /** What is left of the reply as it is kept; undefined where it does not begin with what was handed out. */
  rest(kept: string): string | undefined {
    return kept.startsWith(this.#sent) ? this.#give(kept) : undefined
  }

  /** Returns where the settled text ends: before the first bracket of the open sentence, and before white space, which may go with a mark. */
  #findEnd(text: string): number {
    const tail = text.slice(this.#open, this.#open + MAX_SENTENCE_CHARS)
    if (!text.includes('[', this.#open)) {
      // The next sentence with a bracket is not looked for further back.
      this.#open = Math.max(this.#open, text.lastIndexOf(' ', text.length - LONG_SENTENCE_CHARS))
      return text.trimEnd().length
    }
    // The last sentence is open as long as no other has begun.
    const start = sentences(withoutMarks(tail, findMarks(tail).marks)).at(-1)?.start ?? 0
    this.#open += start
    const openChars = text.length - this.#open
    if (start === 0 && openChars > MAX_SENTENCE_CHARS) {
      // It does not end: the rest comes with the whole reply.
      this.#isOff = true
      return 0
    }
    // A long sentence is looked at again when it has grown by a part of its length: with each word, that would take the square of it.
    if (openChars > LONG_SENTENCE_CHARS) this.#nextLook += Math.min(openChars, MAX_SENTENCE_CHARS) >> 2
    const bracket = text.indexOf('[', this.#open)
    return text.slice(0, bracket === -1 ? text.length : bracket).trimEnd().length
  }

  #give(text: string): string {
    const more = text.slice(this.#sent.length)
    this.#sent = text
    return more
  }
}
