import type { Agent } from '../core/agent.ts'
import { agentNotFound, invalid, ReparteeError } from '../core/errors.ts'
import { Limiter } from '../core/fairness/limiter.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import { invalidCursor, type Page, type PageInput, toPage } from '../core/page.ts'
import { whyUnusable } from '../core/ports/model.ts'
import type { Database, Statement } from '../store/database.ts'
import * as store from '../store/tables/agents.ts'
import { deleteAgentRows } from '../store/tables/deletion.ts'
import { countMessages, countSessions, type Slicing } from '../store/tables/sessions.ts'
import type { AgentDeps } from './deps.ts'

/** The settings that a caller may change. Nested objects may be partial. */
export type AgentChange = Partial<Omit<Agent, 'id' | 'createdAt' | 'updatedAt' | 'followUps' | 'retrieval' | 'budget'>> & {
  followUps?: Partial<Agent['followUps']>
  retrieval?: Partial<Agent['retrieval']>
  budget?: Partial<Agent['budget']>
}

const toAgent = (deps: AgentDeps, name: string): Agent => {
  const now = deps.clock()
  return {
    id: deps.newId(),
    name,
    instructions: '',
    greeting: '',
    starters: [],
    model: deps.defaultModel,
    fallbackModels: [],
    temperature: null,
    maxOutputTokens: null,
    followUps: { enabled: false, count: 3 },
    autoName: false,
    retrieval: { topK: 6, minScore: null, mode: 'lexical', rerank: false, filter: null },
    embeddingModel: null,
    budget: { tokensPerDay: null, costPerDay: null, tokensPerUserPerDay: null },
    retentionDays: null,
    allowedOrigins: [],
    imageHosts: [],
    createdAt: now,
    updatedAt: now,
  }
}

export async function createAgent(
  deps: AgentDeps,
  input: AgentChange & { name: string },
  alongside?: (agent: Agent) => Statement[],
): Promise<Agent> {
  const agent = merge(toAgent(deps, input.name), input)
  checkModels(deps, agent)
  await store.insertAgent(deps.db, agent, alongside?.(agent))
  return agent
}

/** Serialises changes of agents, by database. Of many concurrent changes, all but one would have to read and write again each time. */
const changes = new WeakMap<Database, Limiter>()

/** Changes an agent. Nested objects are merged field by field. Concurrent changes are not lost. Agents take turns. */
export async function updateAgent(deps: AgentDeps, agentId: string, change: AgentChange): Promise<Agent> {
  checkModels(deps, change)
  const inTurn = changes.get(deps.db) ?? new Limiter(1)
  changes.set(deps.db, inTurn)
  return inTurn.run({ id: agentId }, () => changeAgent(deps, agentId, change))
}

async function changeAgent(deps: AgentDeps, agentId: string, change: AgentChange): Promise<Agent> {
  // Retries, because another process may change the agent between the read and the write.
  for (;;) {
    const agent = await store.findAgent(deps.db, agentId)
    if (agent === undefined) throw agentNotFound()
    // Every change has a unique time, which shows the next change whether it is based on the latest state.
    const changed = { ...merge(agent, change), updatedAt: Math.max(deps.clock(), agent.updatedAt + 1) }
    const isDone = await store.updateAgent(deps.db, changed, agent)
    deps.agents.forget(agentId)
    if (!isDone) continue
    deps.peers.announce({ changed: true })
    deps.embedder.wake(agentId)
    return changed
  }
}

/** Returns the agent as a change would make it, without writing it. Throws as the change itself would. */
export function previewAgent(deps: AgentDeps, agent: Agent, change: AgentChange): Agent {
  checkModels(deps, change, 'body.changes')
  return merge(agent, change)
}

function merge(agent: Agent, { followUps, retrieval, budget, ...change }: AgentChange): Agent {
  return {
    ...agent,
    ...change,
    followUps: { ...agent.followUps, ...followUps },
    retrieval: { ...agent.retrieval, ...retrieval },
    budget: { ...agent.budget, ...budget },
  }
}

