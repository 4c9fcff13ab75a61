import type { Payer } from '../access/budgets.ts'
import type { Agent } from '../core/agent.ts'
import type { HistoryEntry } from '../core/message.ts'
import { nothingFound, type Retrieval, type RetrieveInput } from '../core/ports/retrieval.ts'
import { retrievalEnd, retrievalSpan } from '../traces/gen-ai.ts'
import type { RetrievalDeps } from './deps.ts'
import { embeddingModelOf } from './embed-knowledge.ts'
import { canRerank, RERANKED, rerank } from './rerank.ts'

export interface Query {
  query: string
  history: HistoryEntry[]
  topK?: number
  filter?: RetrieveInput['filter']
  /** If true, extracts the answer in the same call. Not if the passages are reranked afterwards. */
  extract?: boolean
}

/**
 * Retrieves an agent's passages for a question by words. Also searches vectors if the agent requests it and has them, and reranks if the agent requests it.
 * A failing provider never prevents the search.
 */
export async function retrieve(deps: RetrievalDeps, payer: Payer, input: Query, signal: AbortSignal): Promise<Retrieval> {
  const startedAt = performance.now()
  const { tracer } = deps
  const found = await tracer.span(
    () => retrievalSpan(payer.agent, input, tracer.recordsText),
    async (span) => {
      const found = await retrieveRanked(deps, payer, input, signal)
      span.set(() => retrievalEnd(found))
      return found
    },
  )
  deps.meters.retrieved(performance.now() - startedAt)
  return found
}

async function retrieveRanked(deps: RetrievalDeps, payer: Payer, input: Query, signal: AbortSignal): Promise<Retrieval> {
  const { agent } = payer
  const { topK = agent.retrieval.topK } = input
  if (!canRerank(deps, agent)) {
    const found = await search(deps, payer, input, topK, signal)
    return agent.retrieval.rerank ? { ...found, isReranked: false } : found
  }
  const found = await search(deps, payer, { ...input, extract: false }, Math.max(topK, RERANKED), signal)
  const reranked = await rerank(deps, payer, input.query, found.hits.slice(0, RERANKED), signal)
  return { ...found, isReranked: reranked !== undefined, hits: (reranked ?? found.hits).slice(0, topK) }
}

/** The model whose vectors were searched last, by agent. While another model's vectors are being made, it is the previous model. */
const modelsKnown = new WeakMap<Agent, string>()

async function search(deps: RetrievalDeps, payer: Payer, input: Query, topK: number, signal: AbortSignal): Promise<Retrieval> {
  const { agent } = payer
  const askedBy = payer.key?.id
  const { filter = agent.retrieval.filter, query, history, extract = false } = input
  const words = { askedBy, query, history, topK, filter, extract }
  if (embeddingModelOf(deps, agent) === null) {
    const retrieval = await find(deps, agent, words)
    return agent.retrieval.mode === 'hybrid' ? { ...retrieval, withoutVectors: 'no embedding model is set' } : retrieval
  }
  const model = modelsKnown.get(agent) ?? (await deps.knowledge.vectorModel(agent.id, askedBy))
  const values = model === undefined ? undefined : await embedQuestion(deps, payer, model, query, signal)
  if (model === undefined || values === undefined) {
    modelsKnown.delete(agent)
    const withoutVectors = model === undefined ? 'the passages are not embedded yet' : 'the embedding model failed'
    return { ...(await find(deps, agent, words)), mode: 'lexical', withoutVectors }
  }
  const { vectorModel, ...retrieval } = await deps.knowledge.retrieve(agent.id, { ...words, vector: { model, values } })
  if (vectorModel !== model) {
    // Another model's vectors have replaced these in the meantime.
    modelsKnown.delete(agent)
    return search(deps, payer, input, topK, signal)
  }
  modelsKnown.set(agent, model)
  return { mode: 'lexical', ...retrieval }
}

/** Whether agents have a base, by cached agent, since a check costs a round trip. An agent leaves the cache when it receives its first document. */
const basesKnown = new WeakMap<Agent, boolean>()

async function find({ knowledge }: RetrievalDeps, agent: Agent, words: RetrieveInput): Promise<Retrieval> {
  const hasBase = basesKnown.get(agent) ?? (await knowledge.hasBase(agent.id, words.askedBy))
  basesKnown.set(agent, hasBase)
  if (!hasBase) return nothingFound
  return knowledge.retrieve(agent.id, words)
}

/** Resolves to undefined if the model fails. */
async function embedQuestion(
  deps: RetrievalDeps,
  { agent, key }: Payer,
  name: string,
  query: string,
  signal: AbortSignal,
): Promise<Float32Array | undefined> {
  const known = deps.questionVectors.get(name, query)
  if (known !== undefined) return known
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(deps.limits.embeddingTimeoutMs)])
    const [vector] = await deps.models
      .findEmbedding(name)
      .embed([query], { purpose: 'question', agentId: agent.id, keyId: key?.id, signal: within })
    deps.questionVectors.set(name, query, vector!)
    return vector
  } catch (error) {
    signal.throwIfAborted()
    deps.warn(`embedding model ${name} of agent ${agent.id} failed`, error)
    return undefined
  }
}
