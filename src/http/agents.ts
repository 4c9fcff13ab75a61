import type { FastifyInstance } from 'fastify'
import {
  AGENTS_A_SLICE,
  type AgentChange,
  countAgent,
  createAgent,
  deleteAgent,
  listAgents,
  previewAgent,
  updateAgent,
} from '../agents/agents.ts'
import type { Contract } from '../api/contract.ts'
import type { Agent } from '../core/agent.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { toIso } from '../core/time.ts'
import { answerOnce } from '../turns/answer-once.ts'
import type { Deps } from './deps.ts'
import { answerList } from './json/list-answer.ts'
import { toPagination } from './route/pagination.ts'
import { route } from './route/route.ts'
import { slicingFor } from './server/slicing.ts'
import type { EventStreams } from './turns/event-stream.ts'
import { answerTurn } from './turns/repartee-presenter.ts'

const toAgent = (agent: Agent) => ({
  ...agent,
  createdAt: toIso(agent.createdAt),
  updatedAt: toIso(agent.updatedAt),
})

async function* slicesOf(agents: Agent[]): AsyncGenerator<Agent[]> {
  for (let at = 0; at < agents.length; at += AGENTS_A_SLICE) yield agents.slice(at, at + AGENTS_A_SLICE)
}

/** `null` in an optional field is the same as leaving it out, except where null is a value of its own. */
export function agentRoutes(app: FastifyInstance, deps: Deps, contract: Contract, streams: EventStreams): void {
  route(app, deps, contract.createAgent, async ({ body, keep }) => {
    const alongside = (made: Agent) => keep({ agent: toAgent(made) })
    return { agent: toAgent(await createAgent(deps, body as AgentChange & { name: string }, alongside)) }
  })

  route(app, deps, contract.listAgents, async ({ key, query, request, reply }) => {
    const { limit = pageLimit.default, cursor } = query
    // A page is read as a whole before its first part is sent.
    if (limit > AGENTS_A_SLICE) await app.listPlaces.take(request, reply)
    const input = { limit, ...(cursor === undefined ? {} : { cursor: cursor.toLowerCase() }) }
    const page = await listAgents(deps, key.agentIds, input, slicingFor(request, key))
    const tail = `],"pagination":${JSON.stringify(toPagination(page))}}`
    return answerList(
      { request, reply },
      { head: '{"success":true,"agents":[', slices: slicesOf(page.items), toItem: toAgent, tail },
    )
  })

  route(app, deps, contract.getAgent, async ({ agent, key, request }) => {
    return { agent: { ...toAgent(agent), stats: await countAgent(deps, agent.id, slicingFor(request, key), key.id) } }
  })

  route(app, deps, contract.getProfile, async ({ agent: { id, name, greeting, starters } }) => ({
    profile: { id, name, greeting, starters },
  }))

  route(app, deps, contract.updateAgent, async ({ agent, body }) => ({
    agent: toAgent(await updateAgent(deps, agent.id, body as AgentChange)),
  }))

  route(app, deps, contract.previewAgent, async (call) => {
    const { changes = {}, history = [], include = [], ...asked } = call.body
    const agent = previewAgent(deps, call.agent, changes as AgentChange)
    const input = { ...asked, agent, history, include, userId: deps.newId(), key: call.key }
    return answerTurn(deps, streams, call, (observer) => answerOnce(deps, input, observer))
  })

  route(app, deps, contract.deleteAgent, async ({ agent }) => {
    await deleteAgent(deps, agent.id)
    return { message: 'The agent, its sessions and its knowledge base were deleted.' }
  })
}
