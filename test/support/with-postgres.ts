// For `node --test --test-global-setup`: one PostgreSQL server for all test files, and one cache of what they and their services compile.
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type PostgresServer, startPostgres } from './postgres.ts'

let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  server = await startPostgres()
  process.env.TEST_POSTGRES_URL = server.url
  process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'node-compile-cache')
}

export async function globalTeardown(): Promise<void> {
  await server?.stop()
}
