import { setTimeout as pause } from 'node:timers/promises'
import type { AgentCache } from '../agents/agent-cache.ts'
import type { Agent } from '../core/agent.ts'
import { ReparteeError } from '../core/errors.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import type { EmbeddingModel } from '../core/ports/embedding.ts'
import { UnusableModel } from '../core/ports/model.ts'
import type { Background } from '../events/background.ts'
import { listAgents } from '../store/tables/agents.ts'
import type { RetrievalDeps } from './deps.ts'
import { EmbeddingPace } from './embedding-pace.ts'

/** The number of concurrent calls for one agent after a first successful call. */
const CALLS_AT_ONCE = 4
const FIRST_PAUSE_MS = 1_000
/** The pause after a permanent error, such as a response without end: reading it takes time from other requests. */
const PAUSE_AFTER_FAULT_MS = 30_000
const LONGEST_PAUSE_MS = 300_000
const AGENTS_A_PAGE = 100
/** The owner name for slices. */
const EMBEDDER = 'embedder'
const A_WORD = 'word'
/** A refused text is halved until the model accepts it, down to this many characters. */
const SHORTEST = 200

export interface EmbedderDeps extends Pick<RetrievalDeps, 'db' | 'knowledge' | 'models' | 'defaultEmbeddingModel' | 'warn'> {
  agents: AgentCache
  background: Background
}

/** Returns the model for an agent's passages. Null if only words are searched. */
export const embeddingModelOf = (
  { defaultEmbeddingModel }: Pick<RetrievalDeps, 'defaultEmbeddingModel'>,
  agent: Agent,
): string | null => (agent.retrieval.mode === 'hybrid' ? (agent.embeddingModel ?? defaultEmbeddingModel) : null)

/**
 * Embeds the passages of agents with hybrid search in the background. Retries while the provider is unavailable.
 * Until all vectors exist, search uses words or the previous model's vectors.
 */
export class KnowledgeEmbedder {
  readonly #deps: EmbedderDeps
  readonly #busy = new Set<string>()
  /** Agents that received new passages while they were busy. */
  readonly #again = new Set<string>()
  /** Agents whose vectors are in no index, which was already logged. */
  readonly #unindexed = new Set<string>()
  readonly #stop = new AbortController()
  readonly #pace = new EmbeddingPace()

  constructor(deps: EmbedderDeps) {
    this.#deps = deps
  }

  /** Must be called when an agent has new passages, or another embedding model. */
  wake(agentId: string): void {
    if (this.#stop.signal.aborted) return
    if (this.#busy.has(agentId)) {
      this.#again.add(agentId)
      return
    }
    this.#busy.add(agentId)
    this.#deps.background.run(`passages of agent ${agentId} could not be embedded`, async () => {
      try {
        do {
          this.#again.delete(agentId)
          await this.#embedAll(agentId)
        } while (this.#again.has(agentId) && !this.#stop.signal.aborted)
      } finally {
        this.#busy.delete(agentId)
      }
    })
  }

