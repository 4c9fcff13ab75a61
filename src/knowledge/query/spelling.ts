import type { SimilarWord } from '../../store/knowledge/index/spelling.ts'
import type { KnowledgeIndex } from '../../store/knowledge/reader.ts'

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
 * Returns the words of the base nearest to a word that it does not contain: at distance 1, or 2 for a long word; best first, at most three.
 * Empty for short words and numbers.
 */
export function repair(index: KnowledgeIndex, word: string): Repair[] {
  if (word.length < LEAST_SWAPPED || /\p{N}/u.test(word)) return []
  const reach = word.length >= TWO_ERRORS_FROM ? 2 : 1
  // A wrong letter changes three 3-grams of a word.
  const leastShared = Math.max(1, word.length - 3 * reach - 1)
  const alike = word.length < LEAST_LETTERS ? [] : index.similar(word, leastShared, 0.2, LOOKED_AT)
  return alike === undefined
    ? []
    : index.remember(
        `r${word}`,
        () => findRepairs(index, word, reach, alike),
        (repairs) => repairs.length,
      )
}

function findRepairs(index: KnowledgeIndex, word: string, reach: number, alike: readonly SimilarWord[]): Repair[] {
  const candidates = new Map(alike.map(({ word: other, df, dice }) => [other, { df, dice }]))
  for (const swapped of swaps(word)) {
    const df = candidates.has(swapped) ? 0 : index.vocabulary.frequency(swapped)
    if (df > 0) candidates.set(swapped, { df, dice: 0.4 })
  }
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
