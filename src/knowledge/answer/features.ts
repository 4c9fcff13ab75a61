import type { Hit } from '../../core/ports/retrieval.ts'
import type { Work } from '../../store/knowledge/work.ts'
import { analyse, type Language, type Token } from '../../text/analyse.ts'
import { type AnswerType, answerTypeOf, typeFit } from './answer-types.ts'
import { defines, isDefinitionAsked } from './definitions.ts'
import { lastHeading, Phrases, passageFeatureNames, passageFeatures } from './passage-features.ts'
import { type PiecesHeld, QuestionPieces } from './pieces.ts'
import {
  type Asking,
  alike,
  bitOf,
  type Places,
  type QuestionTerms,
  shareOf,
  type TermStatistics,
  termsOf,
} from './question-terms.ts'
import { isNumbered, type Unit, unitsOf } from './units.ts'

/** Features of a unit, each between about 0 and 1, in the order of the fitted weights. Shares are of the question's idf. */
export const featureNames = [
  'share', // stems of the question in the unit
  'soft', // not in the unit, but a similarly spelled word is
  'passage', // score of the passage, as a share of the best score
  'before', // only in the unit before
  'title', // only in title or heading
  'type', // fits the question word
  'pairs', // neighbours in the question that are neighbours in the unit
  'missing', // not in passage, title and heading
  'length',
  'news', // words that the question does not contain
  'first', // first unit of its passage
  'question', // is a question
  'under', // first under a heading with the question's terms, or opening of the passage whose name a definition question asks about
  'defines', // defines the question's terms, if the question asks for a definition
  'synonyms', // not in the unit, but a synonym is
  ...passageFeatureNames,
  'pieces', // n-grams of the question's words, weighted by how few units contain them
] as const

/** A unit of a hit, with its features. */
export interface AnswerCandidate extends Unit {
  hit: number
  /** Position among the hit's units. */
  at: number
  features: number[]
  pieces: PiecesHeld
}

/** The units of the hits, described for one question. */
export interface Described {
  type: AnswerType | undefined
  candidates: AnswerCandidate[]
  /** The units of each hit, including headings; empty for a hit that is left out. */
  units: Unit[][]
  pieces: QuestionPieces
  /** Language of the best passage. */
  language: Language
  /** Sum of the question's idf, and its number of terms, in the best passage's language. */
  idf: number
  terms: number
  /** 0 to 1: the share of the question that the base does not contain, and that no word of the best passage is spelled like. */
  unknown: number
}

const NEAR = 4
const USUAL_WORDS = 25
const NEWS_WORDS = 4
// Passages below this share of the best score never contained the chosen answer. Leaving them out halves the time.
const LEAST_SCORE = 0.5
/** Lower for definitions: a glossary entry names a thing once, other passages name it often. */
const LEAST_SCORE_OF_DEFINITION = 0.3
/** Limits for one question, best passages first: about 40 ms in which all other questions wait. Fifteen long passages of prose have less. */
const MOST_CHARS = 30_000
const MOST_UNITS = 600
const MOST_UNITS_OF_PASSAGE = 250

// Weight of the type, fitted on the sets of bench/fit-answers.ts: a year is rarer than a name or a place, so it is stronger evidence.
// The sets hardly contain "how" questions. For them, steps and code fit the type, and are the answer.
const TYPE_COUNTS: Record<AnswerType, number> = { when: 1.25, number: 1, who: 0.5, where: 0.6, why: 0.4, how: 1 }

