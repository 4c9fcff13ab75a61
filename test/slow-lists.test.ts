// On PostgreSQL a list that is read whole holds one of a few connections for as long as its reader takes.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { isOk } from './support/assert.ts'
import { endsBy } from './support/cleanup.ts'
import { until } from './support/poll.ts'
import { dropDatabase, newDatabase, query } from './support/postgres.ts'
import { needsProcess, startService } from './support/service.ts'

test('slow readers of one caller do not keep others from their lists', { skip: needsProcess }, async () => {
  const url = await newDatabase()
  endsBy('the database', () => dropDatabase(url))
  const service = await startService({ REPARTEE_DATABASE_URL: url })
  const { client } = service
  const agent = await service.newAgent()
  // More than the sockets and what is read ahead can take.
  const id = `md5('s' || i)::uuid::text`
  await query(
    url,
    `INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
       SELECT '${agent}', ${id}, repeat(md5('n' || i), 200), ${id}, 0, i, i, i FROM generate_series(1, 6000) i`,
  )
  const key = (await client.post('/keys', { name: 'slow', scopes: ['read'] })).body.secret
  const { hostname, port, pathname } = new URL(`${client.address.baseUrl}/agents/${agent}/sessions`)
  const head = `GET ${pathname} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`
  const slow = await Promise.all(Array.from({ length: 8 }, begin))
  const begun = () => slow.filter((socket) => socket.bytesRead > 0).length
  await until('as many as may are begun', () => begun() === 3)
  const other = await service.newSession(await service.newAgent())
  for (let i = 0; i < 3; i++) isOk(await client.get(other.replace(/\/[^/]+$/, '')))
  isOk(await client.get(`/agents/${agent}/sessions`))
  assert.ok(
    slow.every((socket) => !socket.closed),
    'the slow ones are still there',
  )
  assert.equal(begun(), 3, 'the others wait')
  for (const socket of slow) socket.destroy()
  await service.stop()

  /** Reads the beginning of the list, or waits with the others. */
  async function begin(): Promise<Socket> {
    const socket = connect(Number(port), hostname)
    endsBy('a connection', () => socket.destroy())
    socket.on('error', () => {}).once('data', () => socket.pause())
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write(head)
    return socket
  }
})
