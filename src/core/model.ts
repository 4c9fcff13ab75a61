import type { HistoryEntry } from './message.ts'
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
  grounding: { agentId: string; question: string; history: HistoryEntry[]; retrieval: Retrieval; minScore: number | null }
}

export interface ModelUsage {
  tokensIn: number
  tokensOut: number
  tokensCached: number
}

export interface ModelReply {
  /** Markdown; `[n]` marks name the n-th passage of the retrieval, from 1. */
  text: string
  /** As the provider named itself. */
  model: string
  usage: ModelUsage | null
  /** Set by models that judge for themselves whether the knowledge base holds the answer. */
  grounding?: { answered: boolean; confidence: number }
  /** Verbatim text behind each mark, by n, where the model knows it. */
  quotes?: Map<number, string>
}

/** An outside mind. `generate` throws `model_failed` or `model_timeout`; it never resolves to blank text. */
export interface ChatModel {
  generate(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>
}

/** What an agent's `model` setting names. */
export interface Models {
  /** Throws `invalid_request` where the name is unknown, or its provider is not configured. */
  find(name: string): ChatModel
  list(): { id: string; provider: string; kind: 'chat' | 'embedding' }[]
}
