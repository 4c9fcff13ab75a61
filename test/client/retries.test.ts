// What the client does when a service, or something on the way to it, does not answer as it should.
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { credentials } from '../../client/src/credentials.ts'
import { answerOf, type ConnectionOptions, Repartee, ReparteeError } from '../../client/src/index.ts'

type Behaviour = (request: IncomingMessage, response: ServerResponse) => unknown

/** What the server does with the requests, one after the other; the last holds for all further ones. */
let behaviours: Behaviour[] = []
let requests: IncomingMessage[] = []
const server = createServer((request, response) => {
  requests.push(request)
  request.resume()
  const behaviour = behaviours.length > 1 ? behaviours.shift()! : behaviours[0]!
  behaviour(request, response)
})
let baseUrl: string
before(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
})
after(() => {
  server.close()
  server.closeAllConnections()
})
beforeEach(() => {
  requests = []
})

const answers =
  (status: number, body: object | string, headers: Record<string, string> = {}): Behaviour =>
  (_, response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
const fails = (status: number, code: string, headers: Record<string, string> = {}): Behaviour =>
  answers(
    status,
    { success: false, error: { code, message: 'The words.', requestId: 'r-1', details: [{ path: 'a', message: 'b' }] } },
    headers,
  )
const succeeds = answers(200, { success: true, session: { id: 'made' } })
const breaks: Behaviour = (request) => request.socket.destroy()
const breaksInTheMiddle: Behaviour = (_, response) =>
  response.writeHead(200, { 'content-length': '100' }).write('{"success":', () => response.destroy())
const hangs: Behaviour = () => {}

const open = (options: Partial<ConnectionOptions> = {}) => new Repartee({ baseUrl, key: 'the-key', retryDelayMs: 1, ...options })
const create = (options?: Partial<ConnectionOptions>) => open(options).sessions.create({ agentId: 'agent' })
const keysOf = () => new Set(requests.map(({ headers }) => headers['idempotency-key']))
const failsWith = (call: Promise<unknown>, code: string, more: object = {}) =>
  assert.rejects(call, (error) => {
    assert.ok(error instanceof ReparteeError)
    assert.equal(error.code, code, error.message)
    for (const [name, value] of Object.entries(more)) assert.deepEqual(error[name as keyof typeof error], value, name)
    return true
  })

describe('is tried again, as the same request', () => {
  const worthIt: [what: string, behaviour: Behaviour][] = [
    ['a service that is starting', fails(503, 'unavailable', { 'retry-after': '0' })],
    ['a session that is busy', fails(409, 'session_busy', { 'retry-after': '0' })],
    ['a model whose provider asks for a wait', fails(502, 'model_failed', { 'retry-after': '0' })],
    ['a limit of a proxy', answers(429, '<h1>slow down</h1>')],
    ['a proxy without its service', answers(502, '<h1>Bad Gateway</h1>')],
    ['a proxy that waited too long', answers(504, '')],
    ['a connection that breaks', breaks],
    ['an answer that breaks off', breaksInTheMiddle],
    ['an answer that is not JSON', answers(200, '<h1>Welcome to the hotel</h1>')],
  ]
  for (const [what, behaviour] of worthIt) {
    test(what, async () => {
      behaviours = [behaviour, behaviour, succeeds]
      assert.equal((await create()).session.id, 'made')
      assert.equal(requests.length, 3)
      assert.equal(keysOf().size, 1)
    })
  }

  test('a stream that breaks before its first event', async () => {
    const type = { 'content-type': 'text/event-stream' }
    const begins: Behaviour = (_, response) =>
      response.writeHead(200, type).write('retry: 1\n\nevent: turn.started\n', () => response.destroy())
    behaviours = [begins, begins, answers(200, 'event: turn.completed\ndata: {"success":true}\n\n', type)]
    assert.equal(
      (await answerOf(open().messages.stream({ agentId: 'agent', sessionId: 'session', message: 'Hello' }))).success,
      true,
    )
    assert.equal(requests.length, 3)
    assert.equal(keysOf().size, 1)
  })

  test('after the time that the service asks for', async (t) => {
    const timers = t.mock.method(globalThis, 'setTimeout')
    behaviours = [fails(503, 'unavailable', { 'retry-after': '1' }), succeeds]
    await create()
    const waits = timers.mock.calls.map(({ arguments: [, ms] }) => ms ?? 0)
    assert.ok(
      waits.some((ms) => ms >= 1_000 && ms <= 2_000),
      `${waits}`,
    )
  })

  test('for as long as it is under way elsewhere, however often that is asked', async () => {
    const elsewhere = fails(409, 'request_in_progress', { 'retry-after': '0' })
    behaviours = [...Array.from({ length: 10 }, () => elsewhere), succeeds]
    await create({ maxRetries: 1 })
    assert.equal(requests.length, 11)
  })
})

describe('is not tried again', () => {
  const notWorthIt: [what: string, behaviour: Behaviour, code: string, more: object][] = [
    ['a request that is wrong', fails(400, 'invalid_request'), 'invalid_request', { status: 400, requestId: 'r-1' }],
    ['a model that failed', fails(502, 'model_failed'), 'model_failed', { status: 502 }],
    ['a model that was silent', fails(504, 'model_timeout'), 'model_timeout', { status: 504 }],
    ['a defect', fails(500, 'internal_error'), 'internal_error', { status: 500 }],
    [
      'what is worth trying tomorrow',
      fails(429, 'quota_exceeded', { 'retry-after': '40000' }),
      'quota_exceeded',
      { retryAfter: 40_000 },
    ],
    ['a page that says 404', answers(404, '<h1>Not found</h1>'), 'connection_failed', { status: 404 }],
    ['a body that a proxy finds too large', answers(413, ''), 'payload_too_large', { status: 413 }],
  ]
  for (const [what, behaviour, code, more] of notWorthIt) {
    test(what, async () => {
      behaviours = [behaviour, succeeds]
      await failsWith(create(), code, more)
      assert.equal(requests.length, 1)
    })
  }

  test('more often than is set', async () => {
    behaviours = [fails(503, 'unavailable')]
    await failsWith(create({ maxRetries: 2 }), 'unavailable', { status: 503, details: [{ path: 'a', message: 'b' }] })
    assert.equal(requests.length, 3)
    await failsWith(open().sessions.create({ agentId: 'agent' }, { maxRetries: 0 }), 'unavailable')
    assert.equal(requests.length, 4)
  })

  test('what makes a key, unless the service says that it has made none', async () => {
    const make = () => open().keys.create({ name: 'A key', scopes: ['chat'] })
    behaviours = [breaks, succeeds]
    await failsWith(make(), 'connection_failed')
    behaviours = [answers(502, ''), succeeds]
    await failsWith(make(), 'connection_failed')
    assert.equal(requests.length, 2)
    behaviours = [fails(429, 'rate_limited', { 'retry-after': '0' }), succeeds]
    await make()
    assert.equal(requests.length, 4)
  })
})

describe('what cannot be sent at all is said at once', () => {
  test('an address that is none', async () => {
    for (const wrong of ['chat.example.com/v1', 'localhost:8080/v1', '/v1'])
      await failsWith(create({ baseUrl: wrong }), 'invalid_request', { status: undefined })
  })

  test('what no header can hold', async () => {
    await failsWith(open().sessions.create({ agentId: 'agent' }, { idempotencyKey: 'κλειδί' }), 'invalid_request')
    await failsWith(create({ key: undefined, token: async () => '<!doctype html>\n<title>Sign in</title>' }), 'invalid_request')
    assert.equal(requests.length, 0)
  })

  test('what is no JSON, and no timer is left behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const circular: { name: string; self?: object } = { name: 'A' }
    circular.self = circular
    await assert.rejects(open().agents.create(circular), TypeError)
    assert.equal(timers(), before)
  })
})

