// The contract of streams: what a sender sees who asks for events, and who takes a dropped stream up again
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { EventSource } from 'eventsource'
import { hasFields, isError, isOk } from '../support/assert.ts'
import { type EventReader, readEvents } from '../support/events.ts'
import { refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const service = await startService({ REPARTEE_HEARTBEAT_MS: '200' })
const { client, model } = service
after(() => service.stop())
let agent: string
let session: string
let speaker: Speaker
beforeEach(async () => {
  model.reset()
  agent = await service.newAgent()
  session = await service.newSession(agent)
  speaker = new Speaker()
})

const send = (message = 'Hello', more: object = {}, headers = {}) =>
  readEvents(client, 'POST', `${session}/messages`, { body: { message, ...more }, headers })
const resume = (messageId: string, lastEventId?: string) =>
  readEvents(client, 'GET', `${session}/messages/${messageId}/stream`, {
    headers: lastEventId === undefined ? {} : { 'last-event-id': lastEventId },
  })
const names = ({ events }: EventReader) => [...new Set(events.map(({ event }) => event))]
const history = async () => (await client.get(session)).body.messages
/** A stream whose model has said these words, and goes on when the test says so. */
const begun = async (...pieces: string[]) => {
  model.behaviour = speaker.behaviour
  const reader = await send()
  await speaker.say(...pieces)
  await reader.textOf(pieces.join('').length)
  const { data } = await reader.find('turn.started')
  return { reader, messageId: data.userMessage.id as string }
}

describe('streaming: the events of a turn', () => {
  test('turn.started, message.delta and turn.completed, each with an id of its own; the last is the whole ordinary answer', async () => {
    const { reader } = await begun('Good ', 'day', ', you.')
    await speaker.end()
    await reader.ended
    assert.deepEqual(names(reader), ['turn.started', 'message.delta', 'turn.completed'])
    const ids = reader.events.map(({ id }) => id)
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(ids.every((id) => id !== ''))
    const [started] = reader.events
    hasFields(started!.data, 'chatSession', 'userMessage')
    assert.equal(reader.text(), 'Good day, you.')
    const { data } = reader.events.at(-1)!
    hasFields(data, 'success', 'chatSession', 'userMessage', 'aiMessage')
    assert.equal(data.success, true)
    assert.deepEqual(data.userMessage, started!.data.userMessage)
    assert.equal(data.aiMessage.content, 'Good day, you.')
    assert.deepEqual(
      (await history()).map((m: object) => m),
      [data.userMessage, (({ model: _, ...message }) => message)(data.aiMessage)],
    )
  })

  test('headers: an event stream that nobody stores or buffers', async () => {
    const { reader } = await begun('x')
    assert.equal(reader.status, 200)
    assert.equal(reader.headers['content-type'], 'text/event-stream; charset=utf-8')
    assert.equal(reader.headers['x-accel-buffering'], 'no')
    assert.equal(reader.headers['cache-control'], 'no-store')
    assert.equal(reader.headers['x-content-type-options'], 'nosniff')
    assert.ok(reader.headers['x-request-id'])
    await speaker.end()
    await reader.ended
  })

  test('the text comes while the model still speaks', async () => {
    const { reader } = await begun('first')
    assert.equal(reader.text(), 'first')
    assert.equal((await history()).length, 1, 'no half reply in the history')
    await speaker.say(' second')
    await reader.textOf(12)
    await speaker.end()
    await reader.find('turn.completed')
  })

  test('a comment keeps a silent line open', async () => {
    const { reader } = await begun('x')
    await until('two comments', () => reader.comments.length >= 2)
    await speaker.end()
    await reader.ended
  })

  test('extras, followUps and format stand in the last event as in an ordinary answer', async () => {
    await client.patch(`/agents/${agent}`, { followUps: { enabled: true } })
    model.behaviour = says('**yes**')
    const reader = await send('Hello', { include: ['sources', 'usage', 'trace'], format: 'html' })
    await reader.ended
    const { data } = reader.events.at(-1)!
    hasFields(data, 'success', 'chatSession', 'userMessage', 'aiMessage', 'followUps', 'sources', 'usage', 'trace')
    assert.equal(reader.text(), '**yes**', 'deltas are Markdown')
    assert.equal(data.aiMessage.content.trim(), '<p><strong>yes</strong></p>')
    assert.equal(data.usage.tokensIn, 21)
  })

  test('pieces cut through characters come out whole', async () => {
    model.behaviour = says('Grüße 😀 漢字 \u0000end')
    const reader = await send()
    await reader.ended
    assert.equal(reader.text(), 'Grüße 😀 漢字 \uFFFDend')
    assert.equal(reader.events.at(-1)!.data.aiMessage.content, reader.text())
  })

  test('the extractive model streams too', async () => {
    const extractive = await service.newAgent({ model: 'extractive' })
    const path = await service.newSession(extractive)
    const reader = await readEvents(client, 'POST', `${path}/messages`, { body: { message: 'Anything?' } })
    await reader.ended
    assert.deepEqual(names(reader), ['turn.started', 'message.delta', 'turn.completed'])
    assert.equal(reader.text(), reader.events.at(-1)!.data.aiMessage.content)
  })
})

describe('streaming: who is asked for events', () => {
  for (const [accept, events] of [
    ['text/event-stream', true],
    ['TEXT/event-stream; q=0.9', true],
    ['text/event-stream, application/json', true],
    ['application/json, text/event-stream', false],
    ['application/json;q=0.5, text/event-stream', true],
    ['text/event-stream;q=0', false],
    ['application/json', false],
    ['*/*', false],
  ] as const) {
    test(`Accept: ${accept} is answered with ${events ? 'events' : 'JSON'}`, async () => {
      const { headers } = await client.post(`${session}/messages`, { message: 'Hello' }, { headers: { accept } })
      assert.equal(headers['content-type'], events ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8')
    })
  }

  test('nothing is written before the turn starts: 400, 404 and 409 stay plain JSON', { skip: needsProcess }, async () => {
    const headers = { accept: 'text/event-stream' }
    isError(await client.post(`${session}/messages`, { message: '' }, { headers }), 400, 'invalid_request')
    const nowhere = session.replace(/[^/]+$/, randomUUID())
    isError(await client.post(`${nowhere}/messages`, { message: 'x' }, { headers }), 404, 'session_not_found')
    const release = model.hold()
    const sends = Array.from({ length: 18 }, (_, i) => client.post(`${session}/messages`, { message: `${i}` }, { headers }))
    const busy = await Promise.race(sends)
    isError(busy, 409, 'session_busy')
    release()
    await Promise.all(sends)
  })
})

describe('streaming: a turn that fails', { skip: needsProcess }, () => {
  const failed = async (reader: EventReader, code: string) => {
    await reader.ended
    const { event, data } = reader.events.at(-1)!
    assert.equal(event, 'turn.failed')
    hasFields(data, 'error')
    assert.equal(data.error.code, code)
    const [stored] = await history()
    assert.ok(JSON.stringify(data.error.details).includes(stored.id))
    assert.equal((await history()).length, 1, 'no half reply')
    return stored
  }

  test('before its first word: turn.failed, and the same text continues the message', async () => {
    model.behaviour = refuses(500)
    const stored = await failed(await send(), 'model_failed')
    model.reset()
    const again = await send()
    await again.ended
    assert.deepEqual(again.events[0]!.data.userMessage, stored)
  })

  test('in mid-reply: turn.failed, never a short reply as a success, and nothing is tried again that was read', async () => {
    const { reader } = await begun('Half of')
    await speaker.cut()
    await failed(reader, 'model_failed')
    assert.equal(model.calls.length, 1)
  })

  test('a session that is deleted meanwhile ends the stream with session_not_found', async () => {
    const { reader } = await begun('Half of')
    isOk(await client.delete(session))
    await reader.ended
    assert.equal(reader.events.at(-1)!.data.error.code, 'session_not_found')
    await speaker.left
  })
})

describe('streaming: a reader that goes away', { skip: needsProcess }, () => {
  test('the turn is finished and stored all the same', async () => {
    const { reader } = await begun('I go')
    reader.leave()
    await speaker.say(' on')
    await speaker.end()
    await until('the reply is stored', async () => (await history()).length === 2)
    assert.equal((await history())[1].content, 'I go on')
  })

  test('takes the stream up behind Last-Event-ID: no text twice, none left out', async () => {
    const { reader, messageId } = await begun('one ', 'two ')
    reader.leave()
    await speaker.say('three ')
    const again = await resume(messageId, reader.events.at(-1)!.id)
    await speaker.say('four')
    await speaker.end()
    await again.ended
    assert.deepEqual(names(again), ['message.delta', 'turn.completed'])
    assert.equal(reader.text() + again.text(), 'one two three four')
    assert.equal(again.events.at(-1)!.data.aiMessage.content, 'one two three four')
  })

  test('from any event on', async () => {
    const { reader, messageId } = await begun('a', 'bc', 'def')
    for (const [i, { id }] of reader.events.entries()) {
      const again = await resume(messageId, id)
      const missing = 'abcdef'.slice(reader.events.slice(1, i + 1).reduce((n, e) => n + e.data.text.length, 0))
      await again.textOf(missing.length)
      assert.equal(again.text(), missing)
      again.leave()
    }
    await speaker.end()
    await reader.ended
  })

  test('without a Last-Event-ID, or with one of another run, it starts from the beginning', async () => {
    const { reader, messageId } = await begun('abc')
    for (const id of [undefined, '000000000000-2', 'nonsense']) {
      const again = await resume(messageId, id)
      await again.textOf(3)
      assert.deepEqual(names(again), ['turn.started', 'message.delta'])
      assert.equal(again.text(), 'abc')
      again.leave()
    }
    await speaker.end()
    await reader.ended
  })

  test('once the turn has ended there is its last event alone, also after a restart', async () => {
    const { reader, messageId } = await begun('all of it')
    await speaker.end()
    await reader.ended
    const last = reader.events.at(-1)!
    for (const restarted of [false, true]) {
      if (restarted) {
        await service.kill()
        await service.restart()
      }
      const again = await resume(messageId, reader.events[1]!.id)
      await again.ended
      assert.deepEqual(
        again.events.map(({ event, data }) => [event, data]),
        [['turn.completed', last.data]],
      )
    }
  })

  test('what was asked for with the message is in the last event that is read later', async () => {
    model.behaviour = says('yes')
    const sent = await send('Hello', { include: ['usage', 'trace', 'sources'] })
    await sent.ended
    const last = sent.events.at(-1)!
    const again = await resume(last.data.userMessage.id)
    await again.ended
    const { trace, ...rest } = again.events.at(-1)!.data
    const { trace: sentTrace, ...sentRest } = last.data
    assert.deepEqual(rest, sentRest)
    assert.deepEqual(trace.attempts, sentTrace.attempts)
  })

  test('of a turn that failed there is turn.failed, with the same error', async () => {
    model.behaviour = refuses(503)
    const sent = await send()
    await sent.ended
    const [stored] = await history()
    const again = await resume(stored.id)
    await again.ended
    const [only] = again.events
    assert.equal(again.events.length, 1)
    assert.equal(only!.event, 'turn.failed')
    assert.deepEqual([only!.data.error.code, only!.data.error.message], ['model_failed', sent.events.at(-1)!.data.error.message])
  })

  test('of a turn that a crash cut off there is turn.failed, 204 after it, and the text sent again continues it', async () => {
    const { reader, messageId } = await begun('half')
    const broken = assert.rejects(reader.ended)
    await service.kill()
    await broken
    await service.restart()
    const again = await resume(messageId, reader.events.at(-1)!.id)
    await again.ended
    const last = again.events.at(-1)!
    assert.equal(last.data.error.code, 'unavailable')
    const { status } = await client.get(`${session}/messages/${messageId}/stream`, { headers: { 'last-event-id': last.id } })
    assert.equal(status, 204)
    model.reset()
    const next = await client.post(`${session}/messages`, { message: 'Hello' })
    assert.equal(next.body.userMessage.id, messageId)
  })

  test('204 where the last event was seen, also after a restart, and not for that of an earlier run', async () => {
    const statusAfter = async (messageId: string, id: string) =>
      (await client.get(`${session}/messages/${messageId}/stream`, { headers: { 'last-event-id': id } })).status
    model.behaviour = refuses(503)
    const failed = await send()
    await failed.ended
    const [{ id: messageId }] = await history()
    const failedEnd = failed.events.at(-1)!.id
    assert.equal(await statusAfter(messageId, failedEnd), 204)
    model.reset()
    const sent = await send()
    await sent.ended
    const [started, completed] = [sent.events[0]!, sent.events.at(-1)!]
    assert.equal(started.data.userMessage.id, messageId, 'the failed message is continued')
    for (const restarted of [false, true]) {
      if (restarted) {
        await service.kill()
        await service.restart()
      }
      assert.equal(await statusAfter(messageId, completed.id), 204)
      assert.equal(await statusAfter(messageId, started.id), 200)
      assert.equal(await statusAfter(messageId, failedEnd), 200)
      const again = await resume(messageId)
      await again.ended
      assert.equal(await statusAfter(messageId, again.events.at(-1)!.id), 204)
    }
    const answer = await client.get(`${session}/messages/${messageId}/stream`, { headers: { 'last-event-id': completed.id } })
    assert.deepEqual([answer.text, answer.headers['content-type']], ['', undefined])
  })

  test('an EventSource that is left open stops after the last event', async () => {
    const messageId = (await client.post(`${session}/messages`, { message: 'Hello' })).body.userMessage.id
    const source = new EventSource(`${client.address.baseUrl}${session}/messages/${messageId}/stream`, {
      fetch: (url, init) => fetch(url, { ...init, headers: { ...init.headers, 'X-API-Key': client.key } }),
    })
    let completed = 0
    source.addEventListener('turn.completed', () => completed++)
    try {
      await until('it is closed', () => source.readyState === source.CLOSED)
    } finally {
      source.close()
    }
    assert.equal(completed, 1)
  })

  test('two may read at once', async () => {
    const { reader, messageId } = await begun('for ')
    const other = await resume(messageId)
    await speaker.say('both')
    await speaker.end()
    await Promise.all([reader.ended, other.ended])
    assert.equal(other.text(), 'for both')
    assert.deepEqual(other.events.at(-1)!.data, reader.events.at(-1)!.data)
  })

  test('an EventSource as browsers have it reads on over a broken connection, and gets every word once', async () => {
    const { reader, messageId } = await begun('one ')
    reader.leave()
    let opened = 0
    const source = new EventSource(`${client.address.baseUrl}${session}/messages/${messageId}/stream`, {
      fetch: async (url, init) => {
        const answer = await fetch(url, { ...init, headers: { ...init.headers, 'X-API-Key': client.key } })
        if (opened++ > 0) return answer
        // The connection breaks when the first word has been read.
        const broken = new TransformStream({
          start: (controller) => {
            until('the first word', () => words.length === 1).then(() => controller.error(new TypeError('terminated')))
          },
        })
        return Object.defineProperty(answer, 'body', { value: answer.body!.pipeThrough(broken) })
      },
    })
    const words: string[] = []
    source.addEventListener('message.delta', ({ data }) => words.push(JSON.parse(data).text))
    const completed = new Promise<string>((resolve) => source.addEventListener('turn.completed', ({ data }) => resolve(data)))
    await until('it has come back', () => opened === 2)
    await speaker.say('two ', 'three')
    await speaker.end()
    const answer = JSON.parse(await completed)
    source.close()
    assert.equal(answer.aiMessage.content, 'one two three')
    assert.equal(words.join(''), 'one two three')
  })
})

describe('streaming: what a stream is refused for', () => {
  test('404 for a message that is not there, or is of another session; 400 for a reply, and for no UUID', async () => {
    const answer = await client.post(`${session}/messages`, { message: 'Hello' })
    const path = (id: string) => `${session}/messages/${id}/stream`
    isError(await client.get(path(randomUUID())), 404, 'message_not_found')
    const other = await service.newSession(agent)
    isError(await client.get(`${other}/messages/${answer.body.userMessage.id}/stream`), 404, 'message_not_found')
    isError(await client.get(path(answer.body.aiMessage.id)), 400, 'invalid_request', 'path.messageId')
    isError(await client.get(path('x')), 400, 'invalid_request', 'path.messageId')
  })

  test('a key of another agent is told what it is told of a session that does not exist', async () => {
    const answer = await client.post(`${session}/messages`, { message: 'Hello' })
    const other = await service.newAgent()
    const { body } = await client.post('/keys', { name: 'other', scopes: ['chat'], agentIds: [other] })
    const path = `${session}/messages/${answer.body.userMessage.id}/stream`
    isError(await client.as(body.secret).get(path), 404, 'agent_not_found')
  })

  test('a key that is revoked while it waits for its turn gets no stream', { skip: needsProcess }, async () => {
    const { body: waiting } = await client.post('/keys', { name: 'k', scopes: ['chat'] })
    await begun('One')
    const release = model.hold(says('for nobody'))
    const second = readEvents(client.as(waiting.secret), 'POST', `${session}/messages`, { body: { message: 'Two' } })
    second.catch(() => {})
    await pause(100)
    isOk(await client.delete(`/keys/${waiting.key.id}`))
    await speaker.end()
    release()
    // It was let in: it is cut off, and not refused.
    await assert.rejects(
      second.then(({ ended }) => ended),
      /broke off|aborted|socket hang up/,
    )
  })

  test('a revoked key has its streams cut, at once, and the turn goes on', { skip: needsProcess }, async () => {
    const { body } = await client.post('/keys', { name: 'short', scopes: ['chat'] })
    model.behaviour = speaker.behaviour
    const reader = await readEvents(client.as(body.secret), 'POST', `${session}/messages`, { body: { message: 'Hello' } })
    await speaker.say('x')
    await reader.textOf(1)
    const cut = assert.rejects(reader.ended)
    isOk(await client.delete(`/keys/${body.key.id}`))
    await cut
    await speaker.end()
    await until('the reply is stored', async () => (await history()).length === 2)
  })
})