/** Describes the units of the hits, within the limits for one question. Linear in the passages. `statistics` gives each stem its weight. */
export function* describe(asking: Asking, hits: readonly Hit[], statistics: TermStatistics): Work<Described> {
  const type = answerTypeOf(asking.question)
  const asksWhatIs = isDefinitionAsked(asking.question)
  const byLanguage = new Map<Language, QuestionTerms>()
  const pieces = new QuestionPieces(asking.question)
  // Not for definition questions: "a lamp" is a phrase of every passage about lamps.
  const phrases = new Phrases(asksWhatIs ? [] : wordsOf(asking.question))
  const described: Described = { type, candidates: [], units: [], pieces, language: 'en', idf: 0, terms: 0, unknown: 0 }
  const best = Math.max(...hits.map((hit) => hit.score), Number.MIN_VALUE)
  const left = { chars: MOST_CHARS, units: MOST_UNITS }
  for (const [at, hit] of hits.entries()) {
    const units: Unit[] = []
    described.units.push(units)
    if (hit.score < (asksWhatIs ? LEAST_SCORE_OF_DEFINITION : LEAST_SCORE) * best || left.chars <= 0 || left.units <= 0) continue
    const analysis = analyse(hit.text)
    let asked = byLanguage.get(analysis.language)
    if (asked === undefined) {
      // Uses the passage's language, so that the same word gets the same stem.
      asked = yield* termsOf(asking, analysis.language, statistics)
      byLanguage.set(analysis.language, asked)
    }
    if (at === 0) {
      described.language = analysis.language
      described.idf = asked.idf
      described.terms = asked.terms.length
    }
    units.push(...unitsOf(hit.text).slice(0, Math.min(left.units, MOST_UNITS_OF_PASSAGE)))
    left.chars -= hit.text.length
    left.units -= units.length
    const [title, heading, above] = [hit.title, lastHeading(hit), hit.heading].map(
      (text) => analyse(text, analysis.language).tokens,
    ) as [Token[], Token[], Token[]]
    const context = [...title, ...above].reduce(
      (mask, token) => mask | bitOf(asked, token) | (asked.synonyms.get(token.stem) ?? 0),
      0,
    )
    const soft = addCandidates(described.candidates, {
      at,
      text: hit.text,
      tokens: analysis.tokens,
      units,
      asked,
      pieces,
      context,
      type,
      asksWhatIs,
      passage: hit.score / best,
      named: asksWhatIs ? Math.min(1, (hit.scores['name'] ?? 0) / best) : 0,
      ofPassage: passageFeatures(hit, { phrases, type, asksWhatIs, tokens: analysis.tokens, title, heading }),
    })
    if (at === 0) described.unknown = shareOf(asked, asked.unknown & ~soft)
  }
  const held = described.candidates.map((candidate) => candidate.pieces)
  for (const [i, share] of pieces.shares(held).entries()) described.candidates[i]!.features.push(share)
  return described
}

const wordsOf = (question: string): string[] =>
  analyse(question)
    .tokens.map(({ exact }) => exact)
    .filter((exact) => exact !== '')

interface Reading {
  at: number
  text: string
  tokens: readonly Token[]
  units: readonly Unit[]
  asked: QuestionTerms
  pieces: QuestionPieces
  /** Terms in title and heading. */
  context: number
  type: AnswerType | undefined
  asksWhatIs: boolean
  passage: number
  /** If the question asks what something is: how well title and heading match its name. */
  named: number
  ofPassage: number[]
}

interface Seen {
  mask: number
  soft: number
  /** Terms with a synonym in the unit. */
  synonyms: number
  words: number
  news: number
  /** Capitalised words, except the first word, that the question does not contain. */
  names: number
  places: Places
  pieces: PiecesHeld
}

