// The contract of one message: reading it, cancelling its turn, making a reply anew, saying whether it was good
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { hangs, refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())
let session: string
let speaker: Speaker
beforeEach(async () => {
  model.reset()
  session = await service.newSession(await service.newAgent())
  speaker = new Speaker()
})
const send = (message = 'Hello', more: object = {}) => client.post(`${session}/messages`, { message, ...more })
const path = (id: string, what = '') => `${session}/messages/${id}${what}`
const history = async () => (await client.get(session)).body.messages
/** The id of the message whose turn runs. */
const running = () => until('the message is stored', async () => (await history()).at(-1)?.id as string | undefined)

describe('one message', () => {
  test('of a user and of the agent, with what became of the turn', async () => {
    const { body } = await send()
    for (const message of [body.userMessage, body.aiMessage]) {
      const answer = await client.get(path(message.id))
      isOk(answer)
      hasFields(answer.body, 'success', 'message')
      const { model: _, ...plain } = message
      const { sources: __, ...rest } = answer.body.message
      assert.deepEqual(rest, { ...plain, type: 'TEXT', turn: 'done', ...(message.role === 'AI' && { format: 'markdown' }) })
    }
  })

  test('tells the format of a reply', async () => {
    const { aiMessage } = (await send('Hello', { format: 'html' })).body
    assert.equal((await client.get(path(aiMessage.id))).body.message.format, 'html')
  })

  test('has the same model in every response, named as its agent names it', { skip: needsProcess }, async () => {
    const { aiMessage, trace } = (await send('Hello', { include: ['trace'] })).body
    assert.deepEqual([aiMessage.model, trace.attempts[0].model], ['openai/stub', 'openai/stub'])
    isOk(await client.patch(session.split('/sessions')[0]!, { model: 'extractive' }))
    const again = await client.post(path(aiMessage.id, '/regenerate'), {})
    assert.equal(again.body.aiMessage.model, 'extractive')
    const { versions } = (await client.get(path(aiMessage.id, '/versions'))).body
    assert.equal(versions[0].model, 'openai/stub')
    isOk(await client.patch(session.split('/sessions')[0]!, { model: 'openai/stub' }))
    const stream = await readEvents(client, 'POST', path(aiMessage.id, '/regenerate'), { body: {} })
    assert.equal((await stream.find('turn.completed')).data.aiMessage.model, 'openai/stub')
    const { message } = (await client.get(path(aiMessage.id, '?include=model'))).body
    assert.equal(message.model, 'openai/stub')
    const { models } = (await client.get('/models')).body
    assert.ok(models.some(({ id }: { id: string }) => id === message.model))
  })

  test('tells how its reply came about, to those who ask for it', async () => {
    const { body } = await send('Hello', { include: ['trace', 'usage'] })
    const plain = (await send()).body
    const read = async (id: string, include: string) => (await client.get(path(id, `?include=${include}`))).body.message
    const { trace, usage, model: by } = await read(body.aiMessage.id, 'trace,usage,model')
    assert.deepEqual({ ...trace, timings: [] }, { ...body.trace, timings: [] })
    assert.deepEqual(trace.timings.map(({ step }: { step: string }) => step).slice(0, 2), ['retrieve', 'generate'])
    assert.deepEqual([usage, by], [body.usage, body.aiMessage.model])
    const unasked = await read(plain.aiMessage.id, 'trace')
    assert.equal(unasked.trace.grounding.answered, true)
    assert.equal(unasked.usage, undefined)
    assert.equal((await read(plain.userMessage.id, 'trace')).trace, undefined)
    isError(await client.get(path(plain.aiMessage.id, '?include=prompt')), 400, 'invalid_request', 'query.include')
  })

  test('tells a running turn from one that failed, and from one that is done', { skip: needsProcess }, async () => {
    const release = model.hold(refuses(500))
    const sending = send()
    const id = await running()
    const turn = async () => (await client.get(path(id))).body.message.turn
    await model.received(1)
    assert.equal(await turn(), 'running')
    release()
    isError(await sending, 502, 'model_failed')
    assert.equal(await turn(), 'failed')
    model.reset()
    isOk(await send())
    assert.equal(await turn(), 'done')
  })

  test('404 where it is not there, or is of another session', async () => {
    const { body } = await send()
    isError(await client.get(path(randomUUID())), 404, 'message_not_found')
    const other = await service.newSession(session.split('/')[2]!)
    isError(await client.get(`${other}/messages/${body.aiMessage.id}`), 404, 'message_not_found')
    isError(await client.get(path('x')), 400, 'invalid_request', 'path.messageId')
    isOk(await client.get(path(body.aiMessage.id.toUpperCase())))
  })

  test('one that was brought in from elsewhere counts as done', async () => {
    const agent = session.split('/')[2]
    const { body } = await client.post(`/agents/${agent}/sessions/import`, {
      messages: [
        { role: 'USER', content: 'q' },
        { role: 'AI', content: 'a' },
      ],
    })
    const imported = `/agents/${agent}/sessions/${body.session.id}`
    for (const { id } of (await client.get(imported)).body.messages) {
      assert.equal((await client.get(`${imported}/messages/${id}`)).body.message.turn, 'done')
    }
  })
})

