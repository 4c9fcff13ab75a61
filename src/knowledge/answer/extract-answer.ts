import { ANSWER_THRESHOLD, type Extract, type ExtractInput, type Hit, noExtract, type Quote } from '../../core/ports/retrieval.ts'
import { together, type Work } from '../../store/knowledge/work.ts'
import { type AnswerSignals, answerConfidence, type QuoteSignals, quoteConfidence } from '../query/confidence.ts'
import { saysYesOrNo, startsAbruptly } from './abrupt.ts'
import { type AnswerCandidate, type Described, describe, featureNames } from './features.ts'
import { Likeness } from './likeness.ts'
import { isQuestion } from './passage-features.ts'
import type { TermStatistics } from './question-terms.ts'
import { headingAbove, isBlock, quotable, sectionOf, widthOf } from './quotable.ts'
import type { Unit } from './units.ts'

// Weights in the order of `featureNames`, fitted as in bench/fit-answers.ts: the likelihood that the chosen unit contains the answer, over half of the
// questions of an English set, a set in twelve languages and a set of native questions. The optimum is flat: fits over other retrieval scores change single
// weights by up to a third, and the answers by half a point. `defines`, `synonyms` and `under` are set by hand, `under` because the sets have no headings:
// a heading that is the question decides, unless a sentence contains all its words. The weights of `passageFeatureNames` were fitted on six sets of questions
// about documentation, each judged by the others.
const WEIGHTS = [3.4, 1, 9, 3.4, 3.1, 2.1, 0, -1.9, -0.2, 0.3, 0.3, -0.2, 4, 4.5, 2, 1.6, 2.2, 1.8, 0.9, 4.6]

// Least probability, by the weights, that a second quote contains the answer; more for a long one. Second quotes answer one question in twelve more,
// at ten words a reply on average. A quote from another passage is more often a wrong source.
const SECOND_CHANCE = { samePassage: 0.09, other: 0.15 }
const LENGTH = featureNames.indexOf('length')
const MAX_QUOTES = 2
/** The most characters of two quotes together, as `widthOf` counts them. */
const MOST_CHARS = 850

/**
 * Answers with verbatim quotes: the sentences, steps or code of the hits that most likely contain the answer, in at most two parts. The best passage
 * comes first. Deterministic. Takes less than a millisecond for six passages of 700 characters.
 */
export function* extractAnswer(input: ExtractInput, statistics: TermStatistics): Work<Extract> {
  const { hits } = input.retrieval
  const [described, likeness] = yield* together(describe(input, hits, statistics), Likeness.to(input.question, statistics))
  const asked = yield* askedAbove(described.candidates, hits, likeness)
  const ranked = preferAsked(rank(described), (candidate) => asked(candidate) === 'in words')
  const best = ranked[0]
  if (best === undefined) return noExtract
  const isStructured = isBlock(hits[best.candidate.hit]!.text) && !asksForSeveral(input.question)
  const chosen = choose(ranked, mostQuotes(best.candidate, described), isStructured, (candidate) =>
    hits[candidate.hit]!.text.slice(candidate.start, candidate.end),
  )
  const { confidence, mostConfidence = 1 } = input.retrieval
  const answerable = Math.min(mostConfidence, answerConfidence(confidence, signalsOf(best.candidate, described)))
  const quotes = yield* quotesOf(chosen, ranked, described, { hits, likeness })
  const isElsewhere = described.unknown > MOSTLY || mostConfidence < 1
  if (!isBlock(hits[best.candidate.hit]!.text))
    return { quotes, confidence: answerable, found: verdictOfText(answerable, isElsewhere) }
  const right = Math.max(
    asked(best.candidate) === 'no' ? 0 : SURE,
    quoteConfidence(quoteSignalsOf(ranked, described, hits, answerable)),
  )
  const found = verdictOfSection(answerable, right, isElsewhere)
  return { quotes, confidence: found === 'answer' ? right : Math.min(right, answerable), found }
}

/** From this likeness of heading and question on, the section answers the question: 26 of 28 did, in the documentation of six products. */
const SAME_QUESTION = 0.75
const SURE = 0.9
/** Added to the score of a unit under a heading that asks the question. Set by hand: on six products, 1 to 2 gains a fact and loses none or one. */
const BELOW_QUESTION = 1.5

type Asked = 'no' | 'by name' | 'in words'

