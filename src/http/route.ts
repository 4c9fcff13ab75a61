import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { TObject, TSchema } from 'typebox'
import type { BodyOf, Operation, ParamsOf, QueryOf, ResponseOf } from '../api/operation.ts'
import { agentNotFound } from '../chat/agent-book.ts'
import type { Deps } from '../chat/deps.ts'
import type { Kept } from '../chat/keep-answer.ts'
import { sessionNotFound } from '../chat/sessions.ts'
import type { Agent } from '../core/agent.ts'
import { type ApiKey, callerIdOf } from '../core/api-key.ts'
import { ReparteeError } from '../core/errors.ts'
import { isUuid } from '../core/ids.ts'
import type { Session } from '../core/session.ts'
import { networkOf } from '../net/address.ts'
import { findSession } from '../store/sessions.ts'
import { withAudit } from './audit.ts'
import { readKey } from './credentials.ts'
import { answerOnce, idempotencyKeyOf, isKept, type Keep, keepNothing, type Once, sendKept } from './idempotency.ts'
import { checkEncoding, readQuery } from './query.ts'
import { keepAddressRate, keepRate } from './rate-limit.ts'
import { validator } from './validation.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    upload?: boolean
  }
  interface FastifyRequest {
    /** Set by the checks that run before a handler. */
    caller?: ApiKey
    agent?: Agent
    session?: Session
  }
}

/** What a handler is given: the request as validated, and what its path names, which exists and may be seen by the caller. */
export interface Call<O> {
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  agent: 'agentId' extends keyof ParamsOf<O> ? Agent : undefined
  session: 'sessionId' extends keyof ParamsOf<O> ? Session : undefined
  key: ApiKey
  request: FastifyRequest
  reply: FastifyReply
  /** Keeps the answer of the work for replays; for use within the work. */
  keep: Keep
  /** Does the work once for each Idempotency-Key and body; for operations that read their body, or answer, themselves. */
  once: Once
}

/**
 * A handler answers with the body of a success (`success` itself is put in here), with a stream of its whole JSON text, or with an answer
 * that was kept; undefined where it has taken the answer into its own hands.
 */
export type Handler<O> = (call: Call<O>) => Promise<Omit<ResponseOf<O>, 'success'> | Readable | Kept | undefined>

