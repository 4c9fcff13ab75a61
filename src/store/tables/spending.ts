import { nextSlice } from '../../core/fairness/pacer.ts'
import { type Database, statement } from '../database.ts'

/** Use of a budget in one day. */
export interface Spent {
  tokens: number
  /** US dollars. */
  cost: number
  /** Running calls that have a reservation. */
  calls: number
}

/** A reservation from a budget, and the limits of the budget; null for no limit. */
export interface Taking extends Omit<Spent, 'calls'> {
  id: string
  maxTokens: number | null
  maxCost: number | null
}

const SPENT = 'SELECT id, tokens, cost, calls FROM spending WHERE day = $2 AND id IN (SELECT value FROM json_each($1))'

/** Resolves to the use by budget id. Unused budgets are missing. */
export async function readSpending(db: Database, ids: string[], day: number): Promise<Map<string, Spent>> {
  const rows = await db.read(SPENT, [JSON.stringify(ids), day])
  return new Map(
    rows.map((row) => [row.id as string, { tokens: row.tokens as number, cost: row.cost as number, calls: row.calls as number }]),
  )
}

const FITS = (tokens: string, cost: string) =>
  `(CAST($5 AS BIGINT) IS NULL OR ${tokens} <= $5) AND (CAST($6 AS DOUBLE PRECISION) IS NULL OR ${cost} <= $6)`
/** Checks the limit in the same statement: the second of two concurrent calls sees what the first took. */
const TAKE = `INSERT INTO spending AS s (id, day, tokens, cost, calls)
  SELECT $1, CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS DOUBLE PRECISION), 1 WHERE ${FITS('$3', '$4')}
  ON CONFLICT (id, day) DO UPDATE SET tokens = s.tokens + excluded.tokens, cost = s.cost + excluded.cost, calls = s.calls + 1
  WHERE ${FITS('s.tokens + excluded.tokens', 's.cost + excluded.cost')} RETURNING id`
const SETTLE = `UPDATE spending SET tokens = tokens + $3, cost = cost + CAST($4 AS DOUBLE PRECISION), calls = calls - 1 WHERE id = $1 AND day = $2`

/** Reserves from every budget, or from none. Resolves to true if it reserved. */
export async function takeFromBudgets(db: Database, day: number, takings: Taking[]): Promise<boolean> {
  const take = takings.map((t) => statement(TAKE, t.id, day, t.tokens, t.cost, t.maxTokens, t.maxCost))
  // Unordered, because a key uses several agents and an agent is used by several keys.
  const done = await db.write(take, { unordered: true })
  const taken = takings.filter((_, i) => done[i]!.length > 0)
  if (taken.length === takings.length) return true
  const { tokens, cost } = takings[0]!
  if (taken.length > 0)
    await settleBudgets(
      db,
      day,
      taken.map(({ id }) => id),
      { tokens: -tokens, cost: -cost },
    )
  return false
}

/** Ends a call. `more` is its use minus its reservation, and may be negative. */
export async function settleBudgets(
  db: Database,
  day: number,
  ids: string[],
  more: Pick<Spent, 'tokens' | 'cost'>,
): Promise<void> {
  await db.write(
    ids.map((id) => statement(SETTLE, id, day, more.tokens, more.cost)),
    { unordered: true },
  )
}

const SPENDING = 'spending'
const SLICE_ROWS = 1_000
const LIST_SLICE = `SELECT id, day FROM spending WHERE (id, day) > ($1, $2) ORDER BY id, day LIMIT ${SLICE_ROWS}`
const DELETE_SLICE = 'DELETE FROM spending WHERE id >= $1 AND id <= $2 AND day < $3'

/** Deletes old spending of all budgets in slices: other requests are answered in between. */
export async function deleteSpendingBefore(db: Database, day: number): Promise<void> {
  for (let [id, of]: [string, number] = ['', 0]; ; ) {
    const rows = await db.read(LIST_SLICE, [id, of])
    const [first, last] = [rows[0], rows.at(-1)]
    if (first === undefined || last === undefined) return
    if (rows.some((row) => (row.day as number) < day)) await db.write([statement(DELETE_SLICE, first.id!, last.id!, day)])
    if (rows.length < SLICE_ROWS) return
    ;[id, of] = [last.id as string, last.day as number]
    await nextSlice(SPENDING)
  }
}

export async function deleteSpendingOf(db: Database, id: string): Promise<void> {
  await db.write([statement('DELETE FROM spending WHERE id = $1', id)])
}