describe('cancelling a turn', { skip: needsProcess }, () => {
  test('what was generated so far becomes the reply; the session is free before the answer', async () => {
    model.behaviour = speaker.behaviour
    const sending = send()
    const id = await running()
    const reader = await readEvents(client, 'GET', path(id, '/stream'))
    await speaker.say('Half of a', ' reply')
    await reader.textOf(15)
    const cancelled = await client.post(path(id, '/cancel'))
    isOk(cancelled)
    assert.deepEqual([cancelled.body.message.id, cancelled.body.message.turn], [id, 'cancelled'])
    await speaker.left
    const answer = await sending
    isOk(answer)
    assert.equal(answer.body.aiMessage.content, 'Half of a reply')
    await reader.ended
    assert.deepEqual(reader.events.at(-1)!.data.aiMessage, answer.body.aiMessage)
    assert.deepEqual(
      (await history()).map((m: { content: string }) => m.content),
      ['Hello', 'Half of a reply'],
    )
    model.reset()
    isOk(await send('and the next'))
  })

  test('with nothing generated no reply is stored, and the sender gets 409 turn_cancelled; the same text is a new turn', async () => {
    model.behaviour = hangs
    const sending = send()
    await model.received(1)
    const id = await running()
    isOk(await client.post(path(id, '/cancel')))
    const answer = await sending
    isError(answer, 409, 'turn_cancelled')
    assert.ok(JSON.stringify(answer.body.error.details).includes(id))
    assert.deepEqual(
      (await history()).map((m: { id: string }) => m.id),
      [id],
    )
    assert.equal((await client.get(path(id))).body.message.turn, 'cancelled')
    model.reset()
    const again = await send()
    isOk(again)
    assert.notEqual(again.body.userMessage.id, id)
  })

  test('a stream of it ends with turn.failed and turn_cancelled, and so does one that is opened later', async () => {
    model.behaviour = hangs
    const reader = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
    const { data } = await reader.find('turn.started')
    isOk(await client.post(path(data.userMessage.id, '/cancel')))
    await reader.ended
    assert.equal(reader.events.at(-1)!.data.error.code, 'turn_cancelled')
    const later = await readEvents(client, 'GET', path(data.userMessage.id, '/stream'))
    await later.ended
    assert.equal(later.events.at(-1)!.data.error.code, 'turn_cancelled')
  })

  test('a turn that has ended stays as it is, and twice is once', async () => {
    const { body } = await send()
    for (let i = 0; i < 2; i++) {
      const answer = await client.post(path(body.userMessage.id, '/cancel'))
      isOk(answer)
      assert.equal(answer.body.message.turn, 'done')
    }
    assert.equal((await history()).length, 2)
  })

  test('reaches the rewriting of a question, too', async () => {
    const agent = await service.newAgent()
    const { document } = (
      await client.post(`/agents/${agent}/documents`, { text: 'The shop opens at nine. Paula Meier runs it.' })
    ).body
    await until('it is ready', async () => {
      const found = await client.get(`/agents/${agent}/documents/${document.id}`)
      return found.body.document.status === 'ready'
    })
    session = await service.newSession(agent)
    model.behaviour = says('At nine.')
    isOk(await send('When does the shop open?'))
    model.reset()
    model.behaviour = hangs
    const sent = send('And who runs it?')
    await model.received(1)
    assert.match(model.calls[0]!.body.messages[0]!.content, /Rewrite/)
    isOk(await client.post(path(await running(), '/cancel')))
    isError(await sent, 409, 'turn_cancelled')
  })

  test('a reply that was cut off and is made anew belongs to a turn that is done', async () => {
    model.behaviour = speaker.behaviour
    const body = { message: 'Hello', include: ['trace', 'usage'] }
    const reader = await readEvents(client, 'POST', `${session}/messages`, { body })
    await speaker.say('Half of')
    await reader.textOf(7)
    const question = await running()
    isOk(await client.post(path(question, '/cancel')))
    await reader.ended
    const { trace, usage, aiMessage } = reader.events.at(-1)!.data
    assert.equal(trace.finish, 'cancelled')
    assert.ok(usage.tokensIn > 0 && usage.tokensOut > 0, 'an estimate, where the provider said nothing')
    model.reset()
    isOk(await client.post(path(aiMessage.id, '/regenerate')))
    for (const id of [question, aiMessage.id]) assert.equal((await client.get(path(id))).body.message.turn, 'done')
  })

  test('those who wait behind it go on', async () => {
    model.behaviour = hangs
    const first = send('one')
    await model.received(1)
    const id = await running()
    const second = send('two')
    model.reset()
    isOk(await client.post(path(id, '/cancel')))
    isError(await first, 409, 'turn_cancelled')
    isOk(await second)
  })

  test('400 for a reply, 404 for a message that is not there', async () => {
    const { body } = await send()
    isError(await client.post(path(body.aiMessage.id, '/cancel')), 400, 'invalid_request', 'path.messageId')
    isError(await client.post(path(randomUUID(), '/cancel')), 404, 'message_not_found')
  })
})

