// What breaks during a turn, one row each: what the sender gets, what the history holds, what the same text sent again does
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { gauge } from '../support/gauge.ts'
import {
  type Behaviour,
  cuts,
  endsEarly,
  finishes,
  garbage,
  hangs,
  refuses,
  says,
  stalls,
  streams,
} from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'
import { storeOf } from '../support/store.ts'

const open = new Map<string, Promise<Service>>()
after(async () => {
  for (const service of open.values()) await (await service).stop()
})
/** A service with these settings, one for all tests that want the same, and in it a session of an agent whose model is the stub. */
async function start(env: Record<string, string> = {}, agent: object = {}) {
  const name = JSON.stringify(env)
  if (!open.has(name)) open.set(name, startService(env))
  const service = await open.get(name)!
  const { client, model } = service
  model.reset()
  const newSession = async (more: object = {}) => service.newSession(await service.newAgent({ ...agent, ...more }))
  const session = await newSession()
  const send = (message = 'Hello', path = session) => client.post(`${path}/messages`, { message })
  const stream = (message = 'Hello', path = session) => readEvents(client, 'POST', `${path}/messages`, { body: { message } })
  const history = async (path = session): Promise<{ id: string; role: string; content: string }[]> =>
    (await client.get(path)).body.messages
  return { service, client, model, session, newSession, send, stream, history }
}
/** Does one thing after the other, call by call; the last for all further calls. */
const inTurn = (...behaviours: Behaviour[]): Behaviour => {
  let calls = 0
  return (call, response) => behaviours[Math.min(calls++, behaviours.length - 1)]!(call, response)
}
const byModel =
  (behaviours: Record<string, Behaviour>): Behaviour =>
  (call, response) =>
    behaviours[call.body.model]!(call, response)
const contents = (messages: { content: string }[]) => messages.map(({ content }) => content)

describe('the model answers with an error', { skip: needsProcess }, () => {
  for (const status of [500, 503, 429, 408]) {
    test(`${status} twice, then it recovers: 200 after retries, one message and one reply`, async () => {
      const { model, send, history } = await start({ REPARTEE_MODEL_RETRIES: '2' })
      model.behaviour = inTurn(refuses(status), refuses(status), says('at last'))
      const answer = await send()
      isOk(answer)
      assert.deepEqual(contents(await history()), ['Hello', 'at last'])
      assert.equal(model.calls.length, 3)
    })
  }

  test('what is refused for good is not asked again', async () => {
    const { model, send } = await start({ REPARTEE_MODEL_RETRIES: '2' })
    model.behaviour = refuses(401)
    isError(await send(), 502, 'model_failed')
    assert.equal(model.calls.length, 1)
  })

  test('the log says which model it was, and why in the terms of the provider, but not in its words', async () => {
    const { service, model, send } = await start({ REPARTEE_LOG_LEVEL: 'warn' })
    const error = {
      message: 'No such model: secret-words',
      type: 'invalid_request_error',
      code: 'model_not_found',
      param: 'a key, or what',
    }
    model.behaviour = (_call, response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    isError(await send(), 502, 'model_failed')
    const line = await until('it is logged', () => /^.*model openai\/stub of agent .*$/m.exec(service.printed())?.[0])
    assert.match(line, /"status":404,"type":"invalid_request_error","code":"model_not_found"}/)
    assert.doesNotMatch(service.printed(), /secret-words|a key, or what|\n {4}at |sk-/)
  })

  test('429 with a Retry-After that fits in the turn is waited for', async () => {
    const { model, send } = await start({ REPARTEE_MODEL_RETRIES: '2' })
    let mayBeAskedAt = Number.POSITIVE_INFINITY
    const refusesForNow: Behaviour = (call, response) => {
      mayBeAskedAt = performance.now() + 1_000
      refuses(429, { 'retry-after': '1' })(call, response)
    }
    // Asked before that, it refuses for good.
    const replies: Behaviour = (call, response) =>
      (performance.now() < mayBeAskedAt ? refuses(401) : says('after the wait'))(call, response)
    model.behaviour = inTurn(refusesForNow, replies)
    isOk(await send())
  })

  test('429 with a Retry-After that does not fit: 502 at once, with the message kept, and the same text continues it', async () => {
    const { model, send, history } = await start({ REPARTEE_MODEL_RETRIES: '2' })
    model.behaviour = refuses(429, { 'retry-after': '600' })
    const answer = await send()
    isError(answer, 502, 'model_failed')
    assert.equal(answer.headers['retry-after'], '600')
    assert.equal(model.calls.length, 1)
    const [stored] = await history()
    model.reset()
    assert.equal((await send()).body.userMessage.id, stored!.id)
    assert.equal((await history()).length, 2)
  })

  test('rather than to wait long, the fallback is asked', async () => {
    const { model, send } = await start({ REPARTEE_MODEL_RETRIES: '2' }, { fallbackModels: ['openai/second'] })
    model.behaviour = byModel({ stub: refuses(429, { 'retry-after': '30' }), second: says('from the second') })
    const answer = await send()
    assert.equal(answer.body.aiMessage?.content, 'from the second')
  })
})

