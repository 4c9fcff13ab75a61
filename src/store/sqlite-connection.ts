import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Row, Statement, Value } from './database.ts'
import { isTransient } from './transient.ts'

/** The write-ahead log grows beyond this only while an older state is read; a file that did is cut back. */
export const MAX_LOG_BYTES = 67_108_864

/** Of every connection that writes: a commit is on the disk before it is acknowledged, and what was deleted is overwritten. */
export const WRITER_PRAGMAS = `PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = ${MAX_LOG_BYTES};`

interface Prepared {
  statement: StatementSync
  /** node:sqlite binds `$1` by name only, so the text is rewritten to `?` with the order in which parameters occur. */
  order: number[]
}

/** A list of statements that is written whole; `guarded`: as `writeIf` of `Database`. */
export interface Work {
  statements: Statement[]
  guarded: boolean
}

/** What became of it. */
export type Outcome = { rows: Row[][] | undefined } | { error: unknown }

/** A connection with the statements that were compiled on it, apart by what they give rows as. */
export class SqliteConnection {
  readonly db: DatabaseSync
  /** How long the disk was waited for last. */
  commitMs = 0
  readonly #prepared = new Map<string, Prepared>()
  readonly #valued = new Map<string, Prepared>()

  constructor(db: DatabaseSync) {
    this.db = db
  }

  all(sql: string, params: Value[]): Row[] {
    const { statement, order } = this.#prepared.get(sql) ?? this.#compile(this.#prepared, sql)
    return statement.all(...order.map((n) => params[n] as Value)) as Row[]
  }

  allValues(sql: string, params: Value[]): Value[][] {
    const { statement, order } = this.#prepareValued(sql)
    return statement.all(...order.map((n) => params[n] as Value)) as unknown as Value[][]
  }

  iterateValues(sql: string, params: Value[]): Iterable<Value[]> {
    const { statement, order } = this.#prepareValued(sql)
    return statement.iterate(...order.map((n) => params[n] as Value)) as Iterable<unknown> as Iterable<Value[]>
  }

  /** Group commit: all of them share one transaction, and one wait for the disk. */
  write(works: Work[]): Outcome[] {
    try {
      return this.#transaction(works).map((rows) => ({ rows }))
    } catch (error) {
      if (isTransient(error) || works.length === 1) return works.map(() => ({ error }))
      // One bad list must not fail the others: each gets a transaction of its own.
      return works.flatMap((work) => this.write([work]))
    }
  }

  /** Folds the write-ahead log into the file and empties it. False where that must wait for a reader. */
  checkpoint(): boolean {
    return this.all('PRAGMA wal_checkpoint(TRUNCATE)', [])[0]?.busy === 0
  }

  #transaction(works: Work[]): (Row[][] | undefined)[] {
    this.all('BEGIN IMMEDIATE', [])
    try {
      const results = works.map((work) => this.#run(work))
      const begunAt = performance.now()
      this.all('COMMIT', [])
      this.commitMs = performance.now() - begunAt
      return results
    } catch (error) {
      if (this.db.isTransaction) this.all('ROLLBACK', [])
      throw error
    }
  }

  #run({ statements, guarded }: Work): Row[][] | undefined {
    const results: Row[][] = []
    for (const { sql, params } of statements) {
      const rows = this.all(sql, params)
      if (guarded && results.length === 0 && rows.length === 0) return undefined
      results.push(rows)
    }
    return results
  }

  #prepareValued(sql: string): Prepared {
    const known = this.#valued.get(sql)
    if (known !== undefined) return known
    const fresh = this.#compile(this.#valued, sql)
    fresh.statement.setReturnArrays(true)
    return fresh
  }

  #compile(into: Map<string, Prepared>, sql: string): Prepared {
    const { text, order } = rewrite(sql)
    const fresh = { statement: this.db.prepare(text), order }
    into.set(sql, fresh)
    return fresh
  }
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
