import type { IndexRead } from '../../store/knowledge/reader/index-read.ts'
import type { SimilarTo, SimilarWord } from '../../store/knowledge/reader/vocabulary.ts'
import type { Work } from '../../store/knowledge/work.ts'

/** Least Dice similarity, and most similar words of the base per question word. Similar words help to choose candidates. */
const LEAST_ALIKE = 0.4
const MOST_ALIKE = 8
/** Most question words for which similar words are searched. */
const MOST_WITH_ALIKE = 32
export const LEAST_ALIKE_LETTERS = 3

/** Terms by kind, with their weights. */
interface WeightedTerms {
  stems: ReadonlyMap<string, number>
  exact: ReadonlyMap<string, number>
  pieces: ReadonlyMap<string, number>
}

/** Returns the keys of the lists that score these terms. */
export const keysOf = ({ stems, exact, pieces }: WeightedTerms): string[] => [
  ...[...stems.keys()].flatMap((stem) => [`s${stem}`, `t${stem}`]),
  ...[...exact.keys()].map((word) => `e${word}`),
  ...[...pieces.keys()].map((piece) => `u${piece}`),
]

/** Returns the similar words of the base for each of the first words that is long enough. */
export function* alikeOf(read: IndexRead, words: readonly string[]): Work<Map<string, SimilarWord[]>> {
  const asked = words
    .slice(0, MOST_WITH_ALIKE)
    .filter((word) => word.length >= LEAST_ALIKE_LETTERS)
    .map((word): SimilarTo => ({ word, leastShared: Math.ceil(word.length / 4), leastDice: LEAST_ALIKE, most: MOST_ALIKE + 1 }))
  const found = yield* read.similar(asked)
  return new Map(asked.map(({ word }, i) => [word, (found[i] ?? []).filter((other) => other.word !== word)]))
}
