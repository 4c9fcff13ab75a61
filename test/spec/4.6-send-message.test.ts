// Specification 4.6: POST /agents/{agentId}/sessions/{sessionId}/messages
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { says } from '../support/model-server.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())
let agentId: string
let session: string
beforeEach(async () => {
  model.reset()
  agentId = await service.newAgent()
  session = await service.newSession(agentId, { name: 'A session' })
})
const send = (body: object, path = session) => client.post(`${path}/messages`, body)
const history = async () => (await client.get(session)).body.messages

describe('4.6 send a message', () => {
  test('"Response: status 200": success, chatSession, userMessage and aiMessage with exactly their fields', async () => {
    const answer = await send({ message: 'Hello' })
    isOk(answer)
    hasFields(answer.body, 'success', 'chatSession', 'userMessage', 'aiMessage')
    const { chatSession, userMessage, aiMessage } = answer.body
    assert.deepEqual(chatSession, { id: session.split('/').at(-1), name: 'A session' })
    hasFields(userMessage, 'id', 'role', 'content', 'createdAt')
    hasFields(aiMessage, 'id', 'role', 'content', 'model', 'createdAt')
    assert.equal(userMessage.role, 'USER')
    assert.equal(userMessage.content, 'Hello')
    assert.equal(aiMessage.role, 'AI')
    assert.ok(typeof aiMessage.content === 'string' && aiMessage.content !== '')
    assert.ok(typeof aiMessage.model === 'string' && aiMessage.model !== '')
    for (const { id, createdAt } of [userMessage, aiMessage]) {
      assert.match(id, UUID)
      assert.match(createdAt, TIMESTAMP)
    }
    assert.ok(aiMessage.createdAt >= userMessage.createdAt)
  })

  test('"The user message and the AI reply are both stored in the session and then appear in its history"', async () => {
    const one = (await send({ message: 'One' })).body
    const two = (await send({ message: 'Two' })).body
    const { model: _1, ...firstReply } = one.aiMessage
    const { model: _2, ...secondReply } = two.aiMessage
    assert.deepEqual(await history(), [one.userMessage, firstReply, two.userMessage, secondReply])
  })

  test('the same text sent twice after good replies is two messages', async () => {
    const [one, two] = [(await send({ message: 'Again' })).body, (await send({ message: 'Again' })).body]
    assert.notEqual(one.userMessage.id, two.userMessage.id)
    assert.equal((await history()).length, 4)
  })

  test('format and additionalContext may be null', async () => {
    isOk(await send({ message: 'Hello', additionalContext: null, format: null, include: null }))
  })

  for (const message of [
    '  as it is \n',
    'Grüße aus Köln',
    '你好，世界',
    'مرحبا',
    '👩🏽‍🚀🏳️‍🌈',
    'e\u0301 is not \u00e9',
    '\u202Eright to left',
    '\u0001\u007f\ufffe',
    '<b>&amp;</b> `x`',
    '$1 %s \\n {"a":1}',
  ]) {
    test(`the message is stored and returned exactly as sent: ${JSON.stringify(message)}`, async () => {
      assert.equal((await send({ message })).body.userMessage.content, message)
      assert.equal((await history())[0].content, message)
    })
  }

  for (const [about, body, path] of [
    ['"message: required: yes"', {}, 'body.message'],
    ['a message of null: it is not optional', { message: null }, 'body.message'],
    ['an empty message', { message: '' }, 'body.message'],
    ['a message of white space', { message: ' \r\n\t\u2003' }, 'body.message'],
    ['a message that is a number', { message: 5 }, 'body.message'],
    ['a message with U+0000', { message: 'a\0b' }, 'body.message'],
    ['a message with half of a surrogate pair', { message: 'a\udc00b' }, 'body.message'],
    ['a context with half of a surrogate pair', { message: 'x', additionalContext: '\ud83d' }, 'body.additionalContext'],
    ['a context that is an object', { message: 'x', additionalContext: { page: 1 } }, 'body.additionalContext'],
    ['a format that is not known', { message: 'x', format: 'HTML' }, 'body.format'],
    ['an unknown field', { message: 'x', stream: true }, 'body.stream'],
    ['an extra that is not known', { message: 'x', include: ['everything'] }, 'body.include[0]'],
    ['an include that is no list', { message: 'x', include: 'sources' }, 'body.include'],
  ] as const) {
    test(`400 invalid_request, and nothing is stored: ${about}`, async () => {
      isError(await send(body), 400, 'invalid_request', path)
      assert.deepEqual(await history(), [])
      assert.equal(model.calls.length, 0)
    })
  }

  test('a mistyped field is refused with the nearest known name', async () => {
    for (const [given, meant] of [
      ['formt', 'format'],
      ['additional_context', 'additionalContext'],
      ['context', 'additionalContext'],
    ]) {
      const answer = await send({ message: 'x', [given!]: 'html' })
      isError(answer, 400, 'invalid_request', `body.${given}`)
      assert.match(answer.body.error.message, new RegExp(`did you mean ${meant}\\?`))
    }
  })

  test('404 for a session that does not exist or is another agent’s, and for an unknown agent', async () => {
    isError(await send({ message: 'x' }, `/agents/${agentId}/sessions/${randomUUID()}`), 404, 'session_not_found')
    isError(await send({ message: 'x' }, session.replace(agentId, await service.newAgent())), 404, 'session_not_found')
    isError(await send({ message: 'x' }, session.replace(agentId, randomUUID())), 404, 'agent_not_found')
  })
})

