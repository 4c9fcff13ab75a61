import type { ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../runner/programs.ts'
import { launch, removedAtExit } from './cleanup.ts'
import { freePort } from './free-port.ts'
import { query, unprivileged } from './postgres.ts'

const READY_WITHIN_MS = 120_000

let own: Promise<{ port: string; server: string }> | undefined

/** Resolves to the URL of the same database through a PgBouncer in transaction mode, which ends with this process. */
export async function throughPooler(url: string): Promise<string> {
  own ??= start(url)
  const { port, server } = await own
  const pooled = new URL(url)
  if (pooled.port !== server) throw new Error('one pooler of a process serves one server')
  pooled.port = port
  return pooled.href
}

async function start(url: string): Promise<{ port: string; server: string }> {
  const { hostname, port: server, username } = new URL(url)
  const user = unprivileged()
  const folder = removedAtExit(mkdtempSync(join(tmpdir(), 'repartee-pooler-')))
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
  const pooler = launch(findProgram('pgbouncer'), [settings], { ...user, cwd: folder, stdio: 'ignore' })
  pooler.unref()
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
