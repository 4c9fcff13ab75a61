// Callers are held to rates: an API key to so many requests a minute, an end user to so many messages, an address to so many keys that are no good.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import type { Answer } from '../support/client.ts'
import { makeKey, needsProcess, startService } from '../support/service.ts'

const service = await startService({
  REPARTEE_RATE_LIMIT: 'on',
  REPARTEE_KEY_REQUESTS_PER_MINUTE: '40',
  REPARTEE_USER_SENDS_PER_MINUTE: '3',
  REPARTEE_BAD_KEYS_PER_MINUTE: '5',
  REPARTEE_TRUST_PROXY: '127.0.0.1, ::1',
})
after(() => service.stop())
const { client } = service

async function newKey() {
  const { secret } = (await client.post('/keys', { name: 'k', scopes: ['chat'] })).body
  return client.as(secret)
}
const isLimited = (answer: Answer) => {
  isError(answer, 429, 'rate_limited')
  const seconds = Number(answer.headers['retry-after'])
  assert.ok(seconds >= 1 && seconds <= 60)
}

test('unless it is set, an API key makes 6,000 requests a minute', { skip: needsProcess }, async () => {
  const usual = await startService({ REPARTEE_RATE_LIMIT: 'on' })
  after(usual.stop)
  const { headers } = await usual.client.get('/agents')
  assert.equal(headers['ratelimit-policy'], '"key";q=6000;w=60')
})

describe('rate limits', { skip: needsProcess }, () => {
  test('an API key makes so many requests a minute; every answer tells how many are left; others are not touched', async () => {
    const agent = await service.newAgent()
    const [one, other] = [await newKey(), await newKey()]
    const ask = (key: typeof one) => key.get(`/agents/${agent}/sessions?limit=1`)
    for (let left = 39; left >= 0; left--) {
      const answer = await ask(one)
      isOk(answer)
      assert.equal(answer.headers['ratelimit-policy'], '"key";q=40;w=60')
      assert.match(String(answer.headers['ratelimit']), new RegExp(`^"key";r=${left};t=([1-9]|[1-5]\\d|60)$`))
    }
    const refused = await ask(one)
    isLimited(refused)
    assert.match(String(refused.headers['ratelimit']), /^"key";r=0;t=/)
    isLimited(await one.post(`/agents/${agent}/sessions`, {}))
    isOk(await ask(other))
    assert.equal((await fetch(`${client.address.baseUrl.replace(/\/v1$/, '')}/healthz`)).status, 200)
  })

  test('a user sends so many messages a minute, in whichever session; what is refused is not stored', async () => {
    const agent = await service.newAgent()
    const key = await newKey()
    const user = randomUUID()
    const newSession = async (body: object) => {
      const answer = await key.post(`/agents/${agent}/sessions`, body)
      isOk(answer, 201)
      return `/agents/${agent}/sessions/${answer.body.session.id}`
    }
    const [first, second, others] = [
      await newSession({ externalUserId: user }),
      await newSession({ externalUserId: user }),
      await newSession({}),
    ]
    const send = (session: string) => key.post(`${session}/messages`, { message: 'Hello' })
    for (const session of [first, second, first]) {
      const answer = await send(session)
      isOk(answer)
      assert.match(String(answer.headers['ratelimit-policy']), /^"key";q=40;w=60, "user";q=3;w=60$/)
    }
    isLimited(await send(second))
    assert.equal((await key.get(second)).body.messages.length, 2)
    isOk(await send(others))
  })

  test('what a user makes with a token counts as messages do, and nothing is made where that is refused', async () => {
    const agent = await service.newAgent()
    const tokenOf = async () => {
      const { body } = await client.post(`/agents/${agent}/tokens`, { externalUserId: randomUUID() })
      return { authorization: `Bearer ${body.token}` }
    }
    const made: [name: string, make: (headers: Record<string, string>, i: number) => Promise<Answer>, count: number][] = [
      ['sessions', (headers) => client.post(`/agents/${agent}/sessions`, {}, { key: null, headers }), 3],
      [
        'conversations',
        (headers) => {
          const items = [1, 2].map((i) => ({ role: 'user', content: `Walnut ${i}` }))
          return client.post('^/openai/v1/conversations', { items, metadata: { agent_id: agent } }, { key: null, headers })
        },
        1,
      ],
      [
        'chats',
        (headers, i) => {
          const messages = [{ id: `m${i}`, role: 'user', parts: [{ type: 'text', text: 'Hello' }] }]
          const body = { id: `chat-${i}`, messages }
          return client.post(`^/ai-sdk/v1/agents/${agent}/chat`, body, { key: null, headers })
        },
        3,
      ],
    ]
    for (const [name, make, count] of made) {
      const headers = await tokenOf()
      const statuses: number[] = []
      for (let i = 0; i < 5; i++) statuses.push((await make(headers, i)).status)
      assert.deepEqual(
        statuses.map((status) => status < 300),
        Array.from({ length: 5 }, (_, i) => i < count),
        `${name}: ${statuses}`,
      )
      const { sessions } = (await client.get(`/agents/${agent}/sessions`, { key: null, headers })).body
      assert.equal(sessions.length, count, name)
    }
  })

  test('an address sends so many bad keys a minute, each told apart behind a proxy; a good key comes through all the same', async () => {
    const from = (address: string, key: string) =>
      client.as(key).request('GET', '/agents', { headers: { 'X-Forwarded-For': address } })
    for (let i = 0; i < 5; i++) isError(await from('203.0.113.7', makeKey()), 401, 'unauthorized')
    isLimited(await from('203.0.113.7', makeKey()))
    isLimited(await from('203.0.113.7', 'nothing like a key'))
    isError(await from('203.0.113.8', makeKey()), 401, 'unauthorized')
    isOk(await from('203.0.113.7', client.key))
    // Whoever has one address of IPv6 has a network of them.
    for (let i = 1; i <= 5; i++) isError(await from(`2001:db8:1:2::${i}`, makeKey()), 401, 'unauthorized')
    isLimited(await from('2001:db8:1:2:ffff::9', makeKey()))
    isError(await from('2001:db8:1:3::1', makeKey()), 401, 'unauthorized')
    isLimited(await from('::ffff:203.0.113.7', makeKey()))
    // A port makes no other address of it, and what is none is that of the proxy.
    isLimited(await from('203.0.113.7:5678', makeKey()))
    isLimited(await from('[2001:db8:1:2::4]:80', makeKey()))
    for (let i = 0; i < 5; i++) isError(await from(`garbage-${i}`, makeKey()), 401, 'unauthorized')
    isLimited(await from('"><img src=x>', makeKey()))
  })
})
