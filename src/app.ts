import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { KeyCache } from './access/key-cache.ts'
import { ensureAdminKey } from './access/keys.ts'
import { Rate, type Rates, type TakeShared } from './access/rates.ts'
import { openTokenSecret } from './access/user-token.ts'
import { AgentCache } from './agents/agent-cache.ts'
import { contract } from './api/contract.ts'
import { type Config, ConfigError, parseSeconds } from './config/config.ts'
import { readPrices } from './config/price-table.ts'
import { defaultEmbeddingModel, providersOf } from './config/providers.ts'
import { traceSettingsOf } from './config/trace-settings.ts'
import { newId } from './core/platform/ids.ts'
import { whyUnusable } from './core/ports/model.ts'
import { noTracer } from './core/ports/tracer.ts'
import { Background } from './events/background.ts'
import { DocumentEvents } from './events/document-events.ts'
import { WebhookCache } from './events/webhook-cache.ts'
import { WebhookWorker } from './events/webhook-worker.ts'
import { setDisabled } from './events/webhooks.ts'
import type { Deps } from './http/deps.ts'
import { Metrics } from './http/metrics/metrics.ts'
import { Listeners } from './http/server/listeners.ts'
import { openServer } from './http/server/server.ts'
import type { Health } from './http/server/service.ts'
import { postWebhook, webhookBody } from './http/webhook-post.ts'
import { openKnowledge } from './knowledge/knowledge.ts'
import { openLog, toLogged } from './log.ts'
import { guardModels, guardReranker } from './models/guard.ts'
import { openModels } from './models/models.ts'
import { openReranker } from './models/reranker.ts'
import { watchModels } from './models/watch-models.ts'
import { type FetchRules, parseHosts } from './net/guarded-fetch.ts'
import { KnowledgeEmbedder } from './retrieval/embed-knowledge.ts'
import { QuestionVectors } from './retrieval/question-vectors.ts'
import type { Database } from './store/database.ts'
import { meterDatabase } from './store/metered.ts'
import { lockFolder } from './store/sqlite/lock.ts'
import { SqliteDatabase } from './store/sqlite/sqlite-database.ts'
import { findAgent } from './store/tables/agents.ts'
import { releaseLapsedClaims } from './store/tables/idempotency.ts'
import { takeFromWindow } from './store/tables/processes/rate-windows.ts'
import { failLapsedTurns } from './store/tables/turns.ts'
import type { OpenTracer } from './traces/open.ts'
import { NoPeers, type Peers } from './turns/peers.ts'
import type { Replicas } from './turns/replicas.ts'
import { Turns } from './turns/turns.ts'
import { startUpkeep } from './upkeep.ts'

export interface App {
  deps: Deps
  /** The admin key that this start created, if there was none. Must be shown once. */
  newAdminKey: string | undefined
  /** Resolves to the address on which the service listens. */
  listen(): Promise<string>
  /** Lets running turns finish, then closes everything in reverse order of opening. */
  close(): Promise<void>
}

/** Builds the service from its settings. All wiring is here. Throws if the data folder cannot be used. */
export async function openApp(config: Config): Promise<App> {
  const opened = new AsyncDisposableStack()
  try {
    return await open(config, opened)
  } catch (error) {
    // Open resources would keep the process alive.
    await opened.disposeAsync().catch(() => {})
    throw error
  }
}

