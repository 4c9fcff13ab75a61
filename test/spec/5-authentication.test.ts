// Specification 5: "Every request carries the header X-API-Key: <API_KEY>"
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import type { Answer } from '../support/client.ts'
import { makeKey, startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agentId: string
let session: string
before(async () => {
  agentId = await service.newAgent()
  session = await service.newSession(agentId)
})
const newKey = async (rights: object): Promise<string> => {
  const answer = await client.post('/keys', { name: 'A key', scopes: ['chat'], ...rights })
  isOk(answer, 201)
  return answer.body.secret
}
const call = (headers: Record<string, string | string[]>) => client.get('/agents', { key: null, headers })

describe('5 the key', () => {
  test('"The key is sent as the header value, in a single header", under the name in any case', async () => {
    isOk(await call({ 'X-API-Key': client.key }))
    isOk(await call({ 'x-api-key': client.key }))
  })

  test('Authorization: Bearer means the same', async () => {
    isOk(await call({ authorization: `Bearer ${client.key}` }))
    isOk(await call({ authorization: `bearer ${client.key}` }))
  })

  /** One character changed: the checksum no longer fits. */
  const mistyped = (key: string) => key.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
  const refusals: [string, () => Record<string, string | string[]>][] = [
    ['missing', () => ({})],
    ['empty', () => ({ 'x-api-key': '' })],
    ['malformed', () => ({ 'x-api-key': 'secret' })],
    ['mistyped', () => ({ 'x-api-key': mistyped(client.key) })],
    ['too long', () => ({ 'x-api-key': `${client.key}0` })],
    ['in other case', () => ({ 'x-api-key': client.key.replace('rpt_', 'RPT_') })],
    ['unknown, though of the right form', () => ({ 'x-api-key': makeKey() })],
    ['given twice', () => ({ 'x-api-key': [client.key, client.key] })],
    ['given twice in one header', () => ({ 'x-api-key': `${client.key}, ${client.key}` })],
    ['beside another one that is wrong', () => ({ 'x-api-key': [client.key, makeKey()] })],
    ['a Bearer given twice', () => ({ authorization: [`Bearer ${client.key}`, `Bearer ${client.key}`] })],
    ['in another scheme', () => ({ authorization: `Basic ${Buffer.from(`${client.key}:`).toString('base64')}` })],
    ['in Authorization without a scheme', () => ({ authorization: client.key })],
    ['a Bearer given twice beside a key', () => ({ 'x-api-key': client.key, authorization: ['Basic eA==', 'Basic eA=='] })],
    ['in quotes', () => ({ 'x-api-key': `"${client.key}"` })],
  ]
  for (const [about, headers] of refusals) {
    test(`401 unauthorized, with WWW-Authenticate, where the key is ${about}`, async () => {
      const answer = await call(headers())
      isError(answer, 401, 'unauthorized')
      assert.ok(answer.headers['www-authenticate'])
    })
  }

  /** Every surface, by one of its requests. */
  const surfaces: [string, (headers: Record<string, string>) => Promise<Answer>][] = [
    ['/v1', (headers) => client.get(`/agents/${agentId}`, { key: null, headers })],
    ['/openai/v1', (headers) => client.get('^/openai/v1/models', { key: null, headers })],
    ['/ai-sdk/v1', (headers) => client.get(`^/ai-sdk/v1/agents/${agentId}/chat/x/stream`, { key: null, headers })],
    ['/mcp', (headers) => client.post('^/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { key: null, headers })],
    ['/metrics', (headers) => client.get('^/metrics', { key: null, headers })],
  ]
  const basic = `Basic ${Buffer.from('gateway:secret').toString('base64')}`
  for (const [surface, ask] of surfaces) {
    test(`${surface}: the same key in X-API-Key and Authorization is accepted`, async () => {
      const { status, text } = await ask({ 'x-api-key': client.key, authorization: `Bearer ${client.key}` })
      assert.ok(status < 300, text)
    })

    test(`${surface}: an Authorization header that is not for Repartee is ignored next to X-API-Key`, async () => {
      const foreign = [basic, 'Negotiate YII=', 'Bearer eyJhbGciOiJub25lIn0.e30.', 'Bearer', 'Bearer a b', '']
      for (const authorization of foreign) {
        const { status, text } = await ask({ 'x-api-key': client.key, authorization })
        assert.ok(status < 300, `${authorization}: ${text}`)
        assert.equal((await ask({ authorization })).status, 401, `${authorization} alone`)
        assert.equal((await ask({ 'x-api-key': makeKey(), authorization })).status, 401, `${authorization}, unknown key`)
      }
    })

    test(`${surface}: two different credentials are 401, and the message says so`, async () => {
      const { token } = (await client.post(`/agents/${agentId}/tokens`, { externalUserId: randomUUID() })).body
      const others = [await newKey({}), makeKey(), token]
      for (const other of others) {
        for (const [key, bearer] of [
          [client.key, other],
          [other, client.key],
        ]) {
          const { status, text } = await ask({ 'x-api-key': key, authorization: `Bearer ${bearer}` })
          assert.equal(status, 401, text)
          assert.match(text, /Two different credentials were sent\. Send one/)
        }
      }
    })
  }

  test('the key is no query parameter', async () => {
    isError(await client.get(`/agents?apiKey=${client.key}`, { key: null }), 401, 'unauthorized')
  })

  test('one and the same answer for a key that is missing, twice, malformed, unknown, revoked and expired', async () => {
    const revoked = await client.post('/keys', { name: 'Revoked', scopes: ['chat'] })
    isOk(await client.delete(`/keys/${revoked.body.key.id}`))
    const expiring = await client.post('/keys', { name: 'Rolled', scopes: ['chat'] })
    isOk(await client.post(`/keys/${expiring.body.key.id}/roll`, { overlapSeconds: 0 }))
    const secrets = [revoked.body.secret, expiring.body.secret, makeKey(), 'x', [client.key, client.key]]
    const answers = [await call({}), ...(await Promise.all(secrets.map((key) => call({ 'x-api-key': key }))))]
    const told = ({ status, body, headers }: Answer) => ({
      status,
      error: { ...body.error, requestId: '' },
      challenge: headers['www-authenticate'],
    })
    for (const answer of answers) assert.deepEqual(told(answer), told(answers[0]!))
  })

  test('without a good key nothing is said of what exists: unknown and known agents and sessions answer alike', async () => {
    const paths = [
      '/agents/no-uuid',
      `/agents/${randomUUID()}`,
      `/agents/${agentId}`,
      session,
      `${session}/messages`,
      '/keys',
      '/models',
    ]
    for (const path of paths) isError(await client.get(path, { key: null }), 401, 'unauthorized')
    isError(await client.post(`${session}/messages`, { message: 'x' }, { key: null }), 401, 'unauthorized')
    isError(await client.delete(session, { key: makeKey() }), 401, 'unauthorized')
    isOk(await client.get(session))
  })
})

describe('5 scopes', () => {
  /** Every request, with what it needs to succeed; and the scopes that may make it beside admin. */
  const requests: [string, () => Promise<[string, string, unknown?]>, string[]][] = [
    ['create a session', async () => ['POST', `/agents/${agentId}/sessions`, {}], ['chat']],
    ['import a session', async () => ['POST', `/agents/${agentId}/sessions/import`, { messages: [] }], ['chat']],
    ['list sessions', async () => ['GET', `/agents/${agentId}/sessions`], ['chat', 'read']],
    ['read a session', async () => ['GET', session], ['chat', 'read']],
    ['rename a session', async () => ['PATCH', session, { name: 'x' }], ['chat']],
    ['delete a session', async () => ['DELETE', await service.newSession(agentId)], ['chat']],
    ['send a message', async () => ['POST', `${session}/messages`, { message: 'x' }], ['chat']],
    ['read the history', async () => ['GET', `${session}/messages`], ['chat', 'read']],
    ['make an agent', async () => ['POST', '/agents', { name: 'x' }], []],
    ['change an agent', async () => ['PATCH', `/agents/${agentId}`, { name: 'x' }], []],
    ['delete an agent', async () => ['DELETE', `/agents/${await service.newAgent()}`], []],
    ['list documents', async () => ['GET', `/agents/${agentId}/documents`], ['knowledge']],
    ['add a document', async () => ['POST', `/agents/${agentId}/documents`, { text: 'Some text.' }], ['knowledge']],
    ['search', async () => ['POST', `/agents/${agentId}/search`, { query: 'x' }], ['knowledge']],
    ['make a key', async () => ['POST', '/keys', { name: 'x', scopes: ['read'] }], []],
    ['list keys', async () => ['GET', '/keys'], []],
  ]
  const scopes = ['admin', 'chat', 'read', 'knowledge']
  const clients = new Map<string, typeof client>()
  before(async () => {
    for (const scope of scopes) clients.set(scope, client.as(await newKey({ scopes: [scope] })))
  })

  for (const [about, make, allowed] of requests) {
    test(`who may ${about}: ${['admin', ...allowed].join(', ')}; 403 forbidden for the others`, async () => {
      for (const scope of scopes) {
        const [method, path, body] = await make()
        const answer = await clients.get(scope)!.request(method, path, { body })
        if (scope === 'admin' || allowed.includes(scope)) assert.ok([200, 201, 202].includes(answer.status), answer.text)
        else isError(answer, 403, 'forbidden')
      }
    })
  }

  test('a key of two scopes may do what either may', async () => {
    const both = client.as(await newKey({ scopes: ['read', 'knowledge'] }))
    isOk(await both.get(session))
    isOk(await both.get(`/agents/${agentId}/documents`))
    isError(await both.post(`/agents/${agentId}/sessions`, {}), 403, 'forbidden')
  })

  test('health, readiness and the API description need no key', async () => {
    for (const path of ['^/healthz', '^/readyz', '^/openapi.json']) {
      assert.equal((await client.get(path, { key: null })).status, 200)
      assert.equal((await client.get(path, { key: 'nonsense' })).status, 200)
    }
  })
})

describe('5 keys bound to agents', () => {
  test('such a key sees its agents and no others: the same 404 as for an agent that does not exist', async () => {
    const other = await service.newSession(await service.newAgent())
    for (const scope of ['chat', 'admin']) {
      const bound = client.as(await newKey({ scopes: [scope], agentIds: [agentId] }))
      isOk(await bound.get(session))
      isOk(await bound.post(`/agents/${agentId}/sessions`, {}), 201)
      const hidden = await bound.get(other)
      const unknown = await bound.get(other.replace(/agents\/[^/]+/, `agents/${randomUUID()}`))
      isError(hidden, 404, 'agent_not_found')
      assert.equal(hidden.body.error.message, unknown.body.error.message)
      const { agents, pagination } = (await bound.get('/agents')).body
      assert.deepEqual(
        agents.map(({ id }: { id: string }) => id),
        [agentId],
      )
      assert.equal(pagination.total, 1)
    }
  })

  test('an admin key that is bound cannot make itself free: no keys, no new agents', async () => {
    const bound = client.as(await newKey({ scopes: ['admin'], agentIds: [agentId] }))
    isError(await bound.post('/keys', { name: 'x', scopes: ['admin'] }), 403, 'forbidden')
    isError(await bound.get('/keys'), 403, 'forbidden')
    isError(await bound.post('/agents', { name: 'x' }), 403, 'forbidden')
    isOk(await bound.patch(`/agents/${agentId}`, { greeting: 'Hello' }))
  })
})
