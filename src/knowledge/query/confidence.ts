import { idfOf } from './idf.ts'

/** One term that was searched: a stem of the question, or of the conversation before it. */
export interface TermSignal {
  /** Passages of the base that hold it; 0 when none does. */
  frequency: number
  /** 1 for a term of the question itself, less for one taken over from the conversation. */
  weight: number
  /** It stands in the best hit's text, title or heading. */
  inBest: boolean
}

/** What the retriever knows once it has ranked; see `retrievalConfidence`. */
export interface RetrievalSignals {
  /** Passages in the base. */
  passages: number
  /** The distinct stems that were searched, stop words left out. */
  terms: TermSignal[]
  /** Score of the best hit and of the next; 0 where there is none. On the scale of `retrieve.ts`. */
  best: number
  second: number
}

/** What the best sentence adds, each 0 to 1 as a share of the question's idf; see `answerConfidence`. */
export interface AnswerSignals {
  /** Of the question's terms: in the sentence; spelt alike there; in the sentence before, title or heading; nowhere in its passage. */
  share: number
  soft: number
  around: number
  missing: number
  /** Neighbouring terms that are neighbours in it. */
  pairs: number
  /** How well it fits the question word, undefined without one. */
  type: number | undefined
  /** Share of the pieces of the question's words that it holds, and that its passage holds: what stems miss of inflection and compounds. */
  pieces: number
  piecesAround: number
  /** The passage is in English, whose words hardly change: elsewhere a stem that is missing says less. */
  english: boolean
  /** Distinct terms of the question. */
  terms: number
}

/** Signals of whether a quote from a passage with several blocks is right; see `quoteConfidence`. */
export interface QuoteSignals {
  /** 0 to 1: how sure it is that the base has the answer, which is `answerConfidence`. */
  answerable: number
  /** 0 to 1: the chance of the quote's passage among those found, by the weights of all their sentences. */
  chance: number
  /** 0 to 1: by how much of its score the best passage is ahead of the next. */
  ahead: number
  /** Features of the best sentence: it says what is asked about is; words of the question stand together in its heading. */
  defines: number
  phrasesAbove: number
  /** How well it fits the question word, undefined without one. */
  type: number | undefined
  /** Distinct terms of the question. */
  terms: number
}

// Fitted by bench/fit-confidence.ts: logistic regression on questions whose article is, or is not, in the base.
// In the order of the features below, the constant first.
const RETRIEVAL = [0.94, 4.68, 1.72, 1.31, -0.25, 0.93, -0.79]
const ANSWER = [-4.86, 1.1, 1.91, 1.31, 1.52, 2.82, 1.33, -0.14, 2.15, 1.2, 0.45, 1.88, -2.67, -0.55]

// Fitted by bench/fit-quotes.ts: logistic regression on questions about documentation, and whether the quote says what is expected.
const QUOTE = [-3.13, 0.12, 1.97, 2.72, 1.82, 2.53, 1.45, 0.25]
/** The fit of sentences that are neither right nor wrong for it. */
const USUAL_TYPE = 0.75

// The sizes of base that the fit has seen; beyond them it is not carried on.
const SMALLEST = 20
const LARGEST = 600
// Keeps a figure that is certain from swamping all others.
const LEAST_DOUBT = 0.001

/** 0 to 1: how sure the ranking alone is that the base holds the answer. 0 without hits. */
export function retrievalConfidence(signals: RetrievalSignals): number {
  return signals.best > 0 ? logistic(RETRIEVAL, retrievalFeatures(signals)) : 0
}

/** 0 to 1: the same, refined with what the best sentence says. `retrieval` is the figure above. */
export function answerConfidence(retrieval: number, signals: AnswerSignals): number {
  return retrieval > 0 ? logistic(ANSWER, answerFeatures(retrieval, signals)) : 0
}

/** 0 to 1: the probability that a quote from a passage with several blocks is right. */
export function quoteConfidence(signals: QuoteSignals): number {
  return logistic(QUOTE, quoteFeatures(signals))
}

/** Exported for the fit only, as the next. */
export function retrievalFeatures({ passages, terms, best, second }: RetrievalSignals): number[] {
  let all = 0
  let found = 0
  let unknown = 0
  for (const { frequency, weight, inBest } of terms) {
    const idf = idfOf(passages, frequency) * weight
    all += idf
    if (inBest) found += idf
    if (frequency === 0) unknown += idf
  }
  const whole = all || 1
  const size = Math.log(Math.min(LARGEST, Math.max(SMALLEST, passages)))
  return [Math.log(best / whole + 0.05), found / whole, (best - second) / best, unknown / whole, Math.log(terms.length), size]
}

export function answerFeatures(retrieval: number, signals: AnswerSignals): number[] {
  const { share, soft, around, missing, pairs, type, pieces, piecesAround, terms, english } = signals
  const odds = oddsOf(retrieval)
  return [
    odds,
    share,
    soft,
    around,
    missing,
    pairs,
    type === undefined ? 0 : type - 0.5,
    pieces,
    piecesAround,
    Math.log(terms),
    english ? 0 : 1,
    english ? 0 : missing,
    english ? 0 : odds,
  ]
}

export function quoteFeatures({ answerable, chance, ahead, defines, phrasesAbove, type, terms }: QuoteSignals): number[] {
  const fit = type === undefined ? 0 : type - USUAL_TYPE
  return [oddsOf(answerable), chance, ahead, defines, phrasesAbove, fit, Math.log(1 + terms)]
}

/** The logarithm of the odds. */
function oddsOf(confidence: number): number {
  const held = Math.min(1 - LEAST_DOUBT, Math.max(LEAST_DOUBT, confidence))
  return Math.log(held / (1 - held))
}

function logistic(weights: readonly number[], features: readonly number[]): number {
  const sum = features.reduce((total, feature, i) => total + feature * weights[i + 1]!, weights[0]!)
  return 1 / (1 + Math.exp(-sum))
}
