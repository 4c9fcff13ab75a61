import type { Clock, Ids } from '../core/ports/ports.ts'
import type { Database } from '../store/database.ts'
import type { WebhookCache } from './webhook-cache.ts'
import type { WebhookWorker } from './webhook-worker.ts'

export interface EventDeps {
  db: Database
  webhooks: WebhookCache
  webhookWorker: WebhookWorker
  peers: { announce(announcement: { changed: true }): void }
  clock: Clock
  newId: Ids
}
