import { analyse, type Token } from '../../text/analyse.ts'

// Three letters distinguish one root from another. In scripts without spaces, they distinguish about one syllable from another.
const LETTERS = 3
// A question with more pieces is a text, and its beginning is specific enough.
const MAX_PIECES = 256
const EDGE = 1
// Words of a run of Han and Kana are covered by the pairs of its characters.
const HAN = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u

/** A bit for each piece of the question: 1 if the unit contains it. */
export type PiecesHeld = Uint32Array

/** By hash: the number of the piece in the current question, from 1; 0 for other pieces. */
const numbers = new Uint16Array(0x10000)

/**
 * The pieces (n-grams) of a question's words: three letters, or a pair of characters of Han and Kana. Unlike stems, they match inflections, compounds and
 * words split in another way, in any script. Supports one question at a time.
 */
export class QuestionPieces {
  #count = 0

  constructor(question: string) {
    numbers.fill(0)
    const { tokens } = analyse(question)
    const telling = tokens.filter((token) => !token.stop)
    for (const token of telling.length > 0 ? telling : tokens)
      forEachPiece(token, question, (hash) => {
        if (numbers[hash] === 0 && this.#count < MAX_PIECES) numbers[hash] = ++this.#count
      })
  }

  none(): PiecesHeld {
    return new Uint32Array((this.#count >> 5) + 1)
  }

  /** Adds the question's pieces that a token of `text` contains. */
  note(token: Token, text: string, held: PiecesHeld): void {
    forEachPiece(token, text, (hash) => {
      const number = numbers[hash]!
      if (number !== 0) held[number >> 5]! |= 1 << (number & 31)
    })
  }

  /** Returns the share of the pieces that these units contain together. All pieces have the same weight. */
  shareIn(units: readonly PiecesHeld[]): number {
    let met = 0
    for (let number = 1; number <= this.#count; number++) if (units.some((held) => bitOf(held, number) === 1)) met++
    return met / (this.#count || 1)
  }

  /**
   * Returns the share of the pieces in each unit. The fewer units contain a piece, the more it counts: a piece of the common topic hardly counts,
   * and a piece in no unit does not count.
   */
  shares(units: readonly PiecesHeld[]): number[] {
    const weights = new Float64Array(this.#count + 1)
    let all = 0
    for (let number = 1; number <= this.#count; number++) {
      let count = 0
      for (const held of units) count += bitOf(held, number)
      if (count > 0) weights[number] = Math.log((units.length + 1) / (count + 0.5))
      all += weights[number]!
    }
    return units.map((held) => {
      let share = 0
      for (let number = 1; number <= this.#count; number++) share += weights[number]! * bitOf(held, number)
      return share / (all || 1)
    })
  }
}

const bitOf = (held: PiecesHeld, number: number): number => (held[number >> 5]! >> (number & 31)) & 1

/** Words have edges, which distinguish "art" from "start". In scripts without spaces, pieces extend into the next word instead. */
function forEachPiece({ exact, stem, spaced, start, end }: Token, text: string, visit: (hash: number) => void): void {
  if (exact === '') visit(hashOf(stem.charCodeAt(0), stem.charCodeAt(1), EDGE))
  else if (spaced) {
    let first = EDGE
    let second = exact.charCodeAt(0)
    for (let at = 1; at <= exact.length; at++) {
      const third = at < exact.length ? exact.charCodeAt(at) : EDGE
      visit(hashOf(first, second, third))
      first = second
      second = third
    }
  } else if (!HAN.test(exact))
    for (let at = start; at < end && at + LETTERS <= text.length; at++)
      visit(hashOf(text.charCodeAt(at), text.charCodeAt(at + 1), text.charCodeAt(at + 2)))
}

/** Returns 16 bits. Collisions of different pieces are rare enough. */
function hashOf(first: number, second: number, third: number): number {
  return Math.imul(Math.imul(first * 31 + second, 0x85ebca6b) ^ third, 0x9e3779b1) >>> 16
}
