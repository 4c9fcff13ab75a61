import type { FastifyRequest } from 'fastify'
import { audited, auditedUser } from '../../access/audit.ts'
import type { Operation } from '../../api/operation.ts'
import type { Deps } from '../deps.ts'
import { addressOf } from './admit.ts'
import { statusOf, toReparteeError } from './errors.ts'

/** Runs the work of an audited operation, and adds an entry to the audit log. */
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

/** Returns the id of the object in an answer. */
function madeId(answer: unknown): string | undefined {
  const { agent, document, source, key, webhook, delivery } = (answer ?? {}) as Record<string, { id: string } | undefined>
  return (document ?? source ?? key ?? webhook ?? delivery ?? agent)?.id
}
