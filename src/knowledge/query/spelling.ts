import type { IndexRead } from '../../store/knowledge/reader/index-read.ts'
import type { SimilarTo, SimilarWord } from '../../store/knowledge/reader/vocabulary.ts'
import type { Work } from '../../store/knowledge/work.ts'

/** A word of the base that may be the intended one, and its weight (0 to 1). */
export interface Repair {
  word: string
  weight: number
}

const LEAST_LETTERS = 5
/** In words shorter than `LEAST_LETTERS`, only two swapped letters are corrected. */
const LEAST_SWAPPED = 4
/** From this many letters on, two errors are corrected. */
const TWO_ERRORS_FROM = 8
const REPAIRED = 0.8
const SECOND_CHOICE = 0.5
const CHOICES = 3
/** Most candidates for which the edit distance is computed. */
const LOOKED_AT = 60

/**
 * Returns, for each word that the base does not contain, its nearest words: at distance 1, or 2 for a long word; best first, at most three.
 * Leaves out short words and numbers.
 */
export function* repair(read: IndexRead, words: readonly string[]): Work<Map<string, Repair[]>> {
  const repairable = words.filter((word) => word.length >= LEAST_SWAPPED && !/\p{N}/u.test(word))
  const long = repairable.filter((word) => word.length >= LEAST_LETTERS)
  const [alike] = yield* read.together(
    read.similar(long.map(toSimilar)),
    // Otherwise only the words whose repairs are not known yet need them.
    read.loadWords(read.isRemote ? repairable.flatMap(swaps) : []),
  )
  const byWord = new Map(long.map((word, i) => [word, alike[i]]))
  const searched = repairable.filter((word) => word.length < LEAST_LETTERS || byWord.get(word) !== undefined)
  const repairs = yield* read.together(...searched.map((word) => repairOne(read, word, byWord.get(word) ?? [])))
  return new Map(searched.map((word, i) => [word, repairs[i]!]))
}

const reachOf = (word: string): number => (word.length >= TWO_ERRORS_FROM ? 2 : 1)

// A wrong letter changes three 3-grams of a word.
const toSimilar = (word: string): SimilarTo => ({
  ...{ word, leastDice: 0.2, most: LOOKED_AT },
  leastShared: Math.max(1, word.length - 3 * reachOf(word) - 1),
})

const repairOne = (read: IndexRead, word: string, alike: readonly SimilarWord[]): Work<Repair[]> =>
  read.remember(
    `r${word}`,
    function* () {
      const swapped = swaps(word)
      yield* read.loadWords(swapped)
      const candidates = new Map(alike.map(({ word: other, df, dice }) => [other, { df, dice }]))
      for (const other of swapped) {
        const df = candidates.has(other) ? 0 : read.wordFrequency(other)
        if (df > 0) candidates.set(other, { df, dice: 0.4 })
      }
      return nearestOf(word, candidates)
    },
    (repairs) => repairs.length,
  )

function nearestOf(word: string, candidates: ReadonlyMap<string, { df: number; dice: number }>): Repair[] {
  const reach = reachOf(word)
  const near: { word: string; distance: number; rank: number }[] = []
  for (const [other, { df, dice }] of candidates) {
    if (other[0] !== word[0] && other[1] !== word[1]) continue
    const distance = editDistance(word, other, reach)
    if (distance <= reach) near.push({ word: other, distance, rank: dice * Math.log(2 + df) })
  }
  const nearest = Math.min(...near.map(({ distance }) => distance))
  return near
    .filter(({ distance }) => distance === nearest)
    .sort((a, b) => b.rank - a.rank)
    .slice(0, CHOICES)
    .map(({ word: other, distance }, i) => ({
      word: other,
      weight: REPAIRED * (distance === 2 ? REPAIRED : 1) * (i === 0 ? 1 : SECOND_CHOICE),
    }))
}

/** Returns the word with each pair of letters swapped. With two letters swapped, a short word shares no 3-gram with the right one. */
function swaps(word: string): string[] {
  const swapped: string[] = []
  for (let i = 0; i + 1 < word.length; i++) swapped.push(word.slice(0, i) + word[i + 1]! + word[i]! + word.slice(i + 2))
  return swapped
}

/** Counts letters added, dropped, changed or swapped with a neighbour. Returns `limit` + 1 for any larger distance. */
export function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      row.push(cost)
      least = Math.min(least, cost)
    }
    if (least > limit) return limit + 1
    before = last
    last = row
  }
  return last[b.length]!
}
