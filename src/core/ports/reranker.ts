export interface RerankCall {
  /** The agent and key of the call. Agents, and the keys of an agent, take turns. */
  agentId: string
  keyId?: string | undefined
  signal: AbortSignal
}

/** A model that reads a question and a passage together, and scores how well the passage answers the question. */
export interface Reranker {
  /** Resolves to a score per document, in their order. Higher is better; −∞ if the model returned none. Throws `model_failed`. */
  score(query: string, documents: readonly string[], call: RerankCall): Promise<number[]>
}
