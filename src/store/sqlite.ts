import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { ReparteeError } from '../core/errors.ts'
import { orDamaged } from './damaged.ts'
import type { Database, Row, Statement, Value } from './database.ts'
import { migrate } from './migrate.ts'
import { isBusy, isPassing } from './passing.ts'

interface Prepared {
  statement: StatementSync
  /** node:sqlite binds `$1` by name only, so the text is rewritten to `?` with the order in which parameters occur. */
  order: number[]
}

/** A connection with the statements that were compiled on it, apart by what they give rows as. */
interface Connection {
  db: DatabaseSync
  prepared: Map<string, Prepared>
  valued: Map<string, Prepared>
}

interface Job {
  statements: Statement[]
  guarded: boolean
  resolve: (rows: Row[][] | undefined) => void
  reject: (error: unknown) => void
}

export const MAIN = 'repartee.db'
/** What is being filled from elsewhere has another name until it is whole: no service takes it for its data. */
export const UNFINISHED = 'moving.db'

const PRAGMAS = 'PRAGMA secure_delete = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY;'
/** How long a write waits for another program that holds the database: on a timer, because SQLite's own waiting would hold up every request. */
const BUSY_MS = 1_000
const LOOK_AGAIN_MS = 20
/** A reader goes through what it reads once, and there may be hundreds of them. */
const READER_PRAGMAS = 'PRAGMA busy_timeout = 1000; PRAGMA cache_size = -512;'
/** Deleted text may stay in the write-ahead log until it is folded into the file; a burst of deletes shares one pass. */
const SCRUB_AFTER_MS = 300
/** While somebody reads an older state, that cannot be done; then it is tried less and less often. */
const SCRUB_AT_LEAST_EVERY_MS = 5_000
const IDLE_READERS = 2

/** The embedded engine: one file, one writer, every commit on the disk (`synchronous = FULL`) before it is acknowledged. */
export class SqliteDatabase implements Database {
  readonly #path: string
  readonly #db: DatabaseSync
  readonly #writer: Connection
  readonly #readers: Connection[] = []
  #queue: Job[] = []
  /** Since when another program has held the database. */
  #busySince: number | undefined
  readonly #warn: (about: string, error: unknown) => void
  #scrubTimer: NodeJS.Timeout | undefined
  /** The log is told once, and not at every try. */
  #isScrubFailing = false

