import { ReparteeError } from '../../core/errors.ts'
import type { SqlRow, SqlValue } from './rows.ts'
import type { Change, Insertion } from './statements.ts'
import type { Work } from './work.ts'

/** One agent's knowledge base for questions. */
export interface ReadableBase {
  /** Returns the result of work on one consistent snapshot; from PostgreSQL, a promise of it. Calls `make` again if the base changes between round trips. */
  perform<T>(make: () => Work<T>): T
  /** True if each yield of work costs a round trip. */
  readonly isRemote: boolean
  /** Changes when the database server may have crashed. Data read before may be lost, and its version and numbers reused for other data. */
  readonly epoch: number
  /** Undefined for a base in a SQLite file. */
  readonly near?: Pick<NearTables, 'nameOf'>
  close(): void
}

/** The knowledge base of one agent as rows: documents, passages and their index. All calls are synchronous, so it runs in its own thread. */
export interface KnowledgeBase extends ReadableBase {
  all<T = SqlRow>(sql: string, ...params: SqlValue[]): T[]
  get<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined
  /** Returns the first row of the same statement for each set of parameters, in order. */
  getMany<T = SqlRow>(sql: string, each: readonly (readonly SqlValue[])[]): (T | undefined)[]
  /** Returns rows one at a time. Several iterations can run at once. */
  iterate<T = SqlRow>(sql: string, ...params: SqlValue[]): IterableIterator<T>
  /** Returns the number of the row that was inserted. */
  insert(insertion: Insertion, ...values: SqlValue[]): number
  /** Returns the number of the last row. The rows are numbered consecutively. */
  insertMany(insertion: Insertion, rows: readonly SqlValue[][]): number
  update(table: string, change: Change, ...params: SqlValue[]): void
  /** Changes one row, and returns these columns of it; undefined if there is no such row. */
  updateOne<T = SqlRow>(table: string, change: Change & { returning: string }, ...params: SqlValue[]): T | undefined
  delete(table: string, where: string, ...params: SqlValue[]): void
  /** Runs `work` in one transaction. Throws `BaseBusy`. */
  write<T>(work: () => T, options?: TransactionOptions): T
  /** Runs `work` on one consistent snapshot. */
  read<T>(work: () => T): T
  /** Removes deleted text from the disk. Returns false while a reader blocks it. */
  scrub(): boolean
  /** Undefined for a base in a SQLite file. */
  readonly near?: NearTables
  readonly isOpen: boolean
  /** Reserves `count` row numbers for later inserts, and returns the first. Must run in a transaction. */
  reserve(table: 'passage', count: number): number
  /** The same base for work under the lease of `KnowledgeStore.hold`. A change throws `LeaseLost` if another process took the lease. */
  readonly held: KnowledgeBase
}

export interface TransactionOptions {
  /** False: the commit does not wait for the disk. After a crash the base is consistent, but may lack this change. */
  durable?: boolean
  /** False if the change creates no work for the process with the lease. */
  bringsWork?: boolean
}

/** Tables for vector search in the database itself, by pgvector if available. Statements are sent unchanged. */
export interface NearTables {
  /** Number of vectors from which a base uses this search. */
  readonly from: number
  /** Returns the table name for a vector space of this base. */
  nameOf(space: number): string
  ask(sql: string, params: unknown[]): SqlRow[]
  /** Must run in a transaction. */
  tell(sql: string, params: unknown[]): void
}

/** Storage of all agents' knowledge bases, with persistent marks of pending work. */
export interface KnowledgeStore {
  /** Opens a base for the only writing thread. Creates a missing base and migrates its schema. Throws `BaseBusy`. */
  openToWrite(agentId: string): KnowledgeBase
  /** Returns undefined if the agent has no base or the base is empty. */
  openToRead(agentId: string): KnowledgeBase | undefined
  /** Removes a base from all lookups; `removeSome` deletes its rows. Throws `BaseBusy`. */
  remove(agentId: string): void
  /** Deletes a slice of the rows of removed bases, including bases removed by other processes. Returns false when none are left. */
  removeSome(): boolean
  /** Returns the agents with a base (`known`) and the agents with pending work (`pending`). */
  list(): { known: string[]; pending: string[] }
  /** Returns the agents whose passages may come from rules older than version `reading`. */
  listOutdated(reading: number): string[]
  /** Records that every agent from `listOutdated` is marked as pending. */
  endOutdated(reading: number): void
  /** Marks an agent as having pending work. The mark is durable on return, so no crash leaves work without a mark. */
  markPending(agentId: string): void
  /** Clears the mark and releases the lease if no work arrived since the last `hold`. Returns false if work arrived. */
  unmarkPending(agentId: string): boolean
  /**
   * Takes the lease of a base (`taken`) or renews it (`kept`). Returns false if another process has the lease.
   * On `taken`, unfinished work of the previous lease owner is abandoned.
   */
  hold(agentId: string): 'taken' | 'kept' | false
  /** Renews the leases of these bases that this process has. */
  keepHeld(agentIds: readonly string[]): void
  /** Takes a temporary lease for embedding passages of a base. Returns false if another process has it. Throws `BaseBusy`. */
  claimEmbedding(agentId: string): boolean
  /** Releases the embedding lease when nothing is left to embed. Throws `BaseBusy`. */
  endEmbedding(agentId: string): void
  /** Returns the agents whose embedding lease belongs to a process that is gone. */
  listForsaken(): string[]
  /** Returns the next sync time of each agent's sites, in milliseconds since 1970. */
  listDue(): Map<string, number>
  /** Throws `BaseBusy`. */
  markDue(agentId: string, at: number | null): void
  /** Returns deleted agents whose base still exists. */
  listOrphans(): string[]
  /** True if other processes use the same bases. */
  readonly isShared: boolean
  /** Releases all leases. */
  close(): void
}

/** Another process deleted the base. */
export class BaseGone extends Error {}

/** Another process took the lease of the base. */
export class LeaseLost extends Error {}

/** Another process is changing the base, usually for less than a second. Nothing was changed. */
export class BaseBusy extends ReparteeError {
  constructor(options: ErrorOptions = {}) {
    super('unavailable', 'The knowledge base is busy. Try again.', { retryAfter: 1, ...options })
  }
}

/** Returns the error for a database server crash that lost commits which did not wait for its disk. Work based on them restarts. */
export const commitsLost = (): ReparteeError =>
  new ReparteeError('unavailable', 'The database has lost the last commits.', { retryAfter: 1 })
