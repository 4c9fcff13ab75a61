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

/** The interface of all engines. Code above it does not depend on the engine. */
export interface Database {
  /** Reads a few rows by key, or a page. */
  read(sql: string, params: Value[]): Promise<Row[]>
  /** As `read`, with each row as its values in column order: half the work for many rows. */
  readValues(sql: string, params: Value[]): Promise<Value[][]>
  /** As `read`, for statements that scan many rows: other reads do not wait. Sharers take turns; the default is the first parameter. */
  scan(sql: string, params: Value[], sharer?: Sharer): Promise<Row[]>
  /**
   * Runs a list in one transaction, durable when it resolves. Resolves to the rows of each statement.
   * A list, because a callback that awaits would let in statements of other requests, and because lists can share a commit. A `long` list does not
   * share one, because others would wait. `unordered` statements may run in any order, so that no two transactions wait for each other's rows.
   */
  write(statements: Statement[], options?: WriteOptions): Promise<Row[][]>
  /** As `write`, but if the first statement returns no row, the rest is not run and it resolves to undefined. */
  writeIf(statements: Statement[], options?: Pick<WriteOptions, 'long'>): Promise<Row[][] | undefined>
  /** Yields one consistent snapshot in slices, with constant memory and rows as in `readValues`. Ending the iteration early frees it. */
  stream(sql: string, params: Value[], sliceRows: number): AsyncIterable<Value[][]>
  /** True if the answer to a committed write may be lost, for example if a connection breaks. */
  readonly mayLoseAnswers: boolean
  /** How many lists should be streamed at the same time. */
  readonly listsAtOnce: number
  /** Must be called after text was deleted: soon no trace of it is left in the data files. */
  scrub(): void
  /** Returns how long a request waits before it begins, in milliseconds. */
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
 * Returns a condition for a list, without a round trip: if the query returns no row, the list is rolled back and fails with `ConditionFailed`.
 * The embedded store ignores it, because no other process changes its data.
 */
export const condition = (sql: string, ...params: Value[]): Statement =>
  statement(`SELECT 1 / (SELECT count(*) FROM (${sql}) required) AS holds`, ...params)
