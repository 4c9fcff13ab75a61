import type { IndexRead } from '../../store/knowledge/reader/index-read.ts'
import type { Work } from '../../store/knowledge/work.ts'
import { stemAs } from '../../text/analyse.ts'
import { idfOf } from './idf.ts'
import { addGrams, increase, type Question, type QuestionWord } from './question.ts'
import { type Repair, repair } from './spelling.ts'
import { alikeOf, keysOf } from './term-keys.ts'

/** Terms to look up in the index, with their weights. */
export interface SearchTerms {
  stems: Map<string, number>
  /** Stems with only the best correction of each misspelt word: a passage with the answer should contain them. */
  asked: Map<string, number>
  exact: Map<string, number>
  /** n-grams of words, and n-grams of scripts without spaces. */
  grams: Map<string, number>
  pieces: Map<string, number>
  /** Stems of the question, in order. */
  sequence: string[]
  /** By stem of `asked`: phrases with the same meaning that the base contains, as stems. */
  synonyms: Map<string, string[][]>
  /** If the question asks what something is: the stems that name it. Otherwise empty. */
  named: string[]
  /** True if the base contains none of the words: at least one was corrected, and at least one resembles no word of the base. */
  isGuessed: boolean
}

/** A longer question is searched for at most this many words that the base contains, and this many that it does not contain. */
const MOST_WORDS = 64
const MOST_UNKNOWN = 16
/** If a question has more n-grams, only the n-grams of the words that are searched are looked up. */
const MOST_GRAMS = 2_000

/** Returns the most specific words of a long question: each costs a lookup in every segment. Words of scripts without spaces all stay. */
function* specificWords(read: IndexRead, words: readonly QuestionWord[]): Work<readonly QuestionWord[]> {
  const weights = new Map<string, number>()
  for (const { exact, spaced, weight } of words) if (spaced) increase(weights, exact, weight)
  if (weights.size <= MOST_WORDS) return words
  yield* read.loadWords(weights.keys())
  const all = [...weights].map(([exact, weight]) => ({ exact, weight, df: read.wordFrequency(exact) }))
  const known = all
    .filter(({ df }) => df > 0)
    .map(({ exact, weight, df }) => ({ exact, says: weight * Math.log(1 + read.slots / df) }))
    .sort((a, b) => b.says - a.says)
  const unknown = all.filter(({ df }) => df === 0)
  const kept = new Set([...known.slice(0, MOST_WORDS), ...unknown.slice(0, MOST_UNKNOWN)].map(({ exact }) => exact))
  return words.filter(({ exact, spaced }) => !spaced || kept.has(exact))
}

function gramsOf(words: readonly QuestionWord[]): Map<string, number> {
  const grams = new Map<string, number>()
  for (const { exact, spaced, weight } of words) if (spaced) addGrams(grams, exact, weight)
  return grams
}

/** Returns the terms to look up, and loads their frequencies. Replaces words that the base does not contain with likely corrections. */
export function* toSearchTerms(read: IndexRead, question: Question): Work<SearchTerms> {
  const words = yield* specificWords(read, question.words)
  const unknown = yield* loadWordsOf(read, question, words)
  const synonyms = synonymsOf(read, question)
  const toRepair = words.filter((word) => unknown.has(word) && word.weight >= 1 && !synonyms.has(word.stem))
  const [repairs] = yield* read.together(
    repair(read, [...new Set(toRepair.map(({ exact }) => exact))]),
    // The candidates need similar words, too. If there is a round trip for repairs, it reads them.
    alikeOf(read, read.isRemote && toRepair.length > 0 ? [...new Set(words.map(({ exact }) => exact))] : []),
  )
  const terms = toTerms(read, question, { words, unknown, synonyms, repairs })
  yield* read.load([...terms.stems.keys(), ...terms.sequence].map((stem) => `s${stem}`))
  addSynonyms(read, terms)
  return terms
}

/** The words of a question that are searched, and what the base says about them. */
interface KnownWords {
  words: readonly QuestionWord[]
  /** The words that the base does not contain. */
  unknown: ReadonlySet<QuestionWord>
  synonyms: Map<string, string[][]>
  /** Corrections by word. */
  repairs: ReadonlyMap<string, readonly Repair[]>
}

