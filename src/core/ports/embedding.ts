/** The purpose of an embedding. Some models distinguish passages from questions. */
export type EmbeddingPurpose = 'passage' | 'question'

export interface EmbeddingCall {
  purpose: EmbeddingPurpose
  /** The agent and key of the call. Agents, and the keys of an agent, take turns. */
  agentId: string
  keyId?: string | undefined
  signal: AbortSignal
}

/** A model that turns texts into vectors. Similar meanings have close vectors. */
export interface EmbeddingModel {
  /** The maximum number of texts in the next call. It changes when the length of the vectors becomes known. */
  readonly maxTexts: number
  /** Resolves to vectors of equal length, in the order of the texts. Throws `model_failed`, as a `ChatModel` does. */
  embed(texts: readonly string[], call: EmbeddingCall): Promise<Float32Array[]>
}
