import { spellingGrams } from '../../../text/ngrams.ts'
import type { KnowledgeBase } from '../base.ts'
import { NotYet } from '../filters.ts'
import { forEachNumber } from './posting.ts'

/** A word of the vocabulary that shares 3-grams with another. */
export interface SimilarWord {
  word: string
  /** Number of passages that contain it. */
  df: number
  /** Dice coefficient, 0 to 1. */
  dice: number
}

/** Words with a similar spelling, and the cost of finding them. */
export interface SimilarWords {
  words: SimilarWord[]
  /** Number of list entries that were read. */
  entries: number
}

/** A 3-gram in more words says little and is skipped. A vocabulary of a million words of one language has none. */
const MOST_ENTRIES_OF_LIST = 200_000
/** Entries read for one word, shortest lists first. */
const MOST_ENTRIES_OF_WORD = 1_000_000
/** Words whose lengths are read at once. */
const LENGTHS_AT_ONCE = 100_000

const LISTS = `SELECT n, CASE WHEN n <= ${MOST_ENTRIES_OF_LIST} THEN data END AS data FROM spelling WHERE gram = ?`
/** Packed as text, because one row per word takes a hundred times its bytes. */
const LENGTHS = `SELECT string_agg(number || ' ' || length(word), ',') AS packed FROM word WHERE number > ? AND number <= ?`

interface Lengths {
  packed: string | null
}

// Number of shared 3-grams by word number. All bases of this thread use it in turn; it is zero between words.
let shared = new Uint8Array(0)

/** The spelling of a base's words. Use it within one `KnowledgeIndex.read`. */
export class Vocabulary {
  readonly #base: KnowledgeBase
  /** Word lengths by word number; 0 if there is no such word. A word of n letters has n 3-grams, including its boundary marks. */
  #lengths = new Uint8Array(0)
  #last = 0
  /** Lengths that were read ahead, up to word number `upTo`. */
  #next: { lengths: Lengths; upTo: number } | undefined

  constructor(base: KnowledgeBase) {
    this.#base = base
  }

  /** Returns the number of passages that contain the word. */
  frequency(word: string): number {
    return this.#base.get<{ df: number }>('SELECT df FROM word WHERE word = ?', word)?.df ?? 0
  }

  /**
   * Returns words with at least `leastShared` common 3-grams and a Dice coefficient of at least `leastDice`, most similar first.
   * Throws `NotYet` while the lengths of a large vocabulary are read.
   */
  similar(word: string, leastShared: number, leastDice: number, most: number): SimilarWords {
    if (!this.#loadLengths()) return { words: [], entries: 0 }
    const grams = spellingGrams(word)
    const { touched, entries } = this.#count(grams, leastShared)
    const best: { number: number; dice: number }[] = []
    for (const number of touched) {
      const common = shared[number]!
      shared[number] = 0
      if (common < leastShared || this.#lengths[number] === 0) continue
      const dice = (2 * common) / (grams.length + this.#lengths[number]!)
      if (dice >= leastDice) insertBest(best, { number, dice }, most)
    }
    const rows = this.#base.getMany<{ word: string; df: number }>(
      'SELECT word, df FROM word WHERE number = ?',
      best.map(({ number }) => [number]),
    )
    return { words: best.flatMap(({ dice }, i) => (rows[i] === undefined ? [] : [{ ...rows[i], dice }])), entries }
  }

  /** Counts common 3-grams in `shared`, and returns the numbers of the counted words. */
  #count(grams: readonly string[], leastShared: number): { touched: number[]; entries: number } {
    const lists = this.#base
      .getMany<{ n: number; data: Uint8Array | null }>(
        LISTS,
        grams.map((gram) => [gram]),
      )
      .flatMap((row) => (row === undefined || row.data === null ? [] : [{ n: row.n, data: row.data }]))
      .sort((a, b) => a.n - b.n)
    if (shared.length < this.#lengths.length) shared = new Uint8Array(this.#lengths.length)
    const touched: number[] = []
    let entries = 0
    for (const [i, { n, data }] of lists.entries()) {
      if (entries + n > MOST_ENTRIES_OF_WORD) break
      entries += n
      // A word that first appears now cannot share enough 3-grams.
      const open = lists.length - i >= leastShared
      forEachNumber(data, 0, (number) => {
        if (shared[number] === 0) {
          if (!open) return
          touched.push(number)
        }
        shared[number]!++
      })
    }
    return { touched, entries }
  }

  /** Reads the lengths of new words; known lengths stay valid because numbers only increase. Returns false if rows must be fetched first. */
  #loadLengths(): boolean {
    const last = this.#base.get<{ last: number | null }>('SELECT max(number) AS last FROM word')?.last ?? 0
    if (last <= this.#last) return true
    const next = this.#next ?? this.#readLengths(last)
    this.#next = undefined
    if (next === undefined) return false
    if (this.#lengths.length <= last) {
      const longer = new Uint8Array(last + 1)
      longer.set(this.#lengths)
      this.#lengths = longer
    }
    unpack(next.lengths.packed ?? '', this.#lengths)
    this.#last = next.upTo
    if (last <= this.#last) return true
    this.#next = this.#readLengths(last)
    if (this.#next !== undefined) throw new NotYet()
    return false
  }

  #readLengths(last: number): { lengths: Lengths; upTo: number } | undefined {
    const upTo = Math.min(last, this.#last + LENGTHS_AT_ONCE)
    const lengths = this.#base.getShared<Lengths>(LENGTHS, this.#last, upTo)
    return lengths === undefined ? undefined : { lengths, upTo }
  }
}

/** Inserts a word into the list of the `most` best, best first. On a tie, the word inserted first stays first. */
function insertBest(best: { number: number; dice: number }[], one: { number: number; dice: number }, most: number): void {
  if (best.length === most && one.dice <= best.at(-1)!.dice) return
  let at = best.length
  while (at > 0 && best[at - 1]!.dice < one.dice) at--
  best.splice(at, 0, one)
  if (best.length > most) best.pop()
}

const SPACE = 0x20
const COMMA = 0x2c
const ZERO = 0x30

/** Parses text such as `7 4,8 11` (word number and length) into `lengths`. */
function unpack(packed: string, lengths: Uint8Array): void {
  let number = 0
  let value = 0
  for (let i = 0; i <= packed.length; i++) {
    const code = i < packed.length ? packed.charCodeAt(i) : COMMA
    if (code === SPACE) {
      number = value
      value = 0
    } else if (code === COMMA) {
      if (number > 0) lengths[number] = value
      value = 0
    } else value = 10 * value + code - ZERO
  }
}
