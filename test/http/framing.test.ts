// What frames a request: bodies in small chunks, and what stands behind a request for another protocol.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { sliceConnections, watchRequest, withoutSmallChunks } from '../../src/http/server/framing.ts'
import { answerBrokenRequest } from '../../src/http/server/socket-errors.ts'
import { endsBy } from '../support/cleanup.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n'
const plain = (body: string): string => `POST / HTTP/1.1\r\nHost: chunked\r\nContent-Length: ${body.length}\r\n\r\n${body}`
/** Free ones, and those of the slice in which the first one too many is. */
const MOST_PARSED = 1_000
const SMALL = `${'1\r\nx\r\n'.repeat(5_000)}0\r\n\r\n`

/** Answers with the length and the letters of each body. `pieces` counts what is parsed of them, and `requests` their heads. */
async function startServer(): Promise<{ open: () => Socket; pieces: () => number; requests: () => number }> {
  const sockets = new Set<Socket>()
  let pieces = 0
  let requests = 0
  const server: Server = createServer((request, response) => {
    requests++
    watchRequest(request, response)
    const { push } = request
    request.push = (piece) => {
      pieces++
      return push.call(request, piece)
    }
    if (request.url === '/end') return request.socket.destroy()
    if (request.url === '/early') return response.writeHead(404).end('not here')
    let body = ''
    withoutSmallChunks(request, request)
      .on('data', (piece: Buffer) => (body += piece.toString('latin1')))
      .on('error', ({ message }: Error) => response.writeHead(400).end(message))
      .on('end', () => response.end(`letters ${[...new Set(body)].join('')} length ${body.length}.`))
  })
  server.on('connection', (socket) => sockets.add(socket))
  server.on('clientError', answerBrokenRequest)
  sliceConnections(server)
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
  return { open, pieces: () => pieces, requests: () => requests }
}

/** Resolves also where the connection is reset. */
const closing = (socket: Socket) => new Promise<void>((resolve) => socket.on('close', () => resolve()))

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
    const closed = closing(socket)
    const said = await ask(socket, parts, /too small/)
    assert.match(said, /HTTP\/1.1 400 [\s\S]*chunks that are too small/, JSON.stringify(parts).slice(0, 200))
    assert.ok(pieces() - before <= MOST_PARSED, `${pieces() - before} pieces of ${JSON.stringify(parts).slice(0, 200)}`)
    await closed
  }
}

describe('a body in chunks of one byte', () => {
  test('ends its connection, and says so, where it is answered before its end', async () => {
    const { open, pieces } = await startServer()
    const socket = open()
    const closed = closing(socket)
    assert.match(await ask(socket, [HEAD.replace('/', '/early'), SMALL], /not here/), /connection: close/i)
    await closed
    assert.ok(pieces() <= MOST_PARSED)
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
    const loud = HEAD.replace('chunked', 'CHUNKED')
    for (const parts of [
      [...HEAD, SMALL],
      [...(loud + SMALL.slice(0, 300)), SMALL.slice(300)],
      [plain('chunked\r\n\r\n') + HEAD + SMALL],
      [plain('fffffff\r\n') + HEAD + SMALL],
      [`GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n${HEAD}${SMALL}`],
      [`${HEAD}${'0'.repeat(40)}4\r\nfour\r\n${'1\r\nx\r\n'.repeat(5_000)}0\r\n\r\n`],
      [`${HEAD}${'0'.repeat(40)}A\r\n0123456789\r\n${SMALL}`],
      [`${HEAD}6000\r\n${'x'.repeat(0x6000)}\r\n`, '1\r\nx\r\n'.repeat(10_000)],
      [`${HEAD}2;a=${'b'.repeat(100)}\r\nxx\r\n0\r\nx: 99999\r\n\r\n${loud}${SMALL}`],
    ])
      if (parts[1]?.length === 60_000) {
        const before = server.pieces()
        assert.match(await ask(server.open(), parts, /too small/), /too small/)
        // A long chunk in front earns as many bytes as 384 small ones would have to have.
        assert.ok(server.pieces() - before < 1_500)
      } else await assertRefused(server, [server.open(), parts])
  })

  test('leaves other bodies alone', async () => {
    const { open } = await startServer()
    const socket = open()
    const body = 'y'.repeat(100_000)
    const short = `${'1\r\nx\r\n'.repeat(200)}0\r\n\r\n`
    for (const [parts, length] of [
      [[`${HEAD}186a0\r\n${body}\r\n0\r\n\r\n`], 100_000],
      [[...`${HEAD}3\r\nabc\r\n10;x=y\r\n0123456789abcdef\r\n0\r\n\r\n`], 19],
      [[HEAD, short], 200],
      // What reads like the beginning of a chunk, and the next request.
      [[plain(`chunked\n\n${'1\r\nx\r\n'.repeat(1_000)}1`)], 6_010],
      [[`${HEAD}${'0'.repeat(3_000)}8;a=b\r\na\r\n\r\nb\r\n\r\n`, `${'0'.repeat(30)}\r\n\r\n`], 8],
      [[`${HEAD}5\r\nabcde\r\n0\r\na: b\r\nc: d\r\n\r\n`], 5],
      [[plain('12345678')], 8],
      [[plain('y'.repeat(300_000))], 300_000],
    ] as const)
      assert.match(await ask(socket, parts, /length \d+\./), new RegExp(`^HTTP/1.1 200 [\\s\\S]*length ${length}\\.`))
  })

  test('may be small for as long as the body is', async () => {
    const { open } = await startServer()
    const body = (bytes: number, chunk: number) =>
      `${HEAD}${`${chunk.toString(16)}\r\n${'z'.repeat(chunk)}\r\n`.repeat(bytes / chunk)}0\r\n\r\n`
    assert.match(await ask(open(), [body(200_000, 100)], /length \d+\./), /length 200000\./)
    assert.match(await ask(open(), [body(1_024_000, 512)], /length \d+\./), /length 1024000\./)
    assert.match(await ask(open(), [body(1_000_000, 100)], /too small/), /HTTP\/1.1 400 [\s\S]*512 or more in a large body/)
  })

  test('does not stop requests that wait for the answers in front of them', async () => {
    const { open } = await startServer()
    const socket = open()
    const many = Array.from({ length: 400 }, (_, i) => plain(`${i}`.padStart(300, 'z'))).join('')
    const said = await ask(socket, [many, plain('last-one-9')], /length 10\./)
    assert.equal(said.split('length 300.').length - 1, 400)
  })
})

