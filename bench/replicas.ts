// Measures a message with PostgreSQL: statements, round trips, and processor time of service and server. Also measures the gain of a second
// process when both share the machine with the server.
//   node bench/replicas.ts [seconds, default 6]
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { makeKey } from '../src/access/key-format.ts'
import { Client } from '../test/support/client.ts'
import { newDatabase, startPostgres } from '../test/support/postgres.ts'
import { cpuMs, type Program, startProgram } from './processes.ts'
import { MAIN } from './stage.ts'
import { median } from './turns.ts'

const [seconds = 6] = process.argv.slice(2).map(Number)
const AT_ONCE = 16
const ROUNDS = 3
const server = await startPostgres({ fsync: 'on', shared_buffers: '512MB' })
process.env['TEST_POSTGRES_URL'] = server.url
const database = await newDatabase()
const key = makeKey()
const folder = mkdtempSync(join(tmpdir(), 'repartee-replicas-'))

const one = await serve(database)
const { agent } = (await one.client.post('/agents', { name: 'bench' })).body
await trips()
const two = await serve(database)
const services = [one.program.pid, two.program.pid]
const rates: Record<string, number[]> = { one: [], two: [] }
for (let round = 0; round < ROUNDS; round++)
  for (const [name, served] of [
    ['one', [one]],
    ['two', [one, two]],
  ] as const) {
    const before = { service: cpuMs(services), server: cpuMs([server.pid]) }
    const sends = await load(served.map(({ client }) => client))
    rates[name]!.push(sends / seconds)
    report({
      what: `${AT_ONCE} senders, ${name} process${name === 'one' ? '' : 'es'}`,
      sendsPerSecond: Math.round(sends / seconds),
      serviceCpuMsPerSend: round2((cpuMs(services) - before.service) / sends),
      serverCpuMsPerSend: round2((cpuMs([server.pid]) - before.server) / sends),
    })
  }
report({ what: 'a second process', ratio: round2(median(rates['two']!) / median(rates['one']!)) })
for (const { program } of [one, two]) await program.stop()
await server.stop()
rmSync(folder, { recursive: true })

async function load(clients: Client[]): Promise<number> {
  const until = performance.now() + seconds * 1_000
  let sends = 0
  const sender = async (i: number) => {
    const client = clients[i % clients.length]!
    const { session } = (await client.post(`/agents/${agent.id}/sessions`, {})).body
    while (performance.now() < until) {
      const { status } = await client.post(`/agents/${agent.id}/sessions/${session.id}/messages`, { message: 'Hello there' })
      if (status !== 200) throw new Error(`a send was answered with ${status}`)
      sends++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, (_, i) => sender(i)))
  return sends
}

/** Counts statements, round trips and bytes of a request between a separate service process and the server. */
async function trips(): Promise<void> {
  let counts = { statements: 0, trips: 0, bytes: 0 }
  const { port } = new URL(database)
  const proxy = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1')
    let isAsking = false
    near.on('data', (chunk: Buffer) => {
      if (!isAsking) counts.trips++
      isAsking = true
      counts.bytes += chunk.length
      // Every statement is an Execute message or a simple query.
      for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readInt32BE(at + 1))
        if (/[EQ]/.test(String.fromCharCode(chunk[at]!))) counts.statements++
      far.write(chunk)
    })
    far.on('data', (chunk) => {
      isAsking = false
      near.write(chunk)
    })
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const)
      from.on('close', () => to.destroy()).on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(database)
  url.port = String((proxy.address() as AddressInfo).port)
  const { program, client } = await serve(url.href)
  const path = `/agents/${agent.id}/sessions`
  const { session } = (await client.post(path, {})).body
  const calls: Record<string, () => Promise<{ status: number }>> = {
    'new session': () => client.post(path, {}),
    send: () => client.post(`${path}/${session.id}/messages`, { message: 'Hello there' }),
    'send with Idempotency-Key': () =>
      client.post(
        `${path}/${session.id}/messages`,
        { message: 'Hello there' },
        { headers: { 'idempotency-key': String(Math.random()) } },
      ),
    'history page': () => client.get(`${path}/${session.id}/messages?limit=50`),
    'page of sessions': () => client.get(`${path}?limit=50`),
  }
  for (const [what, call] of Object.entries(calls)) {
    for (let i = 0; i < 5; i++) await call()
    const seen: (typeof counts)[] = []
    for (let i = 0; i < 9; i++) {
      await pause(30)
      counts = { statements: 0, trips: 0, bytes: 0 }
      await call()
      seen.push(counts)
    }
    // The process also polls on its own. The smallest counts belong to the request alone.
    const fewest = seen.toSorted((a, b) => a.trips - b.trips || a.statements - b.statements)[0]!
    report({ what, ...fewest })
  }
  await program.stop()
  proxy.close()
}

async function serve(url: string): Promise<{ program: Program; client: Client }> {
  const data = mkdtempSync(join(folder, 'data-'))
  const env = { REPARTEE_DATA: data, REPARTEE_DATABASE_URL: url, REPARTEE_PORT: '0', REPARTEE_ADMIN_KEY: key }
  const quiet = { REPARTEE_SAMPLE: 'off', REPARTEE_RATE_LIMIT: 'off', REPARTEE_LOG_LEVEL: 'silent' }
  const program = await startProgram(MAIN, { ...env, ...quiet }, null)
  return { program, client: new Client({ baseUrl: program.url }, key) }
}

function report(entry: object): void {
  console.log(JSON.stringify(entry))
}

function round2(n: number): number {
  return Math.round(n * 100) / 100
}