describe('a stream', () => {
  const type = { 'content-type': 'text/event-stream' }
  const started = 'id: 1\nevent: turn.started\ndata: {"userMessage":{"id":"m"}}\n\n'
  const delta = 'id: 2\nevent: message.delta\ndata: {"text":"a"}\n\n'
  const completed = 'event: turn.completed\ndata: {"success":true}\n\n'
  const stream = (signal?: AbortSignal) =>
    open().messages.stream({ agentId: 'agent', sessionId: 'session', message: 'Hello' }, { signal })
  /** Sends one event and keeps the line open. Resolves when the client has closed it. */
  const waits = () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    behaviours = [
      (_, response) =>
        response
          .on('close', () => resolve())
          .writeHead(200, type)
          .write(started),
    ]
    return promise
  }

  test('that is left while an event is waited for is closed at once', async () => {
    const closed = waits()
    const turn = stream()
    assert.equal((await turn.next()).value?.type, 'turn.started')
    const waiting = turn.next()
    assert.deepEqual(await turn.return(), { done: true, value: undefined })
    assert.deepEqual(await waiting, { done: true, value: undefined })
    await closed
  })

  test('that is passed on as a ReadableStream is closed with it', async () => {
    const closed = waits()
    const reader = ReadableStream.from(stream()).getReader()
    await reader.read()
    await reader.cancel()
    await closed
  })

  test('whose signal is given tells nothing of what had come in the same piece', async () => {
    behaviours = [answers(200, started + delta + completed, type)]
    const controller = new AbortController()
    const seen: string[] = []
    const read = async () => {
      for await (const event of stream(controller.signal)) {
        seen.push(event.type)
        controller.abort()
      }
    }
    await failsWith(read(), 'aborted')
    assert.deepEqual(seen, ['turn.started'])
  })

  test('that holds what is no event of the service is an error', async () => {
    behaviours = [answers(200, 'event: message.delta\ndata: <h1>Hello</h1>\n\n', type)]
    await failsWith(answerOf(stream()), 'connection_failed')
  })
})