describe('making a reply anew', { skip: needsProcess }, () => {
  test('answers as a send; id and place stay, the content changes, the old one is a version', async () => {
    model.behaviour = says('first')
    const { body: sent } = await send('Hello')
    model.behaviour = says('second')
    const answer = await client.post(path(sent.aiMessage.id, '/regenerate'), { include: ['usage'] })
    isOk(answer)
    hasFields(answer.body, 'success', 'chatSession', 'userMessage', 'aiMessage', 'usage')
    assert.deepEqual(answer.body.userMessage, sent.userMessage)
    assert.deepEqual(answer.body.aiMessage, { ...sent.aiMessage, content: 'second' })
    assert.deepEqual(
      (await history()).map((m: { id: string; content: string }) => [m.id, m.content]),
      [
        [sent.userMessage.id, 'Hello'],
        [sent.aiMessage.id, 'second'],
      ],
    )
    assert.deepEqual(model.lastPrompt, [{ role: 'user', content: 'Hello' }], 'the model does not see what it said before')
    model.behaviour = says('third')
    isOk(await client.post(path(sent.aiMessage.id, '/regenerate')))
    const { body } = await client.get(path(sent.aiMessage.id, '/versions'))
    assert.deepEqual(
      body.versions.map((v: { content: string }) => v.content),
      ['first', 'second'],
    )
    for (const version of body.versions) {
      hasFields(version, 'content', 'model', 'createdAt', 'replacedAt')
      assert.match(version.replacedAt, TIMESTAMP)
      assert.ok(version.createdAt <= version.replacedAt)
    }
    assert.equal(body.versions[0].createdAt, sent.aiMessage.createdAt)
  })

  test('keeps the format unless another is asked for', async () => {
    model.behaviour = says('**yes**')
    const { body: sent } = await send('Hello', { format: 'html' })
    const again = await client.post(path(sent.aiMessage.id, '/regenerate'))
    assert.equal(again.body.aiMessage.content.trim(), '<p><strong>yes</strong></p>')
    const markdown = await client.post(path(sent.aiMessage.id, '/regenerate'), { format: 'markdown' })
    assert.equal(markdown.body.aiMessage.content, '**yes**')
  })

  test('has the follow-ups of its own, not those that were still looked for of the one before', async () => {
    session = await service.newSession(await service.newAgent({ followUps: { enabled: true } }))
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let asked = 0
    let replies = 0
    model.behaviour = async (call, response) => {
      if (!/Suggest questions/.test(call.body.messages[0]!.content)) return says(`Reply ${++replies}`)(call, response)
      const n = asked++
      await gates[n]!.promise
      return says(JSON.stringify({ questions: [{ text: `About reply ${n + 1}?`, confidence: 0.9 }] }))(call, response)
    }
    const first = send()
    await model.received(2)
    const { id } = (await history())[1]
    const second = client.post(path(id, '/regenerate'))
    await model.received(4)
    gates[0]!.resolve()
    await first
    gates[1]!.resolve()
    const questions = (followUps: { text: string }[]) => followUps.map(({ text }) => text)
    assert.deepEqual(questions((await second).body.followUps), ['About reply 2?'])
    const { message } = (await client.get(path(id))).body
    assert.deepEqual([message.content, ...questions(message.followUps)], ['Reply 2', 'About reply 2?'])
  })

  test('as events', async () => {
    const { body: sent } = await send()
    model.behaviour = speaker.behaviour
    const reader = await readEvents(client, 'POST', path(sent.aiMessage.id, '/regenerate'), { body: {} })
    await speaker.say('anew')
    await reader.textOf(4)
    assert.equal((await client.get(path(sent.aiMessage.id))).body.message.turn, 'running')
    assert.equal((await history())[1].content, 'A reply.', 'until it is complete the old one stands')
    await speaker.end()
    await reader.ended
    assert.equal(reader.events.at(-1)!.data.aiMessage.content, 'anew')
    assert.equal((await history())[1].content, 'anew')
  })

  test('where it fails or is cancelled, the reply stays as it was and the session is free', async () => {
    const { body: sent } = await send()
    model.behaviour = refuses(500)
    isError(await client.post(path(sent.aiMessage.id, '/regenerate')), 502, 'model_failed')
    model.behaviour = speaker.behaviour
    const asked = client.post(path(sent.aiMessage.id, '/regenerate'))
    const reader = await until('the turn runs', () =>
      model.calls.length < 3 ? undefined : readEvents(client, 'GET', path(sent.userMessage.id, '/stream')),
    )
    await speaker.say('half')
    await reader.textOf(4)
    isOk(await client.post(path(sent.userMessage.id, '/cancel')))
    isError(await asked, 409, 'turn_cancelled')
    assert.equal((await history())[1].content, 'A reply.')
    assert.equal((await client.get(path(sent.aiMessage.id))).body.message.turn, 'done')
    assert.deepEqual((await client.get(path(sent.aiMessage.id, '/versions'))).body.versions, [])
    model.reset()
    isOk(await send('next'))
  })

  test('waits for its turn as a send does', async () => {
    const { body: sent } = await send()
    const release = model.hold(says('done'))
    const asked = client.post(path(sent.aiMessage.id, '/regenerate'))
    await model.received(2)
    const next = send('next')
    release()
    isOk(await asked)
    isOk(await next)
    assert.equal((await history()).length, 4)
  })

  test('400 for any but the last reply; 404 for what is not there', async () => {
    const { body: first } = await send()
    await send('another')
    const anew = (id: string) => client.post(path(id, '/regenerate'))
    isError(await anew(first.aiMessage.id), 400, 'invalid_request', 'path.messageId')
    isError(await anew(first.userMessage.id), 400, 'invalid_request', 'path.messageId')
    isError(await anew(randomUUID()), 404, 'message_not_found')
  })
})