/** Joins an operation of the contract to its handler. Checks run in the order that the contract states. */
export function route<P extends TObject, Q extends TObject, B extends TSchema, R extends TSchema>(
  app: FastifyInstance,
  deps: Deps,
  op: Operation<P, Q, B, R>,
  handler: Handler<Operation<P, Q, B, R>>,
): void {
  const checkPath = validator(op.params, 'path')
  const checkQuery = validator(op.query, 'query')
  const query = readQuery(op.query)
  const once = answerOnce(deps, op as unknown as Operation)
  const schema: FastifySchema = { ...(op.body === undefined ? {} : { body: op.body }), response: { [op.status]: op.response } }
  app.route({
    method: op.method,
    url: op.path.replace(/\{(\w+)\}/g, ':$1'),
    config: op.upload ? { upload: true } : {},
    bodyLimit: op.upload ? deps.limits.maxUploadBytes : deps.limits.maxBodyBytes,
    schema,
    onRequest: async (request, reply) => {
      const ahead = readAhead(deps, request.params as Record<string, string>)
      const key = await identify(deps, request, ahead)
      request.caller = key
      if (key.userId !== undefined && !(await app.allowedOrigins.allows(request.raw)))
        throw new ReparteeError('forbidden', 'Pages of this origin may not use tokens here.')
      const { rates } = deps
      if (rates !== undefined && !deps.keys.isOwn(key)) await keepRate(reply, 'key', rates.key, callerIdOf(key))
      checkPath(request.params)
      checkEncoding(request.url)
      checkQuery(query(request.query as Record<string, unknown>))
      checkScope(op, key)
      const { agentId, sessionId } = lowerCase(request.params as Record<string, string>)
      if (agentId !== undefined) {
        if (key.agentIds?.includes(agentId) === false) throw agentNotFound()
        request.agent = await deps.agents.get(agentId)
        if (sessionId !== undefined) {
          const session = ahead === undefined ? await findSession(deps.db, agentId, sessionId) : await ahead()
          if (session === undefined || (key.userId ?? session.userId) !== session.userId) throw sessionNotFound()
          request.session = session
          if (op.isSend && rates !== undefined) await keepRate(reply, 'user', rates.user, `${agentId}/${session.userId}`)
        }
      }
      if (op.body !== undefined && request.headers['content-encoding'] !== undefined) {
        throw new ReparteeError('unsupported_media_type', 'A body must not be encoded: leave Content-Encoding out.')
      }
      if (op.upload) await app.uploadSlots.take(request, reply)
    },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      const { params, query, body, agent, session, caller: key } = request
      const named = idempotencyKeyOf(op as unknown as Operation, request)
      const call = (keep: Keep) => {
        const withKey: Once = (parts, work) => (named === undefined ? work(keepNothing) : once(request, named, parts, work))
        const call = { params, query, body, agent, session, key, request, reply, keep, once: withKey }
        const work = () => handler(call as unknown as Call<Operation<P, Q, B, R>>)
        return op.isAudited === true ? withAudit(deps, op as unknown as Operation, request, work) : work()
      }
      const isOwn = op.upload || op.events !== undefined
      const answer =
        named === undefined || isOwn ? await call(keepNothing) : await once(request, named, [JSON.stringify(body ?? {})], call)
      if (answer === undefined) return reply
      if (isKept(answer)) return sendKept(reply, answer)
      reply.code(op.status)
      if (!(answer instanceof Readable)) return Object.assign(answer, { success: true })
      // A reader that takes nothing holds an old state of the database.
      request.raw.socket.setTimeout(deps.limits.streamStallMs)
      return reply.type('application/json; charset=utf-8').send(answer)
    },
  })
}

/** Throws `unauthorized`, or `rate_limited` where that comes from one address too often. */
async function identify(
  { keys, rates }: Deps,
  request: FastifyRequest,
  ahead: (() => Promise<unknown>) | undefined,
): Promise<ApiKey> {
  try {
    return await keys.identify(readKey(request.raw), ahead)
  } catch (error) {
    const isBadKey = error instanceof ReparteeError && error.code === 'unauthorized'
    if (isBadKey && rates !== undefined) await keepAddressRate(rates.address, networkOf(request.ip))
    throw error
  }
}

/** Where others use the database too, every request asks it whether anything changed: one for a session reads that along. Once, when called. */
function readAhead({ replicas }: Deps, { agentId, sessionId }: Record<string, string>) {
  if (replicas === undefined || agentId === undefined || sessionId === undefined) return undefined
  if (!isUuid(agentId) || !isUuid(sessionId)) return undefined
  let read: Promise<Session | undefined> | undefined
  return () => (read ??= replicas.lookUp(agentId.toLowerCase(), sessionId.toLowerCase()))
}

function checkScope({ scopes, params, forUsers = false }: Operation, key: ApiKey): void {
  if (key.userId !== undefined && !forUsers)
    throw new ReparteeError('forbidden', 'A token of a user is not good for this operation.')
  if (key.scopes.includes('admin')) {
    // A key that is bound to agents could otherwise make itself one that is not.
    if (key.agentIds === null || 'agentId' in params.properties || scopes.includes('read')) return
  } else if (scopes.some((scope) => key.scopes.includes(scope))) return
  throw new ReparteeError('forbidden', 'This key lacks the scope for this operation.')
}

/** UUIDs are taken in either case; from here on they are in lower case. */
function lowerCase(params: Record<string, string>): Record<string, string | undefined> {
  for (const name in params) params[name] = params[name]!.toLowerCase()
  return params
}
