/** An agent: its model, behaviour and knowledge base. The admin half of the HTTP contract describes every field. */
export interface Agent {
  id: string
  name: string
  instructions: string
  greeting: string
  /** Up to 8 questions that a client may offer before the first message. */
  starters: string[]
  /** `extractive` or `provider/name`. */
  model: string
  fallbackModels: string[]
  temperature: number | null
  maxOutputTokens: number | null
  followUps: { enabled: boolean; count: number }
  autoName: boolean
  retrieval: RetrievalSettings
  embeddingModel: string | null
  budget: { tokensPerDay: number | null; costPerDay: number | null; tokensPerUserPerDay: number | null }
  retentionDays: number | null
  allowedOrigins: string[]
  imageHosts: string[]
  /** Milliseconds since 1970, UTC, here and in every other record. */
  createdAt: number
  updatedAt: number
}

export const retrievalModes = ['lexical', 'hybrid'] as const
export type RetrievalMode = (typeof retrievalModes)[number]

export interface RetrievalSettings {
  topK: number
  /** The minimum grounding confidence (0 to 1) at which the agent answers. Null leaves the decision to the model's own threshold. */
  minScore: number | null
  mode: RetrievalMode
  rerank: boolean
  filter: MetadataFilter | null
}

/** A document passes if each of these keys of its metadata equals the value, or one of the values. */
export type MetadataFilter = Record<string, MetadataValue | MetadataValue[]>
export type MetadataValue = string | number | boolean
