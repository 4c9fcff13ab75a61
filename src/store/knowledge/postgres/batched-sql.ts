import type { Step } from '../../postgres/batch.ts'
import type { SqlValue } from '../rows.ts'
import type { Insertion } from '../statements.ts'
import { scope } from './scope.ts'

/** Column with the position (from 1) of the parameter set that a row belongs to. */
export const PLACE = '#'

type Rows = readonly (readonly SqlValue[])[]

/** Returns one statement that selects the first row of a statement for each set of parameters. */
export function selectTogether(agentId: string, sql: string, each: Rows): Step {
  const { from, params, column } = unnested(each)
  const inner = scope(sql).replace(/\$(\d+)/g, (text, number: string) => (number === '1' ? text : column(Number(number) - 2)))
  return {
    sql: `SELECT k.i AS "${PLACE}", x.* FROM ${from} CROSS JOIN LATERAL (SELECT * FROM (${inner}) one LIMIT 1) x`,
    params: [agentId, ...params],
    prepared: true,
  }
}

/** Returns the statements that insert rows: one for all, unless a row would be changed twice, which one statement must not do. */
export function insertTogether(agentId: string, insertion: Insertion, rows: Rows): Step[] {
  const { into, columns, onConflict } = insertion
  const key = onConflict?.key.map((name) => columns.indexOf(name))
  const isOnce = key === undefined || new Set(rows.map((row) => JSON.stringify(key.map((i) => row[i])))).size === rows.length
  return (isOnce ? [rows] : rows.map((row) => [row])).map((some) => {
    const { from, params, column } = unnested(some)
    const values = columns.map((_, i) => column(i))
    const conflict =
      onConflict === undefined
        ? ''
        : ` ON CONFLICT (${['agent_id', ...onConflict.key].join(', ')}) DO UPDATE SET ${onConflict.set}`
    return {
      sql: `INSERT INTO knowledge_${into} AS ${into} (${['agent_id', ...columns].join(', ')}) SELECT ${['$1', ...values].join(', ')} FROM ${from}${conflict}`,
      params: [agentId, ...params],
      prepared: true,
    }
  })
}

/** Returns a table `k` with one row per set of parameters, in order, and its position `i`. */
function unnested(each: Rows): { from: string; params: SqlValue[]; column: (i: number) => string } {
  const types = each[0]!.map((_, i) => typeOf(each, i))
  const given = types.flatMap((type, i) => (type === undefined ? [] : [{ type, i }]))
  const lists = given.map(({ type }, at) => `$${at + 2}::${type}[]`)
  const names = given.map(({ i }) => `p${i}`)
  return {
    from: `unnest(${lists.join(', ')}) WITH ORDINALITY AS k (${[...names, 'i'].join(', ')})`,
    // The driver converts lists to arrays.
    params: given.map(({ i }) => each.map((params) => params[i]!)) as unknown as SqlValue[],
    column: (i) => (types[i] === undefined ? 'NULL' : `k.p${i}`),
  }
}

/** Returns the SQL type of parameter `i`; undefined if all its values are null. */
function typeOf(each: Rows, i: number): string | undefined {
  let type: string | undefined
  for (const params of each) {
    const value = params[i]!
    if (value === null) continue
    if (typeof value === 'string') return 'text'
    if (typeof value !== 'number') return 'bytea'
    if (!Number.isInteger(value)) return 'double precision'
    type = 'bigint'
  }
  return type
}
