// A list that is read whole uses one of a few connections to the database for as long as its reader takes.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { isOk } from './support/assert.ts'
import { endsBy } from './support/cleanup.ts'
import { until } from './support/poll.ts'
import { dropDatabase, newDatabase, query } from './support/postgres.ts'
import { keepsFiles, needsProcess, type Service, startService } from './support/service.ts'
import { storeOf } from './support/store.ts'

test('slow readers of one caller, or of one agent, do not keep others from their lists: PostgreSQL', {
  skip: needsProcess,
}, async () => {
  const url = await newDatabase()
  endsBy('the database', () => dropDatabase(url))
  await slowReaders({ REPARTEE_DATABASE_URL: url }, 2)
})

test(
  'slow readers of one caller, or of one agent, do not keep others from their lists: embedded store',
  { skip: needsProcess || !keepsFiles },
  () => slowReaders({}, 8),
)

/** `share`: as many as one caller may read at the same time. */
async function slowReaders(env: { REPARTEE_DATABASE_URL?: string }, share: number): Promise<void> {
  const service = await startService(env)
  const { client } = service
  const agent = await service.newAgent()
  // More than the sockets and what is read ahead can take.
  const url = env.REPARTEE_DATABASE_URL
  const padded = url !== undefined ? `lpad(i::text, 12, '0')` : `printf('%012d', i)`
  const name = url !== undefined ? `repeat('x', 6400)` : `replace(hex(zeroblob(3200)), '0', 'x')`
  const insert = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
    INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
    SELECT '${agent}', '00000000-0000-4000-8000-' || ${padded}, ${name}, 'u', 0, i, i, i FROM n`
  await (url === undefined ? storeOf(service).run(insert) : query(url, insert))
  const { slow, begun } = await startSlow(service, `/agents/${agent}/sessions`, 2 * share + 2)
  await until('as many as may are begun', () => begun() === share)
  const other = await service.newSession(await service.newAgent())
  for (let i = 0; i < 3; i++) isOk(await client.get(other.replace(/\/[^/]+$/, '')))
  isOk(await client.get(`/agents/${agent}/sessions`))
  assert.ok(
    slow.every((socket) => !socket.closed),
    'the slow ones are still there',
  )
  assert.equal(begun(), share, 'the others wait')
  for (const socket of slow) socket.destroy()
  await until('they are gone', () => slow.every((socket) => socket.closed))
  const sameAgent = await Promise.all(Array.from({ length: 6 }, () => startSlow(service, `/agents/${agent}/sessions`, 2 * share)))
  await until('some are begun', () => sameAgent.some(({ begun }) => begun() > 0))
  for (let i = 0; i < 3; i++) isOk(await client.get(other.replace(/\/[^/]+$/, '')))
  for (const { slow } of sameAgent) for (const socket of slow) socket.destroy()
  await service.stop()
}

/** Has a key of its own ask for a list so many times; each reads the beginning of the list, or waits with the others. */
async function startSlow({ client }: Service, path: string, times: number) {
  const key = (await client.post('/keys', { name: 'slow', scopes: ['read'] })).body.secret
  const { hostname, port, pathname, search } = new URL(`${client.address.baseUrl}${path}`)
  const head = `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`
  const begin = async (): Promise<Socket> => {
    const socket = connect(Number(port), hostname)
    endsBy('a connection', () => socket.destroy())
    socket.on('error', () => {}).once('data', () => socket.pause())
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(head)
    return socket
  }
  const slow = await Promise.all(Array.from({ length: times }, begin))
  return { slow, begun: () => slow.filter((socket) => socket.bytesRead > 0).length }
}

test('large pages of agents are read a few at a time, callers in turn', { skip: needsProcess }, async () => {
  const service = await startService({})
  const { client } = service
  const instructions = 'x'.repeat(50_000)
  for (let i = 0; i < 100; i++) await service.newAgent({ instructions })
  const { slow, begun } = await startSlow(service, '/agents?limit=100', 20)
  await until('as many as may are begun', () => begun() === 8)
  isOk(await client.get('/agents?limit=100'))
  isOk(await client.get('/agents?limit=10'))
  assert.equal(begun(), 8, 'the others wait')
  for (const socket of slow.slice(0, 10)) socket.destroy()
  await until('those that waited are begun', () => begun() > 8)
  await service.stop()
})
