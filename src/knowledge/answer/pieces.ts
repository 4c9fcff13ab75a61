import { analyse, type Token } from '../../text/analyse.ts'

// Three letters tell one root from another, and where words are not kept apart about a syllable from another.
const LETTERS = 3
// Beyond so many pieces a question is a text, and its head tells enough.
const MAX_PIECES = 256
const EDGE = 1
// The words of a run of Han and Kana stand in its pairs already.
const HAN = /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}]/u

/** Which pieces of a question's words stand in a unit: a bit for each. */
export type PiecesHeld = Uint32Array

/** By hash: the number of the question's piece, from 1; of the question under way. */
const numbers = new Uint16Array(0x10000)

/**
 * The pieces of a question's words: three letters, or a pair of characters of Han and Kana. Unlike stems they meet through inflection,
 * compounds and words cut in another way, in any script. One question at a time.
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

  /** Adds what a token of `text` has of the question. */
  note(token: Token, text: string, held: PiecesHeld): void {
    forEachPiece(token, text, (hash) => {
      const number = numbers[hash]!
      if (number !== 0) held[number >> 5]! |= 1 << (number & 31)
    })
  }

  /** The share of the pieces, all alike, that these units hold together. */
  shareIn(units: readonly PiecesHeld[]): number {
    let met = 0
    for (let number = 1; number <= this.#count; number++) if (units.some((held) => bitOf(held, number) === 1)) met++
    return met / (this.#count || 1)
  }

  /**
   * The share of the pieces that each unit holds. Each piece counts by how few of the units have it: what all passages found are about hardly
   * counts, and what none of them has does not count at all.
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

/** Words have edges, which tell "art" from "start"; where they are not kept apart, pieces reach into the next word instead. */
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

/** 16 bits; a meeting of two different pieces by chance is rare enough. */
function hashOf(first: number, second: number, third: number): number {
  return Math.imul(Math.imul(first * 31 + second, 0x85ebca6b) ^ third, 0x9e3779b1) >>> 16
}