describe('the model is silent', { skip: needsProcess }, () => {
  // Long enough for a reply that comes at once, on any machine.
  const env = { REPARTEE_MODEL_TIMEOUT_MS: '3000', REPARTEE_MODEL_RETRIES: '2' }
  test('from the start: the fallback replies', async () => {
    const { model, send, history } = await start(env, { fallbackModels: ['openai/second'] })
    model.behaviour = byModel({ stub: hangs, second: says('from the second') })
    isOk(await send())
    assert.deepEqual(contents(await history()), ['Hello', 'from the second'])
    assert.equal(model.calls.length, 2, 'a silent model is not asked twice')
  })

  test('from the start, without a fallback: 504, and the same text continues the message', async () => {
    const { model, send, stream, history } = await start(env)
    model.behaviour = hangs
    isError(await send(), 504, 'model_timeout')
    const reader = await stream()
    await reader.ended
    assert.equal(reader.events.at(-1)!.data.error.code, 'model_timeout')
    const [stored] = await history()
    model.reset()
    assert.equal((await send()).body.userMessage.id, stored!.id)
  })

  test('in mid-reply: 504 or the fallback where nobody read it yet; turn.failed where somebody did', async () => {
    const { model, send, stream, history, newSession } = await start(env)
    model.behaviour = stalls('Half of')
    isError(await send(), 504, 'model_timeout')
    const reader = await stream()
    await reader.ended
    assert.equal(reader.text(), 'Half of')
    assert.equal(reader.events.at(-1)!.event, 'turn.failed')
    assert.equal((await history()).length, 1)
    const second = await newSession({ fallbackModels: ['openai/second'] })
    model.behaviour = byModel({ stub: stalls('Half of'), second: says('whole') })
    assert.equal((await send('Hello', second)).body.aiMessage?.content, 'whole')
  })

  test('a reply that takes longer than that in all, but is never silent for so long, is fine', async () => {
    const { model, send } = await start(env)
    model.behaviour = streams(['a', 'b', 'c', 'd', 'e', 'f'], { everyMs: 600 })
    assert.equal((await send()).body.aiMessage?.content, 'abcdef')
  })

  test('longer than a turn may take: 504', async () => {
    const { model, send } = await start({ REPARTEE_TURN_TIMEOUT_MS: '400' })
    model.behaviour = streams(Array(100).fill('x'), { everyMs: 50 })
    isError(await send(), 504, 'model_timeout')
  })
})

