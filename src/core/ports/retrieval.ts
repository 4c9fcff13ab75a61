import type { MetadataFilter } from '../agent.ts'
import type { HistoryEntry } from '../message.ts'

export interface RetrieveInput {
  /** The key that asks. Keys that ask the same agent take turns. */
  askedBy?: string | undefined
  query: string
  /** Earlier messages of the conversation, oldest first. A question that stands alone ignores them. */
  history: HistoryEntry[]
  /** How many passages to return; 1 to 100. */
  topK: number
  filter: MetadataFilter | null
  /** The question as a vector of a model. Without it, and where the base is searched by another model's, it is searched by words alone. */
  vector?: { model: string; values: Float32Array }
  /** What quotes answer it is told along with the passages. */
  extract?: boolean
}

/** A passage found for a question, best first. */
export interface Hit {
  documentId: string
  passageId: string
  title: string
  heading: string
  text: string
  /** From 1, in a document that has pages. */
  page: number | null
  url: string | null
  /** Compares within one retrieval only. */
  score: number
  /** The parts that the score was made from, by method. */
  scores: Record<string, number>
}

export interface Retrieval {
  /** The terms that were searched, as text: for traces. */
  query: string
  /** The question was searched without the conversation before it. */
  standsAlone: boolean
  hits: Hit[]
  /** 0 to 1: how sure it is that the knowledge base holds the answer. 0 without hits. */
  confidence: number
  /** Of the question, as far as it can be told; ISO 639-1. */
  language?: string
  /** The question can hardly be understood without the conversation before it. */
  elliptical?: boolean
  /** The most that an answer may be believed: the passages hold what was said before, but not what the question itself says. */
  mostConfidence?: number
  /** By what the passages were found. */
  mode?: 'lexical' | 'hybrid'
  /** Of a question with a vector: the model whose vectors the base is searched by now; undefined where there are none. */
  vectorModel?: string | undefined
  /** Why it was by words alone, where meaning was asked for, too. */
  withoutVectors?: string
  /** Of an agent that asks for it: whether a model put the passages in a new order. */
  isReranked?: boolean
  /** The base holds no document at all. */
  emptyBase?: boolean
  /** Where it was asked for, and the base holds anything. */
  extract?: Extract
}

/** What the extractive answerer is asked: the question in its conversation, over passages found before. */
export interface ExtractInput {
  question: string
  history: HistoryEntry[]
  retrieval: Retrieval
}

export interface Extract {
  /** Quotes, each from one of the hits. The best hit comes first. Empty if there is nothing to quote. */
  quotes: Quote[]
  /** 0 to 1: the probability that the quotes are right; 0 without quotes. */
  confidence: number
  /** What the quotes are. `nothing`: none of them has to do with the question. */
  found: 'answer' | 'closest' | 'nothing'
}

/** What an agent without documents, or with none that fits, has to quote. */
export const noExtract: Extract = { quotes: [], confidence: 0, found: 'nothing' }

export interface Quote {
  /** Position in `retrieval.hits`. */
  hit: number
  /** Verbatim text of that passage. */
  text: string
  /** The title and heading of its section, as plain text. */
  from: string
  /** The reader needs the name of the section: the quote begins abruptly, or the quote before it is from another section. */
  isAbrupt: boolean
}

/** A question that is offered after a reply; where there is a knowledge base, one that it can answer. */
export interface Suggestion {
  text: string
  /** 0 to 1: that of the retrieval which was made with it; without a knowledge base, the model's own. */
  confidence: number
}

export interface SuggestInput {
  /** As in `RetrieveInput`. */
  askedBy?: string | undefined
  /** The question just answered, and what was asked before: not offered again. */
  asked: string[]
  retrieval: Retrieval
  count: number
  filter: MetadataFilter | null
}

/** Of a base that holds nothing. */
export const nothingFound: Retrieval = { query: '', standsAlone: true, hits: [], confidence: 0, emptyBase: true }

/** Every confidence here is calibrated so that from this figure on the base is held to have the answer. */
export const ANSWER_THRESHOLD = 0.5
