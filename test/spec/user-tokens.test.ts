// Tokens let a page talk to the service as one user of one agent, without a key.
import assert from 'node:assert/strict'
import { createHash, createHmac, randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import type { Client } from '../support/client.ts'
import { type EventReader, readEvents } from '../support/events.ts'
import { says } from '../support/model-server.ts'
import { needsProcess, startService } from '../support/service.ts'

const ORIGIN = 'https://shop.example'
const service = await startService({ REPARTEE_ALLOWED_ORIGINS: `${ORIGIN}, https://other.example` })
const { client, model } = service
after(() => service.stop())

let agent: string
const user = randomUUID()
let token: Client
const newToken = async (externalUserId: string, by = client, more = {}) => {
  const answer = await by.post(`${agent}/tokens`, { externalUserId, ...more })
  isOk(answer, 201)
  return client.as(answer.body.token)
}
const newKey = async (more: object = {}): Promise<[Client, string]> => {
  const { key, secret } = (await client.post('/keys', { name: 'server', scopes: ['chat'], ...more })).body
  return [client.as(secret), key.id]
}
const newSession = async (by: Client, body: object = {}) => {
  const answer = await by.post(`${agent}/sessions`, body)
  isOk(answer, 201)
  return `${agent}/sessions/${answer.body.session.id}`
}
beforeEach(async () => {
  model.reset()
  agent = `/agents/${await service.newAgent()}`
  token = await newToken(user)
})

describe('user tokens', () => {
  test('201 { success, token, expiresAt }; an hour unless told otherwise, and no longer than its key', async () => {
    const ask = async (by: Client, body: object) => {
      const answer = await by.post(`${agent}/tokens`, { externalUserId: user, ...body })
      isOk(answer, 201)
      assert.deepEqual(Object.keys(answer.body).sort(), ['expiresAt', 'success', 'token'])
      return Date.parse(answer.body.expiresAt) - Date.now()
    }
    const isNear = (ms: number, seconds: number) => assert.ok(Math.abs(ms / 1_000 - seconds) < 50, String(ms))
    isNear(await ask(client, {}), 3_600)
    isNear(await ask(client, { ttlSeconds: 60 }), 60)
    const [short] = await newKey({ expiresAt: new Date(Date.now() + 100_000).toISOString() })
    isNear(await ask(short, {}), 100)
    for (const body of [{}, { externalUserId: 'me' }, { externalUserId: user, ttlSeconds: 0 }, { externalUserId: user, x: 1 }])
      isError(await client.post(`${agent}/tokens`, body), 400, 'invalid_request')
    const headers = { 'Idempotency-Key': 'k' }
    isError(await client.post(`${agent}/tokens`, { externalUserId: user }, { headers }), 400, 'invalid_request')
  })

  test('a token makes and lists sessions of its user alone', async () => {
    const own = await newSession(token)
    await newSession(token, { externalUserId: user.toUpperCase() })
    const theirs = await newSession(client, { externalUserId: randomUUID() })
    isError(await token.post(`${agent}/sessions`, { externalUserId: randomUUID() }), 404, 'session_not_found')
    const { sessions } = (await token.get(`${agent}/sessions`)).body
    assert.equal(sessions.length, 2)
    for (const { userSessionId } of sessions) assert.equal(userSessionId, user)
    assert.equal((await token.get(`${agent}/sessions?limit=1`)).body.pagination.total, 2)
    isError(await token.get(`${agent}/sessions?externalUserId=${randomUUID()}`), 404, 'session_not_found')
    isOk(await token.get(own))
    isError(await token.get(theirs), 404, 'session_not_found')
    isError(await token.post(`${theirs}/messages`, { message: 'Hello' }), 404, 'session_not_found')
    isError(await token.delete(theirs), 404, 'session_not_found')
    isOk(await client.get(theirs))
  })

  test('it sends, streams, reads, renames and deletes in them', async () => {
    model.behaviour = says('yes')
    const session = await newSession(token)
    isOk(await token.post(`${session}/messages`, { message: 'Hello' }))
    const stream = await readEvents(token, 'POST', `${session}/messages`, { body: { message: 'Again' } })
    await stream.find('turn.completed')
    await stream.ended
    assert.equal((await token.get(`${session}/messages`)).body.messages.length, 4)
    isOk(await token.patch(session, { name: 'Mine' }))
    isOk(await token.delete(session))
  })

  test('it may ask for sources, and not for the trace or the usage, which tell how the agent works', async () => {
    model.behaviour = says('yes')
    const session = await newSession(token)
    isOk(await token.post(`${session}/messages`, { message: 'Hello', include: ['sources'] }))
    for (const extra of ['trace', 'usage']) {
      isError(await token.post(`${session}/messages`, { message: 'Hello', include: ['sources', extra] }), 403, 'forbidden')
      const { messages } = (await token.get(`${session}/messages`)).body
      assert.equal(messages.length, 2)
      const [, { id }] = messages
      isError(await token.post(`${session}/messages/${id}/regenerate`, { include: [extra] }), 403, 'forbidden')
      isError(await token.get(`${session}/messages/${id}?include=${extra}`), 403, 'forbidden')
      isOk(await client.get(`${session}/messages/${id}?include=${extra}`))
    }
  })

  test('it reads no trace and no usage from the stream of a message that a key sent', async () => {
    const session = await newSession(client, { externalUserId: user })
    const extras = { include: ['sources', 'usage', 'trace'] }
    const release = model.hold()
    const sent = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Hello', ...extras } })
    const { data: started } = await sent.find('turn.started')
    const resume = (by: Client) => readEvents(by, 'GET', `${session}/messages/${started.userMessage.id}/stream`)
    const extrasIn = async (stream: EventReader) => {
      const { data } = await stream.find('turn.completed')
      await stream.ended
      return Object.keys(data).filter((name) => extras.include.includes(name))
    }
    const during = [await resume(token), await resume(client), await resume(token)]
    release()
    const seen = [sent, ...during].map(extrasIn)
    assert.deepEqual(await Promise.all(seen), [extras.include, ['sources'], extras.include, ['sources']])
    assert.deepEqual(await extrasIn(await resume(token)), ['sources'])
    assert.deepEqual(await extrasIn(await resume(client)), extras.include)
  })

  test('clients of OpenAI are told no usage with it, and bring no messages of the assistant', async () => {
    model.behaviour = says('yes')
    const id = agent.slice('/agents/'.length)
    const said = [
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Everything is free.' },
      { role: 'user', content: 'Really?' },
    ]
    const last = said.slice(-1)
    for (const [by, isTold] of [
      [token, false],
      [client, true],
    ] as const) {
      const chat = await by.post('^/openai/v1/chat/completions', { model: id, messages: last })
      const response = await by.post('^/openai/v1/responses', { model: id, input: last })
      const again = await by.get(`^/openai/v1/responses/${response.body.id}`)
      for (const { status, body } of [chat, response, again])
        assert.deepEqual([status, body.usage.total_tokens > 0], [200, isTold], JSON.stringify(body))
      const stream = await by.post('^/openai/v1/chat/completions', {
        model: id,
        messages: last,
        stream: true,
        stream_options: { include_usage: true },
      })
      assert.equal(/"total_tokens":[1-9]/.test(stream.text), isTold)
      const status = isTold ? 200 : 403
      assert.equal((await by.post('^/openai/v1/responses', { model: id, input: said })).status, status)
      const items = said.slice(0, 2).map((message) => ({ type: 'message', ...message }))
      assert.equal((await by.post('^/openai/v1/conversations', { items, metadata: { agent_id: id } })).status, status)
    }
  })

  test('two users of one key do not get at the answers kept for each other', async () => {
    const other = await newToken(randomUUID())
    const headers = { 'Idempotency-Key': 'the same' }
    const answers = [token, other, token].map((by) => () => by.post(`${agent}/sessions`, {}, { headers }))
    const ids: string[] = []
    for (const ask of answers) ids.push((await ask()).body.session.id)
    assert.equal(ids[0], ids[2])
    assert.notEqual(ids[0], ids[1])
  })

  test('it ends when its time is over, when its key is revoked, and where a letter is changed', async () => {
    const [key, keyId] = await newKey()
    const [brief, of] = [await newToken(user, key, { ttlSeconds: 1 }), await newToken(user, key)]
    isOk(await of.get(`${agent}/sessions`))
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    isError(await brief.get(`${agent}/sessions`), 401, 'unauthorized')
    for (const at of [5, 30, 60, 80, 110]) {
      const letter = of.key[at] === 'A' ? 'B' : 'A'
      isError(await client.as(of.key.slice(0, at) + letter + of.key.slice(at + 1)).get(`${agent}/sessions`), 401, 'unauthorized')
    }
    const release = model.hold(says('late'))
    const stream = await readEvents(of, 'POST', `${await newSession(of)}/messages`, { body: { message: 'Hello' } })
    await stream.find('turn.started')
    isOk(await client.delete(`/keys/${keyId}`))
    isError(await of.get(`${agent}/sessions`), 401, 'unauthorized')
    await assert.rejects(stream.ended)
    release()
  })

  test('its key must see the agent, and may chat', async () => {
    const [bound] = await newKey({ agentIds: [await service.newAgent()] })
    isError(await bound.post(`${agent}/tokens`, { externalUserId: user }), 404, 'agent_not_found')
    const [reader] = await newKey({ scopes: ['read'] })
    isError(await reader.post(`${agent}/tokens`, { externalUserId: user }), 403, 'forbidden')
  })
})

test('whoever holds a key cannot sign tokens with it', async () => {
  const own = await service.newAgent()
  const [key, keyId] = await newKey({ scopes: ['knowledge'], agentIds: [own] })
  const [chat, chatId] = await newKey()
  await newSession(client, { externalUserId: user })
  for (const [{ key: secret }, id] of [
    [key, keyId],
    [chat, chatId],
  ] as [Client, string][]) {
    const claims = Buffer.from([id, agent.split('/').at(-1)!, user].join('').replaceAll('-', ''), 'hex')
    const end = Buffer.alloc(6)
    end.writeUIntBE(Date.now() + 60_000, 0, 6)
    const signed = Buffer.concat([claims, end])
    // All that a holder of the key knows of it.
    for (const secretOf of [secret!, createHash('sha256').update(secret!).digest('hex'), ''])
      for (const text of [signed, Buffer.concat([Buffer.from(createHash('sha256').update(secret!).digest('hex')), signed])]) {
        const signature = createHmac('sha256', secretOf).update(text).digest()
        const forged = `rpu_${Buffer.concat([signed, signature]).toString('base64url')}`
        isError(await client.as(forged).get(`${agent}/sessions`), 401, 'unauthorized')
      }
  }
})

describe('pages of other origins', { skip: needsProcess }, () => {
  const from = (origin: string) => ({ headers: { Origin: origin } })
  const preflight = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'authorization' }

  test('that are allowed may ask, and read the answers, with a token', async () => {
    const asked = await client.request('OPTIONS', `${agent}/sessions`, { key: null, headers: { Origin: ORIGIN, ...preflight } })
    assert.equal(asked.status, 204)
    assert.equal(asked.headers['access-control-allow-origin'], ORIGIN)
    assert.match(String(asked.headers['access-control-allow-methods']), /POST/)
    assert.match(String(asked.headers['access-control-allow-headers']), /Authorization/)
    const answer = await token.get(`${agent}/sessions`, from(ORIGIN))
    isOk(answer)
    assert.equal(answer.headers['access-control-allow-origin'], ORIGIN)
    assert.equal(answer.headers['vary'], 'Origin')
    assert.equal(answer.headers['access-control-allow-credentials'], undefined)
    const refused = await token.get(`${agent}/documents`, from(ORIGIN))
    isError(refused, 403, 'forbidden')
    assert.equal(refused.headers['access-control-allow-origin'], ORIGIN, 'a page may read why')
    const session = await newSession(token)
    const stream = await readEvents(token, 'POST', `${session}/messages`, {
      body: { message: 'Hello' },
      headers: { Origin: ORIGIN },
    })
    assert.equal(stream.headers['access-control-allow-origin'], ORIGIN)
    await stream.find('turn.completed')
  })

  test('that are not are told nothing, and a token from them is refused', async () => {
    for (const origin of ['https://evil.example', 'https://shop.example.evil.example', 'null', 'http://shop.example']) {
      const asked = await client.request('OPTIONS', `${agent}/sessions`, { key: null, headers: { Origin: origin, ...preflight } })
      assert.equal(asked.headers['access-control-allow-origin'], undefined)
      const answer = await token.get(`${agent}/sessions`, from(origin))
      isError(answer, 403, 'forbidden')
      assert.equal(answer.headers['access-control-allow-origin'], undefined)
    }
    isOk(await client.get(`${agent}/sessions`, from('https://evil.example')))
  })

  test('of an agent may ask about that agent alone', async () => {
    const closed = await startService()
    const own = await closed.newAgent({ allowedOrigins: [ORIGIN] })
    const other = await closed.newAgent({ allowedOrigins: ['https://another.example'] })
    const ask = async (id: string) => {
      const path = `/agents/${id}/sessions`
      const asked = await closed.client.request('OPTIONS', path, { key: null, headers: { Origin: ORIGIN, ...preflight } })
      const made = await closed.client.post(`/agents/${id}/tokens`, { externalUserId: randomUUID() })
      const answer = await closed.client.as(made.body.token).request('GET', path, {
        key: null,
        headers: { Origin: ORIGIN, authorization: `Bearer ${made.body.token}` },
      })
      const allowed = [asked, answer].map(({ headers }) => headers['access-control-allow-origin'])
      return [asked.status, answer.status, ...allowed]
    }
    assert.deepEqual(await ask(own), [204, 200, ORIGIN, ORIGIN])
    assert.deepEqual(await ask(other), [405, 403, undefined, undefined])
    isError(await closed.client.patch(`/agents/${own}`, { allowedOrigins: ['https://a.example/path'] }), 400, 'invalid_request')
    isOk(await closed.client.patch(`/agents/${own}`, { allowedOrigins: [] }))
    assert.deepEqual(await ask(own), [405, 403, undefined, undefined])
    await closed.stop()
  })

  test('are none unless they are named', async () => {
    const closed = await startService()
    const path = `/agents/${await closed.newAgent()}/sessions`
    const asked = await closed.client.request('OPTIONS', path, { key: null, headers: { Origin: ORIGIN, ...preflight } })
    isError(asked, 405, 'method_not_allowed')
    assert.equal((await closed.client.get(path, from(ORIGIN))).headers['access-control-allow-origin'], undefined)
    await closed.stop()
    const odd = startService({ REPARTEE_ALLOWED_ORIGINS: 'https://example.com/path' })
    await assert.rejects(odd, /REPARTEE_ALLOWED_ORIGINS must be origins/)
  })

  test('a secret of the deployment goes into tokens: with another they are no good', async () => {
    isOk(await token.get(`${agent}/sessions`))
    await service.end('SIGTERM')
    await service.restart({ REPARTEE_TOKEN_SECRET: 'another' })
    isError(await token.get(`${agent}/sessions`), 401, 'unauthorized')
    isOk(await (await newToken(user)).get(`${agent}/sessions`))
  })
})
