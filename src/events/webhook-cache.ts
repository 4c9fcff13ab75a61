import type { Clock, Ids } from '../core/ports/ports.ts'
import type { Happened, Webhook, WebhookEvent } from '../core/webhook.ts'
import type { Database, Statement } from '../store/database.ts'
import { queueEvent, queueFailedTurns } from '../store/tables/deliveries.ts'
import { listWebhooks } from '../store/tables/webhooks.ts'

/** Remembers the webhooks: most deployments have none, and then nothing is written for them. Whoever changes one forgets them here. */
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

  /** As they are now. */
  async list(): Promise<Webhook[]> {
    while (!this.#isCurrent) {
      const generation = this.#generation
      const read = await listWebhooks(this.#db)
      this.#held = read
      // Those that were changed while they were being read are read again.
      this.#isCurrent = generation === this.#generation
    }
    return this.#held
  }

  forget(): void {
    this.#generation++
    this.#isCurrent = false
    this.#wake()
  }

  /** Called when something may have to be delivered. */
  onQueued(wake: () => void): void {
    this.#wake = wake
  }

  /** To be written together with what happened. As long as it is not known which webhooks there are, it is left to the statement to find out. */
  queue(happened: Happened): Statement[] {
    if (!this.#isWanted(happened.event, happened.agentId)) return []
    this.#wake()
    return [queueEvent(this.#newId(), happened, this.#clock())]
  }

  /** The same of the turns whose sessions a settler holds. */
  queueFailed(settler: string): Statement[] {
    if (!this.#isWanted('turn.failed')) return []
    this.#wake()
    return [queueFailedTurns(this.#newId(), settler, this.#clock())]
  }

  /** Of an agent, or of whichever. */
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
