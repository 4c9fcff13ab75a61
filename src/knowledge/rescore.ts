import { BM25_K1 } from '../store/knowledge-posting.ts'
import type { Sketch } from '../store/knowledge-reader.ts'
import { hashOf } from '../text/ngrams.ts'

const B = 0.75
/** Within so many stems two terms count as near. */
const NEAR = 8
const CLOSENESS_SHARE = 0.6

/** The n-grams of a question with their weights, ready to be counted in candidates. */
export class GramScorer {
  readonly #weights: number[] = []
  readonly #times: Uint16Array
  readonly #average: number

  /** `weights`: what each n-gram counts, its idf included. `average`: n-grams of a passage. One question at a time. */
  constructor(weights: ReadonlyMap<string, number>, average: number) {
    numbers.fill(0)
    for (const [gram, weight] of weights) numbers[hashOf(gram)] = this.#weights.push(weight)
    this.#times = new Uint16Array(this.#weights.length + 1)
    this.#average = average
  }

  /** BM25 of a passage's n-grams, its title's counted twice. */
  score({ hashes, title, text }: Sketch): number {
    const times = this.#times
    times.fill(0)
    for (let i = title; i < text; i++) times[numbers[hashes[i]!]!]! += 2
    for (let i = text; i < hashes.length; i++) times[numbers[hashes[i]!]!]!++
    const norm = BM25_K1 * (1 - B + (B * (text - title + hashes.length - title)) / this.#average)
    let score = 0
    for (let i = 1; i < times.length; i++) score += (this.#weights[i - 1]! * times[i]! * (BM25_K1 + 1)) / (times[i]! + norm)
    return score
  }
}

/** By hash: the number of the question's n-gram, from 1; of the question under way. */
const numbers = new Uint16Array(0x10000)

/** Two terms that stand side by side in the question, and the smaller idf of the two. */
export interface Pair {
  first: string
  second: string
  idf: number
}

/** Rewards passages in which neighbours of the question are neighbours too. */
export class ProximityScorer {
  readonly #pairs: { first: number; second: number; idf: number }[]

  /** One question at a time. */
  constructor(pairs: readonly Pair[]) {
    this.#pairs = pairs.map(({ first, second, idf }) => ({ first: hashOf(first), second: hashOf(second), idf }))
    asked.fill(0)
    for (const { first, second } of this.#pairs) {
      asked[first] = 1
      asked[second] = 1
    }
  }

  /** By the passage's stems, in order. */
  score({ hashes, title }: Sketch): number {
    // Of a passage only the few places matter where a stem of the question stands.
    const stems: number[] = []
    const places: number[] = []
    for (let at = 0; at < title; at++) {
      if (asked[hashes[at]!] === 0) continue
      stems.push(hashes[at]!)
      places.push(at)
    }
    let score = 0
    if (stems.length > 1) for (const { first, second, idf } of this.#pairs) score += idf * nearness(first, second, stems, places)
    return score
  }
}

/** By hash: is it a stem of the question under way? */
const asked = new Uint8Array(0x10000)

/** 0 to 1: how close two stems come, and how often. */
function nearness(first: number, second: number, stems: readonly number[], places: readonly number[]): number {
  let times = 0
  let best = 0
  let lastFirst = -NEAR - 1
  let lastSecond = -NEAR - 1
  for (const [i, stem] of stems.entries()) {
    const at = places[i]!
    const distance = stem === second ? at - lastFirst : stem === first ? at - lastSecond : NEAR + 1
    if (distance <= NEAR) {
      times++
      best = Math.max(best, stem === second && distance === 1 ? 1 : 1 - distance / (NEAR + 1))
    }
    if (stem === first) lastFirst = at
    if (stem === second) lastSecond = at
  }
  return times === 0 ? 0 : CLOSENESS_SHARE * best + ((1 - CLOSENESS_SHARE) * times) / (times + 1)
}
