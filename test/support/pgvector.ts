import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { endsBy } from './cleanup.ts'
import { freePort } from './free-port.ts'

/**
 * Starts a PostgreSQL with pgvector, compiled to WebAssembly. All connections share one backend in turns, so statements cannot be prepared,
 * as with a pooler. Resolves to the URL of its only database, which does not contain the extension yet.
 */
export async function startPgvector(): Promise<{ url: string; stop(): Promise<unknown> }> {
  const port = await freePort()
  const server = new Worker(new URL('pgvector-server.ts', import.meta.url), { workerData: port })
  const stop = endsBy('the PostgreSQL with pgvector', () => server.terminate())
  await once(server, 'message')
  return { url: `postgres://postgres:postgres@127.0.0.1:${port}/postgres?sslmode=disable`, stop }
}
