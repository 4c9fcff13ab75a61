import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { findProgram } from './package-manager.ts'
import { query, unprivileged } from './postgres.ts'

const READY_WITHIN_MS = 10_000

let own: Promise<{ port: string; server: string }> | undefined

/** The same database, by a PgBouncer in transaction mode that ends with this process. */
export async function throughPooler(url: string): Promise<string> {
  own ??= start(url)
  const { port, server } = await own
  const pooled = new URL(url)
  if (pooled.port !== server) throw new Error('one pooler of a process serves one server')
  pooled.port = port
  return pooled.href
}

async function start(url: string): Promise<{ port: string; server: string }> {
  const program = findProgram('pgbouncer', { 'apt-get': 'pgbouncer', apk: 'pgbouncer', dnf: 'pgbouncer', brew: 'pgbouncer' })
  const { hostname, port: server, username } = new URL(url)
  const user = unprivileged()
  const folder = mkdtempSync(join(tmpdir(), 'repartee-pooler-'))
  chmodSync(folder, 0o755)
  const port = String(await freePort())
  const users = join(folder, 'users.txt')
  writeFileSync(users, `"${username}" ""\n`)
  const settings = join(folder, 'pgbouncer.ini')
  writeFileSync(
    settings,
    `[databases]
* = host=${hostname} port=${server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 10
max_client_conn = 1000
logfile = ${join(folder, 'log')}
`,
  )
  if (user !== undefined) for (const path of [folder, users, settings]) chownSync(path, user.uid, user.gid)
  const pooler = spawn(program, [settings], { ...user, cwd: folder, stdio: 'ignore' })
  pooler.unref()
  process.once('exit', () => {
    pooler.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })
  const own = new URL(url)
  own.port = port
  await ready(own.href, pooler)
  return { port, server }
}

async function ready(url: string, pooler: ChildProcess): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS
  for (;;) {
    try {
      await query(url, 'SELECT 1')
      return
    } catch (cause) {
      if (pooler.exitCode !== null || performance.now() > deadline) throw new Error('PgBouncer did not start', { cause })
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
