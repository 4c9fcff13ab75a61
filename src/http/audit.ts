import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Contract } from '../api/contract.ts'
import type { Operation } from '../api/operation.ts'
import { audited, auditedUser } from '../chat/audit.ts'
import type { Deps } from '../chat/deps.ts'
import { pageLimit } from '../core/limits.ts'
import { toIso } from '../core/time.ts'
import { countAuditEntries, listAuditEntries } from '../store/audit.ts'
import { addressOf } from './admit.ts'
import { statusOf, toReparteeError } from './errors.ts'
import { route } from './route.ts'

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

/** Does the work of a request that is an act of those who run the service, and writes it down. */
export function withAudit<T>(deps: Deps, op: Operation, request: FastifyRequest, work: () => Promise<T>): Promise<T> {
  const { agentId, externalUserId, ...things } = request.params as Record<string, string>
  const target = externalUserId === undefined ? Object.values(things).at(-1) : auditedUser(agentId!, externalUserId)
  const act = {
    action: op.id,
    keyId: request.caller!.id,
    agentId: agentId ?? null,
    target: target ?? agentId ?? null,
    requestId: request.id,
    address: addressOf(request) ?? null,
  }
  return audited(deps, act, work, (outcome) =>
    'done' in outcome
      ? { status: op.status, target: madeId(outcome.done) }
      : { status: statusOf[toReparteeError(outcome.thrown).code] },
  )
}

/** Of the thing that an answer holds. */
function madeId(answer: unknown): string | undefined {
  const { agent, document, source, key, webhook, delivery } = (answer ?? {}) as Record<string, { id: string } | undefined>
  return (document ?? source ?? key ?? webhook ?? delivery ?? agent)?.id
}
