// Specification 8, and the defaults of the limits that it leaves open
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agentId: string
let sessions: string
let session: string
beforeEach(async () => {
  agentId = await service.newAgent()
  sessions = `/agents/${agentId}/sessions`
  session = await service.newSession(agentId)
})
const send = (body: object) => client.post(`${session}/messages`, body)

describe('8 page size', () => {
  test('"limit: Get message history: Default 50, minimum 1, maximum 100"', async () => {
    const messages = Array.from({ length: 101 }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `${i}` }))
    const { id } = (await client.post(`${sessions}/import`, { messages })).body.session
    const length = async (query: string) => (await client.get(`${sessions}/${id}/messages${query}`)).body.messages.length
    assert.deepEqual([await length(''), await length('?limit=1'), await length('?limit=100')], [50, 1, 100])
    for (const limit of ['0', '101', '1.5']) {
      isError(await client.get(`${sessions}/${id}/messages?limit=${limit}`), 400, 'invalid_request', 'query.limit')
    }
  })
})

describe('values in one body', () => {
  for (const [about, json] of [
    ['fields', `{"name":"a",${Array.from({ length: 60_000 }, (_, i) => `"f${i}":1`).join()}}`],
    ['empty objects', `{"name":"a","metadata":[${'{},'.repeat(60_000)}{}]}`],
    ['lists in lists', `{"name":"a","metadata":${'['.repeat(60_000)}${']'.repeat(60_000)}}`],
  ] as const)
    test(`${about}: 50,000 at most`, async () => {
      const answer = await client.request('POST', sessions, { bytes: json, headers: { 'content-type': 'application/json' } })
      isError(answer, 400, 'invalid_request', 'body')
      assert.match(answer.text, /must have at most 50,000 values/)
    })

  test('different fields: 1,000 at most', async () => {
    const fields = (n: number) => JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`f${i}`, 1])))
    const small = (n: number) => JSON.stringify({ list: Array.from({ length: n }, (_, i) => ({ [`f${i}`]: 1 })) })
    for (const json of [fields(1_001), `{"list":[1,${fields(1_000)}]}`, small(1_000)]) {
      const answer = await client.request('POST', sessions, { bytes: json, headers: { 'content-type': 'application/json' } })
      isError(answer, 400, 'invalid_request', 'body')
      assert.match(answer.text, /must have at most 1,000 different fields/)
    }
    isError(await client.post(sessions, JSON.parse(fields(1_000))), 400, 'invalid_request', 'body.f0')
  })

  test('of an import: 5,000 messages at most', async () => {
    const messages = Array.from({ length: 5_001 }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `${i}` }))
    isError(await client.post(`${sessions}/import`, { messages }), 400, 'invalid_request', 'body.messages')
    isOk(await client.post(`${sessions}/import`, { messages: messages.slice(1) }), 201)
    const items = messages.map(({ role, content }) => ({ role: role === 'AI' ? 'assistant' : 'user', content }))
    const metadata = { agent_id: agentId }
    const input = [...items, { role: 'user', content: 'And?' }]
    assert.equal((await client.post('^/openai/v1/conversations', { items, metadata })).status, 400)
    assert.equal((await client.post('^/openai/v1/conversations', { items: items.slice(1), metadata })).status, 200)
    assert.equal((await client.post('^/openai/v1/responses', { model: agentId, input })).status, 400)
    assert.equal((await client.post('^/openai/v1/responses', { model: agentId, input: input.slice(1) })).status, 200)
  })

  test('commas and brackets of a text are no values', async () => {
    isOk(await client.post(`/agents/${agentId}/documents`, { text: 'a, [b], {c}, '.repeat(20_000) }), 202)
  })
})

describe('8 lengths count Unicode code points', () => {
  for (const [about, character] of [
    ['a letter', 'x'],
    ['a character of two UTF-16 units', '😀'],
  ] as const) {
    test(`message: 32,000 characters and no more, of ${about}`, async () => {
      const answer = await send({ message: character.repeat(32_000) })
      isOk(answer)
      assert.equal(answer.body.userMessage.content, character.repeat(32_000))
      isError(await send({ message: character.repeat(32_001) }), 400, 'invalid_request', 'body.message')
    })

    test(`additionalContext: 100,000 characters and no more, of ${about}`, async () => {
      isOk(await send({ message: 'x', additionalContext: character.repeat(100_000) }))
      const answer = await send({ message: 'x', additionalContext: character.repeat(100_001) })
      isError(answer, 400, 'invalid_request', 'body.additionalContext')
    })

    test(`name: 200 characters and no more, of ${about}`, async () => {
      isOk(await client.post(sessions, { name: character.repeat(200) }), 201)
      isOk(await client.patch(session, { name: character.repeat(200) }))
      isError(await client.post(sessions, { name: character.repeat(201) }), 400, 'invalid_request', 'body.name')
      isError(await client.patch(session, { name: character.repeat(201) }), 400, 'invalid_request', 'body.name')
    })
  }

  test('additionalContext may be empty', async () => {
    isOk(await send({ message: 'x', additionalContext: '' }))
  })
})