test('of requests in one piece, few are parsed behind the end of their connection', async () => {
  const { open, requests } = await startServer()
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
  const socket = open()
  const closed = closing(socket)
  socket.write(get('/end') + get('/').repeat(2_000))
  await closed
  assert.ok(requests() <= 200, `${requests()} were parsed`)
})

test('of requests in one piece on many connections, few are parsed between two turns of the event loop, and all are answered', async () => {
  const { open, requests } = await startServer()
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  // Each also ends its side, which must not cut off what is still to be parsed.
  const sockets = Array.from({ length: 20 }, open)
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const all = sockets.map((socket) => {
    let said = ''
    socket.on('data', (text: Buffer) => (said += text)).end(get.repeat(90))
    return closing(socket).then(() => said.split('length 0.').length - 1)
  })
  let most = 0
  for (let before = 0; before < 1_800; ) {
    await new Promise(setImmediate)
    most = Math.max(most, requests() - before)
    before = requests()
  }
  assert.ok(most <= 40, `${most} in one turn`)
  assert.deepEqual(
    await Promise.all(all),
    sockets.map(() => 90),
  )
})

test('bodies and heads are told apart, however they are cut and whatever the bodies hold', async () => {
  const { open } = await startServer()
  const blank = '\r\n\r\n'
  const bodies = [blank.repeat(500), `GET / HTTP/1.1${blank}`.repeat(300), 'x'.repeat(9_000) + blank, '\r\n\r']
  const chunked = (body: string) => `${HEAD}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`
  const sent = bodies.flatMap((body) => [plain(body), chunked(body)]).join('') + plain('last-one-9')
  const lengths = [...bodies.flatMap(({ length }) => [length, length]), 10]
  const cuts = (bytes: number) =>
    Array.from({ length: Math.ceil(sent.length / bytes) }, (_, i) => sent.slice(i * bytes, (i + 1) * bytes))
  for (const parts of [[sent], cuts(61), cuts(997), cuts(4_095)]) {
    const said = await ask(open(), parts, /length 10\./)
    assert.deepEqual(
      [...said.matchAll(/length (\d+)\./g)].map(([, length]) => Number(length)),
      lengths,
    )
  }
})

test('behind a request for another protocol, nothing is read until it is answered', async () => {
  const { open, requests } = await startServer()
  const get = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
  const upgrade = get.replace('\r\n\r\n', '\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n')
  // Node drops what is behind the first request in its slice. A request in the body of the second one would begin the next slice.
  const outer = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999\r\n\r\n'.padEnd(4_096 - upgrade.length)
  const socket = open()
  const closed = closing(socket)
  assert.match(await ask(socket, [upgrade + outer + get], /never/), /^HTTP\/1.1 200 [\s\S]*length 0\.$/)
  await closed
  assert.equal(requests(), 1)
  // The same, where all of it comes in one slice: of that, Node drops what is behind the request.
  for (const behind of [
    get,
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n',
    'POST / HTTP/1.1\r\nContent-Length: 5\r\nx: ',
  ]) {
    const before = requests()
    const socket = open()
    const closed = closing(socket)
    socket.once('data', () => socket.write(get))
    assert.match(await ask(socket, [upgrade + behind], /never/), /^HTTP\/1.1 200 [\s\S]*length 0\.$/)
    await closed
    assert.equal(requests(), before + 1)
  }
  // Its own body may be in several slices, which may end in the middle of a chunk's size.
  const chunked = upgrade.replace('\r\n\r\n', '\r\nTransfer-Encoding: chunked\r\n\r\n').replace('GET', 'POST')
  for (const parts of [
    [`${chunked}1`, '0\r\n0123456789abcdef\r\n0\r\n\r\n'],
    [`${chunked}10\r\n`, '0123456789abcdef\r\n0\r\n\r\n'],
  ])
    assert.match(await ask(open(), parts, /length \d+\./), /length 16\./)
  // Without anything behind it, the connection stays open.
  const other = open()
  for (const request of [upgrade, upgrade, get]) assert.match(await ask(other, [request], /length 0\./), /^HTTP\/1.1 200 /)
  assert.equal(requests(), 9)
})
