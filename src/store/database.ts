import type { Sharer } from '../core/fairness/shares.ts'

export type Value = string | number | null
export type Row = Record<string, Value>

/** Parameters are `$1`, `$2`, … in the text: one SQL for every engine. */
export interface Statement {
  sql: string
  params: Value[]
}

/** A list was rolled back because a condition in it did not hold. */
export class ConditionFailed extends Error {}

export interface WriteOptions {
  long?: boolean
  unordered?: boolean
}

/** The floor under every noun of the store. Engines differ below this line only. */
export interface Database {
  /** A few rows by their key, or a page. */
  read(sql: string, params: Value[]): Promise<Row[]>
  /** The same, each row as its values in the order of the columns: half the work, for what reads many rows. */
  readValues(sql: string, params: Value[]): Promise<Value[][]>
  /** The same, of what goes over many rows: nobody else's reads wait for it. Sharers take turns; left out, the sharer is the first parameter. */
  scan(sql: string, params: Value[], sharer?: Sharer): Promise<Row[]>
  /**
   * One transaction, durable when it resolves; resolves to the rows that each statement returned.
   * A list and not a callback: a callback that awaits would let other requests' statements slip inside, and lists of many requests can share a commit,
   * except lists that are `long`, because the other requests would wait for them. Statements that are `unordered` do not depend on each other: they
   * may run in any order, so that no two transactions wait for each other's rows.
   */
  write(statements: Statement[], options?: WriteOptions): Promise<Row[][]>
  /** The same, but where the first statement returns no row the rest is not run, and it resolves to undefined. */
  writeIf(statements: Statement[], options?: Pick<WriteOptions, 'long'>): Promise<Row[][] | undefined>
  /** One consistent view, in slices, with flat memory; rows as `readValues` gives them. Ending the iteration early frees it. */
  stream(sql: string, params: Value[], sliceRows: number): AsyncIterable<Value[][]>
  /** True if the answer to a write may be lost although the write was committed, as with a connection that breaks. */
  readonly mayLoseAnswers: boolean
  /** How many lists should be streamed at the same time. */
  readonly listsAtOnce: number
  /** To be called after text was deleted: soon no trace of it is left in the data files. */
  scrub(): void
  /** For how long what is asked of it waits before it is begun, in milliseconds. */
  waitMs(): number
  close(): Promise<void>
}

/** Throws `TypeError` for a parameter of another type, before any driver or thread gets it. */
export function statement(sql: string, ...params: Value[]): Statement {
  for (const param of params)
    if (typeof param !== 'string' && typeof param !== 'number' && param !== null)
      throw new TypeError(`a parameter of a statement is a ${typeof param}`)
  return { sql, params }
}

/**
 * Returns a condition for a list: if the query returns no row, the list is rolled back, and its write fails with `ConditionFailed`. It costs no round trip. The embedded store does not
 * look at it, because no other process changes what it says.
 */
export const condition = (sql: string, ...params: Value[]): Statement =>
  statement(`SELECT 1 / (SELECT count(*) FROM (${sql}) required) AS holds`, ...params)