/** Rejects unusable model names now instead of at the first message. Ignores unchanged names, whose provider may be temporarily unavailable. */
function checkModels({ models }: AgentDeps, change: AgentChange, path = 'body'): void {
  const { model, fallbackModels = [], embeddingModel = null } = change
  if (model !== undefined) checkModel(models.find, model, `${path}.model`)
  for (const [i, name] of fallbackModels.entries()) checkModel(models.find, name, `${path}.fallbackModels[${i}]`)
  if (embeddingModel !== null) checkModel(models.findEmbedding, embeddingModel, `${path}.embeddingModel`)
}

function checkModel(find: (name: string) => unknown, name: string, path: string): void {
  const why = whyUnusable(find, name)
  if (why !== undefined) throw invalid(path, why)
}

/** Deletes the agent, its sessions and its knowledge base permanently. */
export async function deleteAgent(deps: AgentDeps, agentId: string): Promise<void> {
  const found = await deleteAgentRows(deps.db, agentId)
  deps.agents.forget(agentId)
  if (!found) throw agentNotFound()
  deps.turns.stopAgent(agentId, 'deleted')
  deps.peers.announce({ stopAgent: agentId })
  await deps.knowledge.deleteAgent(agentId)
}

/** Removes the knowledge base of an agent that was deleted in the meantime. Must be called after each addition. Throws `agent_not_found`. */
export async function deleteIfAgentIsGone({ agents, knowledge }: AgentDeps, agentId: string): Promise<void> {
  try {
    await agents.get(agentId)
  } catch (error) {
    if (error instanceof ReparteeError && error.code === 'agent_not_found') await knowledge.deleteAgent(agentId)
    throw error
  }
}

export interface AgentStats {
  sessions: number
  messages: number
  documents: number
  passages: number
}

/** Counts an agent's data. Stops early when the caller has left; then the counts are too low. `askedBy`: the calling key. */
export async function countAgent(deps: AgentDeps, agentId: string, slicing: Slicing, askedBy: string): Promise<AgentStats> {
  const [sessions, messages, knowledge] = await Promise.all([
    countSessions(deps.db, { agentId }, slicing),
    countMessages(deps.db, agentId, slicing),
    deps.knowledge.count(agentId, askedBy),
  ])
  return { sessions, messages, ...knowledge }
}

/** Lists the agents that the caller's key can access, newest first. If the caller has left, it stops early and the page is incomplete. */
export async function listAgents(
  deps: AgentDeps,
  visible: string[] | null,
  { limit, cursor }: PageInput,
  slicing: Slicing,
): Promise<Page<Agent>> {
  const after = cursor === undefined ? undefined : await store.findAgent(deps.db, cursor)
  if (cursor !== undefined && (after === undefined || visible?.includes(cursor) === false)) throw invalidCursor('an agent')
  const [items, total] = await Promise.all([
    readAgents(deps, visible, after, limit + 1, slicing),
    store.countAgents(deps.db, visible),
  ])
  return toPage(items, limit, total)
}

/** The size of a slice. The settings of an agent may take 60 kB. */
export const AGENTS_A_SLICE = 10

/** Reads agents in slices, so that other requests run in between. */
async function readAgents(
  { db }: AgentDeps,
  visible: string[] | null,
  after: Agent | undefined,
  most: number,
  { owner, isWanted = () => true }: Slicing,
): Promise<Agent[]> {
  const items: Agent[] = []
  for (;;) {
    const limit = Math.min(AGENTS_A_SLICE, most - items.length)
    const slice = await store.listAgents(db, visible, items.at(-1) ?? after, limit)
    items.push(...slice)
    if (slice.length === 0 || items.length === most) return items
    await nextSlice(owner)
    if (!isWanted()) return items
  }
}
