import { type ErrorCode, errorCodes } from '../../core/errors.ts'
import { version } from '../../core/platform/version.ts'
import type { Meters, ModelCallFigures, Outcome } from '../../core/ports/meters.ts'
import { splitModelName } from '../../core/ports/model.ts'
import { processMetrics } from './process.ts'
import { Registry } from './registry.ts'

const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
const MODEL_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120]
const RETRIEVAL_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const DATABASE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

/** Values that are read when the metrics are rendered. */
export interface Gauges {
  /** Running requests. */
  requests: () => number
  /** Requests that were refused because of overload. */
  refused: () => number
  streams: () => number
  busySessions: () => number
  waitingSends: () => number
  knowledgeWaitMs: () => number
  databaseWaitMs: () => number
  /** Agents with documents that are not indexed yet. */
  ingestingAgents: () => number
  isReady: () => boolean
}

/** Model names that become labels. All other models of a provider share the label `PROVIDER/other`. */
const MOST_MODEL_LABELS = 500

/** The metrics of this process, for Prometheus. Labels are routes, models and codes: these are few, and never a text or an id. */
export class Metrics implements Meters {
  readonly #registry = new Registry()
  #stop: (() => void) | undefined
  readonly #requests = this.#registry.histogram(
    'repartee_http_request_duration_seconds',
    'Requests, until their answer is out.',
    REQUEST_SECONDS,
    ['method', 'route', 'status'],
  )
  // Prometheus sees no increase in a series that appears with 1: an alert would miss the first event.
  readonly #failures = this.#registry.counter(
    'repartee_failures_total',
    'Errors that callers received, by code.',
    ['code'],
    errorCodes,
  )
  readonly #turns = this.#registry.histogram(
    'repartee_turn_duration_seconds',
    'Turns, from when the message is stored until its sender is told.',
    MODEL_SECONDS,
    ['outcome'],
  )
  readonly #firstText = this.#registry.histogram(
    'repartee_turn_first_text_seconds',
    'From when a message is stored until the first text of its reply.',
    MODEL_SECONDS,
  )
  readonly #modelCalls = this.#registry.histogram(
    'repartee_model_call_duration_seconds',
    'Calls of language models.',
    MODEL_SECONDS,
    ['provider', 'outcome'],
  )
  readonly #modelFirstText = this.#registry.histogram(
    'repartee_model_first_text_seconds',
    'From the call of a language model until its first text.',
    MODEL_SECONDS,
    ['provider'],
  )
  readonly #models = new Set<string>()
  readonly #tokens = this.#registry.counter('repartee_model_tokens_total', 'Tokens; cached are a part of those in.', [
    'model',
    'kind',
  ])
  readonly #cost = this.#registry.counter('repartee_model_cost_dollars_total', 'What models cost, where the price is known.', [
    'model',
  ])
  readonly #embeddings = this.#registry.histogram(
    'repartee_embedding_call_duration_seconds',
    'Calls of embedding models.',
    MODEL_SECONDS,
    ['provider', 'outcome'],
  )
  readonly #retrievals = this.#registry.histogram(
    'repartee_retrieval_duration_seconds',
    'Searches of a knowledge base, for a reply or by themselves.',
    RETRIEVAL_SECONDS,
  )
  readonly #documents = this.#registry.counter(
    'repartee_documents_total',
    'Documents that were indexed, or could not be.',
    ['outcome'],
    ['ready', 'failed'],
  )
  readonly #database = this.#registry.histogram(
    'repartee_database_duration_seconds',
    'Reads and transactions of the store, with the time that they waited.',
    DATABASE_SECONDS,
    ['kind'],
  )
  readonly #databaseFailures = this.#registry.counter(
    'repartee_database_failures_total',
    'Database operations that failed.',
    ['kind'],
    ['read', 'write'],
  )

  constructor() {
    this.#registry.info('repartee_build_info', 'Which program this is.', { version, node: process.version })
  }

  /** Registers the metrics that are read instead of counted. */
  watch(standing: Gauges): void {
    const gauge = (name: string, help: string, read: () => number) => this.#registry.gauge(`repartee_${name}`, help, read)
    gauge('ready', '1 while requests are taken.', () => (standing.isReady() ? 1 : 0))
    gauge('http_requests_in_progress', 'Requests that are being worked on.', standing.requests)
    gauge('event_streams', 'Event streams that are open.', standing.streams)
    gauge('sessions_busy', 'Sessions in which a turn runs.', standing.busySessions)
    gauge('sends_waiting', 'Messages that wait for the turn before them in their session.', standing.waitingSends)
    gauge('ingesting_agents', 'Agents with documents that are still to be indexed.', standing.ingestingAgents)
    gauge(
      'knowledge_wait_seconds',
      'How long the oldest question to a knowledge base has waited.',
      () => standing.knowledgeWaitMs() / 1_000,
    )
    gauge(
      'database_wait_seconds',
      'How long the oldest statement has waited to be begun.',
      () => standing.databaseWaitMs() / 1_000,
    )
    this.#registry.total(
      'repartee_requests_shed_total',
      'Requests that were refused because more came in than could be done.',
      standing.refused,
    )
  }

  request(method: string, route: string, status: number, ms: number): void {
    this.#requests.observe(ms / 1_000, method, route, String(status))
  }

  failed(code: ErrorCode): void {
    this.#failures.add(1, code)
  }

  turnEnded(outcome: Outcome | 'cancelled', ms: number, firstTextMs: number | undefined): void {
    this.#turns.observe(ms / 1_000, outcome)
    if (firstTextMs !== undefined) this.#firstText.observe(firstTextMs / 1_000)
  }

  modelCalled({ model, outcome, ms, firstTextMs, usage, cost }: ModelCallFigures): void {
    const [provider] = splitModelName(model)
    this.#modelCalls.observe(ms / 1_000, provider, outcome)
    if (firstTextMs !== undefined) this.#modelFirstText.observe(firstTextMs / 1_000, provider)
    const label = this.#labelOf(provider, model)
    if (cost !== null) this.#cost.add(cost, label)
    if (usage === null) return
    this.#tokens.add(usage.tokensIn, label, 'in')
    this.#tokens.add(usage.tokensOut, label, 'out')
    if (usage.tokensCached > 0) this.#tokens.add(usage.tokensCached, label, 'cached')
  }

  /** Agents may name any number of models, and a gateway accepts all of them. */
  #labelOf(provider: string, model: string): string {
    if (this.#models.has(model)) return model
    if (this.#models.size >= MOST_MODEL_LABELS) return `${provider}/other`
    this.#models.add(model)
    return model
  }

  embedded(model: string, outcome: Outcome, ms: number): void {
    this.#embeddings.observe(ms / 1_000, splitModelName(model)[0], outcome)
  }

  retrieved(ms: number): void {
    this.#retrievals.observe(ms / 1_000)
  }

  documentEnded(outcome: 'ready' | 'failed'): void {
    this.#documents.add(1, outcome)
  }

  databaseUsed(kind: 'read' | 'write', isFailed: boolean, ms: number): void {
    this.#database.observe(ms / 1_000, kind)
    if (isFailed) this.#databaseFailures.add(1, kind)
  }

  render(): string {
    // If nobody reads the metrics, nothing is watched.
    this.#stop ??= processMetrics(this.#registry)
    return this.#registry.render()
  }

  close(): void {
    this.#stop?.()
  }
}
