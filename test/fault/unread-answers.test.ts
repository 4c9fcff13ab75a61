// Answers wait in memory until they are read. One caller that reads nothing does not use up the memory that others need.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { endsBy } from '../support/cleanup.ts'
import { gauge } from '../support/gauge.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { storeOf } from '../support/store.ts'

const MIB = 1_048_576
const TEXT_CHARS = 200_000
const SESSIONS = 100_000
/** More of them than the buffers of a connection take. */
const MESSAGES = 100
/** A caller may have half of it: four streams of 2 MiB. */
const service = await startService({ REPARTEE_HELD_BYTES: String(16 * MIB), REPARTEE_STREAM_STALL_MS: '3000' })
const { client } = service
after(() => service.stop())

async function newLongSession(body: object = {}): Promise<string> {
  const agent = await service.newAgent()
  const session = await service.newSession(agent, body)
  const id = session.split('/').at(-1)
  const store = storeOf(service)
  const text = store.isPostgres ? `repeat('x', ${TEXT_CHARS})` : `replace(hex(zeroblob(${TEXT_CHARS / 2})), '0', 'x')`
  const padded = store.isPostgres ? `lpad(i::text, 12, '0')` : `printf('%012d', i)`
  await store.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${MESSAGES})
    INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at)
    SELECT '${agent}', '${id}', i, '00000000-0000-4000-8000-' || ${padded}, 'AI', ${text}, 1 FROM n`)
  await store.run(`UPDATE session SET message_count = ${MESSAGES} WHERE id = '${id}'`)
  return session
}

/** Returns the path of a list with many sessions. */
async function newLongList(): Promise<string> {
  const agent = await service.newAgent()
  const store = storeOf(service)
  const padded = store.isPostgres ? `lpad(i::text, 12, '0')` : `printf('%012d', i)`
  await store.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${SESSIONS})
    INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
    SELECT '${agent}', '00000000-0000-4000-8000-' || ${padded}, 'Session', 'a user', 0, i, i, i FROM n`)
  return `/agents/${agent}/sessions`
}

