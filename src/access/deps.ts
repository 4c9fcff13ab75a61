import type { Models } from '../core/ports/model.ts'
import type { Clock, Ids, Warn } from '../core/ports/ports.ts'
import type { Prices } from '../models/prices.ts'
import type { Database } from '../store/database.ts'
import type { KeyCache } from './key-cache.ts'

/** The dependencies of model calls that count against budgets. */
export interface SpendingDeps {
  db: Database
  models: Models
  prices: Prices
  clock: Clock
  warn: Warn
}

/** The dependencies of keys, tokens, budgets and the audit log. */
export interface AccessDeps extends SpendingDeps {
  keys: KeyCache
  peers: { announce(announcement: { changed: true }): void }
  newId: Ids
}
