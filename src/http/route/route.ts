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
import { admit, checkScope, type Gate, getAgentFor, getSessionFor, takeUserRate } from './admit.ts'
import { refuseEncoded } from './body.ts'
import { answerOnce, idempotencyKeyOf, isStored, type Once, type StoreAnswer, sendStored, storeNothing } from './idempotency.ts'
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

/** Arguments of a handler: the validated request, and the objects that its path names, which exist and are visible to the caller. */
export interface Call<O> {
  params: ParamsOf<O>
  query: QueryOf<O>
  body: BodyOf<O>
  agent: 'agentId' extends keyof ParamsOf<O> ? Agent : undefined
  session: 'sessionId' extends keyof ParamsOf<O> ? Session : undefined
  key: ApiKey
  request: FastifyRequest
  reply: FastifyReply
  /** Stores the answer of the work for replays. Use it within the work. */
  keep: StoreAnswer
  /** Runs the work once for each Idempotency-Key and body. For operations that read their body or send their response themselves. */
  once: Once
}

/**
 * A handler resolves to the body of a success, its whole JSON text, a stream of that text, or a stored answer. `success` is added to the body here. It resolves
 * to undefined if it sends the response itself.
 */
export type Handler<O> = (
  call: Call<O>,
) => Promise<Omit<ResponseOf<O>, 'success'> | JsonText | Readable | StoredAnswer | undefined>

/** Registers an operation of the contract with its handler. Checks run in the order of the contract. */
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
    const call = (keep: StoreAnswer) => {
      const withKey: Once = (parts, work) => (named === undefined ? work(storeNothing) : once(request, named, parts, work))
      const call = { params, query, body, agent, session, key, request, reply, keep, once: withKey }
      const work = () => deps.tracer.within(request.headers, () => handler(call as unknown as Call<Operation<P, Q, B, R>>))
      return op.isAudited === true ? withAudit(deps, op as unknown as Operation, request, work) : work()
    }
    const isOwn = op.upload !== undefined || op.events !== undefined
    const answered =
      named === undefined || isOwn ? await call(storeNothing) : await once(request, named, [JSON.stringify(body ?? {})], call)
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
          if (op.isSend) await takeUserRate(deps, reply, request.session)
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

/** Returns a function that reads the session before the checks of its request, once, at its first call. See `Peers.readAhead`. */
function readAhead({ peers }: Deps, { agentId, sessionId }: Record<string, string>) {
  if (agentId === undefined || sessionId === undefined || !isUuid(agentId) || !isUuid(sessionId)) return undefined
  const read = peers.readAhead(agentId.toLowerCase(), sessionId.toLowerCase())
  let session: Promise<Session | undefined> | undefined
  return read && (() => (session ??= read()))
}

/** Converts UUIDs to lower case. Requests may use either case. */
function lowerCase(params: Record<string, string>): Record<string, string | undefined> {
  for (const name in params) params[name] = params[name]!.toLowerCase()
  return params
}
