import type { Socket } from 'node:net'
import pg from 'pg'
import type { SqlRow, SqlValue } from '../knowledge/rows.ts'

export interface Step {
  sql: string
  params?: SqlValue[]
  /** Sent often: the server plans it once. */
  prepared?: boolean
}

/** 64-bit integers and their sums: all counts are below 2^53. */
const AS_NUMBER = new Set([20, 1700])
const BYTES = 17
export const KNOWLEDGE_TYPES: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (AS_NUMBER.has(oid) && format !== 'binary') return Number
    // In its own memory: a message to another thread takes along everything that shares its memory.
    if (oid === BYTES && format !== 'binary') return (text: string) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
    return pg.types.getTypeParser(oid, format)
  },
}

const names = new Map<string, string>()

/** Resolves to the rows of each step. Rejects with the first error. */
export function sendTogether(client: pg.ClientBase, steps: readonly Step[], pooler: boolean): Promise<SqlRow[][]> {
  return inOrder(client, steps, pooler, ({ sql, params = [], prepared = false }) => {
    const query: pg.QueryConfig = { text: sql, values: params }
    if (prepared && !pooler) {
      const name = names.get(sql) ?? `k${names.size}`
      names.set(sql, name)
      query.name = name
    }
    return client.query<SqlRow>(query).then(({ rows }) => rows)
  })
}

/**
 * Sends all steps in one packet without waiting for answers; one by one through a pooler. Rejects with the first error.
 * After a failed statement of a transaction the rest fails too, and COMMIT rolls back.
 */
export async function inOrder<S, T>(
  client: pg.ClientBase,
  steps: readonly S[],
  pooler: boolean,
  run: (step: S) => Promise<T>,
): Promise<T[]> {
  if (pooler) {
    const results: T[] = []
    for (const step of steps) results.push(await run(step))
    return results
  }
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  stream.cork()
  const running = Promise.allSettled(steps.map(run))
  stream.uncork()
  return (await running).map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  })
}
