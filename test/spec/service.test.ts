// What is true of every answer: headers, request ids, unknown routes, methods, framing; and what stands outside /v1
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { hasFields, isError, isOk, UUID } from '../support/assert.ts'
import type { Answer } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
/** Begun first, because the service gives it ten seconds. */
const slow = client.raw('GET /v1/agents HTTP/1.1\r\nHost: x\r\n')
slow.catch(() => {})
let agentId: string
let session: string
before(async () => {
  agentId = await service.newAgent()
  session = await service.newSession(agentId)
})

describe('outside /v1', () => {
  test('the base URL ends with the version: /v1', () => {
    assert.match(client.address.baseUrl, /\/v1$/)
  })

  test('GET /healthz and /readyz say that the service lives and is ready', async () => {
    for (const path of ['^/healthz', '^/readyz']) {
      const answer = await client.get(path, { key: null })
      isOk(answer)
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    }
  })

  test('GET /openapi.json describes every request of the specification', async () => {
    const { status, body } = await client.get('^/openapi.json', { key: null })
    assert.equal(status, 200)
    assert.match(body.openapi, /^3\.1\./)
    const described = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    for (const request of [
      'POST /agents/{agentId}/sessions',
      'GET /agents/{agentId}/sessions',
      'GET /agents/{agentId}/sessions/{sessionId}',
      'PATCH /agents/{agentId}/sessions/{sessionId}',
      'DELETE /agents/{agentId}/sessions/{sessionId}',
      'POST /agents/{agentId}/sessions/{sessionId}/messages',
      'GET /agents/{agentId}/sessions/{sessionId}/messages',
      'POST /agents',
      'POST /agents/{agentId}/documents',
      'POST /agents/{agentId}/search',
      'POST /keys/{keyId}/roll',
    ]) {
      assert.ok(described.includes(request), request)
    }
    const { schema } = body.paths['/agents/{agentId}/sessions/{sessionId}/messages'].get.parameters.find(
      ({ name }: { name: string }) => name === 'limit',
    )
    assert.deepEqual([schema.default, schema.minimum, schema.maximum], [50, 1, 100])
    assert.ok(body.components.securitySchemes.apiKey)
  })
})

describe('headers of every answer', () => {
  const answers: [string, () => Promise<Answer>][] = [
    ['a success', () => client.get(session)],
    ['a creation', () => client.post(`/agents/${agentId}/sessions`, {})],
    ['a list that is streamed', () => client.get(`/agents/${agentId}/sessions`)],
    ['400', () => client.get('/agents?nope=1')],
    ['401', () => client.get('/agents', { key: null })],
    ['404', () => client.get(`/agents/${randomUUID()}`)],
    ['404 of a route', () => client.get('/nowhere')],
    ['405', () => client.put('/agents', {})],
    ['413', () => client.request('POST', `/agents/${agentId}/sessions`, { bytes: 'x'.repeat(1_100_000) })],
    ['415', () => client.post(`/agents/${agentId}/sessions`, {}, { headers: { 'content-type': 'text/plain' } })],
    ['a path that is no URL', () => client.get('/agents/%zz')],
    ['/healthz', () => client.get('^/healthz')],
  ]
  for (const [about, ask] of answers) {
    test(`Cache-Control: no-store, X-Content-Type-Options: nosniff, X-Request-Id, no X-Powered-By, no versions: ${about}`, async () => {
      const { headers } = await ask()
      assert.equal(headers['cache-control'], 'no-store')
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.match(String(headers['x-request-id']), UUID)
      assert.equal(headers['x-powered-by'], undefined)
      assert.equal(headers.server, undefined)
      assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    })
  }

  test('each header stands there once', async () => {
    for (const [, ask] of answers) {
      const { rawHeaders } = await ask()
      const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase())
      assert.equal(new Set(names).size, names.length, names.join())
    }
  })
})

