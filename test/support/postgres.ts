import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { findProgram } from '../runner/programs.ts'
import { endsBy, killed, launch, removedAtExit } from './cleanup.ts'
import { freePort } from './free-port.ts'

const READY_WITHIN_MS = 120_000
/** The server refuses to run as root, which is common in containers. It then runs as one of these users. */
const USERS = ['postgres', 'nobody']

/** A PostgreSQL server in its own folder. It ends with the test file. `newDatabase` creates databases. */
export interface PostgresServer {
  /** URL of the database `postgres`. */
  url: string
  /** Id of the server's main process. */
  pid: number
  /** Ends the server, by `SIGINT` in order or by `SIGQUIT` like a crash, and starts it again after `awayMs`. */
  restart(signal: 'SIGINT' | 'SIGQUIT', awayMs: number): Promise<void>
  stop(): Promise<void>
}

export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const user = unprivileged()
  const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'repartee-postgres-')))
  chmodSync(folder, 0o700)
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const as = { ...user, cwd: folder, stdio: 'ignore' as const }
  const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  execFileSync(findProgram('initdb'), ['-D', data, ...options], { ...as, stdio: 'pipe' })
  const port = await freePort()
  const given = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    // Socket paths are limited to 107 characters, which temporary folders can exceed.
    unix_socket_directories: '',
    // Stored in the folder. Elsewhere it would outlive a killed server.
    dynamic_shared_memory_type: 'mmap',
    max_connections: '400',
    // Data loss in a machine crash is not tested.
    fsync: 'off',
    ...settings,
  }
  const args = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const start = () => {
    const child = launch(findProgram('postgres'), ['-D', data, ...args], as)
    // The shared server must not keep the test file from ending.
    child.unref()
    return child
  }
  let server = start()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const stop = endsBy('PostgreSQL', async () => {
    await killed(server, 'SIGINT')
    rmSync(folder, { recursive: true, force: true })
  })
  await ready(url, server)
  return {
    url,
    get pid() {
      return server.pid!
    },
    async restart(signal, awayMs) {
      await killed(server, signal)
      await new Promise((resolve) => setTimeout(resolve, awayMs))
      server = start()
      await ready(url, server)
    },
    stop,
  }
}

let own: Promise<PostgresServer> | undefined

/** Creates an empty database for one test, on the server of `TEST_POSTGRES_URL` or on this process's own. Resolves to its URL. */
export async function newDatabase(): Promise<string> {
  const { TEST_POSTGRES_URL: given } = process.env
  own ??= given === undefined ? startPostgres() : undefined
  const server = given ?? (await own)!.url
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await query(server, `CREATE DATABASE ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

/** Drops a database of `newDatabase`, even with open connections. */
export async function dropDatabase(database: string): Promise<void> {
  const url = new URL(database)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  await query(url.href, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

/** Runs one statement on its own connection. */
// biome-ignore lint/suspicious/noExplicitAny: rows of any statement
export async function query(url: string, sql: string): Promise<any[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** Returns a user for programs that refuse to run as root, if we are root. */
export const unprivileged = (): { uid: number; gid: number } | undefined => (process.getuid?.() === 0 ? findUser() : undefined)

function findUser(): { uid: number; gid: number } {
  for (const name of USERS) {
    const idOf = (flag: string) => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout)
    const [uid, gid] = [idOf('-u'), idOf('-g')]
    if (uid > 0) return { uid, gid }
  }
  throw new Error(`PostgreSQL does not run as root, and there is none of the users ${USERS.join(', ')}`)
}

async function ready(url: string, server: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    try {
      await query(url, 'SELECT 1')
      return
    } catch (error) {
      if (server.exitCode !== null || performance.now() > deadline) throw new Error('PostgreSQL did not start', { cause: error })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
