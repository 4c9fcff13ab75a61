// Specification 4.6 where the model or the service fails: the message stays, and the same text continues it
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { type Behaviour, cuts, hangs, refuses, says, sends } from '../support/model-server.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())
let session: string
beforeEach(async () => {
  model.reset()
  session = await service.newSession(await service.newAgent())
})
const send = (message: string, more: object = {}) => client.post(`${session}/messages`, { message, ...more })
const history = async () => (await client.get(session)).body.messages

/** Sends a message that the model fails, and resolves to the message as it is stored. */
async function failedSend(message = 'Hello', behaviour: Behaviour = refuses(500)) {
  model.behaviour = behaviour
  const answer = await send(message)
  isError(answer, 502, 'model_failed')
  const stored = (await history()).at(-1)
  model.reset()
  return { answer, stored }
}

describe('4.6 the model fails', { skip: needsProcess }, () => {
  for (const [about, behaviour] of [
    ['answers 500', refuses(500)],
    ['answers 400', refuses(400)],
    ['answers 401', refuses(401)],
    ['answers 429', refuses(429)],
    ['cuts the connection in the middle', cuts],
    ['sends no JSON', sends('<html>busy</html>')],
    ['sends an empty body', sends('')],
    ['sends JSON of another shape', sends('{"choices":[]}')],
    ['sends a blank reply', says(' \n ')],
  ] as [string, Behaviour][]) {
    test(`502 model_failed where it ${about}; the message is stored and details name it`, async () => {
      const { answer, stored } = await failedSend('Hello', behaviour)
      assert.equal(stored.role, 'USER')
      assert.equal(stored.content, 'Hello')
      assert.ok(JSON.stringify(answer.body.error.details).includes(stored.id))
      assert.ok(!answer.text.includes('the-words-of-the-provider'), 'nothing of the provider leaks')
      assert.equal((await history()).length, 1, 'no half reply')
    })
  }

  test('the same text sent again continues that message: id and createdAt stay, it is not stored twice', async () => {
    const { stored } = await failedSend()
    const answer = await send('Hello')
    isOk(answer)
    assert.deepEqual(answer.body.userMessage, stored)
    assert.deepEqual(
      (await history()).map((m: { id: string }) => m.id),
      [stored.id, answer.body.aiMessage.id],
    )
    assert.deepEqual(model.lastPrompt, [{ role: 'user', content: 'Hello' }], 'the model is asked once, not twice')
  })

  test('it can fail again, and be continued again; the new format and context apply', async () => {
    const { stored } = await failedSend()
    assert.equal((await failedSend()).stored.id, stored.id)
    model.behaviour = says('**yes**')
    const answer = await send('Hello', { format: 'html', additionalContext: 'a new page' })
    assert.equal(answer.body.userMessage.id, stored.id)
    assert.equal(answer.body.aiMessage.content.trim(), '<p><strong>yes</strong></p>')
    assert.ok(model.lastPrompt.at(-1)!.content.includes('a new page'))
    assert.equal((await history()).length, 2)
  })

  test('another text does not continue it, not even by a space; and then the first can no longer be continued', async () => {
    const { stored } = await failedSend()
    const other = await send('Hello ')
    isOk(other)
    assert.notEqual(other.body.userMessage.id, stored.id)
    const again = await send('Hello')
    isOk(again)
    assert.notEqual(again.body.userMessage.id, stored.id, 'only the last message of a session is continued')
    assert.deepEqual(
      (await history()).map((m: { role: string; content: string }) => [m.role, m.content]),
      [
        ['USER', 'Hello'],
        ['USER', 'Hello '],
        ['AI', 'A reply.'],
        ['USER', 'Hello'],
        ['AI', 'A reply.'],
      ],
    )
  })

  test('a text longer than a prompt has room for is continued by the same text alone, to its last character', async () => {
    const text = (end: string) => 'word '.repeat(6_000) + end
    const { stored } = await failedSend(text('a'))
    const other = await send(text('b'))
    isOk(other)
    assert.notEqual(other.body.userMessage.id, stored.id)
    await failedSend(text('c'))
    const again = await send(text('c'))
    isOk(again)
    assert.equal((await history()).length, 5)
    assert.equal(again.body.userMessage.content, text('c'))
  })

  test('the next send waiting behind a failed one is not held up by it', async () => {
    const release = model.hold(refuses(500))
    const failing = send('one')
    await model.received(1)
    const next = send('two')
    release()
    isError(await failing, 502, 'model_failed')
    assert.ok([200, 502].includes((await next).status))
  })

  test('fallbackModels are asked in their order, and aiMessage names the one that replied', async () => {
    const agentId = session.split('/')[2]!
    isOk(await client.patch(`/agents/${agentId}`, { fallbackModels: ['openai/second', 'openai/third'] }))
    model.behaviour = (call, response) => (call.body.model === 'third' ? says('from the third') : refuses(503))(call, response)
    const answer = await send('Hello')
    isOk(answer)
    assert.equal(answer.body.aiMessage.content, 'from the third')
    assert.equal(answer.body.aiMessage.model, 'openai/third')
    assert.deepEqual([...new Set(model.calls.map(({ body }) => body.model))], ['stub', 'second', 'third'])
  })

  test('total and the list count the message that stayed', async () => {
    await failedSend()
    assert.equal((await client.get(`${session}/messages`)).body.pagination.total, 1)
    const [listed] = (await client.get(session.replace(/\/[^/]+$/, ''))).body.sessions
    assert.equal(listed.totalMessages, 1)
  })
})

