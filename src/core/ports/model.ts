import { ReparteeError } from '../errors.ts'
import type { HistoryEntry } from '../message.ts'
import type { EmbeddingModel } from './embedding.ts'
import type { Retrieval } from './retrieval.ts'

export interface PromptMessage {
  role: 'system' | 'user' | 'assistant'
  content: string
}

/** The input of a model. Language models read `prompt`; the extractive model reads `grounding`. */
export interface ModelRequest {
  prompt: PromptMessage[]
  temperature: number | null
  maxOutputTokens: number | null
  /** The reply must be JSON that matches this JSON Schema, if the provider can enforce it. */
  json?: { name: string; schema: object }
  grounding: { agentId: string; question: string; history: HistoryEntry[]; retrieval: Retrieval; minScore: number | null }
}

export interface ModelCall {
  signal: AbortSignal
  /** The key of the request. Keys that use the same agent share its slots. */
  keyId?: string | undefined
  /** If set, the reply is streamed in pieces. A piece without text only shows that the model is working (reasoning, or keep-alive). */
  onText?: (text: string) => void
}

export interface ModelUsage {
  /** All tokens of the prompt, including cached ones. */
  tokensIn: number
  tokensOut: number
  tokensCached: number
}

/**
 * The cause of a `model_failed` if the provider answered without text. A prompt alone can cause this, and the provider charges for it.
 * `usage` is null if the provider did not count.
 */
export class NoText extends Error {
  readonly usage: ModelUsage | null

  constructor(usage: ModelUsage | null) {
    super()
    this.usage = usage
  }
}

/** Why a reply ended: it was complete, it reached its length limit, or the provider's filter stopped it. */
export type Finish = 'stop' | 'length' | 'filtered'

export interface ModelReply {
  /** Markdown; `[n]` marks name the n-th passage of the retrieval, from 1. */
  text: string
  /** Named as in agents, without the provider. */
  model: string
  /** Null if the provider did not count, or no provider was called. */
  usage: ModelUsage | null
  finish: Finish
  /** Set by models that decide themselves whether the knowledge base contains the answer. */
  grounding?: { answered: boolean; confidence: number }
  /** Verbatim text for each mark, by n, if the model knows it. */
  quotes?: Map<number, string>
}

/**
 * A chat model. `generate` throws `model_failed`, with `transient` if a retry may succeed, and with the provider's `retryAfter`.
 * It never resolves to blank or incomplete text.
 */
export interface ChatModel {
  generate(request: ModelRequest, call: ModelCall): Promise<ModelReply>
}

export interface ModelListing {
  /** The name for an agent's `model` setting. */
  id: string
  provider: string
  kind: 'chat' | 'embedding'
}

/** The model that needs no provider. */
export const EXTRACTIVE = 'extractive'

/** The most cached models of each kind. Agents may name any number of models, whether they exist or not. */
export const MOST_MODELS = 2_000

/** Splits `PROVIDER/NAME`. `NAME` may contain slashes. Without a slash, the name is empty. */
export function splitModelName(id: string): [provider: string, name: string] {
  const slash = id.indexOf('/')
  return slash === -1 ? [id, ''] : [id.slice(0, slash), id.slice(slash + 1)]
}

/** Thrown for a name that no model of this deployment has. */
export class UnusableModel extends ReparteeError {
  /** The reason, worded to follow the name of a field: `is openai/gpt, but …`. */
  readonly why: string

  constructor(why: string) {
    super('model_failed', `The model cannot be used: it ${why}.`)
    this.why = why
  }
}

/** The models that the `model` setting of agents can name. */
export interface Models {
  /** Throws `UnusableModel` if the name is unknown or its provider is not configured. */
  find(name: string): ChatModel
  /** Returns an embedding model. Throws as `find` does. */
  findEmbedding(name: string): EmbeddingModel
  /** Resolves to the models that the configured providers list, as far as they answer in time. */
  list(): Promise<ModelListing[]>
}

/** Returns why a name cannot be used, worded to follow the name of a field. Undefined if it can be used. */
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