describe('the reply breaks in the middle', { skip: needsProcess }, () => {
  for (const [about, behaviour] of [
    ['the connection is cut', cuts],
    ['garbage comes', garbage('Half of a reply.')],
    ['the end never comes', endsEarly('Half of')],
    ['the text is empty', says('')],
  ] as [string, Behaviour][]) {
    test(`${about}: 502 without a half reply, and the same text continues the message`, async () => {
      const { model, send, history } = await start()
      model.behaviour = behaviour
      isError(await send(), 502, 'model_failed')
      const stored = await history()
      assert.deepEqual(contents(stored), ['Hello'])
      model.reset()
      assert.equal((await send()).body.userMessage.id, stored[0]!.id)
      assert.equal((await history()).length, 2)
    })

    test(`${about}: the fallback replies where there is one`, async () => {
      const { model, send, history } = await start({}, { fallbackModels: ['openai/second'] })
      model.behaviour = byModel({ stub: behaviour, second: says('whole') })
      isOk(await send())
      assert.deepEqual(contents(await history()), ['Hello', 'whole'])
    })

    test(`${about}: a stream ends with turn.failed, never with a short reply`, async () => {
      const { model, stream, history } = await start()
      model.behaviour = behaviour
      const reader = await stream()
      await reader.ended
      const { event, data } = reader.events.at(-1)!
      assert.deepEqual([event, data.error.code], ['turn.failed', 'model_failed'])
      assert.deepEqual(contents(await history()), ['Hello'])
    })
  }

  test('nothing is tried again that somebody read, however many tries and fallbacks there are', async () => {
    const { model, stream } = await start({ REPARTEE_MODEL_RETRIES: '2' }, { fallbackModels: ['openai/second'] })
    model.behaviour = byModel({ stub: endsEarly('Half of'), second: says('whole') })
    const reader = await stream()
    await reader.ended
    assert.deepEqual([reader.text(), reader.events.at(-1)!.event, model.calls.length], ['Half of', 'turn.failed', 1])
  })

  test('whoever comes to read between two tries reads the second alone', async () => {
    const { service, client, model, session, send, history } = await start({
      REPARTEE_MODEL_RETRIES: '1',
      REPARTEE_LOG_LEVEL: 'warn',
    })
    const { promise: isRead, resolve: speak } = Promise.withResolvers<void>()
    model.behaviour = inTurn(endsEarly('The first draft'), streams(['ABC', 'DEF'], { gates: [isRead] }))
    const sending = send()
    await until('the first try has failed', () => /model openai\/stub of agent \S+ failed/.test(service.printed()))
    const [stored] = await history()
    const reader = await readEvents(client, 'GET', `${session}/messages/${stored!.id}/stream`)
    speak()
    await reader.ended
    assert.deepEqual([reader.text(), (await sending).body.aiMessage?.content], ['ABCDEF', 'ABCDEF'])
  })

  test('before somebody read of it, a stream is of the next try, and of that alone', async () => {
    const { model, stream } = await start({ REPARTEE_MODEL_RETRIES: '1' }, { fallbackModels: ['openai/second'] })
    model.behaviour = byModel({ stub: says(''), second: says('whole') })
    const reader = await stream()
    await reader.ended
    assert.deepEqual([reader.text(), reader.events.at(-1)!.event, model.calls.length], ['whole', 'turn.completed', 3])
  })

  test('it floods: 502 as soon as the reply is too long, and the connection is closed', async () => {
    const { model, send } = await start({ REPARTEE_MAX_REPLY_CHARS: '1000' })
    let isClosed = false
    model.behaviour = (call, response) => {
      response.on('close', () => {
        isClosed = true
      })
      return streams(Array(10_000).fill('flood '), { everyMs: 0 })(call, response)
    }
    isError(await send(), 502, 'model_failed')
    await until('the model is left', () => isClosed)
  })
})

describe('the model refuses to speak', { skip: needsProcess }, () => {
  test('with words: 200, and the refusal is the reply', async () => {
    const { model, send, history } = await start()
    model.behaviour = finishes('I cannot help with that.', 'filtered')
    isOk(await send())
    assert.deepEqual(contents(await history()), ['Hello', 'I cannot help with that.'])
  })

  test('without a word: 502', async () => {
    const { model, send, history } = await start({ REPARTEE_MODEL_RETRIES: '2' })
    model.behaviour = finishes('', 'filtered')
    isError(await send(), 502, 'model_failed')
    assert.equal((await history()).length, 1)
    assert.equal(model.calls.length, 1, 'it would refuse again')
  })
})