describe('a call ends', () => {
  test('when its time is over', async () => {
    behaviours = [hangs]
    await failsWith(create({ timeoutMs: 50 }), 'timeout')
    behaviours = [fails(503, 'unavailable', { 'retry-after': '30' })]
    await failsWith(open().sessions.create({ agentId: 'agent' }, { timeoutMs: 50 }), 'timeout')
  })

  test('when its signal is given, before, within and between the tries', async () => {
    const give = (afterMs?: number) => {
      const controller = new AbortController()
      if (afterMs === undefined) controller.abort('enough')
      else setTimeout(() => controller.abort('enough'), afterMs)
      return open().sessions.create({ agentId: 'agent' }, { signal: controller.signal })
    }
    behaviours = [hangs]
    await failsWith(give(), 'aborted', { cause: 'enough' })
    assert.equal(requests.length, 0)
    await failsWith(give(50), 'aborted', { cause: 'enough' })
    behaviours = [fails(503, 'unavailable', { 'retry-after': '30' })]
    await failsWith(give(50), 'aborted', { cause: 'enough' })
  })

  test('when nobody is there', async () => {
    await failsWith(create({ baseUrl: 'http://127.0.0.1:9/v1' }), 'connection_failed', { status: undefined })
  })

  test('when the function that gets tokens does not', async () => {
    await failsWith(create({ key: undefined, token: () => new Promise(() => {}), timeoutMs: 50 }), 'timeout')
    const token = () => Promise.reject(new Error('no cookie'))
    await failsWith(create({ key: undefined, token }), 'connection_failed')
    assert.equal(requests.length, 0)
  })
})

