import { idfOf } from './idf.ts'

/** A stem that was searched, from the question or from the conversation before it. */
export interface TermSignal {
  /** Number of passages of the base that contain it. */
  frequency: number
  /** 1 for a term of the question itself, less for a term from the conversation. */
  weight: number
  /** True if the text, title or heading of the best hit contains it. */
  inBest: boolean
}

/** Signals of the ranking; see `retrievalConfidence`. */
export interface RetrievalSignals {
  /** Passages in the base. */
  passages: number
  /** The distinct stems that were searched, without stop words. */
  terms: TermSignal[]
  /** Scores of the best hit and of the next; 0 if there is none. On the scale of `retrieve.ts`. */
  best: number
  second: number
}

/** Signals of the best sentence, each 0 to 1 as a share of the question's idf; see `answerConfidence`. */
export interface AnswerSignals {
  /** Shares of the question's terms: in the sentence; spelled alike there; in the sentence before, title or heading; nowhere in the passage. */
  share: number
  soft: number
  around: number
  missing: number
  /** Neighbouring terms of the question that are also neighbours in the sentence. */
  pairs: number
  /** How well the sentence fits the question word; undefined if there is none. */
  type: number | undefined
  /** Shares of the n-grams of the question's words in the sentence and in its passage. They match inflections and compounds that stems miss. */
  pieces: number
  piecesAround: number
  /** True if the passage is in English, where words hardly inflect. In other languages, a missing stem is weaker evidence. */
  english: boolean
  /** Distinct terms of the question. */
  terms: number
}

/** Signals of whether a quote from a passage with several blocks is right; see `quoteConfidence`. */
export interface QuoteSignals {
  /** 0 to 1: the probability that the base has the answer, from `answerConfidence`. */
  answerable: number
  /** 0 to 1: the probability of the quote's passage among the hits, by the weights of all their sentences. */
  chance: number
  /** 0 to 1: the lead of the best passage over the next, as a share of its score. */
  ahead: number
  /** Features of the best sentence: it defines the subject; pairs of words of the question are in its heading or title. */
  defines: number
  phrasesAbove: number
  /** How well the sentence fits the question word; undefined if there is none. */
  type: number | undefined
  /** Distinct terms of the question. */
  terms: number
}

// Fitted by bench/fit-confidence.ts: logistic regression on questions whose article is, or is not, in the base.
// The constant comes first, then the features in the order below.
const RETRIEVAL = [0.94, 4.68, 1.72, 1.31, -0.25, 0.93, -0.79]
const ANSWER = [-4.86, 1.1, 1.91, 1.31, 1.52, 2.82, 1.33, -0.14, 2.15, 1.2, 0.45, 1.88, -2.67, -0.55]

// Fitted by bench/fit-quotes.ts: logistic regression on questions about documentation, and on whether the quote contains the expected answer.
const QUOTE = [-3.13, 0.12, 1.97, 2.72, 1.82, 2.53, 1.45, 0.25]
/** The value of `type` that makes a quote neither more nor less likely right. */
const USUAL_TYPE = 0.75

// The range of base sizes in the fit. Results are not extrapolated beyond it.
const SMALLEST = 20
const LARGEST = 600
// Limits probabilities close to 0 and 1: their log odds would outweigh all other features.
const LEAST_DOUBT = 0.001

/** Returns 0 to 1: the probability, by the ranking alone, that the base has the answer. 0 without hits. */
export function retrievalConfidence(signals: RetrievalSignals): number {
  return signals.best > 0 ? logistic(RETRIEVAL, retrievalFeatures(signals)) : 0
}

/** Returns 0 to 1: the same probability, refined with signals of the best sentence. `retrieval`: from `retrievalConfidence`. */
export function answerConfidence(retrieval: number, signals: AnswerSignals): number {
  return retrieval > 0 ? logistic(ANSWER, answerFeatures(retrieval, signals)) : 0
}

/** Returns 0 to 1: the probability that a quote from a passage with several blocks is right. */
export function quoteConfidence(signals: QuoteSignals): number {
  return logistic(QUOTE, quoteFeatures(signals))
}

/** Exported only for the fit, like `answerFeatures` and `quoteFeatures`. */
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

/** Returns the log odds. */
function oddsOf(confidence: number): number {
  const held = Math.min(1 - LEAST_DOUBT, Math.max(LEAST_DOUBT, confidence))
  return Math.log(held / (1 - held))
}

function logistic(weights: readonly number[], features: readonly number[]): number {
  const sum = features.reduce((total, feature, i) => total + feature * weights[i + 1]!, weights[0]!)
  return 1 / (1 + Math.exp(-sum))
}
