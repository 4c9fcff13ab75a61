import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from './free-port.ts'
import { install } from './package-manager.ts'

const DEBIAN = '/usr/lib/postgresql'
const READY_WITHIN_MS = 30_000
/** The server refuses to run as root, and tests in containers often do: it then runs as one of these. */
const USERS = ['postgres', 'nobody']

/** A PostgreSQL server of our own, in a folder of its own, which ends with this process. Databases are made by `newDatabase`. */
export interface PostgresServer {
  /** Of its database `postgres`. */
  url: string
  /** Of the process that all others of it come from. */
  pid: number
  /** Ends it, by `SIGINT` in order and by `SIGQUIT` as a crash does, and starts it again some time later. */
  restart(signal: 'SIGINT' | 'SIGQUIT', awayMs: number): Promise<void>
  stop(): Promise<void>
}

/** Starts a server; installs PostgreSQL by the machine's package manager where there is none. */
export async function startPostgres(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const bin = findPrograms() ?? installPrograms()
  const user = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'repartee-postgres-'))
  chmodSync(folder, 0o700)
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const as = { ...user, cwd: folder, stdio: 'ignore' as const }
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'], as)
  const port = await freePort()
  const given = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: folder,
    max_connections: '400',
    // What a crash of the machine would lose is not what is tested.
    fsync: 'off',
    ...settings,
  }
  const args = Object.entries(given).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const launch = () => spawn(join(bin, 'postgres'), ['-D', data, ...args], as)
  let server = launch()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  // It must not keep this process alive, and must not outlive it.
  server.unref()
  const end = () => {
    server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  process.once('exit', end)
  await ready(url, server)
  return {
    url,
    get pid() {
      return server.pid!
    },
    async restart(signal, awayMs) {
      await gone(server, signal)
      await new Promise((resolve) => setTimeout(resolve, awayMs))
      server = launch()
      server.unref()
      await ready(url, server)
    },
    async stop() {
      process.off('exit', end)
      await gone(server, 'SIGINT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function gone(server: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  server.ref()
  const gone = new Promise((resolve) => server.once('exit', resolve))
  server.kill(signal)
  return gone
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

function findPrograms(): string | undefined {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...(process.env.PATH ?? '').split(':')]
  return folders.find((folder) => ['initdb', 'postgres'].every((program) => existsSync(join(folder, program))))
}

function installPrograms(): string {
  const packages = { 'apt-get': 'postgresql', apk: 'postgresql', dnf: 'postgresql-server', brew: 'postgresql' }
  install('PostgreSQL', packages, () => findPrograms() !== undefined)
  const found = findPrograms()
  if (found !== undefined) return found
  throw new Error(
    'PostgreSQL is not on this machine, and could not be installed: put initdb and postgres on the PATH, or set TEST_POSTGRES_URL',
  )
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
