import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Row, Statement, Value } from '../database.ts'
import { isTransient } from '../transient.ts'

/** The write-ahead log exceeds this only while a snapshot is read. A larger file is truncated afterwards. */
export const MAX_LOG_BYTES = 67_108_864

/** For every connection that writes: a commit is on the disk before it is acknowledged, and deleted data is overwritten. */
export const WRITER_PRAGMAS = `PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = ${MAX_LOG_BYTES};`

interface Prepared {
  statement: StatementSync
  /** node:sqlite binds `$1` by name only, so the text is rewritten to `?` with the order in which parameters occur. */
  order: number[]
}

/** Maximum time of a transaction. Other threads wait while this one has the processor, other lists while the transaction is open. */
const MOST_MS = 20

/** Statements that are written together. `guarded`: as `writeIf` of `Database`. */
export interface StatementList {
  statements: Statement[]
  guarded: boolean
}

export type WriteResult = { rows: Row[][] | undefined } | { error: unknown }

/** A connection with its prepared statements, separate for rows as objects and rows as arrays. */
export class SqliteConnection {
  readonly db: DatabaseSync
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

  /** Group commit: one wait for the disk. Writes the first lists, as many as fit into `MOST_MS` but at least one, and returns their results. */
  write(works: StatementList[]): WriteResult[] {
    try {
      return this.#transaction(works, (work) => ({ rows: this.#run(work) }))
    } catch (error) {
      if (isTransient(error) || works.length === 1) return works.map(() => ({ error }))
    }
    // One bad list must not fail the others, or make each of them wait for the disk by itself.
    try {
      return this.#transaction(works, (work) => this.#runApart(work))
    } catch (error) {
      return works.map(() => ({ error }))
    }
  }

  /** Folds the write-ahead log into the file and empties it. Returns false if a reader prevents that. */
  checkpoint(): boolean {
    return this.all('PRAGMA wal_checkpoint(TRUNCATE)', [])[0]?.busy === 0
  }

  #transaction(works: StatementList[], run: (work: StatementList) => WriteResult): WriteResult[] {
    this.all('BEGIN IMMEDIATE', [])
    try {
      const outcomes: WriteResult[] = []
      const until = performance.now() + MOST_MS
      do outcomes.push(run(works[outcomes.length]!))
      while (outcomes.length < works.length && performance.now() < until)
      this.all('COMMIT', [])
      return outcomes
    } catch (error) {
      if (this.db.isTransaction) this.all('ROLLBACK', [])
      throw error
    }
  }

  /** Rolls back only this list if it fails. */
  #runApart(work: StatementList): WriteResult {
    this.all('SAVEPOINT list', [])
    try {
      const rows = this.#run(work)
      this.all('RELEASE list', [])
      return { rows }
    } catch (error) {
      if (isTransient(error) || !this.db.isTransaction) throw error
      this.all('ROLLBACK TO list', [])
      this.all('RELEASE list', [])
      return { error }
    }
  }

  #run({ statements, guarded }: StatementList): Row[][] | undefined {
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

/** Replaces numbered parameters by `?`, and drops row locks, which one writer does not need. */
function rewrite(sql: string): { text: string; order: number[] } {
  const order: number[] = []
  const text = sql.replace(/ FOR (SHARE|UPDATE)\b/g, '').replace(/\$(\d+)/g, (_, n: string) => {
    order.push(Number(n) - 1)
    return '?'
  })
  return { text, order }
}
