import { setTimeout as pause } from 'node:timers/promises'
import type { Agent } from '../core/agent.ts'
import type { EmbeddingModel } from '../core/embedding.ts'
import { UnusableModel } from '../core/model.ts'
import { listAgents } from '../store/agents.ts'
import type { Deps } from './deps.ts'

/** Calls at once for one agent. */
const CALLS_AT_ONCE = 4
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 300_000
const AGENTS_A_PAGE = 100

type EmbedderDeps = Pick<Deps, 'db' | 'agents' | 'knowledge' | 'models' | 'background' | 'defaultEmbeddingModel' | 'warn'>

/** The model that an agent's passages are embedded with; null where it searches by words alone. */
export const embeddingModelOf = ({ defaultEmbeddingModel }: Pick<Deps, 'defaultEmbeddingModel'>, agent: Agent): string | null =>
  agent.retrieval.mode === 'hybrid' ? (agent.embeddingModel ?? defaultEmbeddingModel) : null

/**
 * Has the passages of agents that are searched by meaning embedded, in the background and as long as some are not: a provider that is
 * away is asked again later. Search goes on by words, or by the vectors of the model before, until all are there.
 */
export class KnowledgeEmbedder {
  readonly #deps: EmbedderDeps
  readonly #busy = new Set<string>()
  /** Agents that got new passages while they were busy. */
  readonly #again = new Set<string>()
  readonly #stop = new AbortController()

  constructor(deps: EmbedderDeps) {
    this.#deps = deps
  }

  /** To be called where an agent has new passages, or another embedding model. */
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

  /** Takes up what was left at the last stop. */
  async start(): Promise<void> {
    let last: Agent | undefined
    do {
      const agents = await listAgents(this.#deps.db, null, last, AGENTS_A_PAGE)
      for (const agent of agents) if (embeddingModelOf(this.#deps, agent) !== null) this.wake(agent.id)
      last = agents.length < AGENTS_A_PAGE ? undefined : agents.at(-1)
    } while (last !== undefined && !this.#stop.signal.aborted)
  }

  close(): void {
    this.#stop.abort()
  }

  async #embedAll(agentId: string): Promise<void> {
    const { signal } = this.#stop
    for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; ) {
      const agent = await this.#deps.agents.get(agentId).catch(() => undefined)
      const name = agent === undefined ? null : embeddingModelOf(this.#deps, agent)
      if (name === null) return
      try {
        if (!(await this.#embedSome(agentId, name))) return
        pauseMs = FIRST_PAUSE_MS
      } catch (error) {
        if (signal.aborted) return
        this.#deps.warn(`embedding model ${name} of agent ${agentId} failed`, error)
        if (error instanceof UnusableModel) return
        await pause(pauseMs, undefined, { signal }).catch(() => {})
        pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
      }
    }
  }

  /** False when every passage has its vector. */
  async #embedSome(agentId: string, name: string): Promise<boolean> {
    const { knowledge, models } = this.#deps
    const model = models.findEmbedding(name)
    const passages = await knowledge.takeUnembedded(agentId, name, model.maxTexts * CALLS_AT_ONCE)
    if (passages.length === 0) return false
    const parts = Array.from({ length: Math.ceil(passages.length / model.maxTexts) }, (_, i) =>
      passages.slice(i * model.maxTexts, (i + 1) * model.maxTexts),
    )
    const vectors = await Promise.all(
      parts.map((part) =>
        this.#embed(
          model,
          agentId,
          part.map(({ text }) => text),
        ),
      ),
    )
    await knowledge.putVectors(
      agentId,
      name,
      passages.map(({ id }) => id),
      vectors.flat(),
    )
    return true
  }

  #embed(model: EmbeddingModel, agentId: string, texts: string[]): Promise<Float32Array[]> {
    return model.embed(texts, { purpose: 'passage', agentId, signal: this.#stop.signal })
  }
}
