import type { Models } from '../core/ports/model.ts'
import type { Clock, Ids, Warn } from '../core/ports/ports.ts'
import type { Prices } from '../models/prices.ts'
import type { Database } from '../store/database.ts'
import type { KeyCache } from './key-cache.ts'

/** What calls of models on account of a budget work with. */
export interface SpendingDeps {
  db: Database
  models: Models
  prices: Prices
  clock: Clock
  warn: Warn
}

/** What keys, tokens, budgets and the audit log work with. */
export interface AccessDeps extends SpendingDeps {
  keys: KeyCache
  peers: { announce(announcement: { changed: true }): void }
  newId: Ids
}
