import type { Clock, Ids } from '../core/ports/ports.ts'
import type { Happened, Webhook, WebhookEvent } from '../core/webhook.ts'
import type { Database, Statement } from '../store/database.ts'
import { queueEvent, queueFailedTurns } from '../store/tables/deliveries.ts'
import { listWebhooks } from '../store/tables/webhooks.ts'

/** Caches the webhooks. Most deployments have none, and then no events are written. Code that changes a webhook must call `forget`. */
export class WebhookCache {
  readonly #db: Database
  readonly #clock: Clock
  readonly #newId: Ids
  #held: Webhook[] = []
  #isCurrent = false
  #generation = 0
  #wake: () => void = () => {}

  constructor(db: Database, clock: Clock, newId: Ids) {
    this.#db = db
    this.#clock = clock
    this.#newId = newId
  }

  /** Resolves to the current webhooks. */
  async list(): Promise<Webhook[]> {
    while (!this.#isCurrent) {
      const generation = this.#generation
      const read = await listWebhooks(this.#db)
      this.#held = read
      // If they changed during the read, they are read again.
      this.#isCurrent = generation === this.#generation
    }
    return this.#held
  }

  forget(): void {
    this.#generation++
    this.#isCurrent = false
    this.#wake()
  }

  /** Calls back when something may have to be delivered. */
  onQueued(wake: () => void): void {
    this.#wake = wake
  }

  /** Returns statements for the transaction of the event. While the cache is not current, the statement itself finds the webhooks. */
  queue(happened: Happened): Statement[] {
    if (!this.#isWanted(happened.event, happened.agentId)) return []
    this.#wake()
    return [queueEvent(this.#newId(), happened, this.#clock())]
  }

  /** Returns statements for the failed turns of sessions that a settler has leased. */
  queueFailed(settler: string): Statement[] {
    if (!this.#isWanted('turn.failed')) return []
    this.#wake()
    return [queueFailedTurns(this.#newId(), settler, this.#clock())]
  }

  /** Returns true if a webhook wants the event of an agent, or of any agent. */
  #isWanted(event: WebhookEvent, agentId?: string): boolean {
    if (!this.#isCurrent) return true
    return this.#held.some(
      ({ events, agentIds, disabledAt }) =>
        disabledAt === null &&
        events.includes(event) &&
        (agentId === undefined || agentIds === null || agentIds.includes(agentId)),
    )
  }
}
