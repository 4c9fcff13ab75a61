// Runs in its own thread, because callers block until it responds.
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { freePort } from './free-port.ts'
import { oneExchangeAtATime } from './one-exchange-at-a-time.ts'

const db = await PGlite.create({ extensions: { vector } })
const port = await freePort()
await new PGLiteSocketServer({ db, host: '127.0.0.1', port, maxConnections: 100 }).start()
await oneExchangeAtATime(port, workerData as number)
parentPort!.postMessage('ready')
