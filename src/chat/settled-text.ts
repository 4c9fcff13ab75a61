import { sentences } from '../text/sentences.ts'
import { findMarks, withoutMarks } from './statements.ts'
import type { Turn } from './turn.ts'

/**
 * The text of a turn as it will be kept, while it grows, for readers that nothing can be taken back from: a mark `[n]` is held until its
 * sentence is complete, and comes out as it stays, with its final number or not at all. Words come as soon as they are there.
 */
export class SettledText {
  readonly #turn: Pick<Turn, 'text' | 'settle'>
  #sent = ''
  /** How much of the turn's text that is. */
  #end = 0
  /** Where the sentence begins that is not complete yet. */
  #open = 0
  #looked = 0
  #isOff = false

  constructor(turn: Pick<Turn, 'text' | 'settle'>) {
    this.#turn = turn
  }

  /** All that was handed out. */
  get sent(): string {
    return this.#sent
  }

  /** What has come since; empty where there is nothing for now. */
  next(): string {
    const { text } = this.#turn
    if (this.#isOff || text.length === this.#looked) return ''
    this.#looked = text.length
    const end = this.#findEnd(text)
    if (end <= this.#end) return ''
    const more = text.slice(this.#end, end)
    const settled = more.includes('[') ? this.#turn.settle(text.slice(0, end)) : this.#sent + more
    this.#isOff = !settled.startsWith(this.#sent)
    if (this.#isOff) return ''
    this.#end = end
    return this.#give(settled)
  }

  /** What is left of the reply as it is kept; undefined where it does not begin with what was handed out. */
  rest(kept: string): string | undefined {
    return kept.startsWith(this.#sent) ? this.#give(kept) : undefined
  }

  /** How much of the text can be told for good: to the first bracket of the open sentence. White space before it may still go, with a mark. */
  #findEnd(text: string): number {
    const tail = text.slice(this.#open)
    if (!tail.includes('[')) return text.trimEnd().length
    // The last sentence is open as long as no other has begun.
    this.#open += sentences(withoutMarks(tail, findMarks(tail))).at(-1)?.start ?? 0
    const bracket = text.indexOf('[', this.#open)
    return text.slice(0, bracket === -1 ? text.length : bracket).trimEnd().length
  }

  #give(text: string): string {
    const more = text.slice(this.#sent.length)
    this.#sent = text
    return more
  }
}
