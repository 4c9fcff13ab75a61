import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { endLostKeys } from '../../access/keys.ts'
import type { Contract } from '../../api/contract.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { ReparteeError } from '../../core/errors.ts'
import { newId } from '../../core/platform/ids.ts'
import { agentRoutes } from '../agents.ts'
import { auditRoutes } from '../audit.ts'
import type { Deps } from '../deps.ts'
import { documentRoutes } from '../documents.ts'
import { insightRoutes } from '../insights.ts'
import { parseJsonInTurn } from '../json/large-json.ts'
import { lazySerializer } from '../json/serializer.ts'
import { keyRoutes } from '../keys.ts'
import { mcpRoutes } from '../mcp/routes.ts'
import { messageRoutes } from '../messages.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { metricsRoute } from '../metrics/routes.ts'
import { modelRoutes } from '../models.ts'
import { admitBody, HEALTH_CHECKS, NOBODY } from '../route/admit.ts'
import { JSON_TYPE, parseJson } from '../route/body.ts'
import { AllowedOrigins } from '../route/cors.ts'
import { overloaded, statusOf, toReparteeError } from '../route/errors.ts'
import { RouteMethods } from '../route/methods.ts'
import { sendError } from '../route/send-error.ts'
import { isUpload, MULTIPART_TYPE } from '../route/upload.ts'
import { validator } from '../route/validation.ts'
import { sessionRoutes } from '../sessions.ts'
import { sourceRoutes } from '../sources.ts'
import { Attempts } from '../surfaces/attempts.ts'
import { openAiRoutes } from '../surfaces/openai.ts'
import { uiMessageRoutes } from '../surfaces/ui-messages.ts'
import { tokenRoutes } from '../tokens.ts'
import { EventStreams } from '../turns/event-stream.ts'
import { usageRoutes } from '../usage.ts'
import { userRoutes } from '../users.ts'
import { webhookRoutes } from '../webhooks.ts'
import { BufferedBytes } from './buffered-bytes.ts'
import { watchConnections } from './connections.ts'
import { watchDescriptors } from './descriptors.ts'
import { FairEntry } from './fair-entry.ts'
import { closeBehind, sliceConnections, watchRequest, withoutSmallChunks } from './framing.ts'
import { Places } from './places.ts'
import { Pressure, type Stall } from './pressure.ts'
import { type Health, serviceRoutes } from './service.ts'
import { answerBrokenRequest } from './socket-errors.ts'
import { staticRoutes } from './static.ts'
import { whenOver } from './when-over.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Counts a failed request, and logs it if the caller is not the cause. */
    logFailure(request: FastifyRequest, error: ReparteeError): void
    allowedOrigins: AllowedOrigins
    /** For large uploads: each stays in memory until it is stored. */
    uploadPlaces: Places
    /** For lists that are read as a whole: each uses a database connection until its reader has received it. */
    listPlaces: Places
    /** For searches in sessions and for insights: each reads all messages of an agent. */
    scanPlaces: Places
    /** For exports of users, and to find out whether one is short. */
    exportPlaces: Places
    shortExportPlaces: Places
    /** For JSON bodies that take more than one unit of work. */
    bodyPlaces: Places
    /** For large imports. */
    importPlaces: Places
    smallImportPlaces: Places
    bufferedBytes: BufferedBytes
    fairEntry: FairEntry
    attempts: Attempts
    /** Throws `unavailable` if an agent is overloaded. For requests whose path names no agent. */
    refuseTooMuch(agentId: string, key: ApiKey): void
    /** Closes connections without any request so far. */
    closeUnused(): void
  }
  interface FastifyRequest {
    /** Set before a body is parsed: parsers receive only the request. */
    reply?: FastifyReply
  }
}

/** Log of requests. Entries contain no message text and no API key. */
export interface AccessLog {
  request(entry: {
    requestId: string
    method: string
    route: string
    status: number
    ms: number
    keyId: string | undefined
  }): void
  failure(entry: { requestId: string; route: string }, error: unknown): void
  stalled(stall: Stall): void
}