  /** `warn` hears of what fails without a caller. */
  constructor(folder: string, warn: (about: string, error: unknown) => void = () => {}) {
    this.#warn = warn
    mkdirSync(folder, { recursive: true })
    this.#path = join(folder, MAIN)
    if (existsSync(join(folder, UNFINISHED)) && !existsSync(this.#path))
      throw new Error(`a move into ${folder} is not finished: run the same \`repartee move\` again, or empty the folder`)
    // Begun anew, it would know none of the agents whose documents lie there, and they would be removed as left over.
    if (isEmpty(this.#path) && holdsKnowledge(folder))
      throw new Error(
        `${this.#path} is missing or empty, though ${folder} holds documents: restore a backup into a new folder, or empty this one`,
      )
    this.#db = open(this.#path)
    this.#writer = connect(this.#db)
  }

  read(sql: string, params: Value[]): Promise<Row[]> {
    return this.#now(() => this.#run(sql, params))
  }

  readValues(sql: string, params: Value[]): Promise<Value[][]> {
    return this.#now(() => {
      const { statement, order } = prepareValued(this.#writer, sql)
      return statement.all(...order.map((n) => params[n] as Value)) as unknown as Value[][]
    })
  }

  write(statements: Statement[]): Promise<Row[][]> {
    return this.#enqueue(statements, false) as Promise<Row[][]>
  }

  writeIf(statements: Statement[]): Promise<Row[][] | undefined> {
    return this.#enqueue(statements, true)
  }

  async *stream(sql: string, params: Value[], sliceRows: number): AsyncGenerator<Value[][]> {
    let reader: Connection | undefined
    let slice: Value[][] = []
    try {
      reader = this.#readers.pop() ?? this.#openReader()
      const { statement, order } = prepareValued(reader, sql)
      for (const row of statement.iterate(...order.map((n) => params[n] as Value))) {
        if (slice.push(row as unknown as Value[]) === sliceRows) {
          yield slice
          slice = []
        }
      }
      if (slice.length > 0) yield slice
    } catch (error) {
      throw translate(error, this.#path)
    } finally {
      if (reader !== undefined && this.#readers.length < IDLE_READERS) this.#readers.push(reader)
      else reader?.db.close()
    }
  }

  /** It is worked on at once, or by a timer that is as late as everything else. */
  waitMs(): number {
    return 0
  }

  scrub(): void {
    this.#scrubIn(SCRUB_AFTER_MS)
  }

  async close(): Promise<void> {
    clearTimeout(this.#scrubTimer)
    this.#flush()
    while (this.#queue.length > 0) await pause(LOOK_AGAIN_MS)
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

  /** Folds the write-ahead log into the file and empties it. False where that must wait: for a reader, or for room on the disk. */
  #checkpoint(): boolean {
    try {
      const [row] = this.#db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all() as { busy: number }[]
      this.#isScrubFailing = false
      return !row?.busy
    } catch (error) {
      if (!this.#isScrubFailing)
        this.#warn('deleted text could not be erased yet: the log of the database cannot be emptied', error)
      this.#isScrubFailing = true
      return false
    }
  }

  #openReader(): Connection {
    const db = new DatabaseSync(this.#path, { readOnly: true })
    db.exec(READER_PRAGMAS)
    return connect(db)
  }

  #enqueue(statements: Statement[], guarded: boolean): Promise<Row[][] | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#queue.push({ statements, guarded, resolve, reject }) === 1) setImmediate(() => this.#flush())
    })
  }

  /** Group commit: all that was asked for in one turn of the event loop shares one transaction, and one wait for the disk. */
  #flush(): void {
    const jobs = this.#queue
    if (jobs.length === 0) return
    this.#queue = []
    try {
      const results = this.#transaction(jobs)
      this.#busySince = undefined
      jobs.forEach((job, i) => {
        job.resolve(results[i])
      })
    } catch (error) {
      if (isBusy(error) && this.#mayWait()) {
        this.#queue = jobs
        setTimeout(() => this.#flush(), LOOK_AGAIN_MS)
      } else if (isPassing(error) || jobs.length === 1) for (const job of jobs) job.reject(translate(error, this.#path))
      // One bad list must not fail the others: each gets a transaction of its own.
      else for (const job of jobs) this.#alone(job)
    }
  }

  #mayWait(): boolean {
    this.#busySince ??= performance.now()
    if (performance.now() - this.#busySince < BUSY_MS) return true
    this.#busySince = undefined
    return false
  }

  #alone(job: Job): void {
    try {
      job.resolve(this.#transaction([job])[0])
    } catch (error) {
      job.reject(translate(error, this.#path))
    }
  }

  #transaction(jobs: Job[]): (Row[][] | undefined)[] {
    this.#run('BEGIN IMMEDIATE', [])
    try {
      const results = jobs.map((job) => this.#runJob(job))
      this.#run('COMMIT', [])
      return results
    } catch (error) {
      if (this.#db.isTransaction) this.#run('ROLLBACK', [])
      throw error
    }
  }

  #runJob({ statements, guarded }: Job): Row[][] | undefined {
    const results: Row[][] = []
    for (const { sql, params } of statements) {
      const rows = this.#run(sql, params)
      if (guarded && results.length === 0 && rows.length === 0) return undefined
      results.push(rows)
    }
    return results
  }

  #now<T>(work: () => T): Promise<T> {
    try {
      return Promise.resolve(work())
    } catch (error) {
      return Promise.reject(translate(error, this.#path))
    }
  }

  #run(sql: string, params: Value[]): Row[] {
    const { statement, order } = prepare(this.#writer, sql)
    return statement.all(...order.map((n) => params[n] as Value)) as Row[]
  }
}

const isEmpty = (path: string): boolean => !existsSync(path) || statSync(path).size === 0

function holdsKnowledge(folder: string): boolean {
  const knowledge = join(folder, 'knowledge')
  return existsSync(knowledge) && readdirSync(knowledge).some((name) => name.endsWith('.db'))
}

/** Throws what says which file it is about. */
function open(path: string): DatabaseSync {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(path)
    db.exec(
      `PRAGMA busy_timeout = ${BUSY_MS}; PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${PRAGMAS}`,
    )
    migrate(db, new URL('../../migrations/sqlite/', import.meta.url))
    db.exec('PRAGMA busy_timeout = 0')
    return db
  } catch (error) {
    db?.close()
    if (isPassing(error)) throw new Error(`${path} cannot be used: ${(error as Error).message}`, { cause: error })
    throw orDamaged(error, path)
  }
}

const connect = (db: DatabaseSync): Connection => ({ db, prepared: new Map(), valued: new Map() })

const prepare = ({ db, prepared }: Connection, sql: string): Prepared => prepared.get(sql) ?? compile(db, prepared, sql)

const prepareValued = ({ db, valued }: Connection, sql: string): Prepared => {
  const known = valued.get(sql)
  if (known !== undefined) return known
  const fresh = compile(db, valued, sql)
  fresh.statement.setReturnArrays(true)
  return fresh
}

function compile(db: DatabaseSync, into: Map<string, Prepared>, sql: string): Prepared {
  const { text, order } = rewrite(sql)
  const fresh = { statement: db.prepare(text), order }
  into.set(sql, fresh)
  return fresh
}

/** Numbered parameters become the plain ones; a lock on a row that is read is not needed where there is one writer. */
function rewrite(sql: string): { text: string; order: number[] } {
  const order: number[] = []
  const text = sql.replace(/ FOR (SHARE|UPDATE)\b/g, '').replace(/\$(\d+)/g, (_, n: string) => {
    order.push(Number(n) - 1)
    return '?'
  })
  return { text, order }
}

const translate = (error: unknown, path: string): unknown =>
  isPassing(error)
    ? new ReparteeError('unavailable', 'The database is out of reach. Try again.', { retryAfter: 1, cause: error })
    : orDamaged(error, path)
