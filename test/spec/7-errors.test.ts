// Specification 7, and the contract of failures: one shape, one code, in a stated order of checks
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { hasFields, isError, isOk } from '../support/assert.ts'
import type { Answer } from '../support/client.ts'
import { exchange } from '../support/raw-http.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agentId: string
let session: string
let readOnly: string
before(async () => {
  agentId = await service.newAgent()
  session = await service.newSession(agentId)
  readOnly = (await client.post('/keys', { name: 'Reader', scopes: ['read'] })).body.secret
})

describe('7 the shape of a failure', () => {
  test('{ success: false, error: { code, message, requestId, details? } }, and nothing else', async () => {
    const answer = await client.post(`${session}/messages`, { message: '', format: 'x', nope: 1 })
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    hasFields(answer.body, 'success', 'error')
    hasFields(answer.body.error, 'code', 'message', 'requestId', 'details')
    assert.equal(answer.body.error.code, 'invalid_request')
    const paths = answer.body.error.details.map(({ path }: { path: string }) => path).sort()
    assert.deepEqual(paths, ['body.format', 'body.message', 'body.nope'], 'every field at fault is named')
  })

  test('no details where no place of the request is at fault', async () => {
    const answer = await client.get(`/agents/${randomUUID()}`)
    isError(answer, 404, 'agent_not_found')
    hasFields(answer.body.error, 'code', 'message', 'requestId')
  })

  test('nothing leaks: no stack, no SQL, no file name', async () => {
    const answers = [
      await client.request('POST', `${session}/messages`, { bytes: '{"message":' }),
      await client.get(`${session}/messages?cursor=${randomUUID()}`),
      await client.get(`/agents/${agentId}'%20OR%201=1--`),
      await client.get('^/../../etc/passwd'),
      await client.post('/agents', { name: 'x', model: 'nowhere/x' }),
    ]
    for (const { status, text } of answers) {
      assert.ok(status >= 400 && status < 500, text)
      assert.doesNotMatch(text, /\bat \S+:\d+|node_modules|\.ts\b|SELECT|sqlite|\/work|\/src\//i)
    }
  })
})

describe('7 malformed bodies', () => {
  const broken: [string, string | Buffer][] = [
    ['JSON that breaks off', '{"message": "x"'],
    ['no JSON', 'message=x'],
    ['two values', '{"message":"x"}{}'],
    ['white space alone', '  \n'],
    ['a byte-order mark alone', '\ufeff'],
    ['a byte-order mark before the value', '\ufeff{"message":"x"}'],
    ['a trailing comma', '{"message":"x",}'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0x6d, 0x22, 0x3a, 0x22, 0xff, 0xfe, 0x22, 0x7d])],
    ['UTF-16', Buffer.from('{"message":"x"}', 'utf16le')],
    ['a surrogate as three bytes', Buffer.from('7b226d657373616765223a22eda080227d', 'hex')],
    ['a raw control character in a text', '{"message":"a\nb"}'],
    ['a list', '["x"]'],
    ['a text', '"x"'],
    ['a number', '1'],
    ['null', 'null'],
  ]
  for (const [about, bytes] of broken) {
    test(`400 invalid_request for ${about}`, async () => {
      isError(await client.request('POST', `${session}/messages`, { bytes }), 400, 'invalid_request')
    })
  }

  test('deep nesting is refused, not crashed on', async () => {
    const bytes = `{"message":"x","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
    isError(await client.request('POST', `${session}/messages`, { bytes }), 400, 'invalid_request')
    isError(
      await client.request('POST', `${session}/messages`, { bytes: bytes.replace('"x"', '"\\u0000"') }),
      400,
      'invalid_request',
    )
    isOk(await client.get(session))
  })

  test('a field named __proto__ is an unknown field', async () => {
    const answer = await client.request('POST', `/agents/${agentId}/sessions`, { bytes: '{"__proto__":{"name":"x"}}' })
    isError(answer, 400, 'invalid_request', 'body.__proto__')
  })

  test('escaped surrogate pairs are whole characters; an escaped half is refused, in names of fields too', async () => {
    const path = `/agents/${agentId}/sessions`
    const whole = await client.request('POST', path, { bytes: '{"name":"\\ud83d\\ude00"}' })
    isOk(whole, 201)
    assert.equal(whole.body.session.name, '😀')
    isError(await client.request('POST', path, { bytes: '{"name":"\\ude00\\ud83d"}' }), 400, 'invalid_request', 'body.name')
    isError(await client.request('POST', path, { bytes: '{"\\ud83d":"x"}' }), 400, 'invalid_request')
  })

  test('a time whose year in UTC has more than four digits, or is before the year 0, is none', async () => {
    const key = (expiresAt: string) => client.post('/keys', { name: 'x', scopes: ['read'], expiresAt })
    isError(await key('9999-12-31T23:59:59-12:00'), 400, 'invalid_request', 'body.expiresAt')
    const last = await key('9999-12-31T23:59:59.999Z')
    isOk(last, 201)
    assert.equal(last.body.key.expiresAt, '9999-12-31T23:59:59.999Z')
    isOk(await client.get('/keys'))
    const messages = [{ role: 'USER', content: 'x', createdAt: '0000-01-01T00:00:00+14:00' }]
    const path = `/agents/${agentId}/sessions/import`
    isError(await client.post(path, { messages }), 400, 'invalid_request', 'body.messages[0].createdAt')
  })

  test('every refused send stores nothing', async () => {
    assert.deepEqual((await client.get(session)).body.messages, [])
  })
})

describe('7 media types', () => {
  const send = (type: string | undefined, more: Record<string, string> = {}) =>
    client.request('POST', `/agents/${agentId}/sessions`, { bytes: '{}', headers: { 'content-type': type, ...more } })

  for (const type of [
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
    'application/json; charset="utf-8"',
  ]) {
    test(`Content-Type: ${type} is taken`, async () => isOk(await send(type), 201))
  }
  for (const type of [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'application/json; charset=iso-8859-1',
    'application/json; profile=x',
    'application/jsonx',
    'application/vnd.api+json',
    'text/json',
    'json',
  ]) {
    test(`415 unsupported_media_type for a body of ${type ?? 'no type'}`, async () => {
      isError(await send(type), 415, 'unsupported_media_type')
    })
  }
  for (const rest of ['Transfer-Encoding: x\r\n\r\n', 'Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n'])
    test(`a body of no type that is no HTTP either ends its connection, and nothing else: ${rest.slice(19, 26).trim()}`, async () => {
      const { host, pathname } = new URL(client.address.baseUrl)
      const head = `POST ${pathname}${session}/messages HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${client.key}\r\n`
      const [answer] = await exchange(client, Buffer.from(head + rest))
      assert.ok([400, 415].includes(answer!.status), `${answer!.status}`)
      isOk(await client.get(session))
    })
  test('415 names the media types that the route takes', async () => {
    const headers = { 'content-type': 'text/plain' }
    const messageOf = async (path: string) => (await client.post(path, {}, { headers })).body.error.message
    const both = 'The body must be sent with Content-Type: application/json, or multipart/form-data for a file.'
    assert.equal(await messageOf(`${session.split('/sessions')[0]}/documents`), both)
    assert.equal(await messageOf(`${session}/messages`), 'The body must be sent with Content-Type: application/json.')
  })
  for (const encoding of ['gzip', 'identity', 'br']) {
    test(`415 unsupported_media_type for a body with Content-Encoding: ${encoding}`, async () => {
      isError(await send('application/json', { 'content-encoding': encoding }), 415, 'unsupported_media_type')
    })
  }
})

describe('7 messages about sizes', () => {
  const url = 'https://example.com/'
  const agentPath = () => session.split('/sessions')[0]!
  const cases: [string, () => Promise<Answer>, string][] = [
    ['a list', () => client.post('/webhooks', { url, events: [] }), 'body.events must have at least 1 item'],
    [
      'a list',
      () => client.patch(agentPath(), { fallbackModels: Array(9).fill('x') }),
      'body.fallbackModels must have at most 8 items',
    ],
    ['a text', () => client.patch(session, { name: 'x'.repeat(201) }), 'body.name must have at most 200 characters'],
  ]
  for (const [what, ask, message] of cases)
    test(`the size of ${what}: ${message}`, async () => {
      const answer = await ask()
      isError(answer, 400, 'invalid_request')
      assert.equal(answer.body.error.message, message)
    })
})

describe('7 "Checks run in this order: framing, route, key, path and query, scope, existence, media type, size, body"', () => {
  const wrongType = { headers: { 'content-type': 'text/plain' } }
  const tooLarge = JSON.stringify({ message: 'x'.repeat(2_000_000) })

  test('the route comes before the key', async () => {
    isError(await client.get('/nowhere', { key: null }), 404, 'route_not_found')
    isError(await client.put(session, {}, { key: null }), 405, 'method_not_allowed')
  })

  test('the key comes before path and query', async () => {
    isError(await client.get('/agents/x/sessions?nope=1', { key: null }), 401, 'unauthorized')
  })

  test('path and query come before the scope', async () => {
    isError(await client.post('/agents/x/sessions', {}, { key: readOnly }), 400, 'invalid_request', 'path.agentId')
    isError(await client.post(`/agents/${agentId}/sessions?nope=1`, {}, { key: readOnly }), 400, 'invalid_request', 'query.nope')
  })

  test('the scope comes before existence', async () => {
    isError(await client.post(`/agents/${randomUUID()}/sessions`, {}, { key: readOnly }), 403, 'forbidden')
  })

  test('existence comes before the media type', async () => {
    isError(await client.post(`/agents/${randomUUID()}/sessions`, {}, wrongType), 404, 'agent_not_found')
    isError(await client.post(`/agents/${agentId}/sessions/${randomUUID()}/messages`, {}, wrongType), 404, 'session_not_found')
  })

  test('the media type comes before the size', async () => {
    isError(await client.request('POST', `${session}/messages`, { bytes: tooLarge, ...wrongType }), 415, 'unsupported_media_type')
  })

  test('the size comes before the body', async () => {
    isError(await client.request('POST', `${session}/messages`, { bytes: tooLarge.slice(1) }), 413, 'payload_too_large')
  })

  test('existence comes before size and body', async () => {
    const path = `/agents/${agentId}/sessions/${randomUUID()}/messages`
    isError(await client.request('POST', path, { bytes: tooLarge }), 404, 'session_not_found')
    isError(await client.request('POST', path, { bytes: '{' }), 404, 'session_not_found')
  })
})
