import type { Knowledge } from '../core/ports/knowledge.ts'
import type { Models } from '../core/ports/model.ts'
import type { Clock, Ids } from '../core/ports/ports.ts'
import type { Database } from '../store/database.ts'
import type { AgentCache } from './agent-cache.ts'

export interface AgentDeps {
  db: Database
  knowledge: Knowledge
  models: Models
  agents: AgentCache
  turns: { stopAgent(agentId: string, reason: 'deleted'): void }
  peers: { announce(announcement: { changed: true } | { stopAgent: string }): void }
  embedder: { wake(agentId: string): void }
  /** The model of agents that name none. */
  defaultModel: string
  clock: Clock
  newId: Ids
}
