/** What a text is embedded for; some models tell the two apart. */
export type EmbeddingPurpose = 'passage' | 'question'

export interface EmbeddingCall {
  purpose: EmbeddingPurpose
  /** For whom, and with which key: calls of agents, and of the keys of an agent, take turns. */
  agentId: string
  keyId?: string | undefined
  signal: AbortSignal
}

/** A model that turns texts into vectors: what means alike lies close together. */
export interface EmbeddingModel {
  /** The number of texts that the next call may hold. It changes when the length of the vectors becomes known. */
  readonly maxTexts: number
  /** In the order of the texts; all of the same length. Throws `model_failed`, as a `ChatModel` does. */
  embed(texts: readonly string[], call: EmbeddingCall): Promise<Float32Array[]>
}
