import { spellingGrams } from '../text/ngrams.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { forEachNumber } from './knowledge-posting.ts'

/** A word of the vocabulary that shares 3-grams with another. */
export interface SimilarWord {
  word: string
  /** Passages that hold it. */
  df: number
  /** 0 to 1. */
  dice: number
}

/** The words of a base, as they are spelt. Read within one `KnowledgeIndex.read`. */
export class Vocabulary {
  readonly #base: KnowledgeBase
  /** By number of the word; a word of n letters has n 3-grams, with its boundary marks. 0: no such word. */
  #lengths = new Uint8Array(0)
  #last = 0

  constructor(base: KnowledgeBase) {
    this.#base = base
  }

  /** Passages that hold the word. */
  frequency(word: string): number {
    return this.#base.get<{ df: number }>('SELECT df FROM word WHERE word = ?', word)?.df ?? 0
  }

  /** Words that share at least `leastShared` 3-grams with this one and are alike by at least `leastDice`; the most alike first. */
  similar(word: string, leastShared: number, leastDice: number, most: number): SimilarWord[] {
    this.#loadLengths()
    const grams = spellingGrams(word)
    const { shared, touched } = this.#count(grams, leastShared)
    const alike: { number: number; dice: number }[] = []
    for (const number of touched) {
      if (shared[number]! < leastShared || this.#lengths[number] === 0) continue
      const dice = (2 * shared[number]!) / (grams.length + this.#lengths[number]!)
      if (dice >= leastDice) alike.push({ number, dice })
    }
    alike.sort((a, b) => b.dice - a.dice)
    const best = alike.slice(0, most)
    const rows = this.#base.getMany<{ word: string; df: number }>(
      'SELECT word, df FROM word WHERE number = ?',
      best.map(({ number }) => [number]),
    )
    return best.flatMap(({ dice }, i) => (rows[i] === undefined ? [] : [{ ...rows[i], dice }]))
  }

  #count(grams: readonly string[], leastShared: number): { shared: Uint8Array; touched: number[] } {
    const rows = this.#base
      .getMany<{ n: number; data: Uint8Array }>(
        'SELECT n, data FROM spelling WHERE gram = ?',
        grams.map((gram) => [gram]),
      )
      .filter((row) => row !== undefined)
      .sort((a, b) => a.n - b.n)
    const shared = new Uint8Array(this.#lengths.length)
    const touched: number[] = []
    for (const [i, row] of rows.entries()) {
      // A word met first now could not share enough any more.
      const open = rows.length - i >= leastShared
      forEachNumber(row.data, 0, (number) => {
        if (shared[number] === 0) {
          if (!open) return
          touched.push(number)
        }
        shared[number]!++
      })
    }
    return { shared, touched }
  }

  /** Numbers only ever go up, so what is known stays. */
  #loadLengths(): void {
    const last = this.#base.get<{ last: number | null }>('SELECT max(number) AS last FROM word')?.last ?? 0
    if (last <= this.#last) return
    const lengths = new Uint8Array(last + 1)
    lengths.set(this.#lengths)
    const rows = this.#base.iterate<{ number: number; length: number }>(
      'SELECT number, length(word) AS length FROM word WHERE number > ?',
      this.#last,
    )
    for (const row of rows) lengths[row.number] = row.length
    if (this.#base.isPartial) return
    this.#lengths = lengths
    this.#last = last
  }
}