/** Compares the heading above each unit with the question: `in words` if the heading is a question itself. */
function* askedAbove(
  candidates: readonly AnswerCandidate[],
  hits: readonly Hit[],
  likeness: Likeness,
): Work<(candidate: AnswerCandidate) => Asked> {
  const headings = new Map<AnswerCandidate, string>()
  for (const candidate of candidates) {
    const hit = hits[candidate.hit]!
    if (isBlock(hit.text)) headings.set(candidate, headingAbove(hit, candidate.start))
  }
  const distinct = new Set(headings.values())
  yield* likeness.load(distinct, SAME_QUESTION)
  const known = new Map([...distinct].map((heading) => [heading, askedIn(heading, likeness)]))
  return (candidate) => {
    const heading = headings.get(candidate)
    return heading === undefined ? 'no' : known.get(heading)!
  }
}

const askedIn = (heading: string, likeness: Likeness): Asked =>
  !likeness.isLike(heading, SAME_QUESTION) ? 'no' : isQuestion(heading) ? 'in words' : 'by name'

/** Returns the units best first, after raising the score of units under a heading that asks the question. */
function preferAsked(ranked: readonly Scored[], isBelow: (candidate: AnswerCandidate) => boolean): Scored[] {
  return ranked
    .map((one) => (isBelow(one.candidate) ? { ...one, score: one.score + BELOW_QUESTION } : one))
    .sort((a, b) => b.score - a.score)
}

/** A share of the question. If the base does not contain more than this, nothing in it comes close. */
const MOSTLY = 0.5
/** Least probability that the base has the answer, and that the quote is right. An answer is more likely right than wrong. */
const ANSWERS = { answerable: 0.2, right: 0.5 }
const COMES_CLOSE = { answerable: 0.1, right: 0.05 }
/** Least probability that the base has the answer, for running text, which has no probability for the quote. */
const TEXT_COMES_CLOSE = 0.2

function verdictOfSection(answerable: number, right: number, isElsewhere: boolean): Extract['found'] {
  if (right >= ANSWERS.right && answerable >= (isElsewhere ? ANSWER_THRESHOLD : ANSWERS.answerable)) return 'answer'
  const isClose = right >= COMES_CLOSE.right && answerable >= COMES_CLOSE.answerable
  return isClose && !isElsewhere ? 'closest' : 'nothing'
}

function verdictOfText(answerable: number, isElsewhere: boolean): Extract['found'] {
  if (answerable >= ANSWER_THRESHOLD) return 'answer'
  return answerable >= TEXT_COMES_CLOSE && !isElsewhere ? 'closest' : 'nothing'
}

/** Signals of whether the best ranked sentence is right. There must be one. Exported for the fit. */
export function quoteSignalsOf(
  ranked: readonly Scored[],
  { type, terms }: Described,
  hits: readonly Hit[],
  answerable: number,
): QuoteSignals {
  const { candidate: best, score: most } = ranked[0]!
  const of = (name: (typeof featureNames)[number]): number => best.features[featureNames.indexOf(name)]!
  const sum = (some: readonly Scored[]): number => some.reduce((all, { score }) => all + Math.exp(score - most), 0)
  return {
    answerable,
    chance: sum(ranked.filter(({ candidate }) => candidate.hit === best.hit)) / sum(ranked),
    ahead: hits.length > 1 ? 1 - hits[1]!.score / (hits[0]!.score || 1) : 1,
    defines: of('defines'),
    phrasesAbove: of('phrasesAbove'),
    type: type === undefined ? undefined : of('type'),
    terms,
  }
}

/** Returns the signals of the best sentence for `answerConfidence`. Exported for the fit. */
export function signalsOf(
  { features, hit, pieces }: AnswerCandidate,
  { type, terms, candidates, language, pieces: asked }: Described,
): AnswerSignals {
  const passage = candidates.filter((candidate) => candidate.hit === hit)
  const of = (name: (typeof featureNames)[number]): number => features[featureNames.indexOf(name)]!
  const fit = type === undefined ? undefined : of('type')
  return {
    share: of('share'),
    soft: of('soft'),
    around: of('before') + of('title'),
    missing: of('missing'),
    pairs: of('pairs'),
    type: fit,
    pieces: asked.shareIn([pieces]),
    piecesAround: asked.shareIn(passage.map((candidate) => candidate.pieces)),
    terms,
    english: language === 'en',
  }
}

interface Scored {
  candidate: AnswerCandidate
  score: number
}

/** Returns the units best first. Exported for the fit. */
export function rank({ candidates }: Described): Scored[] {
  const scored = candidates.map((candidate) => ({
    candidate,
    score: candidate.features.reduce((sum, value, i) => sum + value * WEIGHTS[i]!, 0),
  }))
  return scored.sort((a, b) => b.score - a.score || a.candidate.hit - b.candidate.hit || a.candidate.at - b.candidate.at)
}

/** Steps and code explain a procedure completely, so one quote is enough. */
function mostQuotes({ kind }: AnswerCandidate, { type }: Described): number {
  return type === 'how' && (kind === 'item' || kind === 'code') ? 1 : MAX_QUOTES
}