describe('8 request body', () => {
  /** JSON of exactly so many bytes. */
  const ofSize = (bytes: number) => `{"name":"x"${' '.repeat(bytes - 12)}}`
  const post = (bytes: string, headers: Record<string, string> = {}) => client.request('POST', sessions, { bytes, headers })

  test('1 MiB is taken, a byte more is 413 payload_too_large', async () => {
    isOk(await post(ofSize(1_048_576)), 201)
    isError(await post(ofSize(1_048_577)), 413, 'payload_too_large')
  })

  test('413 where a chunked body grows too large, and nothing is made of it', async () => {
    const head = client.bytesOf('POST', sessions, undefined, ['Content-Type: application/json', 'Transfer-Encoding: chunked'])
    const chunk = 'x'.repeat(0x10000)
    const answer = await client.raw(`${head}${`10000\r\n${chunk}\r\n`.repeat(17)}0\r\n\r\n`)
    assert.match(answer, /^HTTP\/1\.1 413 /)
    assert.match(answer, /"code":"payload_too_large"/)
    assert.equal((await client.get(sessions)).body.sessions.length, 1)
  })

  test('413 is said from the Content-Length, before the body is sent', async () => {
    const headers = ['Content-Type: application/json', 'Content-Length: 2000000', 'Connection: close']
    assert.match(await client.raw(client.bytesOf('POST', sessions, undefined, headers)), /^HTTP\/1\.1 413 /)
  })

  test('a caller who sends the whole body all the same gets the answer, and the connection closes', async () => {
    const body = ofSize(4_000_000)
    const large = client.bytesOf('POST', sessions, undefined, [
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ])
    const next = client.bytesOf('GET', sessions, undefined, ['Connection: close'])
    const answer = await client.raw(`${large}${body}${next}`)
    assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 413'])
    assert.match(answer, /connection: close/i)
  })

  test('a short body that nobody reads leaves the connection open', async () => {
    const body = 'x'.repeat(60_000)
    const refused = client.bytesOf('POST', '/nowhere', undefined, [`Content-Length: ${body.length}`])
    const next = client.bytesOf('GET', sessions, undefined, ['Connection: close'])
    const answers = (await client.raw(`${refused}${body}${next}`)).match(/HTTP\/1\.1 \d+/g)
    assert.deepEqual(answers, ['HTTP/1.1 404', 'HTTP/1.1 200'])
  })

  test('of a long body that nobody reads the rest is dropped, also where the answer is no refusal', async () => {
    const long = ['Content-Type: application/json', 'Content-Length: 200000000']
    const session = (await client.post(sessions)).body.session.id
    const { userMessage } = (await client.post(`${sessions}/${session}/messages`, { message: 'hello' })).body
    for (const [method, path, begun, status] of [
      ['GET', '^/healthz', 1_000_000, 200],
      ['GET', `${sessions}/${session}/messages/${userMessage.id}/stream`, 1_000_000, 200],
      ['POST', '/nowhere', 0, 404],
      ['POST', sessions, 0, 413],
    ] as const) {
      const answer = await client.raw(client.bytesOf(method, path, undefined, long) + 'x'.repeat(begun))
      assert.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), [`HTTP/1.1 ${status}`], path)
      assert.match(answer, /connection: close/i, path)
    }
  })
})

describe('a body of a megabyte of mistakes', () => {
  const list = (item: string) => `[${Array(100_000).fill(item).join()}]`
  const mistakes: [about: string, method: 'POST' | 'PATCH', path: () => string, bytes: string][] = [
    ['fields that are missing', 'POST', () => `${sessions}/import`, `{"messages":${list('{}')}}`],
    ['items of a wrong type', 'PATCH', () => `/agents/${agentId}`, `{"starters":${list('1')}}`],
    ['items that must not be alike', 'POST', () => '/keys', `{"name":"x","scopes":${list('{"a":1}')}}`],
    ['values of a wrong type', 'POST', () => `/agents/${agentId}/documents`, `{"text":"x","metadata":{"a":${list('{}')}}}`],
    ['fields that are not known', 'POST', () => sessions, `{${Array.from({ length: 80_000 }, (_, i) => `"f${i}":1`).join()}}`],
  ]
  for (const [about, method, path, bytes] of mistakes) {
    test(`is refused: ${about}`, async () => {
      isError(await client.request(method, path(), { bytes }), 400, 'invalid_request')
    })
  }
})

describe('8 "all of them settings"', { skip: needsProcess }, () => {
  test('each limit can be set', async () => {
    const small = await startService({
      REPARTEE_MAX_BODY_BYTES: '2048',
      REPARTEE_MAX_MESSAGE_CHARS: '10',
      REPARTEE_MAX_CONTEXT_CHARS: '20',
      REPARTEE_MAX_NAME_CHARS: '30',
      REPARTEE_MAX_WAITING_SENDS: '0',
    })
    try {
      const path = `/agents/${await small.newAgent()}/sessions`
      isError(await small.client.post(path, { name: 'x'.repeat(31) }), 400, 'invalid_request', 'body.name')
      isError(await small.client.post(path, { name: 'x'.repeat(2_100) }), 413, 'payload_too_large')
      const { id } = (await small.client.post(path, { name: 'x'.repeat(30) })).body.session
      const post = (body: object) => small.client.post(`${path}/${id}/messages`, body)
      isOk(await post({ message: 'x'.repeat(10), additionalContext: 'x'.repeat(20) }))
      isError(await post({ message: 'x'.repeat(11) }), 400, 'invalid_request', 'body.message')
      isError(await post({ message: 'x', additionalContext: 'x'.repeat(21) }), 400, 'invalid_request', 'body.additionalContext')
      const release = small.model.hold()
      const running = post({ message: 'one' })
      await small.model.received(2)
      isError(await post({ message: 'two' }), 409, 'session_busy')
      release()
      isOk(await running)
    } finally {
      await small.stop()
    }
  })
})
