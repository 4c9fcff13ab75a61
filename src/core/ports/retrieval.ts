import type { MetadataFilter } from '../agent.ts'
import type { HistoryEntry } from '../message.ts'

export interface RetrieveInput {
  /** The calling key. Keys that use the same agent take turns. */
  askedBy?: string | undefined
  query: string
  /** Earlier messages of the conversation, oldest first. A self-contained question ignores them. */
  history: HistoryEntry[]
  /** The number of passages to return, 1 to 100. */
  topK: number
  filter: MetadataFilter | null
  /** The question's vector from a model. Without it, or if the base uses another model's vectors, only words are searched. */
  vector?: { model: string; values: Float32Array }
  /** If true, quotes that answer the question are returned with the passages. */
  extract?: boolean
}

/** A passage found for a question. */
export interface Hit {
  documentId: string
  passageId: string
  title: string
  heading: string
  text: string
  /** The page number from 1. Null if the document has no pages. */
  page: number | null
  url: string | null
  /** Comparable only within one retrieval. */
  score: number
  /** The parts of the score, by method. */
  scores: Record<string, number>
}

export interface Retrieval {
  /** The searched terms as text, for traces. */
  query: string
  /** True if the question was searched without the conversation. */
  standsAlone: boolean
  hits: Hit[]
  /** 0 to 1: how likely the knowledge base contains the answer. 0 without hits. */
  confidence: number
  /** The language of the question, if detected; ISO 639-1. */
  language?: string
  /** True if the question can hardly be understood without the conversation. */
  elliptical?: boolean
  /** The upper limit of an answer's confidence: the passages contain earlier messages' words, but no words of the question itself. */
  mostConfidence?: number
  /** The search method. */
  mode?: 'lexical' | 'hybrid'
  /** For a question with a vector: the model whose vectors are currently searched. Undefined if there are none. */
  vectorModel?: string | undefined
  /** Why only words were searched, although vector search was requested. */
  withoutVectors?: string
  /** Whether a model reordered the passages. Undefined if the agent does not request it. */
  isReranked?: boolean
  /** True if the base has no documents. */
  emptyBase?: boolean
  /** Set if it was requested, and the base has documents. */
  extract?: Extract
}

/** The input of extractive answers: the question in its conversation, and the passages found. */
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
  /** The kind of the quotes. `nothing`: none of them relates to the question. */
  found: 'answer' | 'closest' | 'nothing'
}

/** The extract of an agent without documents, or without a matching one. */
export const noExtract: Extract = { quotes: [], confidence: 0, found: 'nothing' }

export interface Quote {
  /** Position in `retrieval.hits`. */
  hit: number
  /** Verbatim text of that passage. */
  text: string
  /** The title and heading of its section, as plain text. */
  from: string
  /** True if the reader needs the section's name: the quote begins abruptly, or the previous quote is from another section. */
  isAbrupt: boolean
}

/** A suggested follow-up. With a knowledge base, it is a question that the base can answer. */
export interface Suggestion {
  text: string
  /** 0 to 1: the confidence of its retrieval. Without a knowledge base, the model's own. */
  confidence: number
}

export interface SuggestInput {
  /** As in `RetrieveInput`. */
  askedBy?: string | undefined
  /** The question just answered and earlier ones, which are not suggested again. */
  asked: string[]
  retrieval: Retrieval
  count: number
  filter: MetadataFilter | null
}

/** The result for an empty base. */
export const nothingFound: Retrieval = { query: '', standsAlone: true, hits: [], confidence: 0, emptyBase: true }

/** All confidences here are calibrated so that from this value on the base is considered to contain the answer. */
export const ANSWER_THRESHOLD = 0.5
