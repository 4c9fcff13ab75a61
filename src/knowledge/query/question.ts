import type { HistoryEntry } from '../../core/message.ts'
import { type Analysis, analyse, type Language, type Token } from '../../text/analyse.ts'
import { runGrams, wordGrams } from '../../text/ngrams.ts'
import { type Synonyms, synonymsIn } from '../../text/thesaurus.ts'
import { wordAsked } from './word-asked.ts'

/** A search term, from the question or the conversation. */
export interface QuestionWord {
  stem: string
  exact: string
  weight: number
  spaced: boolean
}

/** All search terms of a question. Weights: 1 for each occurrence in the question itself, less for terms from the conversation. */
export interface Question {
  words: QuestionWord[]
  /** n-grams of scripts without spaces. */
  pieces: Map<string, number>
  /** n-grams of words. */
  grams: Map<string, number>
  /** Stems of the question itself, in order: neighbours here should be neighbours in a passage. */
  sequence: string[]
  /** True if it has a pronoun or a demonstrative. */
  points: boolean
  /** True if it continues the conversation: "and on a mac?", "what about linux". */
  goesOn: boolean
  /** True if it has only stop words. */
  isSilent: boolean
  /** True if it has a pronoun that nearly always refers to something said before. */
  pointsBack: boolean
  /** 0 to 1: how little the question says without its context. */
  bareness: number
  /** Synonyms of its own words. */
  synonyms: Synonyms[]
}

