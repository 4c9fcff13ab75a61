import { workerData } from 'node:worker_threads'
import pg from 'pg'
import { KNOWLEDGE_TYPES, sendTogether } from '../../postgres/batch.ts'
import { isLocked, isLost, reasonOf } from '../../postgres/errors.ts'
import { isTransient } from '../../transient.ts'
import type { SqlRow } from '../rows.ts'
import type { BlockingAnswer, BlockingRequest, ConnectionStart } from './blocking-connection.ts'

const { url, pooler, port, signal } = workerData as ConnectionStart

const CONNECT_WITHIN_MS = 5_000
/** How long the process with a base's lease waits for another change of the base. Changes are short. */
const LOCK_WITHIN_MS = 5_000
const ANSWER_WITHIN_MS = 60_000

let client: pg.Client | undefined

async function connect(): Promise<pg.Client> {
  const fresh = new pg.Client({
    connectionString: url,
    application_name: 'repartee knowledge',
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
    types: KNOWLEDGE_TYPES,
    pipeline: !pooler,
    ...(pooler ? {} : { lock_timeout: LOCK_WITHIN_MS }),
  })
  // If the connection breaks in use, the running statement reports the error.
  fresh.on('error', () => forget(fresh))
  await fresh.connect()
  return fresh
}

function forget(broken: pg.Client): void {
  if (client === broken) client = undefined
  broken.end().catch(() => {})
}

async function run({ steps, continues }: BlockingRequest): Promise<SqlRow[][]> {
  // The transaction ended with the connection: a new connection would write only the rest of it.
  if (continues && client === undefined) throw new Error('the connection was closed within a transaction')
  client ??= await connect()
  const open = client
  try {
    return await sendTogether(open, steps, pooler)
  } catch (error) {
    if (isLost(error) || !(await isClean(open))) forget(open)
    throw error
  }
}

/** Rolls back a transaction that an error left open. Resolves to false if that fails. */
const isClean = (open: pg.Client): Promise<boolean> =>
  open.query('ROLLBACK').then(
    () => true,
    () => false,
  )

port.on('message', async (request: BlockingRequest) => {
  let answer: BlockingAnswer
  try {
    answer = { rows: await run(request) }
  } catch (error) {
    answer = { message: reasonOf(error), isTransient: isTransient(error) || isLost(error), isLocked: isLocked(error) }
  }
  port.postMessage(answer)
  Atomics.add(signal, 0, 1)
  Atomics.notify(signal, 0)
})
