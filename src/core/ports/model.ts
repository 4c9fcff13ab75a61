import { ReparteeError } from '../errors.ts'
import type { HistoryEntry } from '../message.ts'
import type { EmbeddingModel } from './embedding.ts'
import type { Retrieval } from './retrieval.ts'

export interface PromptMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** Everything a mind may need to reply; language models read `prompt`, the extractive model reads `grounding`. */
export interface ModelRequest {
  prompt: PromptMessage[]
  temperature: number | null
  maxOutputTokens: number | null
  /** The text of the reply must be JSON that fits this JSON Schema, where the provider can be held to it. */
  json?: { name: string; schema: object }
  grounding: { agentId: string; question: string; history: HistoryEntry[]; retrieval: Retrieval; minScore: number | null }
}

/** How a call is followed while it runs. */
export interface ModelCall {
  signal: AbortSignal
  /** The key of the request that it is made for. Keys that use the same agent divide its slots. */
  keyId?: string | undefined
  /**
   * Given: the reply is asked for as a stream, and each piece of its text is handed over as it comes.
   * A piece without text only says that the model is at work (it reasons, or the provider keeps the line open).
   */
  onText?: (text: string) => void
}

export interface ModelUsage {
  /** All tokens of the prompt, those that came from a cache included. */
  tokensIn: number
  tokensOut: number
  tokensCached: number
}

/**
 * The cause of a `model_failed` where the provider answered, but without text. A prompt alone can bring that about, and the provider charges for it.
 * `usage` is null where it did not count.
 */
export class NoText extends Error {
  readonly usage: ModelUsage | null

  constructor(usage: ModelUsage | null) {
    super()
    this.usage = usage
  }
}

/** Why a reply ended: it was complete, it met the limit of its length, or the provider's filter stopped it. */
export type Finish = 'stop' | 'length' | 'filtered'

export interface ModelReply {
  /** Markdown; `[n]` marks name the n-th passage of the retrieval, from 1. */
  text: string
  /** As an agent names it, without the provider. */
  model: string
  /** Null where the provider did not count, and where no model of a provider was asked. */
  usage: ModelUsage | null
  finish: Finish
  /** Set by models that judge for themselves whether the knowledge base holds the answer. */
  grounding?: { answered: boolean; confidence: number }
  /** Verbatim text behind each mark, by n, where the model knows it. */
  quotes?: Map<number, string>
}

/**
 * An outside mind. `generate` throws `model_failed`, with `transient` where the same call may work a moment later and with the
 * provider's `retryAfter`; it never resolves to blank text, nor to a text whose end did not arrive.
 */
export interface ChatModel {
  generate(request: ModelRequest, call: ModelCall): Promise<ModelReply>
}

export interface ModelListing {
  /** What an agent's `model` would name. */
  id: string
  provider: string
  kind: 'chat' | 'embedding'
}

/** The model that needs no provider. */
export const EXTRACTIVE = 'extractive'

/** Models of each kind that are kept. Agents may name any number of models, whether they exist or not. */
export const MOST_MODELS = 2_000

/** `PROVIDER/NAME`, where `NAME` may have slashes of its own. Without a slash there is no name. */
export function splitModelName(id: string): [provider: string, name: string] {
  const slash = id.indexOf('/')
  return slash === -1 ? [id, ''] : [id.slice(0, slash), id.slice(slash + 1)]
}

/** A name that no model of this deployment has. */
export class UnusableModel extends ReparteeError {
  /** As it follows the name of a field: `is openai/gpt, but …`. */
  readonly why: string

  constructor(why: string) {
    super('model_failed', `The model cannot be used: it ${why}.`)
    this.why = why
  }
}

/** What an agent's `model` setting names. */
export interface Models {
  /** Throws `UnusableModel` where the name is unknown, or its provider is not configured. */
  find(name: string): ChatModel
  /** The same of a model that embeds. */
  findEmbedding(name: string): EmbeddingModel
  /** What the configured providers say that they have, as far as they answer in time. */
  list(): Promise<ModelListing[]>
}

/** Why a name cannot be used, as it follows the name of a field; undefined where it can. */
export function whyUnusable(find: (name: string) => unknown, name: string): string | undefined {
  try {
    find(name)
    return undefined
  } catch (error) {
    if (error instanceof UnusableModel) return error.why
    throw error
  }
}

export const isTimeout = (error: unknown): boolean => error instanceof ReparteeError && error.code === 'model_timeout'