describe('the sender', { skip: needsProcess }, () => {
  test('goes away: message and whole reply, and the next text is a new turn', async () => {
    const { client, model, session, send, history } = await start()
    const release = model.hold(says('whole'))
    const leaving = new AbortController()
    const lost = assert.rejects(client.post(`${session}/messages`, { message: 'Hello' }, { signal: leaving.signal }))
    await model.received(1)
    leaving.abort()
    await lost
    release()
    await until('the reply is stored', async () => (await history()).length === 2)
    model.reset()
    isOk(await send())
    assert.equal((await history()).length, 4)
  })

  test('deletes the session meanwhile: 404, nothing is left, and the model is not asked on', async () => {
    const { client, model, session, send } = await start()
    let isClosed = false
    model.behaviour = (_call, response) => response.on('close', () => (isClosed = true))
    const sending = send()
    await model.received(1)
    isOk(await client.delete(session))
    isError(await sending, 404, 'session_not_found')
    isError(await send(), 404, 'session_not_found')
    await until('the model is left', () => isClosed)
  })
})

describe('what goes with a reply fails', { skip: needsProcess }, () => {
  const helpers = /Suggest questions|Name the conversation/
  const replyOnly =
    (helper: Behaviour): Behaviour =>
    (call, response) =>
      (helpers.test(call.body.messages[0]!.content) ? helper : says('the reply'))(call, response)

  for (const [about, behaviour] of [
    ['an error', refuses(500)],
    ['silence', hangs],
    ['garbage', garbage('Half of a reply.')],
    ['no JSON', says('I would rather not.')],
    ['JSON of another shape', says('{"questions":"none"}')],
  ] as [string, Behaviour][]) {
    test(`${about} for follow-ups and name: the reply comes with followUps: []`, async () => {
      const { model, client, session, send, history } = await start(
        { REPARTEE_SIDE_CALL_TIMEOUT_MS: '300' },
        { followUps: { enabled: true }, autoName: true },
      )
      const { name } = (await client.get(session)).body.session
      model.behaviour = replyOnly(behaviour)
      const answer = await send()
      isOk(answer)
      assert.deepEqual(answer.body.followUps, [])
      assert.deepEqual(contents(await history()), ['Hello', 'the reply'])
      await until('both were asked for', () => model.calls.length === 3)
      // Whatever a model says is a name, as long as it says something.
      const names = [name, 'I would rather not', '{"questions":"none"}']
      assert.ok(names.includes((await client.get(session)).body.session.name))
    })
  }
})

describe('the model of an agent is not configured any more', { skip: needsProcess }, () => {
  test('502 that says so, and of the message that is kept', async () => {
    // A name of its own, so that it is nobody else's.
    const { service, client, session, send } = await start({ REPARTEE_MODEL_RETRIES: '0' })
    await service.kill()
    await service.restart({ OPENAI_BASE_URL: '' })
    const answer = await send()
    isError(answer, 502, 'model_failed')
    assert.match(answer.body.error.message, /cannot be used: it is openai\/stub, but OPENAI_API_KEY .*is not set/)
    assert.equal((await client.get(session)).body.messages[0].id, /is stored as (\S+);/.exec(answer.text)![1])
  })
})

describe('the provider is down', { skip: needsProcess }, () => {
  test('after many failures in a row it is left alone, others are not, and then it is tried again', async () => {
    const env = { REPARTEE_BREAKER: 'on', REPARTEE_BREAKER_FAILURES: '3', REPARTEE_BREAKER_PAUSE_MS: '5000' }
    const { model, send } = await start(env)
    model.behaviour = refuses(500)
    for (let i = 0; i < 3; i++) isError(await send(), 502, 'model_failed')
    const spared = await send()
    isError(spared, 502, 'model_failed')
    assert.ok(spared.headers['retry-after'])
    assert.equal(model.calls.length, 3, 'it is not asked')
    model.reset()
    await until('it is tried again', async () => (await send()).status === 200)
  })

  test('a fallback of another provider replies at once meanwhile', async () => {
    const env = { REPARTEE_BREAKER: 'on', REPARTEE_BREAKER_FAILURES: '1', REPARTEE_BREAKER_PAUSE_MS: '60000' }
    const { model, send } = await start(env, { fallbackModels: ['extractive'] })
    model.behaviour = refuses(500)
    for (let i = 0; i < 2; i++) assert.equal((await send(`message ${i}`)).body.aiMessage?.model, 'extractive')
    assert.equal(model.calls.length, 1)
  })
})

