import type { Step } from '../../postgres/batch.ts'
import type { SqlValue } from '../rows.ts'
import { scope } from './scope.ts'

/** Column with the position (from 1) of the parameter set that a row belongs to. */
export const PLACE = '#'

/** Returns one statement that selects the first row of a statement for each set of parameters. */
export function selectTogether(agentId: string, sql: string, each: readonly (readonly SqlValue[])[]): Step {
  const { from, params, column } = unnested(each)
  const inner = scope(sql).text.replace(/\$(\d+)/g, (text, number: string) =>
    number === '1' ? text : column(Number(number) - 2),
  )
  return {
    sql: `SELECT k.i AS "${PLACE}", x.* FROM ${from} CROSS JOIN LATERAL (SELECT * FROM (${inner}) one LIMIT 1) x`,
    params: [agentId, ...params],
    prepared: true,
  }
}

const INSERTION = /^(INSERT INTO [^(]+\([^)]*\)) VALUES \(([^)]*)\)([\s\S]*)$/
const CONFLICT = /ON CONFLICT \(agent_id, ([^)]*)\)/

/** Joins consecutive inserts into as few statements as possible. Each step is the text of `scope` with its parameters. */
export function insertTogether(steps: readonly Step[]): Step[] {
  const joined: Step[] = []
  for (let from = 0; from < steps.length; ) {
    let to = from + 1
    while (to < steps.length && steps[to]!.sql === steps[from]!.sql) to++
    joined.push(...joinInsertions(steps.slice(from, to)))
    from = to
  }
  return joined
}

function joinInsertions(steps: readonly Step[]): readonly Step[] {
  const { sql, params: first } = steps[0]!
  const parts = steps.length < 2 ? null : INSERTION.exec(sql)
  if (parts === null) return steps
  const [, head, values, tail] = parts as unknown as [string, string, string, string]
  const each = steps.map(({ params }) => params!.slice(1) as SqlValue[])
  const items = values.split(', ')
  if (touchesTwice(head, items, tail, each)) return steps
  const { from, params, column } = unnested(each)
  const selected = items.map((item) => {
    const number = /^\$(\d+)$/.exec(item)?.[1]
    return number === undefined || number === '1' ? item : column(Number(number) - 2)
  })
  return [{ sql: `${head} SELECT ${selected.join(', ')} FROM ${from}${tail}`, params: [first![0]!, ...params], prepared: true }]
}

/** Returns true if the inserts change a row twice, which one statement must not do. */
function touchesTwice(head: string, items: readonly string[], tail: string, each: readonly (readonly SqlValue[])[]): boolean {
  const conflict = CONFLICT.exec(tail)?.[1]
  if (conflict === undefined) return false
  const columns = head.slice(head.indexOf('(') + 1, -1).split(', ')
  const places = conflict.split(', ').map((name) => Number(items[columns.indexOf(name)]!.slice(1)) - 2)
  return new Set(each.map((params) => JSON.stringify(places.map((place) => params[place])))).size < each.length
}

/** Returns a table `k` with one row per set of parameters, in order, and its position `i`. */
function unnested(each: readonly (readonly SqlValue[])[]): { from: string; params: SqlValue[]; column: (i: number) => string } {
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
function typeOf(each: readonly (readonly SqlValue[])[], i: number): string | undefined {
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
