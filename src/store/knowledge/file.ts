import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { orDamaged, refuseNoFile } from '../sqlite/damaged.ts'
import { migrate, newestMigration } from '../sqlite/migrate.ts'
import type { KnowledgeBase } from './base.ts'
import type { SqlRow, SqlValue } from './rows.ts'
import { type Change, type Insertion, withTables } from './statements.ts'
import { drive, type Work } from './work.ts'

export const MIGRATIONS = new URL('../../../migrations/knowledge/', import.meta.url)
// Each file's page cache is 256 kB: many agents' files are open at once, and the index has its own list cache.
const PRAGMAS =
  'PRAGMA busy_timeout = 5000; PRAGMA secure_delete = ON; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -256; PRAGMA temp_store = MEMORY;'

/** In pages. A checkpoint keeps the disk busy, and a burst of documents fills the write-ahead log quickly. */
const CHECKPOINT_PAGES = 8_000

/** Rows per INSERT statement: takes a third less time than single inserts. */
const ROWS_AT_ONCE = 32

let newest: number | undefined

/** A knowledge base in its own SQLite file: one connection with cached prepared statements. Do not share it between threads. */
export class KnowledgeFile implements KnowledgeBase {
  readonly #path: string
  readonly #db: DatabaseSync
  readonly #statements = new Map<string, Prepared>()
  readonly isRemote = false
  readonly epoch = 0

  private constructor(path: string, db: DatabaseSync) {
    this.#path = path
    this.#db = db
  }

  /** Opens the file for the only writing thread. Creates a missing file and migrates its schema. */
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

  /** Returns undefined if the file is missing or has no schema yet. */
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

  getMany<T = SqlRow>(sql: string, each: readonly (readonly SqlValue[])[]): (T | undefined)[] {
    const { statement, toRow } = this.#prepare(sql)
    return each.map((params) => {
      const values = statement.get(...params) as SqlValue[] | undefined
      return values === undefined ? undefined : (toRow(values) as T)
    })
  }

  /** Returns rows one at a time. Each call prepares its own statement, so several iterations can run at once. */
  *iterate<T = SqlRow>(sql: string, ...params: SqlValue[]): IterableIterator<T> {
    const { statement, toRow } = prepared(this.#db, sql)
    for (const values of statement.iterate(...params) as IterableIterator<SqlValue[]>) yield toRow(values) as T
  }

  /** Returns the rowid of the last insert. */
  run(sql: string, ...params: SqlValue[]): number {
    return Number(this.#prepare(sql).statement.run(...params).lastInsertRowid)
  }

  insert(insertion: Insertion, ...values: SqlValue[]): number {
    return this.run(insertText(insertion, 1), ...values)
  }

  insertMany(insertion: Insertion, rows: readonly SqlValue[][]): number {
    const whole = rows.length - (rows.length % ROWS_AT_ONCE)
    const together = insertText(insertion, ROWS_AT_ONCE)
    let last = 0
    for (let at = 0; at < whole; at += ROWS_AT_ONCE) last = this.run(together, ...rows.slice(at, at + ROWS_AT_ONCE).flat())
    for (const row of rows.slice(whole)) last = this.insert(insertion, ...row)
    return last
  }

  update(table: string, change: Change, ...params: SqlValue[]): void {
    this.run(updateText(table, change), ...params)
  }

  updateOne<T = SqlRow>(table: string, change: Change & { returning: string }, ...params: SqlValue[]): T | undefined {
    return this.get<T>(`${updateText(table, change)} RETURNING ${change.returning}`, ...params)
  }

  delete(table: string, where: string, ...params: SqlValue[]): void {
    this.run(`DELETE FROM ${table} WHERE ${where}`, ...params)
  }

  reserve(table: 'passage', count: number): number {
    const seq = this.get<{ seq: number }>('SELECT seq FROM sqlite_sequence WHERE name = ?', table)?.seq
    if (seq === undefined) this.run('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)', table, count)
    else this.run('UPDATE sqlite_sequence SET seq = ? WHERE name = ?', seq + count, table)
    return (seq ?? 0) + 1
  }

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

  /** Checkpoints and truncates the write-ahead log, so that deleted text is in neither file. Returns false while a reader blocks it. */
  scrub(): boolean {
    return this.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')?.busy === 0
  }

  perform<T>(make: () => Work<T>): T {
    return this.read(() => drive(this, make()))
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

const updateText = (table: string, { set, where = 'true' }: Change): string => `UPDATE ${table} SET ${set} WHERE ${where}`

function insertText({ into, columns, onConflict }: Insertion, rows: number): string {
  const row = `(${columns.map(() => '?').join(', ')})`
  const conflict = onConflict === undefined ? '' : ` ON CONFLICT (${onConflict.key.join(', ')}) DO UPDATE SET ${onConflict.set}`
  return `INSERT INTO ${into} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')}${conflict}`
}

interface Prepared {
  statement: StatementSync
  toRow: (values: SqlValue[]) => SqlRow
}

/** Builds row objects from arrays of values: the driver's own objects are twice as large, and slower to build and read. */
function prepared(db: DatabaseSync, sql: string): Prepared {
  const statement = db.prepare(withTables(sql, (table, alias = '') => `${table} ${alias}`))
  statement.setReturnArrays(true)
  const names = statement.columns().map(({ name }) => name)
  const toRow = (values: SqlValue[]): SqlRow => {
    const row: SqlRow = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = values[i]!
    return row
  }
  return { statement, toRow }
}

/** Returns the result of `make` for the opened file. Closes the file if `make` throws. */
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