describe('more calls than the limit allows', { skip: needsProcess }, () => {
  test('wait, and all are answered; an agent with many does not hold up an agent with one', async () => {
    const { service, model, session, send, newSession } = await start({ REPARTEE_MODEL_CONCURRENCY: '1' })
    let atOnce = 0
    let most = 0
    const { promise: allWait, resolve: goOn } = Promise.withResolvers<void>()
    const order: string[] = []
    model.behaviour = async (call, response) => {
      most = Math.max(most, ++atOnce)
      order.push(call.body.messages.at(-1)!.content)
      await allWait
      atOnce--
      await says('ok')(call, response)
    }
    const more = Array.from({ length: 7 }, () => service.newSession(session.split('/')[2]!))
    const busy = [session, ...(await Promise.all(more))]
    const quiet = await newSession()
    const many = busy.map((path, i) => send(`busy ${i}`, path))
    await model.received(1)
    const one = send('quiet', quiet)
    await until('all turns run', async () => (await gauge(service.client, 'sessions_busy')) === 9)
    await until('each message is stored', async () => {
      const sessions = await Promise.all([...busy, quiet].map((path) => service.client.get(path)))
      return sessions.every(({ body }) => body.messages.length === 1)
    })
    goOn()
    for (const answer of await Promise.all([...many, one])) isOk(answer)
    assert.equal(most, 1)
    assert.ok(order.indexOf('quiet') < 6, `the quiet one is not the last: ${order}`)
  })
})

describe('the database is held by another program', { skip: needsProcess }, () => {
  test('503 and nothing acknowledged; the history is unchanged, and all works when it is back', async () => {
    const { service, client, model, session, send, history } = await start()
    isOk(await send('before'))
    const letGo = await storeOf(service).hold()
    const asked = model.calls.length
    let hasAnswered = false
    const refused = Array.from({ length: 10 }, () => client.patch(session, { name: 'new' }))
    void Promise.race(refused).then(() => (hasAnswered = true))
    await client.get('^/healthz')
    assert.ok(!hasAnswered, 'others do not wait for the database')
    for (const answer of await Promise.all(refused)) isError(answer, 503, 'unavailable')
    isError(await send('meanwhile'), 503, 'unavailable')
    assert.equal(model.calls.length, asked, 'no model is asked about what is not stored')
    await letGo()
    assert.equal((await history()).length, 2)
    isOk(await send('after'))
    assert.equal((await history()).length, 4)
  })

  test('at the end of a turn: the sender is told, and the same text, sent when it is back, continues the message', async () => {
    const { service, model, send, history } = await start()
    const release = model.hold(says('lost'))
    const sending = send()
    await model.received(1)
    const letGo = await storeOf(service).hold()
    release()
    isError(await sending, 503, 'unavailable')
    await letGo()
    const [stored] = await history()
    model.reset()
    assert.equal((await send()).body.userMessage?.id, stored!.id)
    assert.equal((await history()).length, 2)
  })
})

for (const [how, headers] of [
  ['an Idempotency-Key', { 'idempotency-key': 'crash' }],
  ['the header of the OpenAI packages', { 'x-stainless-retry-count': '1' }],
] as const)
  test(`a response whose process died in the turn is made in the same conversation when it is asked for again, with ${how}`, async () => {
    const service = await startService({})
    const agent = await service.newAgent({ model: 'openai/stub' })
    service.model.behaviour = hangs
    const input = [
      { role: 'user', content: 'What is a kettle?' },
      { role: 'assistant', content: 'A vessel.' },
      { role: 'user', content: 'And a lamp?' },
    ]
    const ask = () => service.client.post('^/openai/v1/responses', { model: agent, input, user: 'pat' }, { headers })
    const first = ask().catch(() => undefined)
    await service.model.received(1)
    await service.kill()
    await first
    await service.restart()
    service.model.behaviour = says('A light.')
    assert.equal((await ask()).status, 200)
    const { sessions } = (await service.client.get(`/agents/${agent}/sessions`)).body
    assert.deepEqual(
      sessions.map(({ totalMessages }: { totalMessages: number }) => totalMessages),
      [4],
    )
    await service.stop()
  })