// English, German, French, Spanish, Italian, Portuguese, Dutch.
const SEVERAL =
  /(?<!\p{L})(?:and|or|vs|versus|differences?|differs?|compared?|und|oder|unterschiede?|et|ou|différences?|y|o|diferencias?|e|differenz[ae]|diferenças?|en|of|verschil)(?!\p{L})/iu

/** True if the question names several things: one section may cover only a part of them. */
const asksForSeveral = (question: string): boolean => SEVERAL.test(question)

/** Returns the best unit, and the next one with other words. `fromOne`: both from the same passage. */
function choose(
  ranked: readonly Scored[],
  most: number,
  fromOne: boolean,
  textOf: (candidate: AnswerCandidate) => string,
): AnswerCandidate[] {
  const best = ranked[0]!.score
  const all = ranked.reduce((sum, { score }) => sum + Math.exp(score - best), 0)
  const chosen: AnswerCandidate[] = []
  const said = new Set<string>()
  for (const { candidate, score } of ranked) {
    if (chosen.length === most) break
    if (fromOne && chosen.length > 0 && candidate.hit !== chosen[0]!.hit) continue
    const chance = Math.exp(score - best) / all
    const least = candidate.hit === chosen[0]?.hit ? SECOND_CHANCE.samePassage : SECOND_CHANCE.other
    if (chosen.length > 0 && chance < least * Math.exp(candidate.features[LENGTH]!)) continue
    const words = textOf(candidate)
      .replace(/[^\p{L}\p{N}]+/gu, ' ')
      .toLowerCase()
    if (said.has(words)) continue
    said.add(words)
    chosen.push(candidate)
  }
  return chosen
}

/** From this likeness of heading and question on, a "yes" or "no" below the heading answers the question. */
const MOSTLY_ASKED = 0.5

/** A sentence before the chosen one is quoted, too, if it is at least this likely to contain the answer, as a share of the chosen one. */
const AS_LIKELY = 0.5

/** Returns the position of the first unit in the section of the given unit that is about as likely to contain the answer. */
function earliestOf({ hit, at }: AnswerCandidate, ranked: readonly Scored[], units: readonly Unit[]): number {
  const heading = units.findLastIndex((unit, i) => unit.kind === 'heading' && i < at)
  const own = ranked.filter(({ candidate }) => candidate.hit === hit && candidate.at > heading && candidate.at <= at)
  const least = own.find(({ candidate }) => candidate.at === at)!.score + Math.log(AS_LIKELY)
  return Math.min(...own.filter(({ score }) => score >= least).map(({ candidate }) => candidate.at))
}

function* quotesOf(
  chosen: AnswerCandidate[],
  ranked: readonly Scored[],
  described: Described,
  { hits, likeness }: { hits: readonly Hit[]; likeness: Likeness },
): Work<Quote[]> {
  const spans = chosen.map((candidate) => {
    const { hit, at } = candidate
    const units = described.units[hit]!
    const earliest = earliestOf(candidate, ranked, units)
    return { hit, ...quotable(hits[hit]!.text, units, at, described.type, earliest) }
  })
  // The passage with the best unit comes first.
  const order = (hit: number): number => (hit === chosen[0]?.hit ? -1 : hit)
  spans.sort((a, b) => order(a.hit) - order(b.hit) || a.start - b.start)
  const joined: typeof spans = []
  for (const span of spans) {
    const last = joined.at(-1)
    const between = last?.hit === span.hit ? hits[span.hit]!.text.slice(last.end, span.start) : 'apart'
    // Neighbouring parts read as one quote. So do overlapping parts.
    if (last !== undefined && between.trim() === '' && !between.includes('\n')) last.end = Math.max(last.end, span.end)
    else joined.push(span)
  }
  const quotes: Quote[] = []
  for (const { hit, start, end } of joined) {
    const passage = hits[hit]!
    const text = passage.text.slice(start, end)
    const from = sectionOf(passage, start)
    const isApart = quotes.length > 0 && from !== quotes.at(-1)!.from
    const mayAnswer = !isApart && !startsAbruptly(text)
    const isVerdict = mayAnswer && saysYesOrNo(text)
    if (isVerdict) yield* likeness.load([from], MOSTLY_ASKED)
    const isAbrupt = !mayAnswer || (isVerdict && !likeness.isLike(from, MOSTLY_ASKED))
    quotes.push({ hit, text, from, isAbrupt: isBlock(passage.text) && isAbrupt })
  }
  const size = quotes.reduce((sum, { text }) => sum + widthOf(text) * text.length, 0)
  return size > MOST_CHARS ? quotes.slice(0, 1) : quotes
}
