// Bodies in small chunks: once a network has sent a chunked body, few of its chunks are parsed before they are refused.
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
/** Free ones, and those of the slice in which the first one too many is. */
const MOST_PARSED = 600
const SMALL = `${'1\r\nx\r\n'.repeat(5_000)}0\r\n\r\n`

/** Answers with the length and the letters of each body. `pieces` counts what is parsed of them. */
async function startServer(): Promise<{ open: () => Socket; pieces: () => number }> {
  const sockets = new Set<Socket>()
  let pieces = 0
  const server: Server = createServer((request, response) => {
    smallChunks.watch(request, response)
    const { push } = request
    request.push = (piece) => {
      pieces++
      return push.call(request, piece)
    }
    if (request.url === '/early') return response.writeHead(404).end('not here')
    let body = ''
    withoutSmallChunks(request, request)
      .on('data', (piece: Buffer) => (body += piece.toString('latin1')))
      .on('error', ({ message }: Error) => response.writeHead(400).end(message))
      .on('end', () => response.end(`letters ${[...new Set(body)].join('')} length ${body.length}.`))
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

/** Sends a body in small chunks on each connection. It must be refused, and most of it not parsed. */
async function assertRefused({ pieces }: { pieces: () => number }, ...sent: [socket: Socket, parts: readonly string[]][]) {
  for (const [socket, parts] of sent) {
    const before = pieces()
    const closed = once(socket, 'close')
    const said = await ask(socket, parts, /too small/)
    assert.match(said, /HTTP\/1.1 400 [\s\S]*chunks that are too small/, JSON.stringify(parts).slice(0, 200))
    assert.ok(pieces() - before <= MOST_PARSED, `${pieces() - before} pieces of ${JSON.stringify(parts).slice(0, 200)}`)
    await closed
  }
}

describe('a body in chunks of one byte', () => {
  test('is refused, and of the next ones of its network little is parsed', async () => {
    const server = await startServer()
    const early = server.open()
    assert.match(await ask(early, [plain('four')], /length 4\./), /length 4\./)
    assert.match(await ask(server.open(), [HEAD + SMALL], /too small/), /^HTTP\/1.1 400 /)
    assert.ok(server.pieces() >= 5_000)
    await assertRefused(server, [early, [HEAD + SMALL]], [server.open(), [HEAD + SMALL]])
  })

  test('ends its connection where it was answered before its end', async () => {
    const { open, pieces } = await startServer()
    for (const most of [Number.POSITIVE_INFINITY, MOST_PARSED, MOST_PARSED]) {
      const before = pieces()
      const socket = open()
      const closed = once(socket, 'close')
      await ask(socket, [HEAD.replace('/', '/early'), SMALL], /not here/)
      await closed
      assert.ok(pieces() - before <= most)
    }
  })

  test('is refused on a connection on which others came before', async () => {
    const server = await startServer()
    const socket = server.open()
    const whole = `${HEAD}4\r\nfour\r\n0\r\n\r\n`
    assert.match(await ask(socket, [whole], /length 4\./), /length 4\./)
    await assertRefused(server, [socket, [HEAD + SMALL]])
    assert.match(await ask(server.open(), [whole + HEAD], /length 4\./), /length 4\./)
  })

  test('is found wherever it begins', async () => {
    const server = await startServer()
    await ask(server.open(), [HEAD + SMALL], /too small/)
    const loud = HEAD.replace('chunked', 'CHUNKED')
    for (const parts of [
      [...HEAD, SMALL],
      [...(loud + SMALL.slice(0, 300)), SMALL.slice(300)],
      [plain('chunked\r\n\r\n') + HEAD + SMALL],
      [plain('fffffff\r\n') + HEAD + SMALL],
      [`GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n${HEAD}${SMALL}`],
      [`${HEAD}${'0'.repeat(40)}A\r\n0123456789\r\n${SMALL}`],
      [`${HEAD}6000\r\n${'x'.repeat(0x6000)}\r\n`, '1\r\nx\r\n'.repeat(10_000)],
      [`${HEAD}2;a=${'b'.repeat(100)}\r\nxx\r\n0\r\nx: 99999\r\n\r\n${loud}${SMALL}`],
    ])
      if (parts[1]?.length === 60_000) {
        const before = server.pieces()
        assert.match(await ask(server.open(), parts, /too small/), /too small/)
        // A long chunk in front earns as many bytes as 384 small ones would have to have.
        assert.ok(server.pieces() - before < 1_000)
      } else await assertRefused(server, [server.open(), parts])
  })

  test('is found behind what Node drops after a request for another protocol', async () => {
    const server = await startServer()
    await ask(server.open(), [HEAD + SMALL], /too small/)
    const upgrade = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n'
    for (const dropped of [
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999999\r\n\r\n',
      'POST / HTTP/1.1\r\nContent-Length: 5\r\nx: ',
    ]) {
      const socket = server.open()
      assert.match(await ask(socket, [upgrade + dropped], /length 0\./), /length 0\./)
      await assertRefused(server, [socket, [HEAD + SMALL]])
    }
  })

  test('is found on a connection in the middle of a request as its network becomes known', async () => {
    const server = await startServer()
    const [inHead, inBody] = [server.open(), server.open()]
    inHead.write(HEAD.slice(0, -15))
    inBody.write(plain('12345678').slice(0, -4))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await ask(server.open(), [HEAD + SMALL], /too small/)
    const fake = '1a\r\n\r\nContent-Length: 9999\r\n\r\n\r\n'
    await assertRefused(server, [inHead, [HEAD.slice(-15) + fake + SMALL]])
    assert.match(await ask(inBody, ['5678'], /length 8\./), /length 8\./)
    await assertRefused(server, [inBody, [HEAD + SMALL]])
  })

  test('leaves other bodies of its network alone', async () => {
    const { open } = await startServer()
    const [half, early] = [open(), open()]
    const long = 'y'.repeat(300_000)
    half.write(plain(long).slice(0, 30))
    early.write(plain(long).slice(0, 100_000))
    await new Promise((resolve) => setTimeout(resolve, 100))
    await ask(open(), [HEAD + SMALL], /too small/)
    for (const [socket, rest] of [
      [half, plain(long).slice(30)],
      [early, plain(long).slice(100_000)],
    ] as const)
      assert.match(await ask(socket, [rest], /length \d+\./), /^HTTP\/1.1 200 [\s\S]*letters y length 300000\./)
    const socket = open()
    const body = 'y'.repeat(100_000)
    const short = `${'1\r\nx\r\n'.repeat(200)}0\r\n\r\n`
    for (const [parts, length] of [
      [[`${HEAD}186a0\r\n${body}\r\n0\r\n\r\n`], 100_000],
      [[...`${HEAD}3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n`], 19],
      [[HEAD, short], 200],
      // What reads like the beginning of a chunk, and the next request.
      [[plain(`chunked\n\n${'1\r\nx\r\n'.repeat(1_000)}1`)], 6_010],
      [[`${HEAD}5\r\nabcde\r\n0\r\na: b\r\nc: d\r\n\r\n`], 5],
      [[plain('12345678')], 8],
    ] as const)
      assert.match(await ask(socket, parts, /length \d+\./), new RegExp(`^HTTP/1.1 200 [\\s\\S]*length ${length}\\.`))
  })

  test('does not stop requests that wait for the answers in front of them', async () => {
    const { open } = await startServer()
    await ask(open(), [HEAD + SMALL], /too small/)
    const socket = open()
    const many = Array.from({ length: 400 }, (_, i) => plain(`${i}`.padStart(300, 'z'))).join('')
    const said = await ask(socket, [many, plain('last-one-9')], /length 10\./)
    assert.equal(said.split('length 300.').length - 1, 400)
  })
})
