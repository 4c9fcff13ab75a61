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
 * Makes the statements that store an answer for replays, for the transaction of its effect. Returns none if the request has no Idempotency-Key. The answer is
 * deleted with its session, or with its user if the session is ''. If another replica has taken over the key, the transaction is rolled back.
 */
export interface StoreAnswer {
  (answer: object, sessionId?: string, userId?: string): Statement[]
  /** The session that an earlier attempt created before its process died; '' if there is none. */
  begunSessionId: string
  /** For the transaction that creates a session before its first turn: if this attempt is interrupted, the next one finds the session. */
  noteSession(sessionId: string): Statement[]
  /** For data that is written before the answer is known, such as the message of a turn: rolls it back in the same case. */
  condition: Statement[]
}

export const storeNothing: StoreAnswer = Object.assign(() => [], { condition: [], begunSessionId: '', noteSession: () => [] })

/** Returns the Idempotency-Key of a request that has an effect. Throws `invalid_request` if it is malformed, or the answer contains a secret. */
export function idempotencyKeyOf(op: Operation, { headers }: FastifyRequest): string | undefined {
  if (op.method !== 'POST') return undefined
  const key = readIdempotencyKey(headers['idempotency-key'])
  if (key !== undefined && op.keepsNoAnswer) {
    throw invalid('header.Idempotency-Key', 'is not taken here: the answer holds a secret, and is never kept')
  }
  return op.isReadOnly ? undefined : key
}

/** Runs the work, unless it was done before for the same key and body. */
export type Once = <A extends object | undefined>(
  body: (string | Uint8Array)[],
  work: (keep: StoreAnswer) => Promise<A>,
) => Promise<A | StoredAnswer>

/**
 * Runs the work of a request with an Idempotency-Key once. Resolves to the stored answer if it was done before. Stores the answer after the work, unless the
 * work stored it. If the work fails, the key is free again.
 */
export function answerOnce(deps: Deps, op: Operation) {
  const toText = lazySerializer(op.response)
  return async <A extends object | undefined>(
    request: FastifyRequest,
    key: string,
    body: (string | Uint8Array)[],
    work: (keep: StoreAnswer) => Promise<A>,
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

/** How an answer is stored. `sessionId`: '' for none. */
export interface AnswerForm {
  status: number
  sessionId: string
  toText(answer: object): string
}

export async function workOnce<A extends object | undefined>(
  deps: Deps,
  request: RepeatableRequest,
  { status, sessionId, toText }: AnswerForm,
  work: (keep: StoreAnswer) => Promise<A>,
): Promise<A | StoredAnswer> {
  const claim = await claimRequest(deps, request)
  if ('answer' in claim) return claim
  let wasStored = false
  const toStatements = (answer: object, session = sessionId, userId = '') => {
    wasStored = true
    return [claim.keep({ sessionId: session, userId }, status, toText(answer)), claim.isOurs]
  }
  const keep: StoreAnswer = Object.assign(toStatements, {
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
