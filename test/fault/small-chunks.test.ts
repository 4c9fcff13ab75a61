// A body in tiny chunks costs a hundred times its bytes: it is refused, whoever sends it.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { endsBy } from '../support/cleanup.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
const key = (await client.post('/keys', { name: 'another', scopes: ['chat', 'knowledge'] })).body.secret
const agent = await service.newAgent()

/** Sends chunks without an end, until the other side closes; returns what it said. */
async function send(path: string, headers: string[], chunk: string): Promise<string> {
  const { hostname, port, pathname } = new URL(`${client.address.baseUrl}${path}`)
  const socket = connect(Number(port), hostname)
  endsBy('a connection', () => socket.destroy())
  socket.on('error', () => {})
  let said = ''
  socket.on('data', (data) => (said += data))
  const head = [`POST ${pathname} HTTP/1.1`, 'Host: x', 'Transfer-Encoding: chunked', ...headers, '', ''].join('\r\n')
  const many = `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(2_000)
  socket.write(head)
  const more = () => socket.write(many, (error) => error ?? setImmediate(more))
  more()
  await new Promise((resolve) => socket.once('close', resolve))
  return said
}

describe('a body in chunks of one byte', { skip: needsProcess }, () => {
  for (const [about, path, type] of [
    ['JSON', `/agents/${agent}/sessions`, 'application/json'],
    ['an upload', `/agents/${agent}/documents`, 'multipart/form-data; boundary=b'],
  ] as const)
    test(`is refused, and the connection closed: ${about}`, async () => {
      const said = await send(path, [`X-API-Key: ${key}`, `Content-Type: ${type}`], ' ')
      // Who is still sending when the connection is closed may not get to read the answer.
      assert.match(said, /^$|^HTTP\/1\.1 400 [\s\S]*chunks that are too small/)
    })

  test('is not read on where nobody is to have it', async () => {
    assert.match(await send('/agents', ['X-API-Key: none'], ' '), /^(HTTP\/1\.1 40[01] |$)/)
    assert.match(await send('/nowhere', [`X-API-Key: ${key}`], ' '), /^(HTTP\/1\.1 40[04] |$)/)
  })

  test('is taken where it is short', async () => {
    const { hostname, port, pathname } = new URL(`${client.address.baseUrl}/agents/${agent}/sessions`)
    const socket = connect(Number(port), hostname)
    endsBy('a connection', () => socket.destroy())
    const chunks = [...JSON.stringify({ name: 'x'.repeat(100) })].map((char) => `1\r\n${char}\r\n`).join('')
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    )
    const [said] = (await once(socket, 'data')) as [Buffer]
    assert.match(said.toString(), /^HTTP\/1\.1 201 /)
    socket.destroy()
    isOk(await client.get('/agents'))
  })
})
