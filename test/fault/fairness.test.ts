// One caller takes as much as it can, and others are served all the same.
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { endsBy } from '../support/cleanup.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const MIB = 1_048_576
/** Room for a body of 420 kB of one caller, and of another: JSON counts 16 times. */
const service = await startService({ REPARTEE_UPLOADS_AT_ONCE: '3', REPARTEE_HELD_BYTES: String(16 * MIB) })
const { client, model } = service
after(() => service.stop())

/** A connection of its own, past any client. Not to be closed by `resetAndDestroy`: where the other side was first, Node then spins at its own end. */
async function open(): Promise<Socket> {
  const { hostname, port } = new URL(client.address.baseUrl)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => {}).resume()
  endsBy('a connection', () => socket.destroy())
  await new Promise((resolve) => socket.once('connect', resolve))
  return socket
}
const newKey = async (scope: string): Promise<string> =>
  (await client.post('/keys', { name: 'another', scopes: [scope] })).body.secret

describe('one caller', { skip: needsProcess }, () => {
  test('that holds its uploads open does not keep others from uploading', async () => {
    const agent = await service.newAgent()
    const path = new URL(`${client.address.baseUrl}/agents/${agent}/documents`).pathname
    const key = await newKey('knowledge')
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: ${40 * MIB}\r\n\r\n--b`
    const slow = await Promise.all(Array.from({ length: 6 }, open))
    for (const socket of slow) socket.write(head)
    // Each was looked at by the time that a request behind it is answered.
    isOk(await client.get('/agents'))
    const file = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'),
      Buffer.alloc(2 * MIB, 'walnut '),
      Buffer.from('\r\n--b--\r\n'),
    ])
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    isOk(await client.post(`/agents/${agent}/documents`, undefined, { bytes: file, headers }), 202)
    assert.ok(
      slow.every((socket) => !socket.closed),
      'the others still hold theirs',
    )
    for (const socket of slow) socket.destroy()
  })

  test('that leaves right behind the head of its uploads keeps no place', async () => {
    const agent = await service.newAgent()
    const { document } = (await client.post(`/agents/${agent}/documents`, { text: 'walnut' })).body
    const path = `/agents/${agent}/documents/${document.id}/upload`
    const { pathname } = new URL(`${client.address.baseUrl}${path}`)
    const type = 'Content-Type: multipart/form-data; boundary=b'
    const head = `PUT ${pathname} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${client.key}\r\n${type}\r\nContent-Length: ${2 * MIB}\r\n\r\n--b`
    for (let i = 0; i < 60; i++) {
      const socket = await open()
      socket.write(head)
      // The moment that counts is while the document is looked up.
      await new Promise((resolve) => setTimeout(resolve, (i % 7) / 2))
      socket.destroy()
    }
    const bytes = Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'),
      Buffer.alloc(2 * MIB - 200, 'walnut '),
      Buffer.from('\r\n--b--\r\n'),
    ])
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    isOk(await client.request('PUT', path, { bytes, headers }), 202)
  })

  test('that has large requests answered slowly leaves memory for those of others', async () => {
    const agent = await service.newAgent()
    model.reset()
    const release = model.hold(says('late'))
    const key = client.as(await newKey('chat'))
    const ask = (by: typeof client) =>
      by.post('^/openai/v1/chat/completions', {
        model: agent,
        messages: [{ role: 'user', content: 'Hello?' }],
        metadata: { note: 'walnut '.repeat(60_000) },
      })
    const first = ask(key)
    await model.received(1)
    const refused = await ask(key)
    assert.deepEqual([refused.status, refused.headers['retry-after'] !== undefined], [503, true])
    const other = ask(client)
    await model.received(2)
    release()
    for (const answer of await Promise.all([first, other])) assert.equal(answer.status, 200)
    assert.equal((await ask(key)).status, 200, 'it is given back')
  })

  test('that leaves while its large request is worked on has no memory for more until that has ended', async () => {
    const agent = await service.newAgent()
    model.reset()
    const release = model.hold(says('late'))
    const key = client.as(await newKey('chat'))
    const left = new AbortController()
    const ask = (options = {}) =>
      key.post(
        '^/openai/v1/chat/completions',
        {
          model: agent,
          messages: [{ role: 'user', content: 'Hello?' }],
          metadata: { note: 'walnut '.repeat(60_000) },
        },
        options,
      )
    // With this header the turn goes on without its caller.
    const first = ask({ headers: { 'idempotency-key': 'left' }, signal: left.signal })
    await model.received(1)
    left.abort()
    await assert.rejects(first)
    // The service has seen that the connection closed by the time that it has answered other requests.
    for (let i = 0; i < 5; i++) isOk(await client.get('/agents'))
    const second = await Promise.race([ask(), model.received(2)])
    release()
    assert.equal(second?.status, 503)
    await until('it is given back', async () => (await ask()).status === 200)
  })

  test('that sends the largest document as JSON leaves memory for those of others', async () => {
    const large = await startService()
    const agent = await large.newAgent()
    const key = (await large.client.post('/keys', { name: 'another', scopes: ['knowledge'] })).body.secret
    const { hostname, port, pathname } = new URL(`${large.client.address.baseUrl}/agents/${agent}/documents`)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {}).resume()
    endsBy('a connection', () => socket.destroy())
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${50 * MIB}\r\n\r\n{`,
    )
    // It was looked at by the time that a request behind it is answered.
    isOk(await large.client.get('/agents'))
    isOk(await large.client.post(`/agents/${agent}/documents`, { text: 'walnut '.repeat(60_000) }), 202)
    assert.ok(!socket.closed, 'the other still holds its own')
    socket.destroy()
    await large.stop()
  })

  test('that sends on and on behind one slow answer is read no further until that is given, and then answered in order', async () => {
    const agent = await service.newAgent()
    const session = await service.newSession(agent)
    model.reset()
    const release = model.hold(says('late'))
    const socket = await open()
    let said = ''
    socket.on('data', (text: Buffer) => (said += text.toString('latin1')))
    socket.write(client.bytesOf('POST', `${session}/messages`, { message: 'Hello?' }))
    await model.received(1)
    socket.write(client.bytesOf('GET', '/keys/current').repeat(300))
    const large = client.bytesOf('POST', '/nowhere', { text: 'walnut '.repeat(5_000) })
    socket.write(large.repeat(1_000))
    // More than the buffers of the two sides and of the kernel hold.
    for (let i = 0; i < 20; i++) isOk(await client.get('/agents'))
    assert.ok(socket.writableLength > 0)
    assert.equal(said, '')
    release()
    await until('all are answered', () => said.split('HTTP/1.1 404').length - 1 === 1_000)
    const statuses = [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    assert.deepEqual(statuses, [...Array(301).fill('200'), ...Array(1_000).fill('404')])
    socket.destroy()
  })

  test('that closes connections on which requests wait keeps nothing', async () => {
    const agent = await service.newAgent()
    const key = await newKey('chat')
    const { pathname } = new URL(`${client.address.baseUrl}${await service.newSession(agent)}/messages`)
    const body = JSON.stringify({ message: 'Hello' })
    const head = `HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length:`
    for (let i = 0; i < 6; i++) {
      model.reset()
      const release = model.hold(says('late'))
      const socket = await open()
      socket.write(`POST ${pathname} ${head} ${body.length}\r\n\r\n${body}`)
      await model.received(1)
      socket.write(`POST /openai/v1/chat/completions ${head} 500000\r\n\r\n`)
      socket.write(`GET /v1/keys/current ${head} 0\r\n\r\n`.repeat(3))
      // Each was taken in by the time that a request behind it is answered.
      isOk(await client.get('/agents'))
      socket.destroy()
      release()
    }
    model.reset()
    model.behaviour = says('at once')
    await until('no request is counted as running', async () => {
      const { text } = await client.get('^/metrics')
      return /\nrepartee_http_requests_in_progress 1\n/.test(text)
    })
    const { status, text } = await client.as(key).post('^/openai/v1/chat/completions', {
      model: agent,
      messages: [{ role: 'user', content: 'Hello?' }],
      metadata: { note: 'walnut '.repeat(60_000) },
    })
    assert.equal(status, 200, text)
  })

  test('may send a hundred requests without waiting for the answers', async () => {
    const socket = await open()
    let received = ''
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    socket.write('GET /x HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100))
    await until('all are answered', () => received.split('HTTP/1.1 404').length === 101)
  })
})
