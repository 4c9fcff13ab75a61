// Who may do what in the protocols of others: the same checks as below /v1.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { Answer, Client } from '../support/client.ts'
import { needsProcess, startService } from '../support/service.ts'

const ORIGIN = 'https://shop.example'
const service = await startService()
const { client } = service
after(() => service.stop())

interface Things {
  agent: string
  session: string
  conversation: string
  response: string
}
const MARKS: Things = { agent: 'a', session: '#', conversation: '#', response: '#' }
const hello = { role: 'user', content: 'Hello' }
const chat = { id: 'a chat', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hello' }] }] }

interface Request {
  name: string
  method: string
  path(things: Things): string
  body?(things: Things): object
  scopes: string[]
  /** What a key is told that may not see what is named. */
  unseen: [status: number, code: string]
}
const model: Request['unseen'] = [404, 'model_not_found']
const session: Request['unseen'] = [404, 'session_not_found']
const response: Request['unseen'] = [404, 'response_not_found']
const READ = ['admin', 'chat', 'read']
const WRITE = ['admin', 'chat']
const REQUESTS: Request[] = [
  { name: 'a model', method: 'GET', path: (t) => `^/openai/v1/models/${t.agent}`, scopes: READ, unseen: model },
  {
    name: 'chat completions',
    method: 'POST',
    path: () => '^/openai/v1/chat/completions',
    body: (t) => ({ model: t.agent, messages: [hello] }),
    scopes: WRITE,
    unseen: model,
  },
  {
    name: 'chat completions in a session',
    method: 'POST',
    path: () => '^/openai/v1/chat/completions',
    body: (t) => ({ model: t.agent, messages: [hello], metadata: { session_id: t.session } }),
    scopes: WRITE,
    unseen: model,
  },
  {
    name: 'responses',
    method: 'POST',
    path: () => '^/openai/v1/responses',
    body: (t) => ({ model: t.agent, input: 'Hello', conversation: t.conversation }),
    scopes: WRITE,
    unseen: model,
  },
  {
    name: 'responses behind another',
    method: 'POST',
    path: () => '^/openai/v1/responses',
    body: (t) => ({ model: t.agent, input: 'Hello', previous_response_id: t.response }),
    scopes: WRITE,
    unseen: model,
  },
  { name: 'a response', method: 'GET', path: (t) => `^/openai/v1/responses/${t.response}`, scopes: READ, unseen: response },
  {
    name: 'conversations',
    method: 'POST',
    path: () => '^/openai/v1/conversations',
    body: (t) => ({ metadata: { agent_id: t.agent } }),
    scopes: WRITE,
    unseen: model,
  },
  {
    name: 'a conversation',
    method: 'GET',
    path: (t) => `^/openai/v1/conversations/${t.conversation}`,
    scopes: READ,
    unseen: session,
  },
  {
    name: 'its items',
    method: 'GET',
    path: (t) => `^/openai/v1/conversations/${t.conversation}/items`,
    scopes: READ,
    unseen: session,
  },
  {
    name: 'its end',
    method: 'DELETE',
    path: (t) => `^/openai/v1/conversations/${t.conversation}`,
    scopes: WRITE,
    unseen: session,
  },
  {
    name: 'a UI message',
    method: 'POST',
    path: (t) => `^/ai-sdk/v1/agents/${t.agent}/chat`,
    body: () => ({ ...chat, id: randomUUID() }),
    scopes: WRITE,
    unseen: [404, 'agent_not_found'],
  },
  {
    name: 'its stream',
    method: 'GET',
    path: (t) => `^/ai-sdk/v1/agents/${t.agent}/chat/${t.session}/stream`,
    scopes: READ,
    unseen: [404, 'agent_not_found'],
  },
]

describe('access by the protocols of others', { skip: needsProcess }, () => {
  const keys: Record<string, { free: Client; bound: Client }> = {}
  let foreign: Things
  let own: string

  const newThings = async (agent: string): Promise<Things> => {
    const { body } = await client.post('^/openai/v1/responses', { model: agent, input: 'Hello' })
    const { metadata } = (await client.get(`^/openai/v1/conversations/${body.conversation.id}`)).body
    return { agent, session: metadata.session_id, conversation: body.conversation.id, response: body.id }
  }
  const make = (by: Client, { method, path, body }: Request, things: Things, more: object = {}): Promise<Answer> =>
    by.request(method, path(things), { ...(body && { body: body(things) }), ...more })
  const isRefused = ({ status, body, text }: Answer, expected: [number, string]) =>
    assert.deepEqual([status, body?.error?.code], expected, text)

  before(async () => {
    own = await service.newAgent({ allowedOrigins: [ORIGIN] })
    foreign = await newThings(await service.newAgent())
    for (const scope of ['admin', 'chat', 'read', 'knowledge']) {
      const newKey = async (more: object) =>
        client.as((await client.post('/keys', { name: scope, scopes: [scope], ...more })).body.secret)
      keys[scope] = { free: await newKey({}), bound: await newKey({ agentIds: [own] }) }
    }
  })

  for (const request of REQUESTS) {
    const isOfAiSdk = request.name.includes('UI') || request.name === 'its stream'
    const invalid = isOfAiSdk ? 'unauthorized' : 'invalid_api_key'

    test(`${request.name}: 401 without a key; with one, for ${request.scopes.join(', ')} alone`, async () => {
      const nothing = await make(client, request, foreign, { key: null })
      isRefused(nothing, [401, invalid])
      assert.equal(nothing.headers['www-authenticate'], 'Bearer realm="repartee"')
      isRefused(await make(client.as('nothing'), request, foreign), [401, invalid])
      for (const [scope, { free }] of Object.entries(keys)) {
        const answer = await make(free, request, await newThings(own))
        if (!request.scopes.includes(scope)) isRefused(answer, [403, 'forbidden'])
        else assert.ok(answer.status >= 200 && answer.status < 300, `${scope}: ${answer.text}`)
      }
    })

    test(`${request.name}: a key that is bound to another agent sees nothing`, async () => {
      for (const scope of request.scopes) isRefused(await make(keys[scope]!.bound, request, foreign), request.unseen)
    })

    test(`${request.name}: a token of a user reaches what is that user's, and nothing else`, async () => {
      const externalUserId = randomUUID()
      const { token } = (await client.post(`/agents/${own}/tokens`, { externalUserId })).body
      const user = client.as(token)
      isRefused(await make(user, request, foreign), request.unseen)
      const others = await newThings(own)
      const answer = await make(user, request, others)
      const isOfSession = /session|conversation\/|responses|response$|conversation$|items|end/.test(request.name)
      // To a chat the id of another's session is a name like any other.
      if (request.name === 'its stream') assert.equal(answer.status, 204)
      else if (isOfSession) isRefused(answer, /behind another|a response/.test(request.name) ? response : session)
      else assert.equal(answer.status, 200, answer.text)
      const headers = { origin: 'https://evil.example' }
      isRefused(await make(user, request, others, { headers }), [403, 'forbidden'])
    })

    // What a request names beside the agent.
    const named = request.path(MARKS) + JSON.stringify(request.body?.(MARKS) ?? {})
    if (named.includes('#') && request.name !== 'its stream')
      test(`${request.name}: a key that is bound cannot reach another agent's things under its own agent`, async () => {
        const { status, body } = await make(keys['chat']!.bound, request, { ...foreign, agent: own })
        assert.equal(status, 404)
        assert.match(body.error.code, /^(session|response)_not_found$/)
      })
  }

  test('the list of models holds what the key may see', async () => {
    const listed = async (by: Client) => (await by.get('^/openai/v1/models')).body.data.map(({ id }: { id: string }) => id)
    assert.deepEqual((await listed(client)).sort(), [own, foreign.agent].sort())
    for (const scope of READ) assert.deepEqual(await listed(keys[scope]!.bound), [own])
    isRefused(await keys['knowledge']!.free.get('^/openai/v1/models'), [403, 'forbidden'])
    const { token } = (await client.post(`/agents/${own}/tokens`, { externalUserId: randomUUID() })).body
    assert.deepEqual(await listed(client.as(token)), [own])
  })

  test('what a user makes is that user’s, whoever is named', async () => {
    const externalUserId = randomUUID()
    const { token } = (await client.post(`/agents/${own}/tokens`, { externalUserId })).body
    const body = { model: own, input: 'Hello', user: randomUUID() }
    const made = (await client.as(token).post('^/openai/v1/responses', body)).body
    const ui = { ...chat, externalUserId: randomUUID() }
    await client.as(token).post(`^/ai-sdk/v1/agents/${own}/chat`, ui)
    const { sessions } = (await client.as(token).get(`/agents/${own}/sessions`)).body
    assert.equal(sessions.length, 2)
    assert.ok(made.conversation.id)
  })

  test('pages of an origin that the agent allows may ask about it, and read the answer', async () => {
    const url = `^/ai-sdk/v1/agents/${own}/chat`
    const ask = { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' }
    const preflight = await client.request('OPTIONS', url, { key: null, headers: ask })
    assert.equal(preflight.status, 204)
    assert.equal(preflight.headers['access-control-allow-origin'], ORIGIN)
    const { token } = (await client.post(`/agents/${own}/tokens`, { externalUserId: randomUUID() })).body
    const answer = await client.as(token).post(url, chat, { headers: { origin: ORIGIN } })
    assert.equal(answer.status, 200)
    assert.equal(answer.headers['access-control-allow-origin'], ORIGIN)
    const elsewhere = await client.request('OPTIONS', url.replace(own, foreign.agent), { key: null, headers: ask })
    assert.equal(elsewhere.headers['access-control-allow-origin'], undefined)
    assert.equal(elsewhere.status, 405)
  })

  test('wrong methods, unknown paths, bodies that are none: as everywhere, in the form of the protocol', async () => {
    for (const { method, path } of REQUESTS) {
      const answer = await client.request('PUT', path(foreign))
      assert.equal(answer.status, 405)
      assert.ok(String(answer.headers.allow).split(', ').includes(method))
    }
    isRefused(await client.get('^/openai/v1/files'), [404, 'route_not_found'])
    const url = '^/openai/v1/chat/completions'
    const sent = (bytes: string, headers: Record<string, string> = {}) => client.request('POST', url, { bytes, headers })
    const broken = await sent('{')
    isRefused(broken, [400, 'invalid_request'])
    assert.deepEqual(Object.keys(broken.body.error).sort(), ['code', 'message', 'param', 'type'])
    isRefused(await sent('{}', { 'content-encoding': 'gzip' }), [415, 'unsupported_media_type'])
    isRefused(await sent('hello', { 'content-type': 'text/plain' }), [415, 'unsupported_media_type'])
    isRefused(await sent(JSON.stringify({ model: own, messages: [{ role: 'user', content: 'x'.repeat(1_100_000) }] })), [
      413,
      'payload_too_large',
    ])
    isRefused(await sent(JSON.stringify({ model: own, messages: [hello], stream: 'yes' })), [400, 'invalid_request'])
    isRefused(await sent('{"model":"\\u0000","messages":[]}'), [400, 'invalid_request'])
  })
})