  /** Resumes the work that the last stop interrupted. */
  async start(): Promise<void> {
    let last: Agent | undefined
    do {
      const agents = await listAgents(this.#deps.db, null, last, AGENTS_A_PAGE)
      for (const agent of agents) if (embeddingModelOf(this.#deps, agent) !== null) this.wake(agent.id)
      last = agents.at(-1)
      await nextSlice(EMBEDDER)
    } while (last !== undefined && !this.#stop.signal.aborted)
  }

  close(): void {
    this.#stop.abort()
  }

  async #embedAll(agentId: string): Promise<void> {
    const { signal } = this.#stop
    let calls = 1
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; ) {
      try {
        const name = embeddingModelOf(this.#deps, await this.#deps.agents.get(agentId))
        if (name === null) return
        if (!(await this.#embedSome(agentId, name, calls)) && !(await this.#indexSome(agentId, name))) return
        pauseMs = FIRST_PAUSE_MS
        calls = CALLS_AT_ONCE
      } catch (error) {
        calls = 1
        if (signal.aborted || (error instanceof ReparteeError && error.code === 'agent_not_found')) return
        this.#deps.warn(`passages of agent ${agentId} could not be embedded`, error)
        if (error instanceof UnusableModel) return
        if (isRefusal(error)) pauseMs = Math.max(pauseMs, PAUSE_AFTER_FAULT_MS)
        await pause(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      }
    }
  }

  /** Resolves to false when every passage has its vector. */
  async #embedSome(agentId: string, name: string, calls: number): Promise<boolean> {
    const { knowledge, models } = this.#deps
    const model = models.findEmbedding(name)
    const { maxTexts } = model
    const passages = await knowledge.takeUnembedded(agentId, name, maxTexts * calls)
    if (passages.length === 0) return false
    const parts = Array.from({ length: Math.ceil(passages.length / maxTexts) }, (_, i) =>
      passages.slice(i * maxTexts, (i + 1) * maxTexts),
    )
    const vectors = await Promise.all(
      parts.map((part) =>
        this.#embed(
          name,
          model,
          agentId,
          part.map(({ text }) => text),
        ),
      ),
    )
    const ids = passages.map(({ id }) => id)
    const isUseful = await knowledge.putVectors(agentId, name, ids, vectors.flat())
    // If the agent has another model now, its passages are embedded with that one at once.
    if (!isUseful && embeddingModelOf(this.#deps, await this.#deps.agents.get(agentId)) === name) throw lengthChanged()
    return true
  }

  /** Resolves to false when the database index is complete. */
  async #indexSome(agentId: string, name: string): Promise<boolean> {
    const grown = await this.#deps.knowledge.growVectorIndex(agentId, name)
    if (typeof grown === 'object' && !this.#unindexed.has(agentId)) {
      this.#unindexed.add(agentId)
      this.#deps.warn(`the many vectors of agent ${agentId} are searched in the memory of each process: ${grown.impossible}`)
    }
    return grown === 'more'
  }

  /** Resolves to the vectors. Null for a text that the model refuses at every length. */
  async #embed(name: string, model: EmbeddingModel, agentId: string, texts: readonly string[]): Promise<(Float32Array | null)[]> {
    const { signal } = this.#stop
    const embed = (some: readonly string[]) =>
      this.#pace.run({ model: name, texts: some.length, signal }, () =>
        model.embed(some, { purpose: 'passage', agentId, signal }),
      )
    try {
      return await embed(texts)
    } catch (error) {
      if (!isRefusal(error)) throw error
      // If the model refuses even a single word, the texts are not the cause.
      await embed([A_WORD])
      this.#deps.warn(`an embedding model refuses some texts of agent ${agentId}, which are now sent apart and shortened`, error)
      return embedApart(embed, texts)
    }
  }
}

/** The provider now has another model under this name. All passages are embedded again. */
const lengthChanged = () =>
  new ReparteeError('model_failed', 'The model failed: its vectors have another length than before.', { transient: false })

const isRefusal = (error: unknown): boolean =>
  error instanceof ReparteeError && error.code === 'model_failed' && error.transient !== true

/** Finds refused texts by halving the list, and then the accepted part of each text. */
async function embedApart(
  embed: (texts: readonly string[]) => Promise<Float32Array[]>,
  texts: readonly string[],
): Promise<(Float32Array | null)[]> {
  const apart = async (some: readonly string[]): Promise<(Float32Array | null)[]> => {
    try {
      return await embed(some)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return embedApart(embed, some)
    }
  }
  const [text = '', ...others] = texts
  if (others.length === 0) return text.length <= SHORTEST ? [null] : apart([text.slice(0, text.length / 2)])
  const middle = texts.length >> 1
  return [...(await apart(texts.slice(0, middle))), ...(await apart(texts.slice(middle)))]
}