describe('a token', () => {
  const accepts =
    (token: string): Behaviour =>
    (request, response) =>
      (request.headers.authorization === `Bearer ${token}` ? succeeds : fails(401, 'unauthorized'))(request, response)

  test('is got once for many requests, and again when it is refused', async () => {
    let asked = 0
    const client = open({ key: undefined, token: async () => `token-${++asked}` })
    behaviours = [accepts('token-1')]
    await Promise.all([1, 2, 3].map(() => client.sessions.create({ agentId: 'agent' })))
    assert.equal(asked, 1)
    behaviours = [accepts('token-2')]
    await Promise.all([1, 2, 3].map(() => client.sessions.create({ agentId: 'agent' })))
    assert.equal(asked, 2)
  })

  test('that several requests were refused with is got anew once', async () => {
    let asked = 0
    const { get, renew } = credentials({ token: () => `token-${++asked}` })
    const refused = await get()
    assert.deepEqual(await Promise.all([renew(refused), renew(refused), renew(refused)]), ['token-2', 'token-2', 'token-2'])
  })

  test('of which it is known when it ends is not used any more in its last moments', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-01-01T00:00:00Z') })
    let asked = 0
    const { get } = credentials({
      token: () => ({ token: `token-${++asked}`, expiresAt: new Date(Date.now() + 3_600_000).toISOString() }),
    })
    assert.equal(await get(), 'token-1')
    t.mock.timers.setTime(Date.now() + 3_560_000)
    assert.equal(await get(), 'token-1')
    t.mock.timers.setTime(Date.now() + 15_000)
    assert.deepEqual(await Promise.all([get(), get()]), ['token-2', 'token-2'])
  })

  test('that is none is an error', async () => {
    behaviours = [succeeds]
    await failsWith(create({ key: undefined, token: async () => ({ token: '' }) }), 'unauthorized')
    assert.equal(requests.length, 0)
  })

  test('that is refused when it is fresh is an error', async () => {
    behaviours = [fails(401, 'unauthorized')]
    await failsWith(create({ key: undefined, token: async () => String(Math.random()) }), 'unauthorized', { status: 401 })
    assert.equal(requests.length, 2)
  })

  test('that cannot be got anew is an error', async () => {
    behaviours = [fails(401, 'unauthorized')]
    await failsWith(create({ key: undefined, token: 'a-token' }), 'unauthorized')
    await failsWith(create({ key: 'a-key' }), 'unauthorized')
    assert.equal(requests.length, 2)
  })
})

test('a document is looked at until it is ready', async () => {
  behaviours = ['queued', 'processing', 'ready'].map((status) => answers(200, { success: true, document: { status } }))
  assert.equal((await open().documents.whenDone({ agentId: 'agent', documentId: 'document' })).status, 'ready')
  assert.equal(requests.length, 3)
})

describe('lines', () => {
  const exported = async () => {
    const lines: unknown[] = []
    for await (const line of open().users.export({ agentId: 'agent', externalUserId: 'user' })) lines.push(line)
    return lines
  }
  const lines = [{ type: 'session', name: 'Größe 😀' }, { type: 'message' }, { type: 'message' }]
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

  test('are read whole, whatever pieces they come in', async () => {
    behaviours = [
      async (_, response) => {
        for (const byte of bytes) await new Promise<unknown>((resolve) => response.write(Buffer.of(byte), resolve))
        response.end()
      },
    ]
    assert.deepEqual(await exported(), lines)
  })

  test('that are none are an error', async () => {
    behaviours = [answers(200, '<h1>Welcome to the hotel</h1>\n')]
    await failsWith(exported(), 'connection_failed')
  })

  test('that break off are an error, because they are not all', async () => {
    behaviours = [(_, response) => response.writeHead(200).write(bytes, () => response.destroy())]
    await failsWith(exported(), 'connection_failed')
  })
})

test('settings that cannot be meant are refused at once', () => {
  assert.throws(() => new Repartee({ baseUrl: '' }), TypeError)
  assert.throws(() => new Repartee({ baseUrl, key: 'a', token: 'b' }), TypeError)
})
