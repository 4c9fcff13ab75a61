import { setTimeout as pause } from 'node:timers/promises'
import type { EndedSpan } from './otlp.ts'

export interface ExporterOptions {
  url: string
  headers: Record<string, string>
  /** The maximum time that spans wait for a batch. */
  everyMs: number
  /** Of one export request. */
  timeoutMs: number
  toBody: (spans: readonly EndedSpan[]) => string
  warn: (about: string, error?: unknown) => void
}

/** OpenTelemetry's batch defaults. */
const MAX_WAITING = 2_048
const MAX_BATCH = 512
const TRIES = 4
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
const LAST_WORDS_MS = 2_000
/** The statuses that OTLP/HTTP allows to retry. */
const RETRYABLE = [429, 502, 503, 504]

/** Sends spans to a collector in batches. No request waits for it, and its queue is limited. */
export class Exporter {
  readonly #options: ExporterOptions
  readonly #stop = new AbortController()
  #waiting: EndedSpan[] = []
  #sending: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #isFailing = false

  constructor(options: ExporterOptions) {
    this.#options = options
  }

  add(span: EndedSpan): void {
    if (this.#waiting.length < MAX_WAITING) this.#waiting.push(span)
    else this.#lose(1)
    if (this.#waiting.length >= MAX_BATCH) this.#send()
    else this.#timer ??= setTimeout(() => this.#send(), this.#options.everyMs).unref()
  }

  /** Sends the queued spans, within a short timeout. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    this.#stop.abort()
    await this.#sending
    const last = this.#waiting.splice(0)
    if (last.length > 0)
      await this.#post(last, AbortSignal.timeout(LAST_WORDS_MS)).catch((error: unknown) => this.#lose(last.length, error))
  }

  #send(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined
    })
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#stop.signal.aborted) {
      const batch = this.#waiting.splice(0, MAX_BATCH)
      try {
        await this.#sendBatch(batch)
        this.#isFailing = false
      } catch (error) {
        // A batch that `close` interrupts is sent with the last one.
        if (this.#stop.signal.aborted) this.#waiting.unshift(...batch)
        else this.#lose(batch.length, error)
      }
    }
  }

  async #sendBatch(batch: readonly EndedSpan[]): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        const timeout = AbortSignal.timeout(this.#options.timeoutMs)
        return await this.#post(batch, AbortSignal.any([timeout, this.#stop.signal]))
      } catch (error) {
        const isFinal = error instanceof Refused && !RETRYABLE.includes(error.status)
        if (isFinal || tries === TRIES || this.#stop.signal.aborted) throw error
        const asked = error instanceof Refused ? error.retryAfterMs : 0
        const waitMs = Math.max(asked, FIRST_PAUSE_MS * 2 ** (tries - 1))
        await pause(Math.min(waitMs, LONGEST_PAUSE_MS), undefined, { signal: this.#stop.signal, ref: false }).catch(() => {})
      }
    }
  }

  async #post(batch: readonly EndedSpan[], signal: AbortSignal): Promise<void> {
    const { url, headers, toBody } = this.#options
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: toBody(batch),
      redirect: 'error',
      signal,
    })
    await response.body?.cancel()
    if (!response.ok) throw new Refused(response.status, Number(response.headers.get('retry-after') ?? 0) * 1_000 || 0)
  }

  /** Logs lost spans once, until an export succeeds again. */
  #lose(count: number, why?: unknown): void {
    if (this.#isFailing) return
    this.#isFailing = true
    this.#options.warn(`${count} spans or more could not be sent to the collector of traces`, why)
  }
}

class Refused extends Error {
  readonly status: number
  readonly retryAfterMs: number

  constructor(status: number, retryAfterMs: number) {
    super(`the collector answered ${status}`)
    this.status = status
    this.retryAfterMs = retryAfterMs
  }
}
