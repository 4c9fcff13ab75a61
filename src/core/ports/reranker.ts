export interface RerankCall {
  /** For whom, and with which key: calls of agents, and of the keys of an agent, take turns. */
  agentId: string
  keyId?: string | undefined
  signal: AbortSignal
}

/** A model that reads a question and a passage together, and says how well the one answers the other. */
export interface Reranker {
  /** A score for each document, in their order; higher is better, and −∞ where the model said nothing. Throws `model_failed`. */
  score(query: string, documents: readonly string[], call: RerankCall): Promise<number[]>
}