function toTerms(read: IndexRead, question: Question, { words, unknown, synonyms, repairs }: KnownWords): SearchTerms {
  const stems = new Set(words.map(({ stem }) => stem))
  const terms: SearchTerms = {
    stems: new Map(),
    asked: new Map(),
    exact: new Map(),
    grams: question.grams.size <= MOST_GRAMS ? new Map(question.grams) : gramsOf(words),
    pieces: question.pieces,
    sequence: question.sequence.filter((stem) => stems.has(stem)),
    synonyms,
    named: [],
    isGuessed: false,
  }
  const count = { known: 0, guessed: 0, lost: 0 }
  for (const word of words) {
    const { stem, exact, weight } = word
    // A word of the conversation that the base does not contain says nothing about the current question.
    if (unknown.has(word) && weight < 1) continue
    const isKnown = !unknown.has(word) || synonyms.has(stem)
    const meant = isKnown ? [] : (repairs.get(exact) ?? [])
    if (weight >= 1) count[isKnown ? 'known' : meant.length > 0 ? 'guessed' : 'lost']++
    for (const [i, { word: right, weight: trust }] of meant.entries()) {
      const meantStem = stemAs(right, read.languages)
      increase(terms.stems, meantStem, weight * trust)
      increase(terms.exact, right, weight * trust)
      if (i > 0) continue
      increase(terms.asked, meantStem, weight * trust)
      terms.sequence = terms.sequence.map((other) => (other === stem ? meantStem : other))
      addGrams(terms.grams, exact, -weight)
      addGrams(terms.grams, right, weight)
    }
    if (meant.length > 0) continue
    increase(terms.stems, stem, weight)
    increase(terms.asked, stem, weight)
    if (exact !== '') increase(terms.exact, exact, weight)
  }
  terms.isGuessed = count.known === 0 && count.guessed > 0 && count.lost > 0
  return terms
}

/** Loads the frequencies of a question's words and synonyms. Returns the words that the base does not contain. */
function* loadWordsOf(read: IndexRead, question: Question, words: readonly QuestionWord[]): Work<ReadonlySet<QuestionWord>> {
  const synonyms = question.synonyms.flatMap(({ alternatives }) => alternatives.flat())
  const all = [...words.map(({ stem }) => stem), ...synonyms]
  const spaced = words.filter((word) => word.spaced)
  if (read.isRemote) {
    const exact = spaced.map((word) => word.exact)
    const terms = { stems: new Map(), exact: new Map(exact.map((word) => [word, 1])), pieces: question.pieces }
    yield* read.together(
      read.load([...all.flatMap((stem) => [`s${stem}`, `t${stem}`]), ...keysOf(terms)]),
      read.loadWords(exact),
      read.loadGrams(question.grams.size <= MOST_GRAMS ? question.grams.keys() : gramsOf(words).keys()),
      read.loadSpelling(exact),
    )
  }
  yield* read.load(all.map((stem) => `s${stem}`))
  const rare = spaced.filter(({ stem }) => read.frequency(`s${stem}`) === 0)
  yield* read.loadWords(rare.map(({ exact }) => exact))
  return new Set(rare.filter(({ exact }) => read.wordFrequency(exact) === 0))
}

/** Weights of a synonym, and of a synonym of a word that the base does not contain. */
const SYNONYM = 0.4
const BRIDGE = 0.8
/** Most stems that are added as synonyms. More find hardly more, and each costs a lookup in every segment. */
const MOST_SYNONYMS = 12
/** Most index entries for synonyms: a share of the entries for the question's own words, and at least `least`. */
const SYNONYM_ENTRIES = { least: 4_000, share: 0.3 }

/** Returns, by stem, the phrases with the same meaning, as stems. Leaves out phrases that the base does not contain. */
function synonymsOf(read: IndexRead, { synonyms }: Question): Map<string, string[][]> {
  const known = new Map<string, string[][]>()
  for (const { stems, alternatives } of synonyms) {
    const held = alternatives.filter((phrase) => phrase.every((stem) => read.frequency(`s${stem}`) > 0))
    if (held.length > 0) for (const stem of stems) known.set(stem, [...(known.get(stem) ?? []), ...held])
  }
  return known
}

/** Adds the stems of synonyms, rare ones first, within the limits. None counts more than the original word. */
function addSynonyms(read: IndexRead, terms: SearchTerms): void {
  const weights = new Map<string, number>()
  const frequency = (stem: string) => read.frequency(`s${stem}`)
  for (const [stem, phrases] of terms.synonyms) {
    if (!terms.asked.has(stem)) continue
    const own = frequency(stem)
    for (const phrase of phrases)
      for (const other of phrase) {
        if (terms.asked.has(other)) continue
        const rarity = own === 0 ? 1 : Math.min(1, idfOf(read.slots, own) / idfOf(read.slots, frequency(other)))
        const weight = ((own === 0 ? BRIDGE : SYNONYM) * rarity) / phrase.length
        weights.set(other, Math.max(weights.get(other) ?? 0, weight))
      }
  }
  const entries = [...terms.stems.keys()].reduce((sum, stem) => sum + frequency(stem), 0)
  let left = Math.max(SYNONYM_ENTRIES.least, SYNONYM_ENTRIES.share * entries)
  const rareFirst = [...weights].sort(([a], [b]) => frequency(a) - frequency(b))
  for (const [stem, weight] of rareFirst.slice(0, MOST_SYNONYMS)) {
    left -= frequency(stem)
    if (left < 0) return
    increase(terms.stems, stem, weight)
  }
}