describe('4.6 the model does not answer in time', { skip: needsProcess }, () => {
  for (const [about, setting] of [
    ['to its first byte', 'REPARTEE_MODEL_TIMEOUT_MS'],
    ['in the time that one turn may take', 'REPARTEE_TURN_TIMEOUT_MS'],
  ] as const) {
    test(`504 model_timeout, ${about}; details name the stored message, and the same text continues it`, async () => {
      const hasty = await startService({ [setting]: '1500' })
      try {
        const path = await hasty.newSession(await hasty.newAgent())
        hasty.model.behaviour = hangs
        const answer = await hasty.client.post(`${path}/messages`, { message: 'Hello' })
        isError(answer, 504, 'model_timeout')
        const [stored] = (await hasty.client.get(path)).body.messages
        assert.ok(JSON.stringify(answer.body.error.details).includes(stored.id))
        hasty.model.reset()
        await hasty.end('SIGTERM')
        await hasty.restart({ [setting]: '120000' })
        const again = await hasty.client.post(`${path}/messages`, { message: 'Hello' })
        isOk(again)
        assert.equal(again.body.userMessage.id, stored.id)
      } finally {
        await hasty.stop()
      }
    })
  }
})

describe('4.6 the service crashes or is restarted in the middle of a turn', { skip: needsProcess }, () => {
  test('the message is there, the half-made reply is not, and the same text continues it', async () => {
    isOk(await send('Before'))
    model.behaviour = hangs
    const lost = assert.rejects(send('Interrupted'))
    await model.received(2)
    await service.kill()
    await lost
    model.reset()
    await service.restart()
    const kept = await history()
    assert.deepEqual(
      kept.map((m: { content: string }) => m.content),
      ['Before', 'A reply.', 'Interrupted'],
    )
    const again = await send('Interrupted')
    isOk(again)
    assert.deepEqual(again.body.userMessage, kept[2])
    assert.equal((await history()).length, 4)
  })

  test('everything that was acknowledged before a crash is there after it, once and in order', async () => {
    const acknowledged: string[] = []
    for (let i = 0; i < 10; i++) acknowledged.push((await send(`message ${i}`)).body.aiMessage.id)
    await service.kill()
    await service.restart()
    const kept: { id: string; role: string }[] = await history()
    assert.equal(kept.length, 20)
    assert.deepEqual(
      kept.filter(({ role }) => role === 'AI').map(({ id }) => id),
      acknowledged,
    )
  })
})
