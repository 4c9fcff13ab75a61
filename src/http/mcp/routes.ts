import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mcpTools } from '../../api/mcp.ts'
import type { Agent } from '../../core/agent.ts'
import { invalid, ReparteeError } from '../../core/errors.ts'
import { isUuid } from '../../core/platform/ids.ts'
import { version } from '../../core/platform/version.ts'
import type { Deps } from '../deps.ts'
import { admit, getAgentFor, NOBODY } from '../route/admit.ts'
import { refuseEncoded, toShown } from '../route/body.ts'
import { statusOf, toReparteeError } from '../route/errors.ts'
import { setErrorHeaders } from '../route/send-error.ts'
import { whileHeld } from '../server/while-held.ts'
import { type EventStream, type EventStreams, toEvent } from '../turns/event-stream.ts'
import {
  agreeOn,
  discovered,
  idOf,
  type Json,
  type McpMessage,
  ProtocolError,
  readMessage,
  toError,
  toResult,
} from './message.ts'
import { Toolbox } from './tools.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The stream of the answer, if it is sent as events. */
    mcpStream?: EventStream
  }
}

/** The list of tools changes with the key's scopes and with a new release. */
const TOOLS_MS = 300_000

/** Each progress notification contains the token. */
const MAX_TOKEN_CHARS = 1_000

/** Registers agents as servers of the Model Context Protocol: each one separately, and all that a key sees together. */
export function mcpRoutes(app: FastifyInstance, deps: Deps, streams: EventStreams): void {
  const tools = mcpTools(deps.limits)
  app.setErrorHandler((thrown, request, reply) => sendError(app, thrown, request, reply))
  for (const url of ['/mcp', '/mcp/:agentId']) {
    const toolbox = new Toolbox(tools, url !== '/mcp')
    const answer = async (request: FastifyRequest, reply: FastifyReply) => {
      const message = readMessage(request.body, request.headers)
      if (message.id === undefined) return reply.code(202).send()
      const answered = await answerTo(message, { deps, streams, toolbox, request, reply })
      if (request.mcpStream === undefined) return reply.type('application/json; charset=utf-8').send(JSON.stringify(answered))
      request.mcpStream.end(() => toEvent('message', undefined, answered))
      return reply
    }
    app.post(url, {
      config: { isAdmitting: true },
      onRequest: (request, reply) => letIn(app, deps, request, reply),
      handler: (request, reply) => whileHeld(request, () => answer(request, reply)),
    })
  }
}

/** Refuses pages of foreign origins, even with a valid key: they may be tricked into reaching this machine (MCP 2026-07-28, Streamable HTTP, Security). */
async function letIn(app: FastifyInstance, deps: Deps, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (!app.allowedOrigins.isOwn(request) && !(await app.allowedOrigins.allows(request.raw))) {
    await app.fairEntry.enter(NOBODY)
    throw new ReparteeError('forbidden', 'Pages of this origin may not call here.')
  }
  const key = await admit(app, deps, request, reply)
  const { agentId } = request.params as { agentId?: string }
  if (agentId !== undefined) {
    if (!isUuid(agentId)) throw invalid('path.agentId', 'must be a UUID')
    request.agent = await getAgentFor(deps, key, agentId.toLowerCase())
  }
  refuseEncoded(request)
  app.bufferedBytes.takeBody(request, reply)
}

interface Context {
  deps: Deps
  streams: EventStreams
  toolbox: Toolbox
  request: FastifyRequest
  reply: FastifyReply
}

async function answerTo(message: McpMessage, context: Context): Promise<Json> {
  const { toolbox, request } = context
  const { agent } = request
  const server = { name: 'repartee', title: agent?.name ?? 'Repartee', version }
  const about = { serverInfo: server, instructions: instructionsOf(agent) }
  const { method, isCurrent, params } = message
  if (method === 'tools/list') return toResult(message, { tools: toolbox.list(request.caller!) }, server, TOOLS_MS)
  if (method === 'tools/call') return toResult(message, await callTool(message, context), server)
  if (isCurrent && method === 'server/discover') {
    const { instructions } = about
    return toResult(message, { ...discovered, instructions }, server, TOOLS_MS)
  }
  if (!isCurrent && method === 'initialize') return toResult(message, { ...agreeOn(params['protocolVersion']), ...about }, server)
  if (!isCurrent && method === 'ping') return toResult(message, {}, server)
  throw new ProtocolError('methodNotFound', `Method not found: ${toShown(method)}`, { status: isCurrent ? 404 : 200 })
}

async function callTool({ params, meta, isCurrent }: McpMessage, { toolbox, ...context }: Context): Promise<Json> {
  const { name, arguments: input = {} } = params
  const status = isCurrent ? 400 : 200
  if (typeof name !== 'string') throw new ProtocolError('invalidParams', 'params.name must be the name of a tool.', { status })
  if (!toolbox.has(name)) throw new ProtocolError('invalidParams', `Unknown tool: ${toShown(name)}`, { status })
  const token = meta['progressToken']
  if (typeof token === 'string' && token.length > MAX_TOKEN_CHARS)
    throw new ProtocolError('invalidParams', `params._meta.progressToken is longer than ${MAX_TOKEN_CHARS} characters.`, {
      status,
    })
  const progressToken = typeof token === 'string' || typeof token === 'number' ? token : undefined
  const { agent, caller } = context.request
  const work = { ...context, key: caller!, progressToken, stopsWithCaller: isCurrent }
  const parent = meta['traceparent'] === undefined ? context.request.headers : meta
  return context.deps.tracer.within(parent, () => toolbox.call(name, input as Json, agent, work))
}

const instructionsOf = (agent: Agent | undefined): string =>
  `${agent === undefined ? 'Agents that answer' : `The agent “${agent.name}” answers`} from documents. \`ask\` gives a reply whose [n] marks name its sources; \`search\` gives the passages themselves.${agent === undefined ? ' `list_agents` tells which agents there are.' : ''}`

/** Sends every error as JSON-RPC. The service's own errors also have their own code. */
function sendError(app: FastifyInstance, thrown: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const send = (status: number, body: Json) =>
    reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(body))
  const id = idOf(request.body)
  if (thrown instanceof ProtocolError) {
    send(thrown.status, toError(id, thrown.code, thrown.message, thrown.data))
    return
  }
  const error = toReparteeError(thrown)
  app.logFailure(request, error)
  setErrorHeaders(reply, error)
  const { code, message } = error
  const number = error.details?.[0]?.path === 'body' ? PARSE_ERROR : statusOf[code]
  send(statusOf[code], toError(id, number, message, { code, requestId: request.id }))
}

const PARSE_ERROR = -32700
