// What models cost is held to a budget of the day: of an agent, of each of its users, of an API key. A call takes what it may cost before it is made.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import type { Answer, Client } from '../support/client.ts'
import { finishes, says, sends, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
after(() => service.stop())
const { client, model } = service
/** Of every call, as the stub counts. */
const CALL_TOKENS = 28

const send = (session: string, as: Client = client, body: object = {}) =>
  as.post(`${session}/messages`, { message: 'Hello there', ...body })
const isUsedUp = (answer: Answer, whose: string) => {
  isError(answer, 429, 'quota_exceeded')
  assert.match(answer.body.error.message, new RegExp(`^This ${whose} has used up the budget`))
  const seconds = Number(answer.headers['retry-after'])
  assert.ok(seconds >= 1 && seconds <= 86_400)
}

describe('budgets', { skip: needsProcess }, () => {
  beforeEach(() => model.reset())

  test('an agent that has used up its tokens answers no more; nothing is stored, and other agents go on', async () => {
    const agent = await service.newAgent({ budget: { tokensPerDay: 3 * CALL_TOKENS }, maxOutputTokens: 10 })
    const session = await service.newSession(agent)
    for (let i = 0; i < 3; i++) isOk(await send(session))
    const refused = await send(session)
    isUsedUp(refused, 'agent')
    assert.equal(refused.headers['ratelimit-policy'], `"agent-tokens";q=${3 * CALL_TOKENS};qu="tokens";w=86400`)
    assert.match(String(refused.headers.ratelimit), /^"agent-tokens";r=0;t=\d+$/)
    assert.equal(model.calls.length, 3)
    assert.equal((await client.get(session)).body.messages.length, 6)
    const last = (await client.get(session)).body.messages.at(-1).id
    isUsedUp(await client.post(`${session}/messages/${last}/regenerate`, {}), 'agent')
    isOk(await send(await service.newSession(await service.newAgent())))
    isOk(await client.patch(`/agents/${agent}`, { budget: { tokensPerDay: null } }))
    isOk(await send(session))
  })

  test('a reply without text counts as the provider counted it', async () => {
    const agent = await service.newAgent({ budget: { tokensPerDay: 1_000 }, maxOutputTokens: 10 })
    const session = await service.newSession(agent)
    const ends = ['length', 'filtered'] as const
    for (const end of ends) {
      model.behaviour = finishes('', end)
      isError(await send(session), 502, 'model_failed')
    }
    assert.equal((await client.get(`/agents/${agent}/usage`)).body.usage.tokens, ends.length * CALL_TOKENS)
  })

  test('a reply of which the provider counts nothing, or a part, counts as an estimate', async () => {
    const reply = 'Lamp oil is sold by the litre. '.repeat(20)
    const choices = [{ index: 0, delta: { content: reply }, finish_reason: 'stop' }]
    const usages = [{}, { prompt_tokens: 0, completion_tokens: 0 }, { prompt_tokens: -5, completion_tokens: 'many' }]
    const ofUsage = async (usage: object) => {
      const agent = await service.newAgent({ budget: { tokensPerDay: 100_000 } })
      model.behaviour = sends(`data: ${JSON.stringify({ choices, usage })}\n\ndata: [DONE]\n\n`, 'text/event-stream')
      const session = await service.newSession(agent)
      const sent = await send(session, client, { include: ['usage'] })
      isOk(sent)
      const { tokensIn, tokensOut } = sent.body.usage
      assert.equal((await client.get(`/agents/${agent}/usage`)).body.usage.tokens, tokensIn + tokensOut)
      return [tokensIn, tokensOut]
    }
    const [tokensIn, tokensOut] = (await ofUsage(usages[0]!)) as [number, number]
    assert.ok(tokensIn > 0 && tokensOut > 100, `${tokensIn} and ${tokensOut} tokens`)
    for (const usage of usages.slice(1)) assert.deepEqual(await ofUsage(usage), [tokensIn, tokensOut])
    assert.deepEqual(await ofUsage({ prompt_tokens: 7 }), [7, tokensOut])
    assert.deepEqual(await ofUsage({ completion_tokens: 7 }), [tokensIn, 7])
  })

  test('what was used of a budget can be read, of an agent, a user and a key', async () => {
    const budget = { tokensPerDay: 1_000, tokensPerUserPerDay: 500 }
    const agent = await service.newAgent({ budget, maxOutputTokens: 10 })
    const made = await client.post('/keys', { name: 'k', scopes: ['chat'], budget: { tokensPerDay: 900 } })
    const user = randomUUID()
    const session = await service.newSession(agent, { externalUserId: user })
    isOk(await send(session, client.as(made.body.secret)))
    const read = async (path: string) => {
      const answer = await client.get(path)
      isOk(answer)
      const { date, resetsAt, ...rest } = answer.body.usage ?? {}
      return rest
    }
    const used = { tokens: CALL_TOKENS, cost: 0 }
    assert.deepEqual(await read(`/agents/${agent}/usage`), { ...used, tokensPerDay: 1_000, costPerDay: null })
    const ofUser = `/agents/${agent}/usage?externalUserId=`
    assert.deepEqual(await read(ofUser + user), { ...used, tokensPerDay: 500, costPerDay: null })
    assert.deepEqual(await read(ofUser + randomUUID()), { tokens: 0, cost: 0, tokensPerDay: 500, costPerDay: null })
    assert.equal((await client.get(`/agents/${await service.newAgent()}/usage`)).body.usage, null)
    const ofKey = (await client.get(`/keys/${made.body.key.id}/usage`)).body.usage
    assert.deepEqual([ofKey.tokens, ofKey.tokensPerDay, ofKey.costPerDay], [CALL_TOKENS, 900, null])
    assert.equal(Date.parse(ofKey.resetsAt) - Date.parse(ofKey.date), 86_400_000)
    isError(await client.get(`/keys/${randomUUID()}/usage`), 404, 'key_not_found')
  })

  test('sends at once cannot overdraw: what a call may take is set aside before it', async () => {
    const budget = 1_000
    const agent = await service.newAgent({ budget: { tokensPerDay: budget }, maxOutputTokens: 200 })
    const sessions = await Promise.all(Array.from({ length: 40 }, () => service.newSession(agent)))
    const release = model.hold()
    let answered = 0
    const sent = sessions.map((session) => send(session).finally(() => answered++))
    // Each call may take 200 tokens and what its prompt comes to; the last one what is left.
    await until('five calls run, and no more', () => model.calls.length === 5 && answered === 35)
    release()
    const answers = await Promise.all(sent)
    const done = answers.filter(({ status }) => status === 200)
    assert.deepEqual([done.length, model.calls.length], [5, 5])
    assert.ok(done.length * CALL_TOKENS <= budget)
    for (const answer of answers) {
      if (answer.status === 200) continue
      isUsedUp(answer, 'agent')
      assert.ok(Number(answer.headers['retry-after']) <= 5, 'calls that run may give something back')
    }
    // What was set aside and not used is there again.
    isOk(await send(sessions.find((_, i) => answers[i]!.status === 429)!))
  })

  test('a message that finds too little left is kept, and continued another day', async () => {
    const agent = await service.newAgent({ budget: { tokensPerDay: 2 * CALL_TOKENS + 5 }, maxOutputTokens: 10 })
    const session = await service.newSession(agent)
    for (let i = 0; i < 2; i++) isOk(await send(session))
    const refused = await send(session)
    isUsedUp(refused, 'agent')
    assert.match(JSON.stringify(refused.body.error.details), /is stored as .* continues it/)
    isOk(await client.patch(`/agents/${agent}`, { budget: { tokensPerDay: 1_000 } }))
    isOk(await send(session))
    const { messages } = (await client.get(session)).body
    assert.deepEqual(
      messages.map(({ role }: { role: string }) => role),
      ['USER', 'AI', 'USER', 'AI', 'USER', 'AI'],
    )
  })

  test('each user of an agent has a budget, whichever session; others of theirs are not touched', async () => {
    const agent = await service.newAgent({ budget: { tokensPerUserPerDay: CALL_TOKENS }, maxOutputTokens: 10 })
    const externalUserId = randomUUID()
    const [one, two] = [await service.newSession(agent, { externalUserId }), await service.newSession(agent, { externalUserId })]
    isOk(await send(one))
    isUsedUp(await send(two), 'user')
    isOk(await send(await service.newSession(agent)))
    isOk(await client.delete(`/agents/${agent}/users/${externalUserId}`))
    isOk(await send(await service.newSession(agent, { externalUserId })), 200)
  })

  test('an API key has a budget over all agents, also with the tokens of users that are made with it', async () => {
    const made = await client.post('/keys', { name: 'k', scopes: ['chat'], budget: { tokensPerDay: 2 * CALL_TOKENS } })
    isOk(made, 201)
    assert.deepEqual(made.body.key.budget, { tokensPerDay: 2 * CALL_TOKENS, costPerDay: null })
    const key = client.as(made.body.secret)
    const [a, b] = [await service.newAgent({ maxOutputTokens: 10 }), await service.newAgent({ maxOutputTokens: 10 })]
    const externalUserId = randomUUID()
    const session = await service.newSession(a, { externalUserId })
    isOk(await send(session, key))
    isOk(await send(await service.newSession(b), key))
    isUsedUp(await send(session, key), 'key')
    const { token } = (await key.post(`/agents/${a}/tokens`, { externalUserId })).body
    const asUser = await client.request('POST', `${session}/messages`, {
      body: { message: 'Hello' },
      key: null,
      headers: { authorization: `Bearer ${token}` },
    })
    isUsedUp(asUser, 'key')
    isOk(await send(session))
    const plain = (await client.post('/keys', { name: 'k', scopes: ['chat'] })).body.key
    assert.equal('budget' in plain, false)
  })

  test('a budget in money holds by the table of prices; a model without a price is not asked', async () => {
    writeFileSync(join(service.data, 'prices.json'), JSON.stringify({ 'openai/stub': { input: 1000, output: 1000 } }))
    await service.end('SIGTERM')
    await service.restart()
    const price = CALL_TOKENS / 1000
    const agent = await service.newAgent({ budget: { costPerDay: 2 * price }, maxOutputTokens: 10 })
    const session = await service.newSession(agent)
    for (let i = 0; i < 2; i++) isOk(await send(session))
    isUsedUp(await send(session), 'agent')
    isOk(await client.patch(`/agents/${agent}`, { budget: { costPerDay: 100 }, model: 'openai/another' }))
    const calls = model.calls.length
    const unpriced = await send(session)
    isError(unpriced, 429, 'quota_exceeded')
    assert.match(unpriced.body.error.message, /price of openai\/another is not known/)
    assert.equal(model.calls.length, calls)
  })

  test('a call that fails costs nothing, one that is cut off what it said', async () => {
    const agent = await service.newAgent({ budget: { tokensPerDay: 100 }, maxOutputTokens: 20 })
    const session = await service.newSession(agent)
    model.behaviour = (_call, response) => response.writeHead(500).end('{}')
    for (let i = 0; i < 8; i++) isError(await send(session), 502, 'model_failed')
    model.behaviour = says('A reply.')
    isOk(await send(session))
  })

  test('follow-up questions and names count, and give way before the reply does', async () => {
    const settings = { followUps: { enabled: true }, autoName: true, maxOutputTokens: 10 }
    const agent = await service.newAgent({ ...settings, budget: { tokensPerDay: CALL_TOKENS + 10 } })
    const answer = await send(await service.newSession(agent))
    isOk(answer)
    assert.deepEqual(answer.body.followUps, [])
    assert.equal(model.calls.length, 1)
  })

  test('an agent whose last fallback is extractive goes on without its model', async () => {
    const agent = await service.newAgent({ budget: { tokensPerDay: 1 }, fallbackModels: ['extractive'] })
    isOk(await send(await service.newSession(agent)))
    assert.equal(model.calls.length, 0)
  })

  test('in a stream the refusal is plain JSON where nothing was begun', async () => {
    const agent = await service.newAgent({ budget: { tokensPerDay: CALL_TOKENS }, maxOutputTokens: 10 })
    const session = await service.newSession(agent)
    model.behaviour = streams(['A ', 'reply.'])
    const headers = { accept: 'text/event-stream' }
    const streamed = await client.request('POST', `${session}/messages`, { body: { message: 'Hello there' }, headers })
    assert.match(streamed.text, /event: turn.completed/)
    isUsedUp(await client.request('POST', `${session}/messages`, { body: { message: 'Again' }, headers }), 'agent')
  })
})
