// A thread of its own: those that ask stand still until it answers.
import { parentPort, workerData } from 'node:worker_threads'
import { PGlite } from '@electric-sql/pglite'
import { vector } from '@electric-sql/pglite-pgvector'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'

const db = await PGlite.create({ extensions: { vector } })
await new PGLiteSocketServer({ db, host: '127.0.0.1', port: workerData, maxConnections: 100 }).start()
parentPort!.postMessage('ready')