describe('feedback', () => {
  test('a rating with or without a comment stays with the reply, and the last one holds', async () => {
    const { body } = await send()
    const { id } = body.aiMessage
    const first = await client.put(path(id, '/feedback'), { rating: 'up', comment: 'Gut 😀' })
    isOk(first)
    assert.deepEqual((await client.get(path(id))).body.message.feedback, { rating: 'up', comment: 'Gut 😀' })
    isOk(await client.put(path(id, '/feedback'), { rating: 'down' }))
    assert.deepEqual((await client.get(path(id))).body.message.feedback, { rating: 'down' })
  })

  test('is taken back, once or twice', async () => {
    const { body } = await send()
    const { id } = body.aiMessage
    isOk(await client.put(path(id, '/feedback'), { rating: 'up' }))
    isOk(await client.delete(path(id, '/feedback')))
    assert.equal((await client.get(path(id))).body.message.feedback, undefined)
    isOk(await client.delete(path(id, '/feedback')))
    isError(await client.delete(path(body.userMessage.id, '/feedback')), 400, 'invalid_request', 'path.messageId')
    isError(await client.delete(path(randomUUID(), '/feedback')), 404, 'message_not_found')
  })

  test('of a reply that was made anew stays with the version that it was about', { skip: needsProcess }, async () => {
    const { body } = await send()
    isOk(await client.put(path(body.aiMessage.id, '/feedback'), { rating: 'down' }))
    isOk(await client.post(path(body.aiMessage.id, '/regenerate')))
    assert.equal((await client.get(path(body.aiMessage.id))).body.message.feedback, undefined)
    const { versions } = (await client.get(path(body.aiMessage.id, '/versions'))).body
    assert.deepEqual(versions[0].feedback, { rating: 'down' })
  })

  test('400 for another rating, and for a message of the user', async () => {
    const { body } = await send()
    const put = (id: string, feedback: object) => client.put(path(id, '/feedback'), feedback)
    isError(await put(body.aiMessage.id, { rating: 'meh' }), 400, 'invalid_request', 'body.rating')
    isError(await put(body.aiMessage.id, {}), 400, 'invalid_request', 'body.rating')
    isError(await put(body.userMessage.id, { rating: 'up' }), 400, 'invalid_request', 'path.messageId')
    isError(await put(randomUUID(), { rating: 'up' }), 404, 'message_not_found')
  })

  test('a key that only reads may read one message, its versions and its stream, and nothing else of this', async () => {
    const { body } = await send()
    const { id } = body.aiMessage
    const key = await client.post('/keys', { name: 'reader', scopes: ['read'] })
    const reader = client.as(key.body.secret)
    isOk(await reader.get(path(id)))
    isOk(await reader.get(path(id, '/versions')))
    assert.equal((await reader.get(path(body.userMessage.id, '/stream'))).status, 200)
    isError(await reader.put(path(id, '/feedback'), { rating: 'up' }), 403, 'forbidden')
    isError(await reader.delete(path(id, '/feedback')), 403, 'forbidden')
    isError(await reader.post(path(id, '/regenerate')), 403, 'forbidden')
    isError(await reader.post(path(body.userMessage.id, '/cancel')), 403, 'forbidden')
  })
})
