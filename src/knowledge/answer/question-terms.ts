import type { HistoryEntry } from '../../core/message.ts'
import type { IndexRead } from '../../store/knowledge/reader/index-read.ts'
import type { Work } from '../../store/knowledge/work.ts'
import type { Language, Token } from '../../text/analyse.ts'
import { idfOf } from '../query/idf.ts'
import { toQuestion } from '../query/question.ts'

// Terms are bits of a number. Further distinct terms of a question are left out.
const MAX_TERMS = 30
const ALIKE = 0.5

/** Statistics of a base: its number of passages, and how many of them contain a stem. */
export interface TermStatistics {
  passages: number
  /** Loads the frequencies of these stems. */
  load(stems: Iterable<string>): Work<void>
  frequency(stem: string): number
}

/** Statistics as of a read of an index. */
export const statisticsOf = (read: IndexRead): TermStatistics => ({
  passages: read.slots,
  load: (stems) => read.load([...stems].map((stem) => `s${stem}`)),
  frequency: (stem) => read.frequency(`s${stem}`),
})

/** A question in its conversation, oldest message first. */
export interface Asking {
  question: string
  history: readonly HistoryEntry[]
}

interface Term {
  /** Share of the question's idf. */
  share: number
  /** Number of letters; 0 if the script has no words to compare by spelling. */
  letters: number
}

/** The terms of a question as words of one language. A set of terms is a mask of their bits. */
export interface QuestionTerms {
  terms: Term[]
  bits: Map<string, number>
  exact: Set<string>
  /** By stem: the bits of the terms that it is a synonym of. */
  synonyms: Map<string, number>
  idf: number
  /** Bits of the terms that the base does not contain, not even as a synonym. */
  unknown: number
  /** Bits of neighbouring terms in the question, each pair once. `share`: the smaller share, times the number of occurrences. */
  pairs: { first: number; second: number; share: number }[]
  /** The trigrams of the terms, each with the bits of its terms. */
  grams: Map<number, number>
  /** By word: the bits of the terms that it is spelled like. */
  known: Map<string, number>
}

/** The bit of each term found, with the number of words before it. */
export type Places = { bit: number; word: number }[]

/** `statistics` gives each stem its weight. */
export function* termsOf(asking: Asking, language: Language, statistics: TermStatistics): Work<QuestionTerms> {
  const { words, sequence, synonyms } = toQuestion(asking.question, asking.history, [language])
  yield* statistics.load([...words.map(({ stem }) => stem), ...synonyms.flatMap(({ alternatives }) => alternatives.flat())])
  const asked: QuestionTerms = {
    terms: [],
    bits: new Map(),
    exact: new Set(words.map((word) => word.exact)),
    synonyms: new Map(),
    idf: 0,
    unknown: 0,
    pairs: [],
    grams: new Map(),
    known: new Map(),
  }
  for (const { stem, exact, spaced, weight } of words) {
    if (asked.bits.has(stem) || asked.terms.length === MAX_TERMS) continue
    const frequency = statistics.frequency(stem)
    const idf = idfOf(statistics.passages, frequency) * weight
    const bit = asked.terms.length
    if (frequency === 0) asked.unknown |= 1 << bit
    asked.bits.set(stem, bit)
    asked.terms.push({ share: idf, letters: spaced ? exact.length : 0 })
    if (spaced) forEachTrigram(exact, (gram) => asked.grams.set(gram, (asked.grams.get(gram) ?? 0) | (1 << bit)))
    asked.idf += idf
  }
  for (const { stems, alternatives } of synonyms) {
    const mask = stems.reduce((bits, stem) => bits | (asked.bits.has(stem) ? 1 << asked.bits.get(stem)! : 0), 0)
    if (mask === 0) continue
    if (alternatives.some((phrase) => phrase.every((stem) => statistics.frequency(stem) > 0))) asked.unknown &= ~mask
    for (const [stem, ...others] of alternatives)
      if (others.length === 0 && !asked.bits.has(stem!)) asked.synonyms.set(stem!, (asked.synonyms.get(stem!) ?? 0) | mask)
  }
  for (const term of asked.terms) term.share /= asked.idf || 1
  const pairs = new Map<number, QuestionTerms['pairs'][number]>()
  for (let i = 0; i + 1 < sequence.length; i++) {
    const first = asked.bits.get(sequence[i]!)
    const second = asked.bits.get(sequence[i + 1]!)
    if (first === undefined || second === undefined || first === second) continue
    const share = Math.min(asked.terms[first]!.share, asked.terms[second]!.share)
    const pair = pairs.get(first * MAX_TERMS + second)
    if (pair !== undefined) pair.share += share
    else pairs.set(first * MAX_TERMS + second, { first, second, share })
  }
  asked.pairs.push(...pairs.values())
  return asked
}

export const bitOf = (asked: QuestionTerms, token: Token): number => {
  const bit = asked.bits.get(token.stem)
  return bit === undefined ? 0 : 1 << bit
}

export function shareOf(asked: QuestionTerms, mask: number): number {
  let share = 0
  for (let bit = 0; mask >> bit !== 0; bit++) if ((mask >> bit) & 1) share += asked.terms[bit]!.share
  return share
}

/** Returns the bits of the terms that a word is spelled like: they share at least half of their trigrams. */
export function alike({ terms, grams, known }: QuestionTerms, word: string): number {
  let mask = known.get(word)
  if (mask !== undefined) return mask
  mask = 0
  let met = 0
  forEachTrigram(word, (gram) => {
    met |= grams.get(gram) ?? 0
  })
  for (let bit = 0; met >> bit !== 0; bit++) {
    if (((met >> bit) & 1) === 0) continue
    let both = 0
    forEachTrigram(word, (gram) => {
      both += ((grams.get(gram) ?? 0) >> bit) & 1
    })
    if ((2 * both) / (word.length + terms[bit]!.letters) >= ALIKE) mask |= 1 << bit
  }
  known.set(word, mask)
  return mask
}

/** Visits each three neighbouring letters as one number, with a boundary on both ends: as many as the word has letters. */
function forEachTrigram(word: string, visit: (gram: number) => void): void {
  let first = 0
  let second = 1
  for (let i = 0; i <= word.length; i++) {
    const third = i < word.length ? word.charCodeAt(i) : 1
    if (i > 0) visit(((first * 8191 + second) * 8191 + third) | 0)
    first = second
    second = third
  }
}
