import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Operation } from '../../api/operation.ts'
import { callerIdOf } from '../../core/api-key.ts'
import { invalid } from '../../core/errors.ts'
import { ConditionFailed, type Statement } from '../../store/database.ts'
import {
  claimRequest,
  inProgress,
  type RepeatableRequest,
  readIdempotencyKey,
  type StoredAnswer,
} from '../../turns/idempotency.ts'
import type { Deps } from '../deps.ts'
import { lazySerializer } from '../json/serializer.ts'

/**
 * Makes the statements that keep an answer for replays, for the transaction of its effect. None where the request carries no Idempotency-Key. The answer
 * goes with its session, or where that is '' with its user. If another replica has taken over the key, the transaction is rolled back.
 */
export interface Keep {
  (answer: object, sessionId?: string, userId?: string): Statement[]
  /** The session that a try before made, whose process died; '' if there is none. */
  begunSessionId: string
  /** For the transaction that makes a session before its first turn: the next try finds it, if this one is broken off. */
  noteSession(sessionId: string): Statement[]
  /** For what is written before the answer is known, such as the message of a turn: rolls it back in the same case. */
  condition: Statement[]
}

export const keepNothing: Keep = Object.assign(() => [], { condition: [], begunSessionId: '', noteSession: () => [] })

/** The Idempotency-Key of a request that has an effect. Throws `invalid_request` where it is malformed, or the answer holds a secret. */
export function idempotencyKeyOf(op: Operation, { headers }: FastifyRequest): string | undefined {
  if (op.method !== 'POST') return undefined
  const key = readIdempotencyKey(headers['idempotency-key'])
  if (key !== undefined && op.keepsNoAnswer) {
    throw invalid('header.Idempotency-Key', 'is not taken here: the answer holds a secret, and is never kept')
  }
  return op.isReadOnly ? undefined : key
}

/** Does the work, unless it was done for the same key and body before. */
export type Once = <A extends object | undefined>(
  body: (string | Uint8Array)[],
  work: (keep: Keep) => Promise<A>,
) => Promise<A | StoredAnswer>

/**
 * Does what a keyed request asks for, once. Resolves to the kept answer where it was done before. An answer that the work itself did
 * not keep is kept when it is done; where it fails, the key is free again.
 */
export function answerOnce(deps: Deps, op: Operation) {
  const toText = lazySerializer(op.response)
  return async <A extends object | undefined>(
    request: FastifyRequest,
    key: string,
    body: (string | Uint8Array)[],
    work: (keep: Keep) => Promise<A>,
  ): Promise<A | StoredAnswer> => {
    const named = {
      apiKeyId: callerIdOf(request.caller!),
      key,
      parts: [request.method, request.url.toLowerCase(), ...body],
      agentId: request.agent?.id ?? '',
    }
    const kept = { status: op.status, toText: (answer: object) => toText({ ...answer, success: true }) }
    return workOnce(deps, named, { ...kept, sessionId: request.session?.id ?? '' }, work)
  }
}

/** How an answer is kept: with a session, or '' for none. */
export interface AnswerForm {
  status: number
  sessionId: string
  toText(answer: object): string
}

export async function workOnce<A extends object | undefined>(
  deps: Deps,
  request: RepeatableRequest,
  { status, sessionId, toText }: AnswerForm,
  work: (keep: Keep) => Promise<A>,
): Promise<A | StoredAnswer> {
  const claim = await claimRequest(deps, request)
  if ('answer' in claim) return claim
  let wasStored = false
  const toStatements = (answer: object, session = sessionId, userId = '') => {
    wasStored = true
    return [claim.keep({ sessionId: session, userId }, status, toText(answer)), claim.isOurs]
  }
  const keep: Keep = Object.assign(toStatements, {
    condition: [claim.isOurs],
    begunSessionId: claim.begunSessionId,
    noteSession: (id: string) => [claim.noteSession(id), claim.isOurs],
  })
  try {
    const answer = await work(keep)
    if (!wasStored && answer !== undefined) await deps.db.write(keep(answer))
    return answer
  } catch (error) {
    await claim.release()
    throw error instanceof ConditionFailed ? inProgress() : error
  }
}

export const isStored = (answer: object | undefined): answer is StoredAnswer =>
  answer !== undefined && 'answer' in answer && 'status' in answer

export function sendStored(reply: FastifyReply, { status, answer }: StoredAnswer): FastifyReply {
  return reply.code(status).header('idempotency-replayed', 'true').type('application/json; charset=utf-8').send(answer)
}
