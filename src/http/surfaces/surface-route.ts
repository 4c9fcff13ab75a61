import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { type Static, type TObject, type TSchema, Type } from '../../api/schema.ts'
import type { Agent } from '../../core/agent.ts'
import type { ApiKey, Scope } from '../../core/api-key.ts'
import { invalid } from '../../core/errors.ts'
import { isUuid } from '../../core/platform/ids.ts'
import type { Deps } from '../deps.ts'
import { JsonText } from '../json/json-text.ts'
import { admit, checkScope, type Gate, getAgentFor } from '../route/admit.ts'
import { refuseEncoded } from '../route/body.ts'
import { readQuery } from '../route/query.ts'
import { validator } from '../route/validation.ts'
import { whileHeld } from '../server/while-held.ts'

/** A request of a third-party protocol. Its body may have unknown fields, and its answer has the format of that protocol. */
export interface SurfaceOperation<Q extends TObject, B extends TSchema> {
  method: 'GET' | 'POST' | 'DELETE'
  /** A route pattern of Fastify. */
  url: string
  /** One of these is enough; so is `admin`. User tokens may make all of these requests. */
  scopes: Scope[]
  query?: Q
  body?: B
}

export interface SurfaceCall<Q extends TObject, B extends TSchema> {
  params: Record<string, string>
  query: Static<Q>
  body: Static<B>
  key: ApiKey
  /** Set if the path names an agent. */
  agent: Agent | undefined
  request: FastifyRequest
  reply: FastifyReply
}

const Nothing = Type.Object({})

/** Registers a handler with the same checks, in the same order, as the contract. A handler that sends its response itself resolves to undefined. */
export function surfaceRoute<Q extends TObject, B extends TSchema>(
  app: FastifyInstance,
  deps: Deps,
  op: SurfaceOperation<Q, B>,
  handler: (call: SurfaceCall<Q, B>) => Promise<object | undefined>,
): void {
  const checkQuery = validator(op.query ?? Nothing, 'query')
  const query = readQuery(op.query ?? Nothing)
  const checkBody = validator(op.body ?? Nothing, 'body', { tellsFirst: true })
  // The request concerns an agent, which the path or the body names.
  const gate: Gate = { scopes: op.scopes, forUsers: true, isOfAgent: true }
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    const { params, query, agent, caller: key } = request
    const body = request.body ?? {}
    if (op.body !== undefined) {
      refuseDeep(body)
      checkBody(body)
    }
    const call = { params, query, body, agent, key, request, reply } as unknown as SurfaceCall<Q, B>
    const answered = await deps.tracer.within(request.headers, () => handler(call))
    if (answered === undefined) return reply
    return reply.type('application/json; charset=utf-8').send(toPayload(answered))
  }
  app.route({
    method: op.method,
    url: op.url,
    config: { isAdmitting: true },
    bodyLimit: deps.limits.maxBodyBytes,
    onRequest: async (request, reply) => {
      const key = await admit(app, deps, request, reply)
      if (request.raw.socket.destroyed) return reply.hijack()
      const asked = query(request.url)
      checkQuery(asked)
      request.query = asked
      checkScope(gate, key)
      const { agentId } = request.params as Record<string, string>
      if (agentId !== undefined) {
        request.agent = await getNamedAgent(deps, key, agentId)
        app.refuseTooMuch(request.agent.id, key)
      }
      if (op.body !== undefined) refuseEncoded(request)
      app.bufferedBytes.takeBody(request, reply)
    },
    handler: (request: FastifyRequest, reply: FastifyReply) => whileHeld(request, () => answer(request, reply)),
  })
}

/** More than any real request needs. A deeper value cannot be serialized again, which is necessary to find the answer of another attempt. */
const MAX_DEPTH = 256

/** Throws `invalid_request` for a body that nests too deeply. Unknown fields may contain anything else. */
function refuseDeep(body: unknown): void {
  const open: [value: unknown, depth: number][] = [[body, 0]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (typeof value !== 'object' || value === null) continue
    if (depth === MAX_DEPTH) throw invalid('body', `must not nest deeper than ${MAX_DEPTH} levels`)
    for (const inner of Object.values(value)) if (typeof inner === 'object') open.push([inner, depth + 1])
  }
}

/** Throws `agent_not_found`, also if the name is not an id. */
export async function getNamedAgent(deps: Deps, key: ApiKey, name: string): Promise<Agent> {
  return getAgentFor(deps, key, isUuid(name) ? name.toLowerCase() : '')
}

function toPayload(answered: object): string | Readable {
  if (answered instanceof Readable) return answered
  return answered instanceof JsonText ? answered.text : JSON.stringify(answered)
}
