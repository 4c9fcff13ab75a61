// Bodies in small chunks: once a network has sent a chunked body, chunks are counted before they are parsed.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { SmallChunks, withoutSmallChunks } from '../src/http/chunked.ts'
import { answerBrokenRequest } from '../src/http/socket-errors.ts'
import { endsBy } from './support/cleanup.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const plain = (body: string): string => `POST / HTTP/1.1\r\nHost: chunked\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const SMALL = `${'1\r\nx\r\n'.repeat(5_000)}0\r\n\r\n`

/** Answers with the length of each body. `pieces` counts what is parsed of them. */
async function startServer(): Promise<{ open: () => Socket; pieces: () => number }> {
  const sockets = new Set<Socket>()
  let pieces = 0
  const server: Server = createServer((request, response) => {
    const { push } = request
    request.push = (piece) => {
      pieces++
      return push.call(request, piece)
    }
    smallChunks.watch(request, response)
    if (request.url === '/early') return response.writeHead(404).end('not here')
    let length = 0
    withoutSmallChunks(request, request)
      .on('data', (piece: Buffer) => (length += piece.length))
      .on('error', () => response.writeHead(400).end('refused'))
      .on('end', () => response.end(`length ${length}.`))
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.on('clientError', answerBrokenRequest)
  const smallChunks = new SmallChunks(server, sockets)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  endsBy('a server', () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const open = () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    endsBy('a connection', () => socket.destroy())
    return socket.on('error', () => {})
  }
  return { open, pieces: () => pieces }
}

/** Sends the parts one after another, and resolves to what is said until `end` comes or the connection is closed. */
async function ask(socket: Socket, parts: readonly string[], end: RegExp): Promise<string> {
  let said = ''
  const { promise, resolve } = Promise.withResolvers<void>()
  const hear = (text: Buffer) => {
    said += text
    if (end.test(said)) resolve()
  }
  socket.on('data', hear).on('close', () => resolve())
  for (const part of parts) {
    socket.write(part)
    await new Promise(setImmediate)
  }
  await promise
  socket.off('data', hear)
  return said
}

describe('a body in chunks of one byte', () => {
  test('is refused, and the next ones of its network are not parsed', async () => {
    const { open, pieces } = await startServer()
    const early = open()
    assert.match(await ask(early, [plain('four')], /length 4\./), /length 4\./)
    const before = pieces()
    assert.match(await ask(open(), [HEAD + SMALL], /refused/), /^HTTP\/1.1 400 [\s\S]*refused/)
    assert.ok(pieces() - before >= 1_000)
    for (const socket of [early, open()]) {
      const before = pieces()
      assert.match(await ask(socket, [HEAD + SMALL], /too small/), /^HTTP\/1.1 400 [\s\S]*chunks that are too small/)
      assert.equal(pieces(), before)
    }
  })

  test('is not parsed after one that was answered before its end', async () => {
    const { open, pieces } = await startServer()
    await ask(open(), [HEAD.replace('/', '/early') + SMALL], /not here/)
    const before = pieces()
    assert.match(await ask(open(), [HEAD + SMALL], /too small/), /chunks that are too small/)
    assert.equal(pieces(), before)
  })

  test('is not parsed on a connection on which others came before', async () => {
    const { open, pieces } = await startServer()
    const socket = open()
    const whole = `${HEAD}4\r\nfour\r\n0\r\n\r\n`
    assert.match(await ask(socket, [whole], /length 4\./), /length 4\./)
    const before = pieces()
    assert.match(await ask(socket, [HEAD + SMALL], /too small/), /chunks that are too small/)
    assert.equal(pieces(), before)
    const chained = open()
    assert.match(await ask(chained, [whole + HEAD], /length 4\./), /length 4\./)
  })

  test('is found wherever it begins', async () => {
    const { open, pieces } = await startServer()
    await ask(open(), [HEAD + SMALL], /refused/)
    const loud = HEAD.replace('chunked', 'CHUNKED')
    for (const parts of [
      [...HEAD, SMALL],
      [...(loud + SMALL.slice(0, 300)), SMALL.slice(300)],
      [plain('chunked\r\n\r\n') + HEAD + SMALL],
      [plain('fffffff\r\n') + HEAD + SMALL],
      [`GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n${HEAD}${SMALL}`],
      [`${HEAD}${'0'.repeat(40)}A\r\n0123456789\r\n${SMALL}`],
      [`${HEAD}6000\r\n${'x'.repeat(0x6000)}\r\n`, SMALL],
      [`${HEAD}2;a=${'b'.repeat(100)}\r\nxx\r\n0\r\nContent-Length: 99999\r\n\r\n${loud}${SMALL}`],
    ]) {
      const before = pieces()
      const said = await ask(open(), parts, /too small/)
      assert.match(said, /chunks that are too small/, JSON.stringify(parts).slice(0, 200))
      assert.ok(pieces() - before < 1_000)
    }
  })

  test('is refused behind a head without an end', async () => {
    const { open } = await startServer()
    await ask(open(), [HEAD + SMALL], /refused/)
    assert.match(await ask(open(), ['POST / HTTP/1.1\r\n', 'a:b\r\n'.repeat(8_000)], /not well-formed/), /^HTTP\/1.1 400 /)
  })

  test('leaves other bodies of its network alone', async () => {
    const { open } = await startServer()
    await ask(open(), [HEAD + SMALL], /refused/)
    const socket = open()
    const body = 'y'.repeat(100_000)
    const short = `${'1\r\nx\r\n'.repeat(1_000)}0\r\n\r\n`
    for (const [parts, length] of [
      [[`${HEAD}186a0\r\n${body}\r\n0\r\n\r\n`], 100_000],
      [[...`${HEAD}3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n`], 19],
      [[HEAD, short], 1_000],
      // What reads like the beginning of a chunk, and the next request.
      [[plain(`chunked\n\n${'1\r\nx\r\n'.repeat(1_000)}1`)], 6_010],
      [[`${HEAD}5\r\nabcde\r\n0\r\na: b\r\nc: d\r\n\r\n`], 5],
      [[plain('12345678')], 8],
    ] as const)
      assert.match(await ask(socket, parts, /length \d+\./), new RegExp(`^HTTP/1.1 200 [\\s\\S]*length ${length}\\.`))
  })
})
