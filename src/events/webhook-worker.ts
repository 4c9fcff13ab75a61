import { setTimeout as pause } from 'node:timers/promises'
import type { Clock } from '../core/ports/ports.ts'
import { type Delivery, TEST_EVENT, type Webhook } from '../core/webhook.ts'
import type { Database } from '../store/database.ts'
import { claimDue, dropDelivery, endAttempt, isAnyDue } from '../store/tables/deliveries.ts'
import type { WebhookCache } from './webhook-cache.ts'

/** The result of an attempt: the response status, or the reason why there was none. */
export type Posted = { status: number } | { failed: string }

export interface WebhookWorkerParts {
  db: Database
  webhooks: WebhookCache
  clock: Clock
  /** Returns a number from 0 to 1. */
  random: () => number
  /** The delays before each retry. */
  retryAfterMs: readonly number[]
  /** Must be longer than any attempt takes. */
  claimMs: number
  /** Resolves to the payload. Undefined if there is nothing left to report. */
  bodyOf(delivery: Delivery): Promise<string | undefined>
  post(webhook: Webhook, delivery: Delivery, body: string, signal: AbortSignal): Promise<Posted>
  /** Disables a webhook whose receiver is permanently gone. */
  disable(webhook: Webhook): Promise<void>
  warn(about: string, error?: unknown): void
}

/** The most concurrent attempts for one webhook. A slow one does not delay the others. */
const AT_ONCE = 8
/** The delay after an event is queued, so that it is committed before the check. */
const WAKE_MS = 20
/** Polls because other processes queue events too, and retries become due. */
const LOOK_EVERY_MS = 1_000
/** Delays are extended by up to this share, so that a recovered receiver does not get all retries at once. */
const JITTER = 0.2
const GONE = 410

/** Delivers queued webhook events at least once. An attempt that a crash interrupts is repeated when its claim expires. */
export class WebhookWorker {
  readonly #parts: WebhookWorkerParts
  readonly #running = new Map<string, number>()
  /** The agent whose turn was last, by webhook. */
  readonly #lastAgent = new Map<string, string>()
  readonly #attempts = new Set<Promise<unknown>>()
  readonly #stop = new AbortController()
  #timer: NodeJS.Timeout | undefined
  #wakeTimer: NodeJS.Timeout | undefined
  #looking: Promise<void> | undefined
  #isFailing = false

  constructor(parts: WebhookWorkerParts) {
    this.#parts = parts
    parts.webhooks.onQueued(() => this.wake())
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS)
    this.#look()
  }

  wake(): void {
    if (this.#timer === undefined || this.#stop.signal.aborted) return
    this.#wakeTimer ??= setTimeout(() => {
      this.#wakeTimer = undefined
      // A running check may have missed the new event.
      if (this.#looking === undefined) this.#look()
      else this.#looking.then(() => this.wake())
    }, WAKE_MS)
  }

  /** Makes one attempt now. `claim` stores the delivery, claimed until a time. */
  async attempt(webhook: Webhook, claim: (now: number, until: number) => Promise<Delivery>): Promise<Delivery> {
    const now = this.#parts.clock()
    return this.#attempt(webhook, await claim(now, now + this.#parts.claimMs))
  }

  /** Aborts running attempts. The next process repeats them. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    clearTimeout(this.#wakeTimer)
    this.#stop.abort()
    await this.#looking
    await Promise.all(this.#attempts)
  }

  #look(): void {
    this.#looking ??= this.#takeDue()
      .then(
        () => {
          this.#isFailing = false
        },
        (error: unknown) => {
          // Logged once per outage, not every second while the database is unavailable.
          if (!this.#isFailing) this.#parts.warn('what is to be delivered to webhooks could not be read', error)
          this.#isFailing = true
        },
      )
      .finally(() => {
        this.#looking = undefined
      })
  }

  async #takeDue(): Promise<void> {
    const { db, webhooks, clock, claimMs } = this.#parts
    const all = await webhooks.list()
    const listed = new Set(all.map(({ id }) => id))
    for (const id of this.#lastAgent.keys()) if (!listed.has(id)) this.#lastAgent.delete(id)
    for (const webhook of all) {
      const free = AT_ONCE - (this.#running.get(webhook.id) ?? 0)
      if (this.#stop.signal.aborted || webhook.disabledAt !== null || free <= 0) continue
      const now = clock()
      if (!(await isAnyDue(db, webhook.id, now))) continue
      const after = this.#lastAgent.get(webhook.id) ?? ''
      const due = await claimDue(db, webhook.id, { now, claimedUntil: now + claimMs, most: free, after })
      if (due.length > 0) this.#lastAgent.set(webhook.id, due.at(-1)!.agentId)
      for (const delivery of due) this.#begin(webhook, delivery)
    }
  }

  #begin(webhook: Webhook, delivery: Delivery): void {
    this.#running.set(webhook.id, (this.#running.get(webhook.id) ?? 0) + 1)
    const attempt = this.#attempt(webhook, delivery)
      .catch((error: unknown) => this.#parts.warn('a delivery to a webhook could not be made', error))
      .finally(() => {
        this.#attempts.delete(attempt)
        const running = this.#running.get(webhook.id)! - 1
        if (running > 0) this.#running.set(webhook.id, running)
        else this.#running.delete(webhook.id)
        this.wake()
      })
    this.#attempts.add(attempt)
  }

  async #attempt(webhook: Webhook, delivery: Delivery): Promise<Delivery> {
    const { db, bodyOf, post, disable, clock } = this.#parts
    const body = await bodyOf(delivery)
    if (body === undefined) {
      await dropDelivery(db, delivery)
      return delivery
    }
    const posted = await post(webhook, delivery, body, this.#stop.signal)
    const outcome = this.#stop.signal.aborted && 'failed' in posted ? cutOff(delivery, clock()) : this.#judge(delivery, posted)
    await this.#keep(delivery, outcome)
    if (outcome.responseStatus === GONE && webhook.disabledAt === null) await disable(webhook)
    return { ...delivery, ...outcome }
  }

  /** Stores the outcome. Retries once, so that a short database outage does not lose it. */
  async #keep(delivery: Delivery, outcome: Outcome): Promise<void> {
    try {
      await endAttempt(this.#parts.db, delivery, outcome)
    } catch {
      await pause(LOOK_EVERY_MS)
      await endAttempt(this.#parts.db, delivery, outcome)
    }
  }

  #judge({ attempts, event }: Delivery, posted: Posted): Outcome {
    const responseStatus = 'status' in posted ? posted.status : null
    if (responseStatus !== null && responseStatus >= 200 && responseStatus < 300)
      return { state: 'delivered', nextAt: null, responseStatus, error: null, attempts }
    const error = 'failed' in posted ? posted.failed : `was answered with status ${posted.status}`
    const delay = this.#parts.retryAfterMs[attempts - 1]
    if (delay === undefined || responseStatus === GONE || event === TEST_EVENT)
      return { state: 'failed', nextAt: null, responseStatus, error, attempts }
    const nextAt = this.#parts.clock() + Math.round(delay * (1 + JITTER * this.#parts.random()))
    return { state: 'waiting', nextAt, responseStatus, error, attempts }
  }
}

type Outcome = Pick<Delivery, 'state' | 'nextAt' | 'responseStatus' | 'error' | 'attempts'>

/** Returns the outcome of an attempt that the end of this process interrupted. It does not count, and is due again at once. */
const cutOff = ({ attempts, error }: Delivery, now: number): Outcome => ({
  state: 'waiting',
  nextAt: now,
  responseStatus: null,
  error,
  attempts: attempts - 1,
})