describe('X-Request-Id', () => {
  const ask = async (id: string | string[]) => (await client.get('/nowhere', { headers: { 'x-request-id': id } })) as Answer

  test("a caller's own, up to 128 printable ASCII characters, is kept", async () => {
    for (const id of ['abc', 'A b/c:~!"', 'x'.repeat(128)]) {
      const answer = await ask(id)
      assert.equal(answer.headers['x-request-id'], id)
      assert.equal(answer.body.error.requestId, id)
    }
  })

  test('any other is replaced by one of ours', async () => {
    for (const id of ['x'.repeat(129), '', 'caf\u00e9', ['', '']]) {
      const answer = await ask(id)
      assert.match(String(answer.headers['x-request-id']), UUID)
      assert.equal(answer.body.error.requestId, answer.headers['x-request-id'])
    }
  })
})

describe('routes and methods', () => {
  for (const path of [
    '/nowhere',
    '/agents/11111111-1111-4111-8111-111111111111/nothing',
    '/Agents',
    '//agents',
    '^/',
    '^/v2/agents',
    '^/agents',
    '/sessions',
  ]) {
    test(`404 route_not_found for ${path}`, async () => isError(await client.get(path), 404, 'route_not_found'))
  }

  const methods: [string, () => string, string[]][] = [
    ['/agents', () => '/agents', ['GET', 'HEAD', 'POST']],
    ['…/sessions', () => `/agents/${agentId}/sessions`, ['GET', 'HEAD', 'POST']],
    ['…/sessions/{sessionId}', () => session, ['DELETE', 'GET', 'HEAD', 'PATCH']],
    ['…/messages', () => `${session}/messages`, ['GET', 'HEAD', 'POST']],
    ['/keys', () => '/keys', ['GET', 'HEAD', 'POST']],
    ['/healthz', () => '^/healthz', ['GET', 'HEAD']],
    ['/openapi.json', () => '^/openapi.json', ['GET', 'HEAD']],
  ]
  for (const [about, path, allowed] of methods) {
    test(`405 method_not_allowed with Allow for ${about}`, async () => {
      for (const method of ['PUT', 'PATCH', 'DELETE', 'POST', 'OPTIONS'].filter((m) => !allowed.includes(m))) {
        const answer = await client.request(method, path(), { body: {} })
        isError(answer, 405, 'method_not_allowed')
        const allow = (answer.headers.allow ?? '').split(', ').filter((m) => m !== 'OPTIONS')
        assert.deepEqual(allow.sort(), allowed)
      }
    })
  }

  test('HEAD answers as GET does, without the body', async () => {
    for (const path of [session, `/agents/${agentId}/sessions`, `${session}/messages`, '/agents', '^/healthz']) {
      const [head, get] = [await client.request('HEAD', path), await client.get(path)]
      assert.equal(head.status, 200, path)
      assert.equal(head.text, '')
      assert.equal(head.headers['content-type'], get.headers['content-type'])
    }
    assert.equal((await client.request('HEAD', session, { key: null })).status, 401)
    assert.equal((await client.request('HEAD', `/agents/${randomUUID()}`)).status, 404)
  })

  test('a malformed path is 400', async () => {
    isError(await client.get('/agents/%zz'), 400, 'invalid_request')
    isError(await client.get(`/agents/${agentId}%00`), 400, 'invalid_request')
  })
})

test('a request that expects what no server knows is answered like any other', async () => {
  for (const expectation of ['Expect: 200-maybe', 'Expect:', 'Expect: 100-continue']) {
    const answer = await client.raw(client.bytesOf('GET', session, undefined, [expectation, 'Connection: close']))
    assert.match(answer, /HTTP\/1\.1 200 OK\r\nX-Request-Id: /i, expectation)
  }
})

