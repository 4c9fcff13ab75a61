import type { HistoryEntry } from '../../core/message.ts'
import type { Hit } from '../../core/retrieval.ts'
import { analyse, type Language, type Token } from '../../text/analyse.ts'
import { idfOf } from '../confidence.ts'
import { toQuestion } from '../question.ts'
import { type AnswerType, answerTypeOf, typeFit } from './answer-types.ts'
import { isNumbered, type Unit, unitsOf } from './units.ts'

/** What the base knows of its terms: how many passages it has, and how many of them hold a stem. */
export interface TermStatistics {
  passages: number
  frequency(stem: string): number
}

/** A question in its conversation, oldest message first. */
export interface Asking {
  question: string
  history: readonly HistoryEntry[]
}

/** What is weighed of a unit, each between about 0 and 1; shares are of the question's idf. In the order of the fitted weights. */
export const featureNames = [
  'share', // the question's stems in the unit
  'soft', // not in it, but a word spelt alike is
  'passage', // the passage's score against the best one's
  'before', // only in the unit before
  'title', // only in title or heading
  'type', // has what the question word asks for
  'pairs', // neighbours of the question that are neighbours here
  'missing', // nowhere in passage, title and heading
  'length',
  'news', // says something that the question does not
  'first', // opens its passage
  'question', // asks itself
  'under', // comes first under a heading with the question's terms
] as const

/** A unit of one of the hits, ready to be judged. */
export interface Candidate extends Unit {
  hit: number
  /** Position among the hit's units. */
  at: number
  features: number[]
}

/** A question against its passages. */
export interface Described {
  type: AnswerType | undefined
  candidates: Candidate[]
  /** All units of each hit, headings too. */
  units: Unit[][]
  /** Sum of the question's idf, and how many terms it has, in the best passage's language. */
  idf: number
  terms: number
}

// Bits of a number: a question with more distinct terms is cut off.
const MAX_TERMS = 30
const ALIKE = 0.5
const NEAR = 4
const USUAL_WORDS = 25
const NEWS_WORDS = 4
// Passages that score less than this share of the best one never held the answer chosen: leaving them out halves the time.
const LEAST_SCORE = 0.5

interface Term {
  /** Of the question's idf. */
  share: number
  /** 0 where the script has no words to be spelt alike. */
  letters: number
}

interface QuestionTerms {
  terms: Term[]
  bits: Map<string, number>
  exact: Set<string>
  idf: number
  /** Bits of terms that follow each other in the question, with the smaller share. */
  pairs: { first: number; second: number; share: number }[]
  /** The trigrams of the terms, each with the bits of its terms. */
  grams: Map<number, number>
  /** By word: the bits of the terms that it is spelt like. */
  known: Map<string, number>
}

/** Describes every unit of the hits. Pure; linear in the passages. `statistics` gives each stem its weight. */
export function describe(asking: Asking, hits: readonly Hit[], statistics: TermStatistics): Described {
  const type = answerTypeOf(asking.question)
  const byLanguage = new Map<Language, QuestionTerms>()
  const described: Described = { type, candidates: [], units: [], idf: 0, terms: 0 }
  const best = Math.max(...hits.map((hit) => hit.score), Number.MIN_VALUE)
  for (const [at, hit] of hits.entries()) {
    const units: Unit[] = []
    described.units.push(units)
    if (hit.score < LEAST_SCORE * best) continue
    const analysis = analyse(hit.text)
    let asked = byLanguage.get(analysis.language)
    if (asked === undefined) {
      // In the passage's language, so that the same word gets the same stem.
      asked = termsOf(asking, analysis.language, statistics)
      byLanguage.set(analysis.language, asked)
    }
    if (at === 0) {
      described.idf = asked.idf
      described.terms = asked.terms.length
    }
    units.push(...unitsOf(hit.text))
    const context = analyse(`${hit.title}\n${hit.heading}`, analysis.language).tokens.reduce(
      (mask, token) => mask | bitOf(asked, token),
      0,
    )
    addCandidates(described.candidates, {
      at,
      text: hit.text,
      tokens: analysis.tokens,
      units,
      asked,
      context,
      type,
      passage: hit.score / best,
    })
  }
  return described
}

