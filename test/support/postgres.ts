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
/** The server refuses to run as root, and tests in containers often do: it then runs as one of these. */
const USERS = ['postgres', 'nobody']

/** A PostgreSQL server of our own, in a folder of its own, which ends with the file of tests. Databases are made by `newDatabase`. */
export interface PostgresServer {
  /** Of its database `postgres`. */
  url: string
  /** Of the process that all others of it come from. */
  pid: number
  /** Ends it, by `SIGINT` in order and by `SIGQUIT` as a crash does, and starts it again some time later. */
  restart(signal: 'SIGINT' | 'SIGQUIT', awayMs: number): Promise<void>
  stop(): Promise<void>
}

/** Starts a server. */
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
    // Their paths may not be longer than 107 characters, which folders for temporary files can be.
    unix_socket_directories: '',
    // In the folder, and not where it would outlive a server that is killed.
    dynamic_shared_memory_type: 'mmap',
    max_connections: '400',
    // What a crash of the machine would lose is not what is tested.
    fsync: 'off',
    ...settings,
  }
  const args = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const start = () => {
    const child = launch(findProgram('postgres'), ['-D', data, ...args], as)
    // What is shared by the tests of a file must not keep it from ending.
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

/** An empty database for one test; on the server that `TEST_POSTGRES_URL` names, or on one of this process. Resolves to its URL. */
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

/** Drops one that `newDatabase` made, whoever is still connected. */
export async function dropDatabase(database: string): Promise<void> {
  const url = new URL(database)
  const name = url.pathname.slice(1)
  url.pathname = '/postgres'
  await query(url.href, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
}

/** One statement on a connection of its own. */
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

/** For programs that refuse to run as root, where we are. */
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