export interface ServerOptions {
  deps: Deps
  contract: Contract
  health: Health
  log: AccessLog
  metrics: Metrics
  publicUrl: string | undefined
  /** Addresses of proxies whose `X-Forwarded-For` is trusted. */
  trustProxy: string | undefined
  /** Origins whose pages may call the API. */
  allowedOrigins: string | undefined
}

/** Blanks at the ends would be lost in the response header. */
const REQUEST_ID = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/
/** A longer header block is answered with 431. A path cannot be longer than its header block. */
const MAX_HEADER_BYTES = 16_384
const SLACK_MS = 30_000
/** Parsing this many bytes is about as much work as a small request. */
const UNIT_BYTES = 16_384

/** An agent may use two, a key that asks it one. */
const SCANS_AT_ONCE = 3
/** A key may use two. */
const EXPORTS_AT_ONCE = 4
/** Large imports. A key may run one. */
const IMPORTS_AT_ONCE = 2
const SMALL_IMPORTS_AT_ONCE = 4
/** A key may use one. */
const BODIES_AT_ONCE = 2

/** Builds the HTTP server with everything that applies to all requests. Each group of routes is in its own file. */
export function openServer(options: ServerOptions): FastifyInstance {
  const { deps, contract, health, log, metrics } = options
  const app = fastify({
    logger: false,
    trustProxy: options.trustProxy ?? false,
    genReqId: ({ headers }) => toRequestId(headers),
    // Routes read the query themselves, after the caller is admitted.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES, querystringParser: () => ({}) },
    bodyLimit: deps.limits.maxBodyBytes,
    // Schemas are compiled at first use, so that startup does not wait for unused ones. Set here, so that Fastify does not load its own compilers. The casts
    // are needed because the types are declared for Fastify's own compilers.
    schemaController: { compilersFactory: { buildValidator: () => toCheck as never, buildSerializer: () => toWriter as never } },
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
      headersTimeout: 10_000,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: 65_000,
    },
    requestTimeout: 30_000,
    // Longer than the longest wait for a response: a caller that reads nothing for so long never will.
    connectionTimeout: deps.limits.maxWaitMs + deps.limits.turnTimeoutMs + SLACK_MS,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, request, reply) => {
      watchRequest(request.raw, reply.raw)
      closeBehind(request.raw, reply.raw)
      setHeaders(reply, request.id)
      sendError(reply, request.id, toReparteeError(error))
    },
  })
  app.decorate('closeUnused', watchConnections(app.server, deps.limits.maxConnections))
  sliceConnections(app.server)
  // RFC 9110 10.1.1 leaves this to the server. Node's own refusal would lack our headers and body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(JSON_TYPE, { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    const turn = admitBody(request, Math.max(1, bytes.length / UNIT_BYTES))
    if (turn !== undefined) await turn
    return bytes.length <= UNIT_BYTES ? parseJson(bytes) : parseJsonInTurn(request, request.reply!, bytes)
  })
  app.addContentTypeParser(MULTIPART_TYPE, async (request: { routeOptions: { config: { upload?: boolean } } }) => {
    // The handler reads the file itself, as it comes in.
    if (!request.routeOptions.config.upload) throw new ReparteeError('unsupported_media_type', 'This request takes no files.')
  })
  const routeMethods = new RouteMethods()
  app.addHook('onRoute', (route) => {
    routeMethods.add(route.url, route.method)
    // The bodies of GET and HEAD are not read. A hook would cost these requests 5 % of their time.
    if (route.method === 'GET' || route.method === 'HEAD') return
    route.preParsing = (request, reply, payload, done) => {
      request.reply = reply
      done(null, isUpload(request) ? payload : withoutSmallChunks(request.raw, payload as Readable))
    }
  })
  const pressure = new Pressure({
    maxDelayMs: deps.limits.maxDelayMs,
    sharedWait: () => deps.db.waitMs(),
    wait: (asker) => deps.knowledge.waitMs(asker),
    warn: deps.warn,
    stalled: log.stalled,
  })
  const descriptors = watchDescriptors(deps.warn)
  const origins = new AllowedOrigins(options.allowedOrigins, deps.agents, options.publicUrl)
  app.addHook('onRequest', async (request, reply) => {
    watchRequest(request.raw, reply.raw)
    const { isAdmitting, health: isHealth = false } = request.routeOptions.config
    const isWellAddressed = hasOneHost(request.raw)
    if (!isAdmitting || !isWellAddressed) {
      const turn = app.fairEntry.enter(isHealth ? HEALTH_CHECKS : NOBODY)
      if (turn !== undefined) await turn
    }
    // The connection was closed while the request waited, so there is nobody to answer.
    if (request.raw.socket.destroyed) return reply.hijack()
    setHeaders(reply, request.id)
    if (request.headers.origin !== undefined) await origins.tell(request.raw, reply.raw)
    if (!isWellAddressed) {
      reply.header('connection', 'close')
      throw new ReparteeError('invalid_request', 'The request must have exactly one Host header.')
    }
    if (request.is404) {
      const methods = routeMethods.of(request.url)
      if (methods !== undefined && (await origins.isPreflight(request.raw))) {
        origins.tellPreflight(request.raw, reply.raw)
        return reply.code(204).send()
      }
      if (methods === undefined) throw new ReparteeError('route_not_found', 'There is no such route.')
      reply.header('allow', methods.join(', '))
      throw new ReparteeError('method_not_allowed', `This route takes ${methods.join(', ')}.`)
    }
    const isServing = health.state === 'ready' || health.state === 'leaving'
    if (!isServing && !isHealth) {
      reply.header('connection', 'close')
      throw new ReparteeError('unavailable', `The service is ${health.state}.`, { retryAfter: 5 })
    }
    if (!isHealth && pressure.refuses()) throw overloaded()
    // Behind a proxy that reuses connections, the next request then goes to another process.
    if (health.state === 'leaving') reply.raw.shouldKeepAlive = false
  })
  // Not while the body arrives: a slow caller is no load.
  app.addHook('preHandler', (request, reply, done) => {
    const { config: route } = request.routeOptions
    pressure.begin(route)
    whenOver(request, reply, () => pressure.end(route))
    done()
  })
  app.decorate('allowedOrigins', origins)
  app.decorate('uploadPlaces', new Places(deps.limits.uploadsAtOnce))
  app.decorate('listPlaces', new Places(deps.db.listsAtOnce))
  app.decorate('scanPlaces', new Places(SCANS_AT_ONCE))
  app.decorate('exportPlaces', new Places(EXPORTS_AT_ONCE))
  app.decorate('shortExportPlaces', new Places(EXPORTS_AT_ONCE))
  app.decorate('bodyPlaces', new Places(BODIES_AT_ONCE))
  app.decorate('importPlaces', new Places(IMPORTS_AT_ONCE))
  app.decorate('smallImportPlaces', new Places(SMALL_IMPORTS_AT_ONCE))
  app.decorate('refuseTooMuch', (agentId: string, { id: askedBy }: ApiKey) => {
    if (pressure.refusesFor({ agentId, askedBy })) throw overloaded()
  })
  app.decorate('bufferedBytes', new BufferedBytes(deps.limits.heldBytes, deps.limits.maxBodyBytes))
  app.decorate('attempts', new Attempts())
  app.decorate('fairEntry', new FairEntry())
  app.decorate('logFailure', ({ id, routeOptions }: FastifyRequest, error: ReparteeError) => {
    metrics.failed(error.code)
    if (statusOf[error.code] >= 500) log.failure({ requestId: id, route: routeOptions.url ?? 'none' }, error)
  })
  app.addHook('onSend', (request, reply, payload, done) => {
    // The connection ends with this response: a request that follows would be lost.
    if (health.state === 'stopping') reply.raw.shouldKeepAlive = false
    // A response stays in memory until the caller has read it.
    request.raw.socket.setTimeout(deps.limits.streamStallMs)
    // Fastify would read the body of a HEAD response to its end, after the response is over and has released its slot.
    if (request.method === 'HEAD' && payload instanceof Readable) payload.destroy()
    try {
      if (typeof payload === 'string') app.bufferedBytes.takeAnswer(request, reply, payload)
      done(null, payload)
    } catch (error) {
      done(error as Error)
    }
  })
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none'
    metrics.request(request.method, route, reply.statusCode, reply.elapsedTime)
    log.request({
      requestId: request.id,
      method: request.method,
      route,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 100) / 100,
      keyId: request.caller?.id,
    })
    done()
  })
  app.setErrorHandler((thrown, request, reply) => {
    const error = toReparteeError(thrown)
    app.logFailure(request, error)
    sendError(reply, request.id, error)
  })
  app.setNotFoundHandler(() => {
    throw new ReparteeError('route_not_found', 'There is no such route.')
  })
  serviceRoutes(app, options)
  metricsRoute(app, deps, metrics)
  staticRoutes(app)
  const streams = new EventStreams(deps.limits, deps.clock, deps.warn)
  metrics.watch({
    requests: () => pressure.requests,
    refused: () => pressure.refused,
    streams: () => streams.size,
    busySessions: () => deps.turns.running,
    waitingSends: () => deps.turns.waiting,
    knowledgeWaitMs: () => deps.knowledge.waitMs(),
    databaseWaitMs: () => deps.db.waitMs(),
    ingestingAgents: () => deps.knowledge.ingesting(),
    isReady: () => health.state === 'ready',
  })
  deps.keys.onEnd((keyId, at) => streams.endKey(keyId, at))
  deps.peers.onChanged(() => {
    endLostKeys(deps, streams.keyIds).catch((error: unknown) => deps.warn('keys of open streams could not be read', error))
  })
  app.addHook('onClose', async () => {
    streams.close()
    pressure.close()
    descriptors.stop()
    metrics.close()
  })
  app.register(async (mcp) => mcpRoutes(mcp, deps, streams))
  app.register(
    async (v1) => {
      for (const routes of [
        sessionRoutes,
        messageRoutes,
        agentRoutes,
        documentRoutes,
        sourceRoutes,
        insightRoutes,
        keyRoutes,
        tokenRoutes,
        userRoutes,
        usageRoutes,
        webhookRoutes,
        auditRoutes,
        modelRoutes,
      ])
        routes(v1, deps, contract, streams)
    },
    { prefix: '/v1' },
  )
  app.register(async (openAi) => openAiRoutes(openAi, deps, streams), { prefix: '/openai/v1' })
  app.register(async (aiSdk) => uiMessageRoutes(aiSdk, deps, streams), { prefix: '/ai-sdk/v1' })
  return app
}

/** RFC 9112 3.2. Node's own refusal of a missing Host header lacks our headers and body, and Node uses the first of several. */
function hasOneHost({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  let count = 0
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === 'host') count++
  return count === 1 || (count === 0 && httpVersion !== '1.1')
}

const toWriter = ({ schema }: { schema: unknown }) => lazySerializer(schema as object)

/** A body that was not sent, or that the handler reads itself, counts as `{}`. */
function toCheck({ schema }: { schema: unknown }): (data: unknown) => { value: unknown } | { error: Error } {
  const check = validator(schema as object, 'body')
  return (sent) => {
    const data = sent ?? {}
    try {
      check(data)
      return { value: data }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

function toRequestId(headers: IncomingMessage['headers']): string {
  const given = headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId()
}

/** Sets headers of the reply, not of `reply.raw`: Node checks those one by one, twice. */
function setHeaders(reply: FastifyReply, requestId: string): void {
  reply.headers({ 'x-request-id': requestId, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' })
}
