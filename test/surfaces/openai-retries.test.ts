// The official client of OpenAI's API retries what fails, unless an answer says that it is of no use.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import OpenAI from 'openai'
import { type Behaviour, hangs, refuses, says } from '../support/model-server.ts'
import { needsProcess, startService } from '../support/service.ts'

describe('retries of the OpenAI client', { skip: needsProcess }, async () => {
  const service = await startService({ REPARTEE_MODEL_RETRIES: '1', REPARTEE_MODEL_TIMEOUT_MS: '1000' })
  after(() => service.stop())
  const { client, model } = service
  const clientOf = (maxRetries: number) =>
    new OpenAI({ apiKey: client.key, baseURL: new URL('/openai/v1', client.address.baseUrl).href, maxRetries })
  let agent: string
  before(async () => {
    agent = await service.newAgent()
  })

  const failures: [about: string, behaviour: Behaviour, code: string][] = [
    ['fails', refuses(500), 'model_failed'],
    ['does not answer in time', hangs, 'model_timeout'],
  ]
  const surfaces: [name: string, ask: (openai: OpenAI) => PromiseLike<unknown>][] = [
    [
      'Chat Completions',
      (openai) => openai.chat.completions.create({ model: agent, messages: [{ role: 'user', content: 'Hi' }] }),
    ],
    ['Responses', (openai) => openai.responses.create({ model: agent, input: 'Hi', store: false })],
  ]
  for (const [about, behaviour, code] of failures) {
    for (const [name, ask] of surfaces) {
      test(`${name}: a model that ${about} is asked as often as the service retries`, async () => {
        const calls = async (maxRetries: number) => {
          model.reset()
          model.behaviour = behaviour
          await assert.rejects(async () => ask(clientOf(maxRetries)), { code })
          return model.calls.length
        }
        assert.equal(await calls(2), await calls(0))
      })
    }
  }

  test('a conversation is made once, by Idempotency-Key, and by attempts where its user is named', async () => {
    const openai = clientOf(0)
    const make = async (headers: Record<string, string>, user = 'someone') =>
      (await openai.conversations.create({ metadata: { agent_id: agent, user } }, { headers })).id
    const keyed = { 'Idempotency-Key': 'conversation-1' }
    assert.equal(await make(keyed), await make(keyed))
    const copies = await Promise.all([make({ 'Idempotency-Key': 'two' }), make({ 'Idempotency-Key': 'two' })])
    assert.equal(copies[0], copies[1])
    const attempt = (count: number) => ({ 'x-stainless-retry-count': String(count) })
    const first = await make(attempt(0), 'other')
    assert.equal(await make(attempt(1), 'other'), first)
    assert.notEqual(await make(attempt(0), 'other'), first)
  })

  test('another attempt is no attempt at what was answered before other messages: its message is not lost', async () => {
    let replies = 0
    model.reset()
    model.behaviour = (...call) => says(`Reply ${++replies}.`)(...call)
    const session = await service.newSession(agent)
    const openai = clientOf(0)
    const say = async (input: string, attempt: number) => {
      const headers = { 'x-stainless-retry-count': String(attempt) }
      return (await openai.responses.create({ model: agent, input, conversation: session.split('/').at(-1)! }, { headers }))
        .output_text
    }
    assert.equal(await say('Yes.', 0), 'Reply 1.')
    assert.equal(await say('Yes.', 1), 'Reply 1.')
    assert.equal(await say('And the other one?', 0), 'Reply 2.')
    // The first attempt at this one never arrived.
    assert.equal(await say('Yes.', 1), 'Reply 3.')
    assert.equal(await say('Yes.', 2), 'Reply 3.')
    const { messages } = (await client.get(session)).body
    assert.equal(messages.length, 6)
  })

  test('a budget that is used up is not asked for again', async () => {
    model.behaviour = says('A reply.')
    const poor = await service.newAgent({ budget: { tokensPerDay: 1 } })
    let requests = 0
    const openai = clientOf(2).withOptions({
      fetch: (url, init) => {
        requests++
        return fetch(url, init)
      },
    })
    await assert.rejects(openai.responses.create({ model: poor, input: 'Hi' }), OpenAI.RateLimitError)
    assert.equal(requests, 1)
  })
})
