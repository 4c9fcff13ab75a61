// Servers that providers, pages and webhooks are, and that go on sending without an end.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, type ClientRequest, createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { type Excess, httpRequest, limitResponse } from '../../src/core/platform/node-http.ts'
import { readJson, send } from '../../src/models/transport/http.ts'
import { vendorModel } from '../../src/models/vendor-model.ts'
import { FETCH_RULES, guardedFetch } from '../../src/net/guarded-fetch.ts'
import { guardedPost } from '../../src/net/guarded-post.ts'
import { never, request } from '../contract/model.ts'
import { endsBy } from '../support/cleanup.ts'
import { until } from '../support/poll.ts'

/** Answers with `head`, then with `more` again and again until the other side closes the connection. */
async function startServer(head: string | Buffer, more: string): Promise<{ url: string; closed: Promise<void> }> {
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => resolve())
    socket.once('data', () => {
      socket.write(head)
      const goOn = () => socket.write(more, (error) => error ?? setImmediate(goOn))
      if (more !== '') goOn()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endsBy('a hostile server', () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, closed }
}

async function startHttpServer(answer: RequestListener): Promise<string> {
  const server = createHttpServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endsBy('a web server', () => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const closed = (asked: ClientRequest) => new Promise<void>((resolve) => asked.once('close', resolve))
const rulesFor = (url: string) => ({ ...FETCH_RULES, allow: new Set([new URL(url).host]) })
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
const OK = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nhere'

describe('informational responses without an end', () => {
  test('end the call of a provider', async () => {
    const { url, closed } = await startServer('', EARLY_HINTS.repeat(10))
    await assert.rejects(send(new URL(url), { headers: {}, body: '{}', signal: never }), {
      code: 'model_failed',
      transient: false,
      message: /too many informational responses/,
    })
    await closed
  })

  test('end the fetch of a page and the post to a webhook', async () => {
    for (const ask of [
      (url: string) => guardedFetch(rulesFor(url), { url }),
      (url: string) => guardedPost(rulesFor(url), { url, headers: {}, body: '{}', signal: never }),
    ]) {
      const { url, closed } = await startServer('', EARLY_HINTS.repeat(10))
      await assert.rejects(ask(url), { code: 'fetch_failed', message: /too many informational responses/ })
      await closed
    }
  })

  test('are counted where the server names its protocol otherwise', async () => {
    const { url, closed } = await startServer('', EARLY_HINTS.replace('HTTP', 'ICE').repeat(100))
    await assert.rejects(guardedFetch(rulesFor(url), { url }), { message: /too many informational responses/ })
    await closed
  })

  test('are parsed up to the slice in which they are too many', async () => {
    const { url } = await startServer(EARLY_HINTS.repeat(1_000), '')
    const asked = httpRequest(url)
    let parsed = 0
    asked.on('information', () => parsed++)
    const { promise, resolve } = Promise.withResolvers<Excess>()
    limitResponse(asked, resolve)
    asked.on('error', () => {}).end()
    assert.equal(await promise, 'informational responses')
    await closed(asked)
    assert.ok(parsed <= 120, `${parsed} were parsed`)
  })

  test('are read over if there are a few', async () => {
    const { url } = await startServer(`HTTP/1.1 100 Continue\r\n\r\n${EARLY_HINTS.repeat(19)}${OK}`, '')
    assert.equal(Buffer.from((await guardedFetch(rulesFor(url), { url })).body).toString(), 'here')
  })
})

describe('an answer in chunks of one byte', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n'
  const SMALL = '1\r\nx\r\n'.repeat(2_000)
  const signal = new AbortController().signal

  test('ends the request, wherever its head ends', async () => {
    for (const [head, more] of [
      [HEAD + SMALL, ''],
      ['', HEAD + SMALL],
      [`\r\n\nHTTP/1.1 102 \r\n\r\n\n${HEAD}ffff;a=b\r\n${'x'.repeat(0xffff)}\r\n`, '1\r\nx\r\n'.repeat(70_000)],
      [HEAD.slice(0, -3), HEAD.slice(-3) + SMALL],
      [`ICE/1.1 102 \r\n\r\n${HEAD.replace('HTTP', 'ICE')}`, SMALL],
      [`${HEAD}${'0'.repeat(40)}1;a=1\r\nx\r\n`, SMALL],
    ] as const) {
      const { url, closed } = await startServer(head, more)
      const asked = httpRequest(url)
      let parsed = 0
      asked.on('response', (response) => response.on('error', () => {}).on('data', () => parsed++))
      const { promise, resolve } = Promise.withResolvers<Excess>()
      limitResponse(asked, resolve)
      asked.on('error', () => {}).end()
      assert.equal(await promise, 'small chunks')
      await closed
      assert.ok(parsed <= 70_000, `${parsed} were parsed`)
    }
  })

  test('is parsed up to the slice in which it is too much', async () => {
    const { url } = await startServer(HEAD + SMALL.repeat(3), '')
    const asked = httpRequest(url)
    let parsed = 0
    // Pieces are parsed into the answer, whether or not anybody reads it.
    asked.on('response', (response) => {
      const { push } = response.on('error', () => {})
      response.push = (piece) => {
        parsed++
        return push.call(response, piece)
      }
    })
    const { promise, resolve } = Promise.withResolvers<Excess>()
    limitResponse(asked, resolve)
    asked.on('error', () => {}).end()
    assert.equal(await promise, 'small chunks')
    await closed(asked)
    assert.ok(parsed <= 1_800, `${parsed} were parsed`)
  })

  test('ends the call of a provider, also while its reader pauses', async () => {
    const wrong = { code: 'model_failed', transient: false, message: /pieces that are too small/ }
    const call = async (head: string, more: string) => {
      const { url, closed } = await startServer(head, more)
      await assert.rejects(async () => {
        const response = await send(new URL(url), { headers: {}, body: '{}', signal })
        response.pause()
        if (!response.closed) await once(response, 'close').catch(() => {})
        await readJson(response, signal)
      }, wrong)
      await closed
    }
    await call(HEAD + SMALL, '')
    await call(HEAD, SMALL)
  })

  test('ends the fetch of a page behind a long head', async () => {
    const { url, closed } = await startServer(HEAD.slice(0, -2) + 'a:b\r\n'.repeat(3_600), `\r\n${SMALL}`)
    await assert.rejects(guardedFetch(rulesFor(url), { url }), {
      code: 'fetch_failed',
      message: /too many (header fields|small chunks)/,
    })
    await closed
  })

  test('ends the fetch of a page', async () => {
    const { url, closed } = await startServer(HEAD, SMALL)
    await assert.rejects(guardedFetch(rulesFor(url), { url }), { code: 'fetch_failed', message: /too many small chunks/ })
    await closed
  })

  test('is taken if it is short, or its chunks are long enough', async () => {
    for (const [chunks, length] of [
      ['1\r\n1\r\n'.repeat(1_000), 1_000],
      [`14\r\n${'1'.repeat(20)}\r\n`.repeat(2_000), 40_000],
    ] as const) {
      const { url } = await startServer(`${HEAD}${chunks}0\r\n\r\n`, '')
      const page = await guardedFetch(rulesFor(url), { url })
      assert.equal(page.changed && Buffer.from(page.body).toString(), '1'.repeat(length))
    }
  })
})

describe('before its answer, a server', () => {
  for (const [what, more] of [
    ['empty lines', '\r\n'.repeat(1_000)],
    ['header fields', 'a:\r\n'.repeat(1_000)],
  ] as const)
    test(`may not send ${what} without an end`, async () => {
      const { url, closed } = await startServer(what === 'header fields' ? 'HTTP/1.1 200 OK\r\n' : '', more)
      await assert.rejects(guardedFetch(rulesFor(url), { url }), { message: /too many header fields/ })
      await closed
    })
})

test('what comes behind an answer is not taken for the next one', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  endsBy('an agent', () => agent.destroy())
  // As long as a slice of what is read.
  const whole = `HTTP/1.1 200 OK\r\ncontent-length: 4048\r\nx: yy\r\n\r\n${'z'.repeat(4_048)}`
  const { url } = await startServer(`${whole}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfake`, '')
  for (let i = 0; i < 3; i++) {
    const asked = httpRequest(url, { agent })
    limitResponse(asked, () => {})
    asked.on('error', () => {}).end()
    const isClosed = closed(asked)
    const [response] = await once(asked, 'response')
    const pieces: Buffer[] = await response.toArray().catch(() => [])
    assert.doesNotMatch(pieces.join(''), /fake/)
    await isClosed
  }
})

describe('an answer that switches to another protocol', () => {
  const SWITCH = 'HTTP/1.1 101 Switching Protocols\r\nupgrade: other\r\nconnection: upgrade\r\n\r\n'

  test('ends the call of a provider', async () => {
    const { url } = await startServer(SWITCH, '')
    await assert.rejects(send(new URL(url), { headers: {}, body: '{}', signal: never }), {
      code: 'model_failed',
      message: /hung up without an answer/,
    })
  })

  test('ends the fetch of a page and the post to a webhook', async () => {
    const { url } = await startServer(SWITCH, '')
    const rules = { ...rulesFor(url), headTimeoutMs: 2_000_000_000 }
    await assert.rejects(guardedFetch(rules, { url }), { code: 'unreachable' })
    await assert.rejects(guardedPost(rules, { url, headers: {}, body: '{}', signal: never }), { code: 'unreachable' })
  })
})

describe('an answer whose body is malformed right behind its head', () => {
  for (const malformed of ['zzz\r\n', '5\r\nhello!!', '\0', 'ffffffffffffffffff\r\nx', '1\r\nx\r\n0\r\nbad trailer\r\n\r\n'])
    test(`ends the call of a provider and the fetch of a page: ${JSON.stringify(malformed)}`, async () => {
      const { url } = await startServer(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${malformed}`, '')
      const signal = new AbortController().signal
      const response = await send(new URL(url), { headers: {}, body: '{}', signal })
      await assert.rejects(readJson(response, signal), { code: 'model_failed', message: /broke/ })
      await assert.rejects(guardedFetch(rulesFor(url), { url }), { code: 'unreachable' })
      assert.equal(await guardedPost(rulesFor(url), { url, headers: {}, body: '{}', signal }), 200)
    })
})

describe('a stream that begins with an error and stays open', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n'
  const ERROR = '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
  for (const protocol of ['anthropic', 'responses', 'google'] as const)
    for (const first of [`event: error\ndata: ${ERROR}\n\n`, 'data: nonsense\n\n'])
      test(`is let go when the call has failed: ${protocol}, ${first.slice(0, 12)}`, async () => {
        const { url, closed } = await startServer(HEAD + first, '')
        const provider = { name: 'p', protocol, baseUrl: url, apiKey: 'k', headers: {} }
        const model = vendorModel('m', provider as Parameters<typeof vendorModel>[1])
        await assert.rejects(model.generate(request(), { signal: never, onText: () => {} }))
        await closed
      })
})

test('what follows a whole answer is read over', async () => {
  for (const head of ['HTTP/1.1 200 OK\r\n', 'HTTP/1.0 200 OK\r\n', 'HTTP/1.1 200 OK\r\nconnection: close\r\n']) {
    const { url } = await startServer(`${head}content-type: application/json\r\ncontent-length: 4\r\n\r\n1234junk`, '')
    const signal = new AbortController().signal
    const response = await send(new URL(url), { headers: {}, body: '{}', signal })
    assert.equal(await readJson(response, signal), 1234)
    assert.equal(Buffer.from((await guardedFetch(rulesFor(url), { url })).body).toString(), '1234')
  }
})

describe('the answer of a webhook receiver', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  for (const [about, more] of [
    ['that has no end', `2000\r\n${'x'.repeat(0x2000)}\r\n`],
    ['in chunks of one byte', '1\r\nx\r\n'.repeat(1_000)],
  ] as const)
    test(`${about} is cut off`, async () => {
      const { url, closed } = await startServer(HEAD, more)
      const post = guardedPost(rulesFor(url), { url, headers: {}, body: '{}', signal: never })
      // With a part of its head, or of its body, the whole may be refused.
      const status = await post.catch(({ message }: Error) => assert.match(message, /too many small chunks/))
      if (status !== undefined) assert.equal(status, 200)
      await closed
    })

  test('that says nothing more is cut off', async () => {
    const { url, closed } = await startServer(HEAD, '')
    assert.equal(await guardedPost(rulesFor(url), { url, headers: {}, body: '{}', signal: never }), 200)
    await closed
  })
})

test('304 to a request without a condition is a failure, and not an empty page', async () => {
  const { url } = await startServer('HTTP/1.1 304 Not Modified\r\n\r\n', '')
  await assert.rejects(guardedFetch(rulesFor(url), { url }), { code: 'fetch_failed', message: /status 304/ })
  assert.equal((await guardedFetch(rulesFor(url), { url, etag: '"1"' })).changed, false)
})

describe('a compressed page', () => {
  /** Serves a page with this text, compressed. */
  const serve = (text: string) =>
    startHttpServer((_, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(text)))

  test('that is a thousand times as large as what was sent is refused', async () => {
    const url = await serve('walnut '.repeat(1_000_000))
    await assert.rejects(guardedFetch(rulesFor(url), { url }), { code: 'too_large', message: /is compressed to less than 1 %/ })
  })

  test('is taken if it is short, or compressed as text is', async () => {
    const numbers = Array.from({ length: 400_000 }, (_, i) => `${i}`).join(' ')
    for (const text of ['walnut '.repeat(100_000), numbers]) {
      const url = await serve(text)
      assert.equal((await guardedFetch(rulesFor(url), { url })).body.length, text.length)
    }
  })
})

test('a request that cannot be made fails, and nothing else', async () => {
  const url = await startHttpServer((_, response) => response.end('here'))
  const rules = { ...rulesFor(url), userAgent: 'Repartee (+https://例え.jp)', headTimeoutMs: 1 }
  await assert.rejects(guardedFetch(rules, { url }), { code: 'ERR_INVALID_CHAR' })
  await new Promise((resolve) => setTimeout(resolve, 20))
})

test('an answer that is whole before its request ends the connection', async () => {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket
      .on('error', () => {})
      .once('data', () => {
        socket.pause()
        socket.write(OK)
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true })
  endsBy('a server that reads no more', () => {
    agent.destroy()
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const asked = httpRequest({ port: (server.address() as AddressInfo).port, method: 'POST', agent })
  limitResponse(asked, () => assert.fail())
  asked.end(Buffer.alloc(32_000_000))
  const isClosed = closed(asked)
  const [response] = await once(asked, 'response')
  await response.toArray()
  await isClosed
})

describe('a page whose compressed text ends before its answer', () => {
  for (const [coding, compress] of Object.entries({ deflate: deflateSync, br: brotliCompressSync, gzip: gzipSync }))
    test(`is taken, and its connection is closed: ${coding}`, async () => {
      const page = compress('walnut')
      const head = `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: ${coding}\r\ncontent-length: 9999999999\r\n\r\n`
      const { url, closed } = await startServer(Buffer.concat([Buffer.from(head), page, Buffer.alloc(1)]), '')
      assert.equal(Buffer.from((await guardedFetch(rulesFor(url), { url })).body).toString(), 'walnut')
      await closed
    })
})

describe('a request that is over', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options?: { type: 'minor' }) => void

  /** Asks on kept connections. Each request holds `held`. */
  async function startAsking(): Promise<(held: object) => Promise<void>> {
    const agent = new Agent({ keepAlive: true, maxSockets: 2 })
    endsBy('an agent', () => agent.destroy())
    const url = await startHttpServer((_, response) => response.end('hello'))
    return async (held) => {
      const asked = httpRequest(url, { agent })
      limitResponse(asked, () => assert.fail(String(held)))
      asked.end()
      const isClosed = closed(asked)
      const [response] = await once(asked, 'response')
      await response.toArray()
      await isClosed
    }
  }

  test('is not held by its connection', async () => {
    const ask = await startAsking()
    const held = new WeakRef({})
    await ask(held.deref()!)
    await until('it is collected', () => {
      collect()
      return held.deref() === undefined
    })
  })

  test('does not hold memory until the next full collection', async () => {
    const ask = await startAsking()
    await ask({})
    collect()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 200; i++) {
      await ask(Array.from({ length: 5_000 }, () => i + 0.5))
      if (i % 3 === 0) collect({ type: 'minor' })
    }
    const mb = (process.memoryUsage().heapUsed - before) / 1_048_576
    assert.ok(mb < 3, `${mb} MB of 200 requests`)
  })
})
