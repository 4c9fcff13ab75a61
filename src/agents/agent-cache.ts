import type { Agent } from '../core/agent.ts'
import { agentNotFound } from '../core/errors.ts'
import type { Database } from '../store/database.ts'
import { findAgent } from '../store/tables/agents.ts'

/** The most cached agents. The one cached longest is removed first. */
const MAX_HELD = 10_000

/** Reads and caches agents, since every request names one. Code that changes an agent must call `forget`. */
export class AgentCache {
  readonly #db: Database
  readonly #held = new Map<string, Agent>()
  #generation = 0

  constructor(db: Database) {
    this.#db = db
  }

  async get(agentId: string): Promise<Agent> {
    const held = this.#held.get(agentId)
    if (held !== undefined) return held
    const generation = this.#generation
    const agent = await findAgent(this.#db, agentId)
    if (agent === undefined) throw agentNotFound()
    if (this.#held.size >= MAX_HELD) this.#held.delete(this.#held.keys().next().value!)
    // An agent that was changed during the read must not be cached.
    if (generation === this.#generation) this.#held.set(agentId, agent)
    return agent
  }

  forget(agentId: string): void {
    this.#generation++
    this.#held.delete(agentId)
  }

  forgetAll(): void {
    this.#generation++
    this.#held.clear()
  }
}
