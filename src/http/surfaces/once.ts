import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerIdOf } from '../../core/api-key.ts'
import { ReparteeError } from '../../core/errors.ts'
import { findHeadAt } from '../../store/tables/messages.ts'
import { findSession } from '../../store/tables/sessions.ts'
import { type RepeatableRequest, readIdempotencyKey, type StoredAnswer } from '../../turns/idempotency.ts'
import type { Deps } from '../deps.ts'
import { isStored, type StoreAnswer, storeNothing, workOnce } from '../route/idempotency.ts'
import type { WorkOnce } from '../turns/serve-turn.ts'
import type { TurnOutcome } from '../turns/turn-outcome.ts'
import { Attempts } from './attempts.ts'

/** Header with the number of the attempt, from OpenAI's official clients (made with Stainless), which send no Idempotency-Key. */
const ATTEMPT = 'x-stainless-retry-count'
/** Clients give up on an attempt after ten minutes, and try again within seconds. */
const RETRY_WITHIN_MS = 900_000
/** If another process works on the request, its answer is looked up after this time, and then less and less often. */
const FIRST_LOOK_MS = 250
const LAST_LOOK_MS = 2_000

/** Properties that make two requests the same, in addition to the `Idempotency-Key`. */
export interface Sameness {
  agentId: string
  sessionId: string
  /** The end user, if the answer belongs to no session. */
  userId?: string | undefined
  /** Called only if another attempt may come, because the parts may be as long as the body. */
  parts(): string[]
  /** False if others with the same key may send the same request: then no attempt counts as a copy of another. */
  isOfOne?: boolean
  /** Used if the request has no `Idempotency-Key`. */
  key?: string
}

/**
 * Runs a turn, or creates a conversation, once for each `Idempotency-Key`. Without a key, a request that is marked as another attempt gets the answer of the
 * newest request with the same body: a message must not be stored twice. If other messages follow that answer in its session, the caller has received it, and
 * the request is a new message. While the first attempt runs, a few others wait for it. Throws `request_in_progress` for more of them.
 */
export function doneOnce<A extends object = TurnOutcome>(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  same: Sameness,
): WorkOnce<A> {
  const attempt = same.isOfOne === false ? undefined : request.headers[ATTEMPT]
  const given = readIdempotencyKey(request.headers['idempotency-key']) ?? same.key
  if (given === undefined && attempt === undefined) return (work) => work(storeNothing)
  const { agentId, sessionId } = same
  const parts = [request.method, request.url, sessionId, ...same.parts()]
  const key = given ?? `retry ${parts.join('\0')}`
  const named: RepeatableRequest = { apiKeyId: callerIdOf(request.caller!), key, parts, agentId, userId: same.userId }
  const keptAs = { status: 200, sessionId, toText: JSON.stringify as (answer: object) => string }
  return async (work) => {
    const isFirst = given === undefined && attempt === '0'
    const now = deps.clock()
    let keptSince = isFirst ? Number.MAX_SAFE_INTEGER : now - RETRY_WITHIN_MS
    const end = now + deps.limits.maxWaitMs + deps.limits.turnTimeoutMs
    const { attempts } = request.server
    const name = Attempts.nameOf(named.apiKeyId, key)
    const workHere = (keep: StoreAnswer) => attempts.work(name, () => work(keep))
    for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(2 * waitMs, LAST_LOOK_MS)) {
      try {
        const answer = await workOnce(deps, given === undefined ? { ...named, keptSince } : named, keptAs, workHere)
        if (given !== undefined || !isStored(answer) || !(await hasGoneOn(deps, same, answer))) return answer
        keptSince = answer.createdAt + 1
      } catch (error) {
        if (!(error instanceof ReparteeError && error.code === 'request_in_progress')) throw error
        // Two first attempts with the same text at the same time: neither is a copy of the other.
        if (isFirst) return work(storeNothing)
        if (reply.raw.destroyed || deps.clock() > end) throw error
        if (!(await attempts.wait(name, request, reply, waitMs))) throw error
      }
    }
  }
}

/** Resolves to true if other messages follow the stored reply in its session. */
async function hasGoneOn({ db }: Deps, { agentId }: Sameness, { answer }: StoredAnswer): Promise<boolean> {
  const { sessionId, replyId } = JSON.parse(answer) as Partial<TurnOutcome>
  const session = sessionId === undefined ? undefined : await findSession(db, agentId, sessionId)
  if (session === undefined) return false
  return (await findHeadAt(db, agentId, session.id, session.totalMessages))?.id !== replyId
}
