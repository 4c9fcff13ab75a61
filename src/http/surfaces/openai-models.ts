import type { FastifyInstance } from 'fastify'
import { listAgents } from '../../agents/agents.ts'
import type { Agent } from '../../core/agent.ts'
import { pageLimit } from '../../core/ports/limits.ts'
import type { Deps } from '../deps.ts'
import { slicingFor } from '../server/slicing.ts'
import { getModel, toSeconds } from './openai-fields.ts'
import { surfaceRoute } from './surface-route.ts'

/** `name` is not in OpenAI's protocol. User interfaces that know it show it instead of the id. */
const toModel = ({ id, name, createdAt }: Agent) => ({
  id,
  object: 'model',
  created: toSeconds(createdAt),
  owned_by: 'repartee',
  name,
})

export function modelRoutes(app: FastifyInstance, deps: Deps): void {
  surfaceRoute(app, deps, { method: 'GET', url: '/models', scopes: ['chat', 'read'] }, async ({ key, request, reply }) => {
    await app.listPlaces.take(request, reply)
    // Whole agents have long instructions, which would take much memory.
    const slicing = slicingFor(request, key)
    const data: ReturnType<typeof toModel>[] = []
    // The protocol has no pages.
    for (let cursor: string | undefined; ; cursor = data.at(-1)!.id) {
      const input = { limit: pageLimit.max, ...(cursor === undefined ? {} : { cursor }) }
      const page = await listAgents(deps, key.agentIds, input, slicing)
      data.push(...page.items.map(toModel))
      if (!page.hasMore || !slicing.isWanted()) return { object: 'list', data }
    }
  })

  // An id may have a slash, as in `repartee/…`.
  surfaceRoute(app, deps, { method: 'GET', url: '/models/*', scopes: ['chat', 'read'] }, async ({ key, params }) =>
    toModel(await getModel(deps, key, params['*']!)),
  )
}