/** Adds a candidate for each unit except headings. Returns the bits of the terms that a word of the passage is spelled like. */
function addCandidates(candidates: AnswerCandidate[], reading: Reading): number {
  const { asked, units, context } = reading
  const seen = look(reading)
  const all = seen.reduce((mask, unit) => mask | unit.mask | unit.synonyms, context)
  const missing = 1 - shareOf(asked, all)
  let heading = 0
  let headed = false
  let before = 0
  /** Words of the heading that the question does not contain. */
  let others = 0
  const opening = units.findIndex(({ kind }) => kind === 'sentence')
  for (const [at, unit] of units.entries()) {
    const { mask, soft, synonyms, words, news, names, places, pieces } = seen[at]!
    if (unit.kind === 'heading') {
      heading = mask | synonyms
      others = news
      headed = true
      before = 0
      continue
    }
    const near = before & ~mask
    const text = reading.text.slice(unit.start, unit.end)
    const features = [
      shareOf(asked, mask),
      shareOf(asked, soft & ~mask),
      reading.passage,
      shareOf(asked, near),
      shareOf(asked, (context | heading) & ~mask & ~near),
      reading.type === undefined ? 0 : TYPE_COUNTS[reading.type] * fitOf(reading.type, unit, reading.text, names),
      closePairs(asked, places),
      missing,
      Math.log((words + 1) / USUAL_WORDS),
      Math.min(1, news / NEWS_WORDS),
      at === 0 ? 1 : 0,
      /[?？؟]\s*$/u.test(text) ? 1 : 0,
      headed ? shareOf(asked, heading) / (reading.asksWhatIs ? 1 + others : 1) : at === opening ? reading.named : 0,
      reading.asksWhatIs ? defines(asked, text, places) : 0,
      shareOf(asked, synonyms & ~mask),
      ...reading.ofPassage,
    ]
    candidates.push({ ...unit, hit: reading.at, at, features, pieces })
    before = mask | synonyms
    headed = false
  }
  return seen.reduce((mask, unit) => mask | unit.soft, 0)
}

/** Steps and code answer how to do something, with any words. */
function fitOf(type: AnswerType, unit: Unit, text: string, names: number): number {
  if (type === 'how' && (unit.kind === 'code' || isNumbered(text, unit))) return 1
  return typeFit(type, text.slice(unit.start, unit.end), names)
}

/** Assigns the tokens of a passage to its units. */
function look({ tokens, units, asked, pieces, text }: Reading): Seen[] {
  const seen = units.map(
    (): Seen => ({ mask: 0, soft: 0, synonyms: 0, words: 0, news: 0, names: 0, places: [], pieces: pieces.none() }),
  )
  let at = 0
  for (const token of tokens) {
    // Pairs of characters come before the words of their run, so the position may go back.
    while (at > 0 && token.start < units[at]!.start) at--
    while (at < units.length && token.start >= units[at]!.end) at++
    if (at === units.length) at = units.length - 1
    const unit = units[at]
    if (unit === undefined || token.start < unit.start || token.start >= unit.end) continue
    const into = seen[at]!
    if (!token.stop) pieces.note(token, text, into.pieces)
    const bit = asked.bits.get(token.stem)
    if (bit !== undefined) {
      into.mask |= 1 << bit
      into.places.push({ bit, word: into.words })
    } else if (!token.stop && token.spaced) into.soft |= alike(asked, token.exact)
    into.synonyms |= asked.synonyms.get(token.stem) ?? 0
    if (token.exact === '') continue
    if (into.words > 0 && !asked.exact.has(token.exact) && isCapital(text.charCodeAt(token.start), text[token.start]!))
      into.names++
    into.words++
    if (!token.stop && !asked.exact.has(token.exact) && bit === undefined) into.news++
  }
  return seen
}

function isCapital(unit: number, character: string): boolean {
  return unit < 128 ? unit >= 65 && unit <= 90 : /\p{Lu}/u.test(character)
}

/** Linear in the places, because a sentence may repeat the question's words any number of times. */
function closePairs({ pairs, terms }: QuestionTerms, places: Places): number {
  if (pairs.length === 0 || places.length < 2) return 0
  const last: number[] = new Array(terms.length).fill(Number.NEGATIVE_INFINITY)
  /** By bit: the bits that are near it anywhere in the unit. */
  const near: number[] = new Array(terms.length).fill(0)
  for (const { bit, word } of places) {
    for (let other = 0; other < last.length; other++) {
      if (word - last[other]! > NEAR) continue
      near[bit]! |= 1 << other
      near[other]! |= 1 << bit
    }
    last[bit] = word
  }
  let sum = 0
  for (const { first, second, share } of pairs) if ((near[first]! >> second) & 1) sum += share
  return sum
}