/** Past exchanges that the question may refer to. */
const EXCHANGES = 4
const HISTORY_WEIGHT = 0.8
const FADING = 0.6
/** In a message with more words than this, each word counts less: a long reply must not outweigh the question. */
const FREE_WORDS = 4
const SWAMPING = 1.5
const MOST_HISTORY_CHARS = 4_000
/** Longer words are cut: no language has longer ones, and each n-gram costs a lookup. */
const MOST_GRAM_CHARS = 40
/** At this number of content terms, a question is half self-contained. */
const BARE_TERMS = 2.5
const BARE_STEEPNESS = 4
const POINTING_FACTOR = 1.3
/** Pronouns and demonstratives, which refer to something said before. */
const POINTING = new Set(
  `he she it they him them her them his hers its their theirs this that these those there then one ones former latter such same another other
   er sie es ihm ihn ihr ihre sein seine diese dieser dieses dort el ella ellos ellas eso esto ese esta este su sus il elle ils elles lui leur
   ce cette ces celui celle lei loro questo questa quello quella ele ela eles elas isso isto esse essa hij zij hem haar hun dit dat deze die
   on ona ono oni jego jej ich ten ta to он она оно они его её ее их этот эта это эти тот та те`.split(/\s+/),
)
/** Openings that continue the conversation: English, German, French, Spanish, Italian, Portuguese, Dutch, Russian, Japanese, Chinese. */
const GOES_ON =
  /^[\s¿"'«„“]*(?:and|but|or|what about|how about|und|aber|oder|was ist mit|wie (?:ist|sieht) es mit|et|mais|ou|qu['’]en est-il|y|pero|o|e|ma|mas|en|maar|of|hoe zit het met|а|и|но)(?!\p{L})|^(?:じゃあ|では|それなら|那|那么|还有)/iu
/** Pronouns that nearly always refer to something, by language: "on" is a pronoun only in Polish. */
const POINTING_BACK: Partial<Record<Language, Set<string>>> = {
  en: wordSet('he she it they him them her his hers its their theirs this that these those'),
  de: wordSet('er ihm ihn ihr ihre sein seine diese dieser dieses'),
  es: wordSet('ella ellos ellas eso esto ese este esa esta'),
  fr: wordSet('elle ils elles lui leur celui celle cela ca'),
  it: wordSet('lui lei loro questo questa quello quella'),
  pt: wordSet('ele ela eles elas isso isto esse essa'),
  nl: wordSet('hij zij hem haar hun dit dat deze'),
  ru: wordSet('он она оно они его ее их этот эта это эти'),
}

/**
 * Returns the search terms of a question in its conversation. A self-contained question ignores the history; a bare "why did he?" depends on it.
 * `held`: the languages of the base.
 */
export function toQuestion(text: string, history: readonly HistoryEntry[], held: readonly Language[]): Question {
  // "Mean" is not a word of the answer.
  const analysis = analyse(wordAsked(text) ?? text, held)
  const pointers = analysis.tokens.filter((token) => POINTING.has(token.exact))
  const content = contentOf(analysis)
  const sequence = content.map((token) => token.stem)
  const terms = new Set(sequence).size
  const pointing = pointers.length > 0 ? POINTING_FACTOR : 1
  const question: Question = {
    words: [],
    pieces: new Map(),
    grams: new Map(),
    sequence,
    points: pointers.length > 0,
    goesOn: GOES_ON.test(text),
    isSilent: content.every((token) => token.stop),
    pointsBack: analysis.tokens.some((token) => POINTING_BACK[analysis.language]?.has(token.exact)),
    bareness: Math.min(1, pointing / (1 + (terms / BARE_TERMS) ** BARE_STEEPNESS)),
    synonyms: synonymsIn(analysis.tokens, analysis.language),
  }
  add(question, analysis, content, 1)
  if (history.length > 0) addHistory(question, history, held)
  return question
}

function addHistory(question: Question, history: readonly HistoryEntry[], held: readonly Language[]): void {
  let age = -1
  let later: HistoryEntry | undefined
  for (const entry of [...history].reverse()) {
    // In reverse order, a reply comes before its question. Both have the same age.
    if (!(entry.role === 'USER' && later?.role === 'AI')) age++
    later = entry
    if (age >= EXCHANGES) return
    // In a message this long, each word has almost no weight.
    if (entry.content.length > MOST_HISTORY_CHARS) continue
    // Citation marks are not words.
    const said = entry.role === 'AI' ? entry.content.replace(/\[\d+\]/g, ' ') : entry.content
    const analysis = analyse(said, held)
    const content = analysis.tokens.filter((token) => !token.stop)
    if (content.length === 0) continue
    const weight = question.bareness * HISTORY_WEIGHT * FADING ** age * Math.min(1, (FREE_WORDS / content.length) ** SWAMPING)
    if (weight > 0.01) add(question, analysis, content, weight)
  }
}

/**
 * Returns all tokens except stop words, or all tokens if there are only stop words. Leaves out pairs of characters that overlap a stop word: "是什" is
 * only in questions, and because it is rare, it would count as something that the base does not know.
 */
function contentOf({ tokens }: Analysis): Token[] {
  const silent = new Set<number>()
  for (const { stop, spaced, start, end } of tokens) if (stop && !spaced) for (let at = start; at < end; at++) silent.add(at)
  const content = tokens.filter(
    ({ stop, exact, start, end }) => !stop && !(exact === '' && (silent.has(start) || silent.has(end - 1))),
  )
  return content.length > 0 ? content : tokens
}

function add(question: Question, analysis: Analysis, content: readonly Token[], weight: number): void {
  for (const { stem, exact, spaced } of content) {
    question.words.push({ stem, exact, spaced, weight })
    if (spaced) addGrams(question.grams, exact, weight)
  }
  for (const run of analysis.runs) for (const gram of runGrams(run)) increase(question.pieces, gram, weight)
}

/** Adds the n-grams of a word to `grams`. */
export function addGrams(grams: Map<string, number>, word: string, weight: number): void {
  for (const gram of wordGrams(word.slice(0, MOST_GRAM_CHARS))) increase(grams, gram, weight)
}

export function increase<K>(weights: Map<K, number>, key: K, by: number): void {
  weights.set(key, (weights.get(key) ?? 0) + by)
}

function wordSet(words: string): Set<string> {
  return new Set(words.split(' '))
}