/** `opened`: gets everything that must be closed, in the order of opening. */
async function open(config: Config, opened: AsyncDisposableStack): Promise<App> {
  const log = openLog(config.logLevel ?? 'info')
  const warn = (about: string, error?: unknown) => log.warn(error === undefined ? {} : { err: toLogged(error) }, about)
  // Readable only by the owner, because it contains conversations.
  mkdirSync(config.data, { recursive: true, mode: 0o700 })
  const lock = lockFolder(config.data)
  opened.defer(() => lock.release())
  const metrics = new Metrics()
  const traces = await openTraces(config, warn)
  opened.defer(() => traces?.close())
  const tracer = traces?.tracer ?? noTracer
  const db = meterDatabase(await openDatabase(config, warn), metrics)
  opened.defer(() => db.close())
  const agents = new AgentCache(db)
  const keys = new KeyCache(db, Date.now, await openTokenSecret(db, config.tokenSecret))
  const webhooks = new WebhookCache(db, Date.now, newId)
  const replicas = await joinReplicas(config, db, { agents, keys, webhooks }, warn)
  const peers: Peers = replicas ?? new NoPeers(newId, () => recover(deps))
  opened.defer(() => peers.close())
  const knowledge = openKnowledge({
    place:
      config.databaseUrl === undefined
        ? { folder: join(config.data, 'knowledge') }
        : {
            postgres: {
              url: config.databaseUrl,
              pooler: config.databasePooler,
              holder: replicas!.id,
              nearFrom: config.pgvectorFrom,
            },
          },
    ids: newId,
    fetch: fetchRulesOf(config),
    read: { timeoutMs: config.readTimeoutMs, memoryMb: config.readMemoryMb },
    crawlDelayMs: config.crawlDelayMs,
    siteTurnMs: config.siteTurnMs,
    warn,
  })
  opened.defer(() => knowledge.close())
  knowledge.onDocumentEnded((outcome) => metrics.documentEnded(outcome))
  const prices = readPrices(config)
  const parts: Omit<Deps, 'embedder'> = {
    db,
    knowledge,
    models: watchModels(
      guardModels(openModels(providersOf(config), knowledge, Date.now, config.modelFolder), config, () => performance.now()),
      { meters: metrics, tracer, prices },
    ),
    agents,
    keys,
    turns: new Turns(config, newId, peers),
    peers,
    webhooks,
    webhookWorker: webhookWorkerOf(config, { db, knowledge, webhooks, peers, warn }),
    rates: ratesOf(config, replicas && ((id, ask) => takeFromWindow(db, id, ask))),
    questionVectors: new QuestionVectors(),
    background: new Background(warn),
    prices,
    meters: metrics,
    tracer,
    reranker: rerankerOf(config),
    limits: config,
    defaultModel: config.model,
    defaultEmbeddingModel: defaultEmbeddingModel(config),
    clock: Date.now,
    random: Math.random,
    newId,
    warn,
  }
  opened.defer(() => parts.background.close())
  opened.defer(() => parts.webhookWorker.close())
  const embedder = new KnowledgeEmbedder(parts)
  opened.defer(() => embedder.close())
  const documentEvents = new DocumentEvents(parts)
  const deps: Deps = { ...parts, embedder }
  checkDefaultModel(deps)
  await peers.start(deps.turns)
  const newAdminKey = await ensureAdminKey(deps, config.adminKey)
  knowledge.onIndexed((agentId) => {
    embedder.wake(agentId)
    documentEvents.wake(agentId)
  })
  await knowledge.start()
  deps.webhookWorker.start()
  deps.background.run('document events could not be checked', () => documentEvents.wakeAll())
  deps.background.run('agents could not be looked through', () => embedder.start())

  const upkeep = startUpkeep({ ...deps, documentEvents })
  opened.defer(() => upkeep.stop())
  const health: Health = { state: 'starting' }
  const server = openServer({
    deps,
    contract: contract(config),
    health,
    publicUrl: config.publicUrl,
    trustProxy: config.trustProxy,
    metrics,
    allowedOrigins: config.allowedOrigins,
    log: {
      request: (entry) => log.info(entry, 'request'),
      failure: (entry, error) => log.error({ ...entry, err: toLogged(error) }, 'failure'),
      // Short delays are common while a small machine loads code, so they are no warning.
      stalled: (stall) => log[stall.ms < WARN_OF_STALL_MS ? 'info' : 'warn'](stall, 'event loop delayed'),
    },
  })
  const listeners = new Listeners(server, warn)
  return {
    deps,
    newAdminKey,
    async listen() {
      const address = await listeners.open(config.host, config.port)
      health.state = 'ready'
      return address
    },
    async close() {
      if (config.leaveMs > 0) await leave(listeners, health, config.leaveMs)
      health.state = 'stopping'
      await drain(deps, server, listeners, config.drainMs)
      await opened.disposeAsync()
    },
  }
}

async function openDatabase(config: Config, warn: Deps['warn']): Promise<Database> {
  const { data, databaseUrl: url, databaseConnections: connections, databasePooler: pooler } = config
  if (url === undefined) return new SqliteDatabase(data, { warn })
  const { PostgresDatabase } = await import('./store/postgres/postgres-database.ts')
  return await PostgresDatabase.open({ url, connections, pooler, warn })
}

/** Resolves to undefined, without loading the module, if no collector is configured. */
async function openTraces(config: Config, warn: Deps['warn']): Promise<OpenTracer | undefined> {
  const settings = traceSettingsOf(config)
  if (settings === undefined) return undefined
  const { openTracer } = await import('./traces/open.ts')
  return openTracer(settings, warn)
}

/** Resolves to undefined if no other process uses the database. */
async function joinReplicas(
  config: Config,
  db: Database,
  books: { agents: AgentCache; keys: KeyCache; webhooks: WebhookCache },
  warn: Deps['warn'],
): Promise<Replicas | undefined> {
  const { databaseUrl: url, databasePooler: pooler } = config
  if (url === undefined) return undefined
  const { PostgresPresence } = await import('./store/postgres/presence.ts')
  const { Replicas } = await import('./turns/replicas.ts')
  const hear = (text: string) => replicas.hear(text)
  const presence = pooler ? undefined : new PostgresPresence({ url, db, onMessage: hear, warn })
  const replicas = new Replicas(newId(), { db, ...books, limits: config, clock: Date.now, newId, presence, warn })
  await presence?.open().catch(async (error: unknown) => {
    await presence.close()
    throw error
  })
  return replicas
}