function termsOf(asking: Asking, language: Language, statistics: TermStatistics): QuestionTerms {
  const { words, sequence } = toQuestion(asking.question, asking.history, [language])
  const asked: QuestionTerms = {
    terms: [],
    bits: new Map(),
    exact: new Set(words.map((word) => word.exact)),
    idf: 0,
    pairs: [],
    grams: new Map(),
    known: new Map(),
  }
  for (const { stem, exact, spaced, weight } of words) {
    if (asked.bits.has(stem) || asked.terms.length === MAX_TERMS) continue
    const idf = idfOf(statistics.passages, statistics.frequency(stem)) * weight
    const bit = asked.terms.length
    asked.bits.set(stem, bit)
    asked.terms.push({ share: idf, letters: spaced ? exact.length : 0 })
    if (spaced) forEachTrigram(exact, (gram) => asked.grams.set(gram, (asked.grams.get(gram) ?? 0) | (1 << bit)))
    asked.idf += idf
  }
  for (const term of asked.terms) term.share /= asked.idf || 1
  for (let i = 0; i + 1 < sequence.length; i++) {
    const first = asked.bits.get(sequence[i]!)
    const second = asked.bits.get(sequence[i + 1]!)
    if (first === undefined || second === undefined || first === second) continue
    asked.pairs.push({ first, second, share: Math.min(asked.terms[first]!.share, asked.terms[second]!.share) })
  }
  return asked
}

const bitOf = (asked: QuestionTerms, token: Token): number => {
  const bit = asked.bits.get(token.stem)
  return bit === undefined ? 0 : 1 << bit
}

function shareOf(asked: QuestionTerms, mask: number): number {
  let share = 0
  for (let bit = 0; mask >> bit !== 0; bit++) if ((mask >> bit) & 1) share += asked.terms[bit]!.share
  return share
}

interface Reading {
  at: number
  text: string
  tokens: readonly Token[]
  units: readonly Unit[]
  asked: QuestionTerms
  /** Terms in title and heading. */
  context: number
  type: AnswerType | undefined
  passage: number
}

interface Seen {
  mask: number
  soft: number
  words: number
  news: number
  /** Capitalised words, but for the first, that the question does not have. */
  names: number
  /** Bit of each term met, with the number of words before it. */
  places: { bit: number; word: number }[]
}

function addCandidates(candidates: Candidate[], reading: Reading): void {
  const { asked, units, context } = reading
  const seen = look(reading)
  const all = seen.reduce((mask, unit) => mask | unit.mask, context)
  const missing = 1 - shareOf(asked, all)
  let heading = 0
  let headed = false
  let before = 0
  for (const [at, unit] of units.entries()) {
    const { mask, soft, words, news, names, places } = seen[at]!
    if (unit.kind === 'heading') {
      heading = mask
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
      reading.type === undefined ? 0 : fitOf(reading.type, unit, reading.text, names),
      closePairs(asked, places),
      missing,
      Math.log((words + 1) / USUAL_WORDS),
      Math.min(1, news / NEWS_WORDS),
      at === 0 ? 1 : 0,
      /[?？؟]\s*$/u.test(text) ? 1 : 0,
      headed ? shareOf(asked, heading) : 0,
    ]
    candidates.push({ ...unit, hit: reading.at, at, features })
    before = mask
    headed = false
  }
}

/** Steps and code tell how, whatever their words. */
function fitOf(type: AnswerType, unit: Unit, text: string, names: number): number {
  if (type === 'how' && (unit.kind === 'code' || isNumbered(text, unit))) return 1
  return typeFit(type, text.slice(unit.start, unit.end), names)
}

/** Sorts the tokens of a passage to its units. */
function look({ tokens, units, asked, text }: Reading): Seen[] {
  const seen = units.map((): Seen => ({ mask: 0, soft: 0, words: 0, news: 0, names: 0, places: [] }))
  let at = 0
  for (const token of tokens) {
    // Pairs of characters stand before the words of their run: the place may go back.
    while (at > 0 && token.start < units[at]!.start) at--
    while (at < units.length && token.start >= units[at]!.end) at++
    if (at === units.length) at = units.length - 1
    const unit = units[at]
    if (unit === undefined || token.start < unit.start || token.start >= unit.end) continue
    const into = seen[at]!
    const bit = asked.bits.get(token.stem)
    if (bit !== undefined) {
      into.mask |= 1 << bit
      into.places.push({ bit, word: into.words })
    } else if (!token.stop && token.spaced) into.soft |= alike(asked, token.exact)
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

function closePairs(asked: QuestionTerms, places: Seen['places']): number {
  let sum = 0
  for (const { first, second, share } of asked.pairs) {
    const near = places.some((a) => a.bit === first && places.some((b) => b.bit === second && Math.abs(a.word - b.word) <= NEAR))
    if (near) sum += share
  }
  return sum
}

/** Bits of the terms that a word is spelt like: half of their trigrams in common. */
function alike({ terms, grams, known }: QuestionTerms, word: string): number {
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

/** Three neighbouring letters as one number, with a boundary on both ends: as many as the word has letters. */
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
