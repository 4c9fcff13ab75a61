import type { SqlRow, SqlValue } from './rows.ts'

/** A statement that reads. Its answer is an array of rows. */
export interface Need {
  sql: string
  params: readonly SqlValue[]
  /** The row is large and never changes, so concurrent questions share one result. */
  isShared?: boolean
  /** True for the row after which no more rows are needed. PostgreSQL returns the other rows as well. */
  isLast?: (row: SqlRow) => boolean
  /** The statement names tables of pgvector. It is sent unchanged. */
  isRaw?: boolean
}

/** A statement of which only the first row is needed, for many sets of parameters. Its answer has one entry for each: the row, or undefined. */
export interface ManyNeed {
  sql: string
  each: readonly (readonly SqlValue[])[]
}

export type Needs = readonly (Need | ManyNeed)[]
export type Answers = (SqlRow | undefined)[][]

/**
 * Work on rows without I/O. It yields the statements that it needs, all at once, and resumes with the answer to each.
 * `drive` answers them from a synchronous base, `PostgresReads` with one round trip for each yield.
 */
export type Work<T> = Generator<Needs, T, Answers>

/** Work that is done: it needs nothing. */
// biome-ignore lint/correctness/useYield: it has nothing to yield
export function* done<T>(value: T): Work<T> {
  return value
}

export function* all<T = SqlRow>(sql: string, ...params: SqlValue[]): Work<T[]> {
  const [rows] = yield [{ sql, params }]
  return rows as T[]
}

/** Returns the first row. */
export function* get<T = SqlRow>(sql: string, ...params: SqlValue[]): Work<T | undefined> {
  const [rows] = yield [{ sql, each: [params] }]
  return rows![0] as T | undefined
}

/** Returns the first row of the same statement for each set of parameters, in order. */
export function* getMany<T = SqlRow>(sql: string, each: ManyNeed['each']): Work<(T | undefined)[]> {
  if (each.length === 0) return []
  const [rows] = yield [{ sql, each }]
  return rows as (T | undefined)[]
}

export type Results<W extends readonly Work<unknown>[]> = { [I in keyof W]: W[I] extends Work<infer T> ? T : never }

/** Does several pieces of work at the same time: each yield contains what all of them need next. */
export function* together<const W extends readonly Work<unknown>[]>(...works: W): Work<Results<W>> {
  const steps = works.map((work) => work.next())
  for (;;) {
    const open = [...steps.keys()].filter((i) => steps[i]!.done !== true)
    const [only] = open
    if (only === undefined) return steps.map(({ value }) => value) as Results<W>
    if (open.length === 1) {
      let step = steps[only]!
      while (step.done !== true) step = works[only]!.next(yield step.value)
      steps[only] = step
      continue
    }
    const needs = open.map((i) => steps[i]!.value as Needs)
    const answers = yield needs.flat()
    let at = 0
    for (const [n, i] of open.entries()) {
      steps[i] = works[i]!.next(answers.slice(at, at + needs[n]!.length))
      at += needs[n]!.length
    }
  }
}

/** A base that answers synchronously. */
interface SyncRows {
  all(sql: string, ...params: SqlValue[]): SqlRow[]
  getMany(sql: string, each: ManyNeed['each']): (SqlRow | undefined)[]
  iterate(sql: string, ...params: SqlValue[]): Iterable<SqlRow>
  readonly near?: { ask(sql: string, params: unknown[]): SqlRow[] }
}

/** Does the work at once. */
export function drive<T>(base: SyncRows, work: Work<T>): T {
  let step = work.next()
  while (step.done !== true) step = work.next(step.value.map((need) => answerOf(base, need)))
  return step.value
}

function answerOf(base: SyncRows, need: Need | ManyNeed): (SqlRow | undefined)[] {
  if ('each' in need) return base.getMany(need.sql, need.each)
  const { sql, params, isLast, isRaw } = need
  if (isRaw === true) return base.near!.ask(sql, [...params])
  if (isLast === undefined) return base.all(sql, ...params)
  const rows: SqlRow[] = []
  for (const row of base.iterate(sql, ...params)) {
    rows.push(row)
    if (isLast(row)) break
  }
  return rows
}