/** `shared` counts the requests of all processes. */
function ratesOf(config: Config, shared: TakeShared | undefined): Rates | undefined {
  if (!config.rateLimit) return undefined
  return {
    key: new Rate('key', config.keyRequestsPerMinute, Date.now, shared),
    user: new Rate('user', config.userSendsPerMinute, Date.now, shared),
    address: new Rate('address', config.badKeysPerMinute, Date.now),
  }
}

const WARN_OF_STALL_MS = 1_000

const rerankerOf = (config: Config) => {
  const { rerankUrl: url, rerankModel: model, rerankApiKey: apiKey } = config
  return url === undefined ? undefined : guardReranker(openReranker({ url, model, apiKey }), config, () => performance.now())
}

/** The claim on a delivery must outlast any attempt and the write of its result. */
const CLAIM_MARGIN_MS = 5_000

function webhookWorkerOf(config: Config, deps: Pick<Deps, 'db' | 'knowledge' | 'webhooks' | 'peers' | 'warn'>): WebhookWorker {
  const { webhookTimeoutMs: timeoutMs } = config
  const rules: FetchRules = { ...fetchRulesOf(config), headTimeoutMs: timeoutMs, timeoutMs }
  return new WebhookWorker({
    ...deps,
    clock: Date.now,
    random: Math.random,
    retryAfterMs: parseSeconds(config.webhookRetrySeconds)!.map((seconds) => seconds * 1_000),
    claimMs: timeoutMs + CLAIM_MARGIN_MS,
    bodyOf: (delivery) => webhookBody(deps, delivery),
    post: (webhook, delivery, body, signal) => postWebhook(rules, webhook, delivery, body, Date.now(), signal),
    disable: (webhook) => setDisabled(deps, webhook.id, Date.now()),
  })
}

const fetchRulesOf = (config: Config): FetchRules => ({
  allow: parseHosts(config.fetchAllow)!,
  maxBytes: config.maxUploadBytes,
  headTimeoutMs: Math.ceil(config.fetchTimeoutMs / 3),
  timeoutMs: config.fetchTimeoutMs,
  userAgent: config.publicUrl === undefined ? 'Repartee' : `Repartee (+${new URL(config.publicUrl).href.replace(/\/$/, '')})`,
})

/** Ends the turns and claims that earlier processes left open, in a folder that no other process uses. */
async function recover(deps: Deps): Promise<void> {
  const { db, webhooks, warn } = deps
  await releaseLapsedClaims(db, Number.MAX_SAFE_INTEGER)
  const settler = newId()
  const failed = await failLapsedTurns(db, Number.MAX_SAFE_INTEGER, settler, webhooks.queueFailed(settler))
  if (failed > 0) warn(`${failed} turns that a crash cut off are marked as failed`)
  await removeOrphans(deps)
}

/** Removes data of deleted agents that an interrupted deletion left. */
async function removeOrphans({ db, knowledge, warn }: Deps): Promise<void> {
  for (const agentId of knowledge.agents()) {
    if ((await findAgent(db, agentId)) !== undefined) continue
    warn(`the knowledge base of agent ${agentId}, which is deleted, is removed`)
    await knowledge.deleteAgent(agentId)
  }
}

/** Stops the start if no agent could use the default model. */
function checkDefaultModel({ models, defaultModel }: Deps): void {
  const why = whyUnusable(models.find, defaultModel)
  if (why !== undefined) throw new ConfigError([`REPARTEE_MODEL ${why}`])
}

/** Time for requests on connections that were just opened. */
const LAST_REQUESTS_MS = 500

/** Prepares to stop: requests are still served, but each response closes its connection. At the end, no new connections are accepted. */
async function leave(listeners: Listeners, health: Health, ms: number): Promise<void> {
  health.state = 'leaving'
  await pause(ms)
  await listeners.acceptWaiting()
  listeners.stop()
  await pause(LAST_REQUESTS_MS)
}

/** Time to send the responses of turns that were stopped. */
const LAST_WORDS_MS = 1_000

/**
 * Accepts no new connections and closes idle ones. Turns that are running at the limit are stopped, and can be continued later.
 * Clients that have not read their response, or not sent their request, are then disconnected.
 */
async function drain(deps: Deps, server: FastifyInstance, listeners: Listeners, limitMs: number): Promise<void> {
  const begunAt = performance.now()
  const idle = setInterval(() => {
    server.server.closeIdleConnections()
    if (performance.now() - begunAt > LAST_REQUESTS_MS) server.closeUnused()
  }, 100)
  const limit = setTimeout(() => deps.turns.close(), limitMs)
  const end = setTimeout(() => server.server.closeAllConnections(), limitMs + LAST_WORDS_MS)
  await listeners.close()
  await deps.turns.idle() // includes turns whose client disconnected
  clearTimeout(end)
  clearTimeout(limit)
  clearInterval(idle)
}