test('requests sent ahead on one connection are worked on one by one, and answered in their order', async () => {
  const speaker = new Speaker()
  service.model.behaviour = speaker.behaviour
  const agent = await service.newAgent()
  const talk = await service.newSession(agent)
  const sessions = async () => (await client.get(`/agents/${agent}/sessions`)).body.sessions.length
  const slowOne = client.bytesOf('POST', `${talk}/messages`, { message: 'Hello' })
  const next = client.bytesOf('POST', `/agents/${agent}/sessions`, {}, ['Connection: close'])
  const received = client.raw(slowOne + next)
  await speaker.say('Good day.')
  assert.equal(await sessions(), 1)
  await speaker.end()
  assert.deepEqual(
    [...(await received).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status),
    ['200', '201'],
  )
  assert.equal(await sessions(), 2)
})

describe('what breaks below HTTP gets the same JSON error, then the connection is closed', () => {
  /** Checks the last answer on a closed connection. */
  function isRefused(received: string, status: number, code: string): void {
    const last = received.slice(received.lastIndexOf('HTTP/1.1 '))
    const [head = '', body = ''] = last.split('\r\n\r\n')
    assert.match(head, new RegExp(`^HTTP/1\\.1 ${status} `), received)
    assert.match(head, /^Connection: close$/im)
    assert.match(head, /^Content-Type: application\/json; charset=utf-8$/im)
    assert.match(head, /^Cache-Control: no-store$/im)
    assert.match(head, /^X-Content-Type-Options: nosniff$/im)
    const { success, error } = JSON.parse(body)
    assert.equal(success, false)
    assert.equal(error.code, code)
    hasFields(error, 'code', 'message', 'requestId')
    assert.ok(new RegExp(`^X-Request-Id: ${error.requestId}$`, 'im').test(head))
  }
  const request = (...headers: string[]) => client.bytesOf('POST', `/agents/${agentId}/sessions`, undefined, headers)

  const broken: [string, () => string][] = [
    ['no HTTP at all', () => 'hello there\r\n\r\n'],
    ['a TLS hello', () => '\x16\x03\x01\x02\x00\x01\x00'],
    ['a header without a colon', () => request('X-Nothing')],
    ['HTTP/1.1 without a Host', () => request('Connection: close').replace(/Host: .*\r\n/, '')],
    ['two Host lines', () => request('Host: other')],
    ['two Host lines that are equal', () => request(`hOST: ${new URL(client.address.baseUrl).host}`)],
    ['two Host lines in HTTP/1.0', () => request('Host: other').replace('HTTP/1.1', 'HTTP/1.0')],
    ['two lengths', () => `${request('Content-Length: 2', 'Content-Length: 3')}{} `],
    ['a length beside chunks', () => `${request('Content-Length: 2', 'Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`],
    [
      'a chunk size that is no number',
      () => `${request('Content-Type: application/json', 'Transfer-Encoding: chunked')}zz\r\n{}\r\n0\r\n\r\n`,
    ],
    ['a negative length', () => request('Content-Length: -1')],
    ['a bare line feed smuggled in a header', () => request('X-A: b\0c')],
  ]
  for (const [about, bytes] of broken) {
    test(`400 invalid_request: ${about}`, async () => isRefused(await client.raw(bytes()), 400, 'invalid_request'))
  }

  test('431 headers_too_large', async () => {
    isRefused(await client.raw(request(`X-Long: ${'x'.repeat(20_000)}`)), 431, 'headers_too_large')
  })

  test('408 request_timeout: headers that do not come to an end', async () => {
    isRefused(await slow, 408, 'request_timeout')
  })

  test('where bad bytes follow good pipelined requests, the answers due are sent first', async () => {
    const good = client.bytesOf('GET', session)
    const received = await client.raw(`${good}${good}nonsense\r\n\r\n`)
    assert.equal(received.match(/HTTP\/1\.1 200 /g)?.length, 2)
    isRefused(received, 400, 'invalid_request')
  })

  test('requests whose path is no URL do not go on for long on one connection', async () => {
    const received = await client.raw('GET /% HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20_000))
    const answers = received.match(/HTTP\/1\.1 400 /g)?.length ?? 0
    assert.ok(answers > 0 && answers < 1_000, `${answers} answers`)
  })

  test('the service goes on', async () => isOk(await client.get(session)))
})
