import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ReparteeError } from '../../core/errors.ts'
import type { Database, Row, Statement, Value } from '../database.ts'
import { isTransient } from '../transient.ts'
import { MAX_LOG_BYTES, SqliteConnection, WRITER_PRAGMAS } from './connection.ts'
import { orDamaged, refuseNoFile } from './damaged.ts'
import { migrate } from './migrate.ts'
import { Snapshots } from './snapshots.ts'
import { SqliteWriter } from './writer.ts'

export const MAIN = 'repartee.db'
/** Name of a database that a move has not filled completely: no service takes it for its data. */
export const UNFINISHED = 'moving.db'

/** How long the start waits for the lock of another program. */
const BUSY_MS = 1_000
/** Small cache: a reader reads its rows once, and there may be hundreds of readers. */
const READER_PRAGMAS = 'PRAGMA busy_timeout = 1000; PRAGMA cache_size = -512;'
/** Deleted text may stay in the write-ahead log until a checkpoint. A burst of deletes shares one. */
const SCRUB_AFTER_MS = 300
/** A reader of a snapshot prevents the checkpoint. It is then retried less and less often. */
const SCRUB_AT_LEAST_EVERY_MS = 5_000
const IDLE_READERS = 2

export interface SqliteOptions {
  /** Slow readers of lists are cut off if the write-ahead log is larger. */
  maxLogBytes?: number
  /** Receives errors that have no caller. */
  warn?: (about: string, error: unknown) => void
}

/** The embedded engine: one file, one writer, every commit on the disk (`synchronous = FULL`) before it is acknowledged. */
export class SqliteDatabase implements Database {
  readonly mayLoseAnswers = false
  /** Each list needs a connection with its own cache and file descriptors. */
  readonly listsAtOnce = 16
  readonly #path: string
  readonly #db: DatabaseSync
  readonly #connection: SqliteConnection
  readonly #writer: SqliteWriter
  readonly #readers: SqliteConnection[] = []
  readonly #snapshots: Snapshots
  readonly #warn: (about: string, error: unknown) => void
  #scrubTimer: NodeJS.Timeout | undefined
  /** True after the failure was logged, so that retries do not log it again. */
  #isScrubFailing = false

  constructor(folder: string, { maxLogBytes = MAX_LOG_BYTES, warn = () => {} }: SqliteOptions = {}) {
    this.#warn = warn
    mkdirSync(folder, { recursive: true })
    this.#path = join(folder, MAIN)
    if (existsSync(join(folder, UNFINISHED)) && !existsSync(this.#path))
      throw new Error(`a move into ${folder} is not finished: run the same \`repartee move\` again, or empty the folder`)
    // A new database would contain no agents, so the documents in the folder would be removed as orphaned.
    if (isEmpty(this.#path) && holdsKnowledge(folder))
      throw new Error(
        `${this.#path} is missing or empty, though ${folder} holds documents: restore a backup into a new folder, or empty this one`,
      )
    // The log stays after a crash, and may contain deleted text.
    const hasLog = existsSync(`${this.#path}-wal`)
    this.#db = open(this.#path)
    this.#connection = new SqliteConnection(this.#db)
    const path = this.#path
    this.#snapshots = new Snapshots(`${path}-wal`, maxLogBytes)
    this.#writer = new SqliteWriter(this.#connection, (error) => translate(error, path))
    if (hasLog) this.scrub()
  }

  read(sql: string, params: Value[]): Promise<Row[]> {
    return this.#now(() => this.#connection.all(sql, params))
  }

  readValues(sql: string, params: Value[]): Promise<Value[][]> {
    return this.#now(() => this.#connection.allValues(sql, params))
  }

  scan(sql: string, params: Value[]): Promise<Row[]> {
    return this.read(sql, params)
  }

  write(statements: Statement[]): Promise<Row[][]> {
    return this.#writer.add(statements, false) as Promise<Row[][]>
  }

  writeIf(statements: Statement[]): Promise<Row[][] | undefined> {
    return this.#writer.add(statements, true)
  }

  async *stream(sql: string, params: Value[], sliceRows: number): AsyncGenerator<Value[][]> {
    let reader: SqliteConnection | undefined
    let slice: Value[][] = []
    let isCut = false
    const end = this.#snapshots.add(() => {
      isCut = true
      reader?.db.close()
    })
    try {
      reader = this.#readers.pop() ?? this.#openReader()
      for (const row of reader.iterateValues(sql, params)) {
        if (slice.push(row) === sliceRows) {
          yield slice
          slice = []
        }
      }
      if (slice.length > 0) yield slice
    } catch (error) {
      throw isCut ? tooSlow() : translate(error, this.#path)
    } finally {
      end()
      if (!isCut && reader !== undefined) this.#giveBack(reader)
    }
  }

  waitMs(): number {
    return this.#writer.waitMs()
  }

  scrub(): void {
    this.#scrubIn(SCRUB_AFTER_MS)
  }

  async close(): Promise<void> {
    clearTimeout(this.#scrubTimer)
    await this.#writer.close()
    for (const reader of this.#readers) reader.db.close()
    this.#checkpoint()
    this.#db.close()
  }

  #scrubIn(ms: number): void {
    this.#scrubTimer ??= setTimeout(() => {
      this.#scrubTimer = undefined
      if (!this.#checkpoint()) this.#scrubIn(Math.min(2 * ms, SCRUB_AT_LEAST_EVERY_MS))
    }, ms).unref()
  }

  /** Returns false if a reader or a full disk prevents the checkpoint. */
  #checkpoint(): boolean {
    try {
      const isDone = this.#connection.checkpoint()
      this.#isScrubFailing = false
      return isDone
    } catch (error) {
      if (!this.#isScrubFailing)
        this.#warn('deleted text could not be erased yet: the log of the database cannot be emptied', error)
      this.#isScrubFailing = true
      return false
    }
  }

  #giveBack(reader: SqliteConnection): void {
    if (this.#readers.length < IDLE_READERS) this.#readers.push(reader)
    else reader.db.close()
  }

  #openReader(): SqliteConnection {
    const db = new DatabaseSync(this.#path, { readOnly: true })
    db.exec(READER_PRAGMAS)
    return new SqliteConnection(db)
  }

  #now<T>(work: () => T): Promise<T> {
    try {
      return Promise.resolve(work())
    } catch (error) {
      return Promise.reject(translate(error, this.#path))
    }
  }
}

const tooSlow = () =>
  new ReparteeError('unavailable', 'The list was read too slowly while much was written. Read it page by page, with limit.')

const isEmpty = (path: string): boolean => !existsSync(path) || statSync(path).size === 0

function holdsKnowledge(folder: string): boolean {
  const knowledge = join(folder, 'knowledge')
  return existsSync(knowledge) && readdirSync(knowledge).some((name) => name.endsWith('.db'))
}

/** Opens and migrates a database. Errors name the file. */
function open(path: string): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    refuseNoFile(path)
    db = new DatabaseSync(path)
    db.exec(`PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; ${WRITER_PRAGMAS}`)
    migrate(db, new URL('../../../migrations/sqlite/', import.meta.url))
    db.exec('PRAGMA busy_timeout = 0')
    return db
  } catch (error) {
    db?.close()
    if (isTransient(error)) throw new Error(`${path} cannot be used: ${(error as Error).message}`, { cause: error })
    throw orDamaged(error, path)
  }
}

const translate = (error: unknown, path: string): unknown =>
  isTransient(error)
    ? new ReparteeError('unavailable', 'The database is out of reach. Try again.', { retryAfter: 1, cause: error })
    : orDamaged(error, path)
