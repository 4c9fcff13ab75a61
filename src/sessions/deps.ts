import type { Knowledge } from '../core/ports/knowledge.ts'
import type { Clock, Ids, Warn } from '../core/ports/ports.ts'
import type { WebhookCache } from '../events/webhook-cache.ts'
import type { Database } from '../store/database.ts'
import type { Peers } from '../turns/peers.ts'
import type { Turns } from '../turns/turns.ts'

export interface SessionDeps {
  db: Database
  knowledge: Knowledge
  turns: Turns
  peers: Peers
  webhooks: WebhookCache
  clock: Clock
  newId: Ids
  warn: Warn
}
