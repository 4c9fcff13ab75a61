import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema } from 'fastify'
import type { BodyOf, Operation, ParamsOf, QueryOf, ResponseOf } from '../../api/operation.ts'
import type { TObject, TSchema } from '../../api/schema.ts'
import type { Agent } from '../../core/agent.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { isUuid } from '../../core/platform/ids.ts'
import type { Session } from '../../core/session.ts'
import type { StoredAnswer } from '../../turns/idempotency.ts'
import type { Deps } from '../deps.ts'
import { JsonText } from '../json/json-text.ts'
import { whileHeld } from '../server/while-held.ts'
import { admit, checkScope, type Gate, getAgentFor, getSessionFor, keepUserRate } from './admit.ts'
import { refuseEncoded } from './body.ts'
import { answerOnce, idempotencyKeyOf, isStored, type Keep, keepNothing, type Once, sendStored } from './idempotency.ts'
import { checkEncoding, readQuery } from './query.ts'
import { checkMediaType, isLarge } from './upload.ts'
import { validator } from './validation.ts'
import { withAudit } from './with-audit.ts'

const JSON_TYPE = 'application/json; charset=utf-8'

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
 * A handler answers with the body of a success (`success` itself is put in here), with its whole JSON text, with a stream of that, or with an answer
 * that was kept; undefined where it has taken the answer into its own hands.
 */
export type Handler<O> = (
  call: Call<O>,
) => Promise<Omit<ResponseOf<O>, 'success'> | JsonText | Readable | StoredAnswer | undefined>

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
  const gate: Gate = { scopes: op.scopes, forUsers: op.forUsers, isOfAgent: 'agentId' in op.params.properties }
  const schema: FastifySchema = { ...(op.body === undefined ? {} : { body: op.body }), response: { [op.status]: op.response } }
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { params, query, body, agent, session, caller: key } = request
    const named = idempotencyKeyOf(op as unknown as Operation, request)
    const call = (keep: Keep) => {
      const withKey: Once = (parts, work) => (named === undefined ? work(keepNothing) : once(request, named, parts, work))
      const call = { params, query, body, agent, session, key, request, reply, keep, once: withKey }
      const work = () => deps.tracer.within(request.headers, () => handler(call as unknown as Call<Operation<P, Q, B, R>>))
      return op.isAudited === true ? withAudit(deps, op as unknown as Operation, request, work) : work()
    }
    const isOwn = op.upload !== undefined || op.events !== undefined
    const answered =
      named === undefined || isOwn ? await call(keepNothing) : await once(request, named, [JSON.stringify(body ?? {})], call)
    if (answered === undefined) return reply
    if (isStored(answered)) return sendStored(reply, answered)
    reply.code(op.status)
    if (answered instanceof JsonText) return reply.type(JSON_TYPE).send(answered.text)
    if (!(answered instanceof Readable)) return Object.assign(answered, { success: true })
    return reply.type(JSON_TYPE).send(answered)
  }
  app.route({
    method: op.method,
    url: op.path.replace(/\{(\w+)\}/g, ':$1'),
    config: op.upload ? { upload: true, isAdmitting: true } : { isAdmitting: true },
    bodyLimit: op.upload ? deps.limits.maxUploadBytes : deps.limits.maxBodyBytes,
    schema,
    onRequest: async (request, reply) => {
      const ahead = readAhead(deps, request.params as Record<string, string>)
      const key = await admit(app, deps, request, reply, ahead)
      if (request.raw.socket.destroyed) return reply.hijack()
      checkPath(request.params)
      checkEncoding(request.url)
      const asked = query(request.url)
      checkQuery(asked)
      request.query = asked
      checkScope(gate, key)
      const { agentId, sessionId } = lowerCase(request.params as Record<string, string>)
      if (agentId !== undefined) {
        request.agent = await getAgentFor(deps, key, agentId)
        app.refuseTooMuch(agentId, key)
        if (sessionId !== undefined) {
          request.session = await getSessionFor(deps, key, agentId, sessionId, ahead)
          if (op.isSend) await keepUserRate(deps, reply, request.session)
        }
      }
      if (op.body !== undefined || op.upload) refuseEncoded(request)
      app.bufferedBytes.takeBody(request, reply)
      if (!op.upload) return
      checkMediaType(op.upload, request)
      if (isLarge(request)) await app.uploadPlaces.take(request, reply, agentId)
    },
    handler: (request: FastifyRequest, reply: FastifyReply) => whileHeld(request, () => answer(request, reply)),
  })
}

/** Returns what reads the session of a request ahead of its checks, as `Peers.readAhead`: once, when it is called first. */
function readAhead({ peers }: Deps, { agentId, sessionId }: Record<string, string>) {
  if (agentId === undefined || sessionId === undefined || !isUuid(agentId) || !isUuid(sessionId)) return undefined
  const read = peers.readAhead(agentId.toLowerCase(), sessionId.toLowerCase())
  let session: Promise<Session | undefined> | undefined
  return read && (() => (session ??= read()))
}

/** UUIDs are taken in either case; from here on they are in lower case. */
function lowerCase(params: Record<string, string>): Record<string, string | undefined> {
  for (const name in params) params[name] = params[name]!.toLowerCase()
  return params
}
