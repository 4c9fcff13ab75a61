import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import { invalid } from '../core/errors.ts'
import { DAY_MS, toIso } from '../core/time.ts'
import { findInsights } from '../sessions/insights.ts'
import type { Deps } from './deps.ts'
import { route } from './route/route.ts'
import { slicingFor } from './server/slicing.ts'

const USUAL_SPAN_MS = 30 * DAY_MS

export function insightRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.getInsights, async ({ agent, key, query, request, reply }) => {
    const to = query.to === undefined ? deps.clock() + 1 : Date.parse(query.to)
    const from = query.from === undefined ? to - USUAL_SPAN_MS : Date.parse(query.from)
    if (from >= to) throw invalid('query.from', 'must lie before "to"')
    await app.scanPlaces.take(request, reply, agent.id)
    const slicing = slicingFor(request, key)
    const found = slicing.isWanted() ? await findInsights(deps, agent.id, { from, to }, slicing) : undefined
    if (found === undefined) {
      reply.hijack()
      return undefined
    }
    const { unanswered, ...rest } = found
    return { ...rest, unanswered: unanswered.map((group) => ({ ...group, lastAskedAt: toIso(group.lastAskedAt) })) }
  })
}
