// Specification 4.6: one turn at a time, in order of arrival; nothing is lost, nothing is doubled
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import type { Answer } from '../support/client.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())
let session: string
beforeEach(async () => {
  model.reset()
  session = await service.newSession(await service.newAgent())
})

interface Message {
  role: string
  content: string
  createdAt: string
}
const send = (message: string, path = session) => client.post(`${path}/messages`, { message })
const history = async (): Promise<Message[]> => (await client.get(session)).body.messages
const echo = says((call) => `to ${call.body.messages.at(-1)!.content}`)

function isOrdered(messages: Message[]): void {
  messages.forEach((message, i) => {
    assert.equal(message.role, i % 2 === 0 ? 'USER' : 'AI', 'a reply stands right behind its message')
    if (i % 2 === 1) assert.equal(message.content, `to ${messages[i - 1]!.content}`)
    if (i > 0) assert.ok(message.createdAt >= messages[i - 1]!.createdAt, 'history is ascending')
  })
}

describe('4.6 the order of sends', { skip: needsProcess }, () => {
  test('sends to a busy session wait in arrival order, and each sees the turns before it', async () => {
    model.behaviour = echo
    const texts = Array.from({ length: 8 }, (_, i) => `message ${i}`)
    // Pipelined on one connection, so that the order of arrival is certain.
    const bytes = texts.map((message, i) =>
      client.bytesOf('POST', `${session}/messages`, { message }, i === texts.length - 1 ? ['Connection: close'] : []),
    )
    const answers = await client.raw(bytes.join(''))
    assert.equal(answers.match(/HTTP\/1\.1 200 /g)?.length, texts.length)
    const messages = await history()
    isOrdered(messages)
    assert.deepEqual(
      messages.filter(({ role }) => role === 'USER').map(({ content }) => content),
      texts,
    )
    assert.deepEqual(
      model.calls.map(({ body }) => body.messages.length),
      texts.map((_, i) => 2 * i + 1),
    )
  })

  test('a session has one turn at a time; another session does not wait for it', async () => {
    const release = model.hold(echo)
    const waiting = [send('one'), send('two')]
    await model.received(1)
    const held = model.behaviour
    model.behaviour = echo
    isOk(await send('elsewhere', await service.newSession(session.split('/')[2]!)))
    assert.equal(model.calls.length, 2, 'the second message of the busy session was not asked yet')
    model.behaviour = held
    release()
    for (const answer of await Promise.all(waiting)) isOk(answer)
    isOrdered(await history())
  })

  test('409 session_busy with Retry-After beyond 16 waiting; nothing of it is stored, all others are answered', async () => {
    const release = model.hold(echo)
    const first = send('message 0')
    await model.received(1)
    const refused = Promise.withResolvers<Answer>()
    const others = Array.from({ length: 17 }, async (_, i) => {
      const answer = await send(`message ${i + 1}`)
      if (answer.status !== 200) refused.resolve(answer)
      return answer
    })
    const busy = await refused.promise
    isError(busy, 409, 'session_busy')
    assert.match(busy.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    release()
    const statuses = (await Promise.all([first, ...others])).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, 17)
    const messages = await history()
    assert.equal(messages.length, 34)
    isOrdered(messages)
  })

  test('a busy session can be read, and shows the message of the running turn', async () => {
    const release = model.hold(echo)
    const sending = send('running')
    await model.received(1)
    // The model may have been asked for the name of a session of the test before.
    await until('the message is stored', async () => (await history()).length > 0)
    assert.deepEqual(
      (await history()).map(({ role, content }) => [role, content]),
      [['USER', 'running']],
    )
    assert.equal((await client.get(`${session}/messages`)).body.pagination.total, 1)
    release()
    isOk(await sending)
  })

  test('a client that goes away: the turn is finished and stored all the same', async () => {
    const release = model.hold(echo)
    const leaving = new AbortController()
    const sending = client.post(`${session}/messages`, { message: 'I leave' }, { signal: leaving.signal })
    await model.received(1)
    leaving.abort()
    await assert.rejects(sending)
    release()
    await until('the reply is stored', async () => (await history()).length === 2)
    isOrdered(await history())
    model.behaviour = echo
    isOk(await send('and the session is free'))
  })

  test('a client that goes away while it waits for its turn', async () => {
    const release = model.hold(echo)
    const sending = send('one')
    await model.received(1)
    const leaving = new AbortController()
    const second = client.post(`${session}/messages`, { message: 'two' }, { signal: leaving.signal })
    const third = send('three')
    leaving.abort()
    await assert.rejects(second)
    release()
    isOk(await sending)
    isOk(await third)
    isOrdered(await history())
  })
})

describe('4.6 how long a send waits', { skip: needsProcess }, () => {
  let impatient: Service
  after(() => impatient?.stop())

  test('409 session_busy where its turn does not come in time', async () => {
    impatient = await startService({ REPARTEE_MAX_WAIT_MS: '100' })
    const path = await impatient.newSession(await impatient.newAgent())
    const release = impatient.model.hold()
    const sending = impatient.client.post(`${path}/messages`, { message: 'one' })
    await impatient.model.received(1)
    const late = await impatient.client.post(`${path}/messages`, { message: 'two' })
    isError(late, 409, 'session_busy')
    assert.ok(late.headers['retry-after'])
    release()
    isOk(await sending)
    assert.equal((await impatient.client.get(path)).body.messages.length, 2)
  })
})
