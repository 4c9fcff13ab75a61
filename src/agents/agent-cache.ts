import type { Agent } from '../core/agent.ts'
import { agentNotFound } from '../core/errors.ts'
import type { Database } from '../store/database.ts'
import { findAgent } from '../store/tables/agents.ts'

/** Agents held in memory at most; the one held longest goes first. */
const MAX_HELD = 10_000

/** Reads agents, and remembers them: every request names one. Whoever changes an agent forgets it here. */
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
    // An agent that was changed while it was being read must not be remembered.
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
