import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { orDamaged, refuseNoFile } from '../sqlite/damaged.ts'
import { migrate, newestMigration } from '../sqlite/migrate.ts'
import type { KnowledgeBase, SqlRow, SqlValue } from './base.ts'

export const MIGRATIONS = new URL('../../../migrations/knowledge/', import.meta.url)
// A cache of 256 kB a file: many agents' files are open at once, and the index keeps its own lists at hand.
const PRAGMAS =
  'PRAGMA busy_timeout = 5000; PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -256; PRAGMA temp_store = MEMORY;'

/** In pages. Folding the log into the file keeps the disk busy, and a burst of documents fills the log quickly. */
const CHECKPOINT_PAGES = 8_000

/** Inserted by one statement, which takes a third less than one by one. */
const ROWS_AT_ONCE = 32

let newest: number | undefined

/** A knowledge base in a file of its own: one connection to it, with its statements prepared once. Not for sharing between threads. */
export class KnowledgeFile implements KnowledgeBase {
  readonly #path: string
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, Prepared>()

  private constructor(path: string, db: DatabaseSync) {
    this.#path = path
    this.#db = db
  }

  /** For the one thread that writes: makes the file where there is none, and brings its schema up to date. */
  static openToWrite(path: string): KnowledgeFile {
    mkdirSync(dirname(path), { recursive: true })
    return opened(path, {}, (db) => {
      db.exec(
        `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; ${PRAGMAS} PRAGMA cache_size = -8192;`,
      )
      migrate(db, MIGRATIONS)
      return new KnowledgeFile(path, db)
    })
  }

  /** Undefined where there is no such file, or nothing in it yet. */
  static openToRead(path: string): KnowledgeFile | undefined {
    if (!existsSync(path)) return undefined
    const found = opened(path, { readOnly: true }, (db) => {
      db.exec(PRAGMAS)
      const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
      newest ??= newestMigration(MIGRATIONS)
      if (version === newest) return new KnowledgeFile(path, db)
      db.close()
      return version
    })
    if (typeof found !== 'number') return found
    if (found === 0) return undefined
    KnowledgeFile.openToWrite(path).close()
    return KnowledgeFile.openToRead(path)
  }

  static remove(path: string): void {
    for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  }

  all<T = SqlRow>(sql: string, ...params: SqlValue[]): T[] {
    const { statement, toRow } = this.#prepare(sql)
    return (statement.all(...params) as unknown as SqlValue[][]).map(toRow) as T[]
  }

  get<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined {
    const { statement, toRow } = this.#prepare(sql)
    const values = statement.get(...params) as SqlValue[] | undefined
    return values === undefined ? undefined : (toRow(values) as T)
  }

  getShared<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined {
    return this.get<T>(sql, ...params)
  }

  getMany<T = SqlRow>(sql: string, each: readonly SqlValue[][]): (T | undefined)[] {
    return each.map((params) => this.get<T>(sql, ...params))
  }

  /** Rows one at a time. The statement is its own, so that several may be under way. */
  *iterate<T = SqlRow>(sql: string, ...params: SqlValue[]): IterableIterator<T> {
    const { statement, toRow } = prepared(this.#db, sql)
    for (const values of statement.iterate(...params) as IterableIterator<SqlValue[]>) yield toRow(values) as T
  }

  /** Returns the rowid of the last insert. */
  run(sql: string, ...params: SqlValue[]): number {
    return Number(this.#prepare(sql).statement.run(...params).lastInsertRowid)
  }

  insertMany(sql: string, rows: readonly SqlValue[][]): number {
    const whole = rows.length - (rows.length % ROWS_AT_ONCE)
    const together = whole > 0 ? sql.replace(/\([?, ]+\)/, (row) => Array(ROWS_AT_ONCE).fill(row).join()) : sql
    let last = 0
    let params: SqlValue[] = []
    for (let at = 0; at < whole; at++) {
      params.push(...rows[at]!)
      if ((at + 1) % ROWS_AT_ONCE > 0) continue
      last = this.run(together, ...params)
      params = []
    }
    for (const row of rows.slice(whole)) last = this.run(sql, ...row)
    return last
  }

  reserve(table: 'passage', count: number): number {
    const seq = this.get<{ seq: number }>('SELECT seq FROM sqlite_sequence WHERE name = ?', table)?.seq
    if (seq === undefined) this.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, count)
    else this.run('UPDATE sqlite_sequence SET seq = ? WHERE name = ?', seq + count, table)
    return (seq ?? 0) + 1
  }

  /** `durable: false` leaves it to a later commit to wait for the disk: consistent after any crash, but perhaps without this change. */
  write<T>(work: () => T, { durable = true } = {}): T {
    if (!durable) this.#db.exec('PRAGMA synchronous = NORMAL')
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#db.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw orDamaged(error, this.#path)
    } finally {
      if (!durable) this.#db.exec('PRAGMA synchronous = FULL')
    }
  }

  /** One consistent view over all that `work` reads. */
  read<T>(work: () => T): T {
    if (this.#db.isTransaction) return work()
    this.#db.exec('BEGIN')
    try {
      return work()
    } catch (error) {
      throw orDamaged(error, this.#path)
    } finally {
      this.#db.exec('COMMIT')
    }
  }

  /** Folds the write-ahead log into the file and empties it, so that deleted text is in neither. False while a reader holds it up. */
  scrub(): boolean {
    return this.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')?.busy === 0
  }

  get epoch(): number {
    return 0
  }

  get isPartial(): boolean {
    return false
  }

  get held(): this {
    return this
  }

  get isOpen(): boolean {
    return this.#db.isOpen
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }

  #prepare(sql: string): Prepared {
    let known = this.#statements.get(sql)
    if (known === undefined) {
      known = prepared(this.#db, sql)
      this.#statements.set(sql, known)
    }
    return known
  }
}

interface Prepared {
  statement: StatementSync
  toRow: (values: SqlValue[]) => SqlRow
}

/** Rows come as values and are made objects here: those of the driver are twice as large, and slower to make and to read. */
function prepared(db: DatabaseSync, sql: string): Prepared {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  const names = statement.columns().map(({ name }) => name)
  const toRow = (values: SqlValue[]): SqlRow => {
    const row: SqlRow = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]!
    return row
  }
  return { statement, toRow }
}

/** What is made of a file that is open; where nothing can be, it is closed again. */
function opened<T>(path: string, options: { readOnly?: boolean }, make: (db: DatabaseSync) => T): T {
  refuseNoFile(path)
  const db = new DatabaseSync(path, options)
  try {
    return make(db)
  } catch (error) {
    db.close()
    throw orDamaged(error, path)
  }
}
