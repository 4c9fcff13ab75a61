import { spellingGrams } from '../../../text/ngrams.ts'
import { forEachNumber } from '../index/posting.ts'
import { get, getMany, together, type Work } from '../work.ts'
import { NotYet } from './filters.ts'

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

const LISTS = `SELECT n, CASE WHEN n <= ${MOST_ENTRIES_OF_LIST} THEN data END AS data FROM {spelling} WHERE gram = ?`
/** Packed as text, because one row per word takes a hundred times its bytes. */
const LENGTHS = `SELECT string_agg(number || ' ' || length(word), ',') AS packed FROM {word} WHERE number > ? AND number <= ?`

// Number of shared 3-grams by word number. All bases of this thread use it in turn; it is zero between words.
let shared = new Uint8Array(0)

/** A word, and which similar words to find for it. */
export interface SimilarTo {
  word: string
  /** Least number of common 3-grams. */
  leastShared: number
  /** Least Dice coefficient. */
  leastDice: number
  most: number
}

/** The numbers of the words with a 3-gram, as gaps (see `forEachNumber`). */
export interface SpellingList {
  n: number
  data: Uint8Array
}

/** Lists by 3-gram. A 3-gram in too many words has none. */
export type SpellingLists = ReadonlyMap<string, SpellingList>

interface Best {
  number: number
  dice: number
}

/** The numbers of the most similar words, most similar first, and how many entries were read. */
export interface Counted {
  best: Best[]
  entries: number
}

/** The spelling of a base's words. */
export class Vocabulary {
  /** Word lengths by word number; 0 if there is no such word. A word of n letters has n 3-grams, including its boundary marks. */
  #lengths = new Uint8Array(0)
  #last = 0;

  /** Reads the lists of words that share a 3-gram with one of these words. `hasLengths`: `loadLengths` was called in this read. */
  *lists(words: readonly string[], hasLengths = false): Work<SpellingLists> {
    const grams = [...new Set(words.flatMap(spellingGrams))]
    const reading = getMany<{ n: number; data: Uint8Array | null }>(
      LISTS,
      grams.map((gram) => [gram]),
    )
    const rows = hasLengths ? yield* reading : (yield* together(reading, this.loadLengths()))[0]
    const lists = new Map<string, SpellingList>()
    for (const [i, row] of rows.entries()) if (row?.data != null) lists.set(grams[i]!, { n: row.n, data: row.data })
    return lists
  }

  /** Returns the most similar words for each word, by their numbers. Stops early after `mostEntries` list entries, but not before the first word. */
  count(asked: readonly SimilarTo[], lists: SpellingLists, mostEntries: number): Counted[] {
    const counted: Counted[] = []
    let entries = 0
    for (const one of asked) {
      counted.push(this.#bestOf(one, lists))
      entries += counted.at(-1)!.entries
      if (entries >= mostEntries) break
    }
    return counted
  }

  #bestOf({ word, leastShared, leastDice, most }: SimilarTo, lists: SpellingLists): Counted {
    const grams = spellingGrams(word)
    const { touched, entries } = this.#count(
      grams.flatMap((gram) => lists.get(gram) ?? []),
      leastShared,
    )
    const best: Best[] = []
    for (const number of touched) {
      const common = shared[number]!
      shared[number] = 0
      if (common < leastShared || this.#lengths[number] === 0) continue
      const dice = (2 * common) / (grams.length + this.#lengths[number]!)
      if (dice >= leastDice) insertBest(best, { number, dice }, most)
    }
    return { best, entries }
  }

  /** Counts common 3-grams in `shared`, and returns the numbers of the counted words. */
  #count(unsorted: readonly SpellingList[], leastShared: number): { touched: number[]; entries: number } {
    const lists = unsorted.toSorted((a, b) => a.n - b.n)
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

  /**
   * Reads the lengths of new words, a page in each turn. Known lengths stay valid, because numbers only increase.
   * Throws `NotYet` if there are more pages.
   */
  *loadLengths(): Work<void> {
    const last = (yield* get<{ last: number | null }>('SELECT max(number) AS last FROM {word}'))?.last ?? 0
    if (last <= this.#last) return
    const page = yield* this.#readLengths(last)
    // Another question may have read it at the same time.
    if (page.upTo > this.#last) this.#add(page, last)
    if (last > this.#last) throw new NotYet()
  }

  #add({ packed, upTo }: { packed: string; upTo: number }, last: number): void {
    if (this.#lengths.length <= last) {
      const longer = new Uint8Array(last + 1)
      longer.set(this.#lengths)
      this.#lengths = longer
    }
    unpack(packed, this.#lengths)
    this.#last = upTo
  }

  *#readLengths(last: number): Work<{ packed: string; upTo: number }> {
    const upTo = Math.min(last, this.#last + LENGTHS_AT_ONCE)
    const [rows] = yield [{ sql: LENGTHS, params: [this.#last, upTo], isShared: true }]
    return { packed: (rows![0]?.['packed'] as string | null | undefined) ?? '', upTo }
  }
}

/** Reads the words with these numbers. Leaves out words that were deleted. */
export function* wordsOf(counted: readonly Counted[]): Work<SimilarWords[]> {
  const rows = yield* getMany<{ word: string; df: number }>(
    'SELECT word, df FROM {word} WHERE number = ?',
    counted.flatMap(({ best }) => best.map(({ number }) => [number])),
  )
  let at = 0
  return counted.map(({ best, entries }) => {
    const own = rows.slice(at, at + best.length)
    at += best.length
    return { words: best.flatMap(({ dice }, i) => (own[i] === undefined ? [] : [{ ...own[i], dice }])), entries }
  })
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
