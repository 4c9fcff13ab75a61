import type { Socket } from 'node:net'
import pg from 'pg'
import type { SqlRow, SqlValue } from './knowledge-base.ts'

export interface Step {
  sql: string
  params?: SqlValue[]
  /** It is sent often: the server plans it once. */
  prepared?: boolean
}

/** 64-bit integers, and sums over them: all that is counted is below 2^53. */
const AS_NUMBER = new Set([20, 1700])
const BYTES = 17
export const KNOWLEDGE_TYPES: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (AS_NUMBER.has(oid) && format !== 'binary') return Number
    // In memory of its own: what is sent to another thread takes along all that it shares memory with.
    if (oid === BYTES && format !== 'binary') return (text: string) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
    return pg.types.getTypeParser(oid, format)
  },
}

const names = new Map<string, string>()

/** Sends them all in one packet, or one by one where a pooler stands between. The rows of each; rejects with the first error. */
export async function sendTogether(client: pg.ClientBase, steps: readonly Step[], pooler: boolean): Promise<SqlRow[][]> {
  const one = ({ sql, params = [], prepared = false }: Step): Promise<SqlRow[]> => {
    const query: pg.QueryConfig = { text: sql, values: params }
    if (prepared && !pooler) {
      const name = names.get(sql) ?? `k${names.size}`
      names.set(sql, name)
      query.name = name
    }
    return client.query<SqlRow>(query).then(({ rows }) => rows)
  }
  if (pooler) {
    const all: SqlRow[][] = []
    for (const step of steps) all.push(await one(step))
    return all
  }
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.cork()
  const running = Promise.allSettled(steps.map(one))
  stream.uncork()
  return (await running).map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
