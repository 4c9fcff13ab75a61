// The client reads the turns of a real service, over connections that break: nothing is lost, and nothing comes twice.
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import {
  answerOf,
  type ConnectionOptions,
  Repartee,
  ReparteeError,
  type TurnEvent,
  type TurnStream,
} from '../../client/src/index.ts'
import { BreakingProxy } from '../support/breaking-proxy.ts'
import { fails, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const service = await startService({ REPARTEE_HEARTBEAT_MS: '100' })
const { model } = service
let proxy = new BreakingProxy(() => Number(new URL(service.client.address.baseUrl).port))
let port = await proxy.listen()
after(async () => {
  proxy.close()
  await service.stop()
})

let agentId: string
let sessionId: string
let speaker: Speaker
const direct = () => new Repartee({ baseUrl: service.client.address.baseUrl, key: service.client.key })
/** Through the proxy. */
const open = (options: Partial<ConnectionOptions> = {}) =>
  new Repartee({ baseUrl: `http://127.0.0.1:${port}/v1`, key: service.client.key, retryDelayMs: 5, ...options })
beforeEach(async () => {
  model.reset()
  proxy.close()
  proxy = new BreakingProxy(() => Number(new URL(service.client.address.baseUrl).port))
  port = await proxy.listen()
  agentId = await service.newAgent()
  sessionId = (await direct().sessions.create({ agentId })).session.id
  speaker = new Speaker()
  model.behaviour = speaker.behaviour
})

const history = async () =>
  (await direct().sessions.get({ agentId, sessionId })).messages.map(({ role, content }) => `${role} ${content}`)

/** Reads a turn as it comes. */
function follow(turn: TurnStream) {
  const events: TurnEvent[] = []
  const ended = (async () => {
    for await (const event of turn) events.push(event)
  })()
  ended.catch(() => {})
  const text = () => events.map((event) => (event.type === 'message.delta' ? event.text : '')).join('')
  return { events, ended, text, has: (words: string) => until(words, () => text() === words || undefined) }
}

const pieces = Array.from({ length: 400 }, (_, i) => `piece ${i} – 家 😀\n`)

describe('a stream whose connections break', () => {
  for (const how of ['cut', 'silence'] as const) {
    test(`is read whole, each piece once: ${how}`, { skip: needsProcess }, async () => {
      const breaks = how === 'cut' ? 12 : 4
      proxy.fate = (i) => (i < breaks ? { afterBytes: (i === 0 ? 1_500 : 700) + ((i * 331) % 900), how } : undefined)
      const { events, ended, has } = follow(
        open({ silenceMs: 1_500 }).messages.stream({ agentId, sessionId, message: 'Tell me' }),
      )
      await until('it has begun', () => events.length > 0)
      for (let said = 10; said <= pieces.length; said += 10) {
        await speaker.say(...pieces.slice(said - 10, said))
        await has(pieces.slice(0, said).join(''))
      }
      await speaker.end()
      await ended
      assert.ok(proxy.connections >= breaks, `only ${proxy.connections} connections, of which ${breaks} were to break`)
      assert.deepEqual(
        events.filter(({ type }) => type !== 'message.delta').map(({ type }) => type),
        ['turn.started', 'turn.completed'],
      )
      const [last] = events.slice(-1)
      assert.equal(last?.type === 'turn.completed' && last.answer.aiMessage.content, pieces.join(''))
      assert.deepEqual(await history(), ['USER Tell me', `AI ${pieces.join('')}`])
    })
  }

  test('before its first event is asked for again, and the message is stored once', { skip: needsProcess }, async () => {
    proxy.fate = (i, bytes) => (i < 3 && bytes.startsWith('POST') ? { afterBytes: i * 100, how: 'cut' } : undefined)
    const answer = answerOf(open().messages.stream({ agentId, sessionId, message: 'Tell me' }))
    await until('it is asked for again', () => proxy.connections > 2)
    await speaker.say('Once.')
    await speaker.end()
    assert.equal((await answer).aiMessage.content, 'Once.')
    assert.deepEqual(await history(), ['USER Tell me', 'AI Once.'])
  })

  test('that cannot be taken up again is an error', { skip: needsProcess }, async () => {
    proxy.fate = (i) => ({ afterBytes: i === 0 ? 1_500 : 0, how: 'cut' })
    const { ended, events } = follow(open({ maxRetries: 2 }).messages.stream({ agentId, sessionId, message: 'Tell me' }))
    await until('it has begun', () => events.length > 0)
    await speaker.say(...pieces)
    await assert.rejects(ended, { name: 'ReparteeError', code: 'connection_failed' })
    assert.equal(events[0]?.type, 'turn.started')
    assert.equal(proxy.connections, 4)
  })

  test('when the turn has ended meanwhile ends with the whole answer', { skip: needsProcess }, async () => {
    proxy.fate = (i) => (i === 0 ? { afterBytes: 1_500, how: 'silence' } : undefined)
    const { ended, events } = follow(open({ silenceMs: 1_500 }).messages.stream({ agentId, sessionId, message: 'Tell me' }))
    await until('it has begun', () => events.length > 0)
    await speaker.say(...pieces)
    await speaker.end()
    await ended
    const last = events.at(-1)
    assert.equal(last?.type === 'turn.completed' && last.answer.aiMessage.content, pieces.join(''))
  })

  test('when a reply is made anew is taken up as well', { skip: needsProcess }, async () => {
    model.behaviour = says('The first.')
    const { aiMessage } = await open().messages.send({ agentId, sessionId, message: 'Tell me' })
    model.behaviour = speaker.behaviour
    proxy.fate = (i) => (i < 12 ? { afterBytes: 1_500, how: 'cut' } : undefined)
    const { ended, events, has } = follow(open().messages.streamRegenerate({ agentId, sessionId, messageId: aiMessage.id }))
    await until('it has begun', () => events.length > 0)
    await speaker.say(...pieces)
    await has(pieces.join(''))
    await speaker.end()
    await ended
    const last = events.at(-1)
    assert.equal(last?.type === 'turn.completed' && last.answer.aiMessage.id, aiMessage.id)
    assert.deepEqual(await history(), ['USER Tell me', `AI ${pieces.join('')}`])
  })

  test('because the token is over goes on with a fresh one', { skip: needsProcess }, async () => {
    const externalUserId = crypto.randomUUID()
    const { session } = await direct().sessions.create({ agentId, externalUserId })
    let tokens = 0
    const token = async () => {
      tokens++
      return (await direct().tokens.create({ agentId, externalUserId, ttlSeconds: tokens === 1 ? 1 : 60 })).token
    }
    const { ended, has } = follow(
      open({ key: undefined, token }).messages.stream({ agentId, sessionId: session.id, message: 'Tell me' }),
    )
    await speaker.say('One. ')
    await has('One. ')
    await until('a fresh one is got', () => tokens === 2)
    await speaker.say('Two.')
    await has('One. Two.')
    await speaker.end()
    await ended
  })
})

describe('a stream', () => {
  test('of a turn that is taken up later begins at its beginning, or behind an event', async () => {
    const first = follow(open().messages.stream({ agentId, sessionId, message: 'Tell me' }))
    await speaker.say('One. ')
    await first.has('One. ')
    const [started, delta] = first.events
    const messageId = started?.type === 'turn.started' ? started.userMessage.id : ''
    assert.equal((await open().messages.get({ agentId, sessionId, messageId })).message.turn, 'running')
    const whole = follow(open().messages.resume({ agentId, sessionId, messageId }))
    const behind = follow(open().messages.resume({ agentId, sessionId, messageId, lastEventId: delta!.id }))
    await whole.has('One. ')
    await speaker.say('Two.')
    await Promise.all([whole.has('One. Two.'), behind.has('Two.')])
    await speaker.end()
    await Promise.all([first.ended, whole.ended, behind.ended])
    assert.deepEqual(whole.events[0], started)
    assert.equal(behind.events[0]?.type, 'message.delta')
  })

  test('of a turn whose last event was seen ends without an event', async () => {
    model.behaviour = says('All of it.')
    const events = await Array.fromAsync(open().messages.stream({ agentId, sessionId, message: 'Tell me' }))
    const last = events.at(-1)!
    assert.ok(last.type === 'turn.completed')
    const resumed = open().messages.resume({ agentId, sessionId, messageId: last.answer.userMessage.id, lastEventId: last.id })
    assert.deepEqual(await Array.fromAsync(resumed), [])
  })

  test('ends with the error of a turn that fails, and the same text continues its message', async () => {
    model.behaviour = fails('Half')
    const send = () => answerOf(open().messages.stream({ agentId, sessionId, message: 'Tell me' }))
    await assert.rejects(send(), (error) => {
      assert.ok(error instanceof ReparteeError)
      assert.equal(error.code, 'model_failed')
      assert.match(error.requestId!, /^[\w-]+$/)
      assert.equal(error.status, undefined)
      return true
    })
    model.behaviour = says('Whole.')
    assert.equal((await send()).aiMessage.content, 'Whole.')
    assert.deepEqual(await history(), ['USER Tell me', 'AI Whole.'])
  })

  test('is refused as a request is', async () => {
    const turn = open().messages.stream({ agentId, sessionId: crypto.randomUUID(), message: 'Tell me' })
    await assert.rejects(answerOf(turn), { code: 'session_not_found', status: 404 })
  })

  test('that its reader leaves, or stops, is closed, and the turn goes on', async () => {
    const controller = new AbortController()
    const { ended, has } = follow(
      open().messages.stream({ agentId, sessionId, message: 'Tell me' }, { signal: controller.signal }),
    )
    await speaker.say('One. ')
    await has('One. ')
    controller.abort()
    await assert.rejects(ended, { name: 'ReparteeError', code: 'aborted' })
    await speaker.say('Two.')
    await speaker.end()
    await until('it is stored', async () => (await history()).length === 2)
    assert.deepEqual(await history(), ['USER Tell me', 'AI One. Two.'])
    model.behaviour = says('Three.')
    for await (const { type } of open().messages.stream({ agentId, sessionId, message: 'Go on' })) {
      assert.equal(type, 'turn.started')
      break
    }
    await until('that is stored too', async () => (await history()).at(-1) === 'AI Three.')
  })

  test('is stopped at the service by cancel, and what was said is the reply', async () => {
    const seen: string[] = []
    const turn = open().messages.stream({ agentId, sessionId, message: 'Tell me' })
    const { value } = await turn.next()
    assert.ok(value?.type === 'turn.started')
    const answer = answerOf(turn, (text) => seen.push(text))
    await speaker.say('One. ')
    await until('it is read', () => seen.at(-1) === 'One. ')
    await speaker.say('Two.')
    await until('the text grows', () => seen.at(-1) === 'One. Two.')
    const { message } = await open().messages.cancel({ agentId, sessionId, messageId: value.userMessage.id })
    assert.equal(message.turn, 'cancelled')
    assert.equal((await answer).aiMessage.content, 'One. Two.')
  })

  test('of a service that is killed ends with an error, and the same text continues its message', {
    skip: needsProcess,
  }, async () => {
    const { ended, has } = follow(open({ maxRetries: 50 }).messages.stream({ agentId, sessionId, message: 'Tell me' }))
    await speaker.say('One. ')
    await has('One. ')
    await service.kill()
    await service.restart()
    await assert.rejects(ended, { name: 'ReparteeError', code: 'unavailable' })
    model.behaviour = says('Whole.')
    await open().messages.send({ agentId, sessionId, message: 'Tell me' })
    assert.deepEqual(await history(), ['USER Tell me', 'AI Whole.'])
  })
})