describe('4.6 what the model is asked', { skip: needsProcess }, () => {
  test('"It keeps the conversation history so that the agent can answer in context": instructions, history in order, the message', async () => {
    await client.patch(`/agents/${agentId}`, { instructions: 'Be brief.', temperature: 0.5, maxOutputTokens: 99 })
    model.behaviour = says('First reply')
    await send({ message: 'First' })
    await send({ message: 'Second' })
    assert.deepEqual(model.lastPrompt, [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'First' },
      { role: 'assistant', content: 'First reply' },
      { role: 'user', content: 'Second' },
    ])
    const { body, path } = model.calls.at(-1)!
    assert.equal(path, '/v1/chat/completions')
    assert.equal(body.model, 'stub')
    assert.equal(body.temperature, 0.5)
  })

  test('"additionalContext: Extra context … to make the reply more relevant": the model sees it, the history does not', async () => {
    await send({ message: 'What is this?', additionalContext: 'The page shows a kettle.' })
    assert.ok(model.lastPrompt.at(-1)!.content.includes('The page shows a kettle.'))
    assert.equal((await history())[0].content, 'What is this?')
    await send({ message: 'And now?' })
    assert.ok(!JSON.stringify(model.lastPrompt).includes('kettle'), 'it belongs to its own turn alone')
  })

  test('"model: Name of the language model that produced the reply"', async () => {
    const { aiMessage } = (await send({ message: 'Hello' })).body
    // As the agent and GET /models name it, so that it can be compared, and set again.
    const { agent } = (await client.get(`/agents/${agentId}`)).body
    assert.equal(aiMessage.model, agent.model)
  })

  test('a reply that no store could keep: U+0000 and lone surrogates become U+FFFD', async () => {
    model.behaviour = says('a\0b \ud800 c 😀')
    const { aiMessage } = (await send({ message: 'Hello' })).body
    assert.equal(aiMessage.content, 'a\ufffdb \ufffd c 😀')
    assert.equal((await history())[1].content, aiMessage.content)
  })
})

describe('4.6 followUps', () => {
  test('"present when follow-ups are enabled on the agent", possibly empty; left out when they are disabled', async () => {
    isOk(await client.patch(`/agents/${agentId}`, { followUps: { enabled: true } }))
    const answer = await send({ message: 'Hello' })
    isOk(answer)
    assert.ok(Array.isArray(answer.body.followUps))
    isOk(await client.patch(`/agents/${agentId}`, { followUps: { enabled: false } }))
    assert.ok(!('followUps' in (await send({ message: 'Hello again' })).body))
  })
})

describe('4.6 include', () => {
  test('each extra adds its own field and no other', async () => {
    for (const extra of ['sources', 'usage', 'trace']) {
      const answer = await send({ message: `With ${extra}`, include: [extra] })
      isOk(answer)
      hasFields(answer.body, 'success', 'chatSession', 'userMessage', 'aiMessage', extra)
    }
    const all = await send({ message: 'All', include: ['trace', 'sources', 'usage', 'usage'] })
    hasFields(all.body, 'success', 'chatSession', 'userMessage', 'aiMessage', 'sources', 'usage', 'trace')
    hasFields((await send({ message: 'None', include: [] })).body, 'success', 'chatSession', 'userMessage', 'aiMessage')
  })

  test('without a knowledge base: no sources, and a trace with grounding, query, passages and timings', async () => {
    const { sources, trace } = (await send({ message: 'Hello', include: ['sources', 'trace'] })).body
    assert.deepEqual(sources, [])
    const { answered, confidence } = trace.grounding
    assert.equal(typeof answered, 'boolean')
    assert.ok(confidence >= 0 && confidence <= 1)
    assert.equal(typeof trace.query, 'string')
    assert.deepEqual(trace.passages, [])
    assert.ok(trace.timings.length > 0)
  })

  test('usage: tokens in, out and cached as the provider counted them', { skip: needsProcess }, async () => {
    const { usage } = (await send({ message: 'Hello', include: ['usage'] })).body
    assert.deepEqual({ ...usage, cost: undefined }, { tokensIn: 21, tokensOut: 7, tokensCached: 5, cost: undefined })
  })
})
