import { ReparteeError } from '../../core/errors.ts'
export type SqlValue = string | number | null | Uint8Array
export type SqlRow = Record<string, SqlValue>

/** Returns the bytes of an array, to be stored. Empty ones are an array of their own: before Node 24.15 SQLite stores a view of an empty buffer as NULL. */
export const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Uint32Array): Uint8Array =>
  byteLength === 0 ? new Uint8Array(0) : new Uint8Array(buffer, byteOffset, byteLength)

/** The knowledge base of one agent, as rows: documents, passages, and the index over them. Everything waits: it lives in a thread of its own. */
export interface KnowledgeBase {
  all<T = SqlRow>(sql: string, ...params: SqlValue[]): T[]
  get<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined
  /** The first row, of something large that never changes. Questions that need it at the same time share one answer, which they do not keep. */
  getShared<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined
  /** The first row of the same statement for each of these, in order. */
  getMany<T = SqlRow>(sql: string, each: readonly SqlValue[][]): (T | undefined)[]
  /** Rows one at a time; several may be under way. */
  iterate<T = SqlRow>(sql: string, ...params: SqlValue[]): IterableIterator<T>
  /** Returns the number of the row that was inserted. */
  run(sql: string, ...params: SqlValue[]): number
  /** Inserts rows by a statement whose values are all parameters. Returns the number of the last; those before it have the numbers before. */
  insertMany(sql: string, rows: readonly SqlValue[][]): number
  /** One transaction. Throws `BaseBusy`. */
  write<T>(work: () => T, options?: TransactionOptions): T
  /** One consistent view over all that `work` reads. */
  read<T>(work: () => T): T
  /** Has deleted text leave the disk. False while a reader holds it up. */
  scrub(): boolean
  /** Not there in a file. */
  readonly near?: NearTables
  readonly isOpen: boolean
  /** Gives out so many numbers of a table, for rows that are inserted later. In a transaction. Returns the first. */
  reserve(table: 'passage', count: number): number
  /** Changes when the database server may have crashed: then what was read before may be lost, and its version and numbers given to something else. */
  readonly epoch: number
  /** Something that was read just now is not there yet, and will be read again: what was made of it must not be kept. */
  readonly isPartial: boolean
  /** The same base, for work that one process alone may do (see `KnowledgeStore.hold`): a change throws `HoldLost` where another has taken over. */
  readonly held: KnowledgeBase
  close(): void
}

export interface TransactionOptions {
  /** False leaves it to a later commit to wait for the disk: consistent after any crash, but perhaps without this change. */
  durable?: boolean
  /** False where it leaves nothing to be done to whoever holds the base. */
  bringsWork?: boolean
}

/** Tables of a database that searches vectors itself, by pgvector where it has it. Statements are sent as they are. */
export interface NearTables {
  /** Vectors from which on a base is searched so. */
  readonly from: number
  /** Of the table that belongs to a space of vectors of this base. */
  nameOf(space: number): string
  ask(sql: string, params: unknown[]): SqlRow[]
  /** In a transaction. */
  tell(sql: string, params: unknown[]): void
}

/** Where the knowledge bases of all agents lie, with notes of the work in them that outlive the process. */
export interface KnowledgeStore {
  /** For the one thread that writes: makes a base where there is none, and brings its schema up to date. Throws `BaseBusy`. */
  openToWrite(agentId: string): KnowledgeBase
  /** Undefined where there is no base of this agent, or nothing in it yet. */
  openToRead(agentId: string): KnowledgeBase | undefined
  /** Removes a base, so that it is no longer found. `removeSome` deletes its rows. Throws `BaseBusy`. */
  remove(agentId: string): void
  /** Deletes a slice of the rows of removed bases, also of those that another process removed. Returns false when there are none left. */
  removeSome(): boolean
  /** The agents that have a base, and those that have work to be done. */
  list(): { known: string[]; pending: string[] }
  /** The agents whose passages may have been made by rules older than these. */
  listOutdated(reading: number): string[]
  /** `listOutdated` was heeded: every agent that it named has its mark. */
  endOutdated(reading: number): void
  /** Kept when it returns, so that no crash leaves work without its mark. */
  markPending(agentId: string): void
  /** Nothing is left to be done, as far as was seen by the last `hold`, which is let go of. False where more has come. */
  unmarkPending(agentId: string): boolean
  /**
   * Takes a base for this process to work on alone, or keeps it. What was under way when it was taken was given up by whoever had it before.
   * False where another process has it.
   */
  hold(agentId: string): 'taken' | 'kept' | false
  /** Renews the hold of each of these bases that this process holds. */
  keepHeld(agentIds: readonly string[]): void
  /** Lets this process alone have passages of a base embedded, for a while. False where another does. Throws `BaseBusy`. */
  claimEmbedding(agentId: string): boolean
  /** Nothing is left to be embedded for now. Throws `BaseBusy`. */
  endEmbedding(agentId: string): void
  /** Agents of whose passages some were to be embedded by a process that is gone. */
  listForsaken(): string[]
  /** When each agent's sites are next due, in milliseconds since 1970. */
  listDue(): Map<string, number>
  /** Throws `BaseBusy`. */
  markDue(agentId: string, at: number | null): void
  /** Agents that are gone, and of which a base was left. */
  listOrphans(): string[]
  /** Other processes work on the same bases. */
  readonly isShared: boolean
  /** Lets go of what is held. */
  close(): void
}

/** Another process deleted the base. */
export class BaseGone extends Error {}

/** Another process works on the base by now. */
export class HoldLost extends Error {}

/** Another process is changing the base, mostly for less than a second. Nothing was changed. */
export class BaseBusy extends ReparteeError {
  constructor(options: ErrorOptions = {}) {
    super('unavailable', 'The knowledge base is busy. Try again.', { retryAfter: 1, ...options })
  }
}

/** A database server crashed, and has lost commits that did not wait for its disk. What goes on from them begins again. */
export const commitsLost = (): ReparteeError =>
  new ReparteeError('unavailable', 'The database has lost the last commits.', { retryAfter: 1 })
