import type { Socket } from 'node:net'
import { workerData } from 'node:worker_threads'
import pg from 'pg'
import type { SqlRow, SqlValue } from './knowledge-base.ts'
import { isLost, isPassing, reasonOf } from './postgres-errors.ts'
import type { Answer, ConnectionStart, Step } from './waiting-connection.ts'

const { url, pooler, port, signal } = workerData as ConnectionStart

const CONNECT_WITHIN_MS = 5_000
/** Whoever changes a large base may hold it for some seconds. */
const LOCK_WITHIN_MS = 30_000
const ANSWER_WITHIN_MS = 60_000

/** 64-bit integers, and sums over them: all that is counted is below 2^53. */
const AS_NUMBER = new Set([20, 1700])
const BYTES = 17
const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (AS_NUMBER.has(oid) && format !== 'binary') return Number
    // In memory of its own: what is sent to another thread takes along all that it shares memory with.
    if (oid === BYTES && format !== 'binary') return (text: string) => Uint8Array.from(Buffer.from(text.slice(2), 'hex'))
    return pg.types.getTypeParser(oid, format)
  },
}
const names = new Map<string, string>()
let client: pg.Client | undefined

async function connect(): Promise<pg.Client> {
  const fresh = new pg.Client({
    connectionString: url,
    application_name: 'repartee knowledge',
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
    types,
    pipeline: !pooler,
    ...(pooler ? {} : { lock_timeout: LOCK_WITHIN_MS }),
  })
  // One that breaks in use is told of by the statement under way.
  fresh.on('error', () => forget(fresh))
  await fresh.connect()
  return fresh
}

function forget(broken: pg.Client): void {
  if (client === broken) client = undefined
  broken.end().catch(() => {})
}

async function run(steps: Step[]): Promise<SqlRow[][]> {
  client ??= await connect()
  const open = client
  const one = ({ sql, params = [], prepared = false }: Step): Promise<SqlRow[]> => {
    const values = params as SqlValue[]
    if (!prepared || pooler) return open.query<SqlRow>({ text: sql, values }).then(({ rows }) => rows)
    const name = names.get(sql) ?? `k${names.size}`
    names.set(sql, name)
    return open.query<SqlRow>({ name, text: sql, values }).then(({ rows }) => rows)
  }
  try {
    if (pooler) {
      const all: SqlRow[][] = []
      for (const step of steps) all.push(await one(step))
      return all
    }
    const { stream } = (open as unknown as { connection: { stream: Socket } }).connection
    stream.cork()
    const running = Promise.allSettled(steps.map(one))
    stream.uncork()
    return (await running).map((outcome) => {
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    })
  } catch (error) {
    if (isLost(error)) forget(open)
    throw error
  }
}

port.on('message', async (steps: Step[]) => {
  let answer: Answer
  try {
    answer = { rows: await run(steps) }
  } catch (error) {
    answer = { message: reasonOf(error), passing: isPassing(error) }
  }
  port.postMessage(answer)
  Atomics.add(signal, 0, 1)
  Atomics.notify(signal, 0)
})
