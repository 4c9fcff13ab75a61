import type { FastifyInstance } from 'fastify'
import type { Contract } from '../api/contract.ts'
import { pageLimit } from '../core/ports/limits.ts'
import { toIso } from '../core/time.ts'
import { countAuditEntries, listAuditEntries } from '../store/tables/audit.ts'
import type { Deps } from './deps.ts'
import { route } from './route/route.ts'

export function auditRoutes(app: FastifyInstance, deps: Deps, contract: Contract): void {
  route(app, deps, contract.listAudit, async ({ query }) => {
    const { cursor, limit = pageLimit.default } = query
    const filter = { from: toTime(query.from), to: toTime(query.to), agentId: query.agentId?.toLowerCase() }
    const [found, total] = await Promise.all([
      listAuditEntries(deps.db, filter, cursor?.toLowerCase(), limit + 1),
      countAuditEntries(deps.db, filter),
    ])
    const items = found.slice(0, limit)
    const hasMore = found.length > limit
    return {
      entries: items.map((entry) => ({ ...entry, at: toIso(entry.at) })),
      pagination: { hasMore, nextCursor: hasMore ? items.at(-1)!.id : null, total },
    }
  })
}

const toTime = (iso: string | undefined) => (iso === undefined ? undefined : Date.parse(iso))
