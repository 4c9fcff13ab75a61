import { BM25_K1 } from '../../store/knowledge/index/posting.ts'
import type { Sketch } from '../../store/knowledge/reader/sketch.ts'
import { hashOf } from '../../text/ngrams.ts'

const B = 0.75
/** Two terms are near if they are at most this many stems apart. */
const NEAR = 8
const CLOSENESS_SHARE = 0.6

/**
 * Numbers the hashes of a question, from 1. Most hashes of a passage are not in the question: a bit for each says so, in 8 kB that stay in the
 * processor's fastest cache. The numbers take 128 kB and are read for the others only.
 */
class HashNumbers {
  readonly #bits = new Uint32Array(0x10000 >>> 5)
  readonly #numbers = new Uint16Array(0x10000)

  clear(): void {
    this.#bits.fill(0)
  }

  set(hash: number, number: number): void {
    this.#bits[hash >>> 5]! |= 1 << (hash & 31)
    this.#numbers[hash] = number
  }

  /** Returns 0 for a hash without a number. */
  get(hash: number): number {
    return (this.#bits[hash >>> 5]! & (1 << (hash & 31))) === 0 ? 0 : this.#numbers[hash]!
  }
}

// Shared by all questions of this thread, one after the other.
const gramNumbers = new HashNumbers()
const stemNumbers = new HashNumbers()

/** Scores the n-grams of a question in candidate passages. */
export class GramScorer {
  readonly #weights: number[] = []
  readonly #times: Uint16Array
  readonly #average: number

  /** `weights`: by n-gram, idf included. `average`: n-grams of an average passage. Supports one question at a time. */
  constructor(weights: ReadonlyMap<string, number>, average: number) {
    gramNumbers.clear()
    for (const [gram, weight] of weights) gramNumbers.set(hashOf(gram), this.#weights.push(weight))
    this.#times = new Uint16Array(this.#weights.length + 1)
    this.#average = average
  }

  /** Returns the BM25 score of a passage's n-grams. N-grams of the title count twice. */
  score({ hashes, title, text }: Sketch): number {
    const times = this.#times
    times.fill(0)
    for (let i = title; i < hashes.length; i++) {
      const number = gramNumbers.get(hashes[i]!)
      if (number !== 0) times[number]! += i < text ? 2 : 1
    }
    const norm = BM25_K1 * (1 - B + (B * (text - title + hashes.length - title)) / this.#average)
    let score = 0
    for (let i = 1; i < times.length; i++) score += (this.#weights[i - 1]! * times[i]! * (BM25_K1 + 1)) / (times[i]! + norm)
    return score
  }
}

/** Two neighbouring terms of the question, and the smaller idf of the two. */
export interface Pair {
  first: string
  second: string
  idf: number
}

/** Rewards passages in which neighbours of the question are neighbours, too. Reads each passage once for all pairs. */
export class ProximityScorer {
  /** By pair: the sum of the idf of all its occurrences in the question. */
  readonly #idfs: number[] = []
  /** By stem number, from 1: the pairs that contain the stem. */
  readonly #partsOf: Part[][] = [[]]
  /** For stems with so many pairs that reading the surrounding stems is faster: the pairs by the other stem. */
  readonly #byOther: (Map<number, Part[]> | undefined)[]
  readonly #last: Int32Array
  readonly #times: Uint16Array
  readonly #best: Float64Array

  /** Supports one question at a time. */
  constructor(pairs: readonly Pair[]) {
    stemNumbers.clear()
    const known = new Map<number, number>()
    for (const { first, second, idf } of pairs) {
      const [left, right] = [this.#numberOf(hashOf(first)), this.#numberOf(hashOf(second))]
      const key = left * 0x10000 + right
      const pair = known.get(key) ?? this.#idfs.push(0) - 1
      this.#idfs[pair]! += idf
      if (known.has(key)) continue
      known.set(key, pair)
      if (left !== right) this.#partsOf[left]!.push({ pair, other: right, isSecond: false })
      this.#partsOf[right]!.push({ pair, other: left, isSecond: true })
    }
    this.#byOther = this.#partsOf.map((parts) => (parts.length > NEAR ? Map.groupBy(parts, ({ other }) => other) : undefined))
    this.#last = new Int32Array(this.#partsOf.length)
    this.#times = new Uint16Array(this.#idfs.length)
    this.#best = new Float64Array(this.#idfs.length)
  }

  #numberOf(hash: number): number {
    const known = stemNumbers.get(hash)
    if (known !== 0) return known
    const number = this.#partsOf.push([]) - 1
    stemNumbers.set(hash, number)
    return number
  }

  /** Reads the passage's stems in order. */
  score({ hashes, title }: Sketch): number {
    this.#last.fill(-NEAR - 1)
    this.#times.fill(0)
    this.#best.fill(0)
    for (let at = 0; at < title; at++) {
      const stem = stemNumbers.get(hashes[at]!)
      if (stem === 0) continue
      const byOther = this.#byOther[stem]
      if (byOther === undefined) this.#count(this.#partsOf[stem]!, at)
      else
        for (let before = Math.max(0, at - NEAR); before < at; before++) {
          const other = stemNumbers.get(hashes[before]!)
          if (this.#last[other] === before) this.#count(byOther.get(other) ?? [], at)
        }
      this.#last[stem] = at
    }
    let score = 0
    for (const [pair, times] of this.#times.entries())
      if (times > 0) score += this.#idfs[pair]! * nearness(this.#best[pair]!, times)
    return score
  }

  #count(parts: readonly Part[], at: number): void {
    for (const { pair, other, isSecond } of parts) {
      const distance = at - this.#last[other]!
      if (distance > NEAR) continue
      this.#times[pair]!++
      this.#best[pair] = Math.max(this.#best[pair]!, isSecond && distance === 1 ? 1 : 1 - distance / (NEAR + 1))
    }
  }
}

interface Part {
  pair: number
  /** Number of the other stem. */
  other: number
  /** True if this stem is the second one of the pair. */
  isSecond: boolean
}

/** Returns 0 to 1: combines how close two stems are at best with how often they are near. */
const nearness = (best: number, times: number): number => CLOSENESS_SHARE * best + ((1 - CLOSENESS_SHARE) * times) / (times + 1)