/** Asks, and reads nothing but the beginning of the answer. */
async function ask(path: string, key: string, header = ''): Promise<{ socket: Socket; status(): string | undefined }> {
  const { hostname, port } = new URL(client.address.baseUrl)
  const socket = connect(Number(port), hostname)
  endsBy('a connection', () => socket.destroy())
  let status: string | undefined
  socket
    .on('error', () => {})
    .once('data', (bytes: Buffer) => {
      status = bytes.toString('latin1', 9, 12)
      socket.pause()
    })
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n${header}\r\n`)
  return { socket, status: () => status }
}

function itemsOf(session: string): string {
  const ids = session.replaceAll('-', '').match(/[0-9a-f]{32}/g)!
  return `/openai/v1/conversations/conv_${Buffer.from(ids.join(''), 'hex').toString('base64url')}/items?limit=100`
}

describe('a caller that does not read its answers', { skip: needsProcess }, () => {
  for (const [what, query] of [
    ['pages of a history', '/messages?limit=100'],
    ['sessions with their histories', ''],
    ['items of a conversation', undefined],
  ] as const)
    test(`is refused more ${what}, others are not, and what was read is given back`, async () => {
      const session = await newLongSession()
      const key = (await client.post('/keys', { name: 'slow', scopes: ['read'] })).body.secret
      const path = query === undefined ? itemsOf(session) : `/v1${session}${query}`
      const asked = await Promise.all(Array.from({ length: 7 }, () => ask(path, key)))
      await until('each is answered', () => asked.every(({ status }) => status() !== undefined))
      const statuses = asked.map(({ status }) => status()).sort()
      assert.deepEqual(statuses, ['200', '200', '200', '200', '503', '503', '503'])
      isOk(await client.get(`${session}/messages?limit=100`))
      for (const { socket } of asked) socket.destroy()
      await until('the memory is free again', async () => {
        const { status } = await client.as(key).get(`${session}/messages?limit=100`)
        return status === 200
      })
    })

  test('is refused more long replies', async () => {
    const session = await newLongSession()
    const message = `${session}/messages/00000000-0000-4000-8000-000000000001`
    const key = (await client.post('/keys', { name: 'slow', scopes: ['read'] })).body.secret
    const asked = await Promise.all(Array.from({ length: 20 }, () => ask(`/v1${message}`, key)))
    // The first of them are in the buffers of the connection, and each connection holds one more.
    for (const { socket } of asked) socket.write(`GET /v1${message} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`.repeat(80))
    await until('one is refused', async () => (await client.as(key).get(message)).status === 503)
    isOk(await client.get(message))
    for (const { socket } of asked) socket.destroy()
    await until('the memory is free again', async () => (await client.as(key).get(message)).status === 200)
  })

  test('does not keep short exports of others waiting', async () => {
    const user = randomUUID()
    const pathOf = (session: string) => `/agents/${session.split('/')[2]}/users/${user}/export`
    const asked: Awaited<ReturnType<typeof ask>>[] = []
    for (let i = 0; i < 4; i++) {
      const path = pathOf(await newLongSession({ externalUserId: user }))
      const key = (await client.post('/keys', { name: 'slow', scopes: ['admin'] })).body.secret
      for (let n = 0; n < 4; n++) asked.push(await ask(`/v1${path}`, key))
    }
    await until('all places are taken', () => asked.filter(({ status }) => status() === '200').length === 4)
    const agent = await service.newAgent()
    const session = await service.newSession(agent, { externalUserId: user })
    assert.equal((await client.get(pathOf(session))).status, 200)
    for (const { socket } of asked) socket.destroy()
  })

  test('and one that takes a little at a time do not keep long exports of others waiting', async () => {
    const user = randomUUID()
    const pathOf = (session: string) => `/v1/agents/${session.split('/')[2]}/users/${user}/export`
    const newExport = async () => {
      const path = pathOf(await newLongSession({ externalUserId: user }))
      return ask(path, (await client.post('/keys', { name: 'slow', scopes: ['admin'] })).body.secret, 'Connection: close\r\n')
    }
    const slow = await Promise.all(Array.from({ length: 4 }, newExport))
    await until('all places are taken', () => slow.every(({ status }) => status() === '200'))
    let isSlow = true
    const read = slow.map(({ socket }) => {
      let bytes = 0
      socket
        .on('data', (some: Buffer) => {
          bytes += some.length
          if (!isSlow) return
          socket.pause()
          setTimeout(() => socket.resume(), 30)
        })
        .resume()
      return new Promise<number>((resolve) => socket.once('close', () => resolve(bytes)))
    })
    const other = await newExport()
    await until('another one begins', () => other.status() === '200')
    isSlow = false
    other.socket.destroy()
    const whole = MESSAGES * TEXT_CHARS
    assert.ok((await Promise.all(read)).some((bytes) => bytes < whole))
  })

  test('is cut off, however short they are', async () => {
    const session = await newLongSession()
    const path = `/v1${session}/messages?limit=1`
    const inProgress = () => gauge(client, 'http_requests_in_progress')
    const before = await inProgress()
    const { socket, status } = await ask(path, client.key!)
    await until('it is answered', () => status() === '200')
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\n\r\n`.repeat(60))
    await until('an answer is not read', async () => (await inProgress()) > before)
    await until('it is cut off', async () => (await inProgress()) === before)
    socket.destroy()
  })

  test('because it asked with HEAD has nothing read for it', async () => {
    const path = await newLongList()
    const openFiles = () => readdirSync(`/proc/${service.pid()}/fd`).length
    // One after another. Each read of the list would have a file of its own open.
    const head = client.bytesOf('HEAD', path, undefined, ['Connection: close'])
    const before = openFiles()
    for (let i = 0; i < 20; i++) assert.match(await client.raw(head), /^HTTP\/1\.1 200 /)
    assert.ok(openFiles() - before < 20, `${openFiles() - before} more files are open`)
  })

  test('gets short lists all the same', async () => {
    const session = await newLongSession()
    const key = (await client.post('/keys', { name: 'slow', scopes: ['read', 'chat'] })).body.secret
    const short = await service.newSession(session.split('/')[2]!)
    const asked = await Promise.all(Array.from({ length: 4 }, () => ask(`/v1${session}/messages?limit=100`, key)))
    await until('each is begun', () => asked.every(({ status }) => status() === '200'))
    isOk(await client.as(key).get(short))
    isOk(await client.as(key).get(`${short}/messages`))
    for (const { socket } of asked) socket.destroy()
  })
})
