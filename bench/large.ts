// What a page of history, a page of sessions, a new session and a send cost in a large store, against an empty one, on both engines.
//   node bench/large.ts [messages, default 10000000] [sessions, default 1000000] [agents, default 10000] [engines, default sqlite,postgres]
// The stores lie in the folder for temporary files: 10 million messages take some 5 GB there for each engine.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeKey } from '../src/chat/key-format.ts'
import { openNewFolder } from '../src/store/move/folder-place.ts'
import { openNewPostgres } from '../src/store/move/postgres-place.ts'
import { Client } from '../test/support/client.ts'
import { query, startPostgres } from '../test/support/postgres.ts'
import { type Filled, fill, type Size } from './fill.ts'

const [messages = 10_000_000, sessions = 1_000_000, agents = 10_000] = process.argv.slice(2, 5).map(Number)
const engines = (process.argv[5] ?? 'sqlite,postgres').split(',')
const ROUNDS = 12
const CALLS = 150
const key = makeKey()
const folder = mkdtempSync(join(tmpdir(), 'repartee-large-'))
const large: Size = { agents, sessions, messages }
const small: Size = { agents: 1, sessions: 100, messages: (100 * messages) / sessions }

interface Served extends Filled {
  child: ChildProcess
  client: Client
}

const CALLS_OF: Record<string, (served: Served, i: number) => Promise<unknown>> = {
  'history page of 50': ({ client, agentId, sessionIds }, i) =>
    client.get(`/agents/${agentId}/sessions/${sessionIds[i % sessionIds.length]}/messages?limit=50`),
  'page of 50 sessions': ({ client, agentId }) => client.get(`/agents/${agentId}/sessions?limit=50`),
  'new session': ({ client, agentId }) => client.post(`/agents/${agentId}/sessions`, {}),
  send: ({ client, agentId, sessionIds }, i) =>
    client.post(`/agents/${agentId}/sessions/${sessionIds[i % sessionIds.length]}/messages`, {
      message: 'Who pays for the oil?',
    }),
}

for (const engine of engines) {
  const server =
    engine === 'postgres' ? await startPostgres({ fsync: 'on', shared_buffers: '1GB', max_wal_size: '4GB' }) : undefined
  const begun = performance.now()
  const stores = await Promise.all([make(engine, 'large', large, server?.url), make(engine, 'small', small, server?.url)])
  if (server !== undefined) await query(stores[0].place, 'VACUUM (FREEZE, ANALYZE)')
  const [{ place, data }] = stores
  const bytes =
    server === undefined
      ? statSync(join(data, 'repartee.db')).size
      : (await query(place, 'SELECT pg_database_size(current_database())::float8 AS n'))[0].n
  const seconds = Math.round((performance.now() - begun) / 1000)
  console.log(JSON.stringify({ engine, ...large, filledInSeconds: seconds, bytesPerMessage: Math.round(bytes / messages) }))
  const [full, empty] = (await Promise.all(stores.map(serve))) as [Served, Served]
  for (const [what, call] of Object.entries(CALLS_OF)) {
    const times = { full: [] as number[], empty: [] as number[] }
    for (let round = -1; round < ROUNDS; round++)
      for (const [name, served] of [
        ['full', full],
        ['empty', empty],
      ] as const)
        for (let i = 0; i < CALLS; i++) {
          const start = performance.now()
          await call(served, (round + 1) * CALLS + i)
          if (round >= 0) times[name].push(performance.now() - start)
        }
    const [at, base] = [spread(times.full), spread(times.empty)]
    const ratio = Math.round((at.p50 / base.p50) * 100) / 100
    console.log(JSON.stringify({ engine, what, large: at, empty: base, ratio }))
  }
  for (const { child } of [full, empty]) {
    child.kill()
    await new Promise((resolve) => child.once('exit', resolve))
  }
  await server?.stop()
}
rmSync(folder, { recursive: true })

function spread(times: number[]) {
  times.sort((a, b) => a - b)
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)]! * 100) / 100
  return { p50: at(0.5), p99: at(0.99) }
}

async function make(engine: string, name: string, size: Size, server: string | undefined) {
  const data = join(folder, `${engine}-${name}`)
  let place = data
  if (server !== undefined) {
    await query(server, `CREATE DATABASE ${name}`)
    place = server.replace(/postgres$/, name)
  }
  const target = server === undefined ? openNewFolder(data) : await openNewPostgres(place, 'bench')
  return { data, place, filled: await fill(target, size, (text) => process.stderr.write(`\r${engine} ${name}: ${text} `)) }
}

async function serve({ data, place, filled }: { data: string; place: string; filled: Filled }): Promise<Served> {
  const env = {
    PATH: process.env['PATH'],
    REPARTEE_DATA: data,
    ...(place === data ? {} : { REPARTEE_DATABASE_URL: place }),
    REPARTEE_PORT: '0',
    REPARTEE_ADMIN_KEY: key,
    REPARTEE_SAMPLE: 'off',
    REPARTEE_RATE_LIMIT: 'off',
    REPARTEE_LOG_LEVEL: 'silent',
  }
  const child = spawn(process.execPath, [fileURLToPath(new URL('../src/main.js', import.meta.url))], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const chunk of child.stdout) {
    const url = /Base URL: (\S+)/.exec(String(chunk))?.[1]
    if (url !== undefined) return { ...filled, child, client: new Client({ baseUrl: url }, key) }
  }
  throw new Error('the service did not start')
}
