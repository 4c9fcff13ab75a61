// What happens is told to those who asked: signed, once at least, in the end, and nothing of what is gone.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { isError, isOk, UUID } from '../support/assert.ts'
import { hangs, refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { startReceiver } from '../support/receiver.ts'
import { needsProcess, startService } from '../support/service.ts'

describe('webhooks', { skip: needsProcess }, async () => {
  const receiver = await startReceiver()
  const service = await startService({
    REPARTEE_FETCH_ALLOW: receiver.host,
    REPARTEE_WEBHOOK_RETRY_SECONDS: '0,0,1',
    REPARTEE_WEBHOOK_TIMEOUT_MS: '5000',
  })
  const { client, model } = service
  after(async () => {
    await service.stop()
    receiver.close()
  })
  const made: string[] = []
  afterEach(async () => {
    for (const id of made.splice(0)) await client.delete(`/webhooks/${id}`)
    receiver.received.length = 0
  })
  const create = async (events: string[], more: object = {}) => {
    const answer = await client.post('/webhooks', { url: receiver.url, events, ...more })
    isOk(answer, 201)
    made.push(answer.body.webhook.id)
    return { ...answer.body.webhook, secret: answer.body.secret } as { id: string; secret: string; events: string[] }
  }
  const of = (type: string) => receiver.received.filter(({ body }) => body.type === type)
  const deliveries = async (id: string) => (await client.get(`/webhooks/${id}/deliveries`)).body.deliveries
  const settled = (id: string) =>
    until('all is settled', async () => {
      const all = await deliveries(id)
      return all.every(({ state }: { state: string }) => state !== 'waiting') ? all : undefined
    })

  test('a conversation is told from its beginning to its end, as a Standard Webhooks library verifies', async () => {
    const hook = await create(['session.created', 'message.completed', 'session.deleted'])
    const agentId = await service.newAgent()
    const user = randomUUID()
    const { session } = (await client.post(`/agents/${agentId}/sessions`, { name: 'Trip', externalUserId: user })).body
    const path = `/agents/${agentId}/sessions/${session.id}`
    model.behaviour = says('By train.')
    const sent = (await client.post(`${path}/messages`, { message: 'How do I get there?' })).body
    const completed = await receiver.event(({ body }) => body.type === 'message.completed')
    isOk(await client.delete(path))
    const deleted = await receiver.event(({ body }) => body.type === 'session.deleted')
    const created = of('session.created')[0]!
    for (const { headers, text } of [created, completed, deleted]) {
      assert.match(headers['webhook-id']!, UUID)
      new Webhook(hook.secret).verify(text, headers)
      assert.throws(() => new Webhook(hook.secret).verify(text.replace('"data"', '"Data"'), headers))
    }
    assert.deepEqual(created.body.data, { agentId, session })
    const { model: _model, ...aiMessage } = sent.aiMessage
    const data = { agentId, session, userMessage: sent.userMessage, aiMessage, sources: [] }
    assert.deepEqual(completed.body.data, data)
    assert.deepEqual(deleted.body.data, { agentId, sessionId: session.id })
    assert.ok(Math.abs(Date.parse(deleted.body.timestamp) - Date.now()) < 60_000)
    assert.equal(receiver.received.length, 3)
  })

  test('a turn that fails is told with its reason, one that goes on then with its reply', async () => {
    await create(['turn.failed', 'message.completed'])
    const session = await service.newSession(await service.newAgent())
    model.behaviour = refuses(500)
    isError(await client.post(`${session}/messages`, { message: 'Hello' }), 502, 'model_failed')
    const failed = await receiver.event(({ body }) => body.type === 'turn.failed')
    assert.equal(failed.body.data.error.code, 'model_failed')
    assert.equal(failed.body.data.userMessage.content, 'Hello')
    model.reset()
    isOk(await client.post(`${session}/messages`, { message: 'Hello' }))
    const completed = await receiver.event(({ body }) => body.type === 'message.completed')
    assert.equal(completed.body.data.userMessage.id, failed.body.data.userMessage.id)
  })

  test('documents are told of when they can be used, or cannot', async () => {
    await create(['document.ready', 'document.failed'])
    const agentId = await service.newAgent()
    const add = (body: object) => client.post(`/agents/${agentId}/documents`, body)
    const good = (await add({ title: 'Kettle', text: 'The kettle weighs 900 grams.' })).body.document
    const bad = (await add({ url: `http://${receiver.host.replace(/\d+$/, '1')}/` })).body.document
    const ready = await receiver.event(({ body }) => body.type === 'document.ready')
    const failed = await receiver.event(({ body }) => body.type === 'document.failed')
    assert.equal(ready.body.data.agentId, agentId)
    assert.deepEqual([ready.body.data.document.id, ready.body.data.document.status], [good.id, 'ready'])
    assert.equal(failed.body.data.document.id, bad.id)
    assert.equal(failed.body.data.document.error.code, 'address_refused')
    isOk(await client.patch(`/agents/${agentId}/documents/${good.id}`, { title: 'Other' }))
    const again = await client.put(`/agents/${agentId}/documents/${good.id}`, { text: 'The kettle weighs 800 grams.' })
    isOk(again, 202)
    await until('the new version', () => of('document.ready').length === 2)
  })

  test('only of what is wanted: these events, of these agents', async () => {
    const mine = await service.newAgent()
    const other = await service.newAgent()
    await create(['session.created'], { agentIds: [mine] })
    await service.newSession(other)
    const session = await service.newSession(mine)
    await client.post(`${session}/messages`, { message: 'Hello' })
    const all = await create(['session.created'])
    await service.newSession(other)
    await until('told', () => receiver.received.length === 2)
    await settled(all.id)
    const told = receiver.received.map(({ body }) => body.data.agentId)
    assert.deepEqual(told.sort(), [mine, other].sort())
  })

  test('what is not taken is tried again under the same id, and given up in the end; and can be repeated by hand', async () => {
    const hook = await create(['session.created'])
    receiver.answer(500, (response) => response.socket!.destroy(), 404)
    await service.newSession(await service.newAgent())
    await until('four attempts', () => receiver.received.length === 4)
    assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
    const [delivered] = await settled(hook.id)
    assert.deepEqual(
      [delivered.state, delivered.attempts, delivered.responseStatus, delivered.error],
      ['delivered', 4, 204, null],
    )
    receiver.answer(500, 500, 500, 500)
    await service.newSession(await service.newAgent())
    const [failed] = await until('given up', async () => {
      const all = await deliveries(hook.id)
      return all[0].state === 'failed' ? all : undefined
    })
    assert.deepEqual([failed.attempts, failed.responseStatus, failed.nextAttemptAt], [4, 500, null])
    assert.match(failed.error, /500/)
    const again = await client.post(`/webhooks/${hook.id}/deliveries/${failed.id}/retry`, {})
    isOk(again, 202)
    assert.equal(again.body.delivery.state, 'waiting')
    await until('delivered', async () => (await deliveries(hook.id))[0].state === 'delivered')
    assert.equal(receiver.received.at(-1)!.headers['webhook-id'], failed.id)
  })

  test('a receiver that is silent, or leads elsewhere, has not taken it', async () => {
    const hook = await create(['session.created'])
    receiver.answer(
      () => {},
      (response) => response.writeHead(307, { location: receiver.url }).end(),
    )
    await service.newSession(await service.newAgent())
    await until('three attempts', () => receiver.received.length === 3)
    assert.equal((await settled(hook.id))[0].attempts, 3)
  })

  test('a receiver that is gone hears nothing more, until a test finds it again', async () => {
    const hook = await create(['session.created'])
    receiver.answer(410)
    const agentId = await service.newAgent()
    await service.newSession(agentId)
    const isDisabled = async () =>
      (await client.get('/webhooks')).body.webhooks.find(({ id }: { id: string }) => id === hook.id).disabledAt !== null
    await until('it is disabled', isDisabled)
    await service.newSession(agentId)
    const tested = await client.post(`/webhooks/${hook.id}/test`, {})
    isOk(tested)
    assert.deepEqual([tested.body.delivery.state, tested.body.delivery.event], ['delivered', 'webhook.test'])
    assert.equal(await isDisabled(), false)
    await service.newSession(agentId)
    await until('told again', () => of('session.created').length === 2)
    assert.equal((await settled(hook.id)).length, 3)
  })

  test('what is deleted is not told of any more, and leaves nothing in the queue', async () => {
    const hook = await create(['message.completed'])
    const agentId = await service.newAgent()
    const session = await service.newSession(agentId)
    receiver.answer(...Array.from({ length: 3 }, () => 500))
    await client.post(`${session}/messages`, { message: 'Hello' })
    await until('it waits', async () => (await deliveries(hook.id)).some(({ state }: { state: string }) => state === 'waiting'))
    isOk(await client.delete(session))
    assert.deepEqual(await deliveries(hook.id), [])
  })

  test('private addresses are refused when something is sent, and what is no web address at once', async () => {
    for (const url of ['ftp://example.com/', 'https://user:secret@example.com/', 'example.com'])
      isError(await client.post('/webhooks', { url, events: ['session.created'] }), 400, 'invalid_request', 'body.url')
    isError(await client.post('/webhooks', { url: receiver.url, events: ['session.made'] }), 400, 'invalid_request')
    const answer = await client.post('/webhooks', { url: 'http://127.0.0.1:1/', events: ['session.created'] })
    isOk(answer, 201)
    made.push(answer.body.webhook.id)
    const { delivery } = (await client.post(`/webhooks/${answer.body.webhook.id}/test`, {})).body
    assert.deepEqual([delivery.state, delivery.attempts], ['failed', 1])
    assert.match(delivery.error, /private network/)
  })

  test('the secret is shown once', async () => {
    const hook = await create(['session.created'])
    assert.match(hook.secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    assert.ok(!(await client.get('/webhooks')).text.includes(hook.secret))
    isError(await client.get(`/webhooks/${randomUUID()}/deliveries`), 404, 'webhook_not_found')
    isError(await client.post(`/webhooks/${hook.id}/deliveries/${randomUUID()}/retry`, {}), 404, 'delivery_not_found')
  })

  test('nothing is lost where the process is killed: a turn that it cut off is told, too', async () => {
    const hook = await create(['message.completed', 'turn.failed'])
    const agentId = await service.newAgent()
    const [told, cut] = [await service.newSession(agentId), await service.newSession(agentId)]
    // It arrives, and is not taken before the process is gone.
    receiver.answer(() => {})
    await client.post(`${told}/messages`, { message: 'Hello' })
    await receiver.event(({ body }) => body.data.userMessage?.content === 'Hello')
    model.reset()
    model.behaviour = hangs
    const lost = client.post(`${cut}/messages`, { message: 'Are you there?' }).catch(() => {})
    await model.received(1)
    await service.kill()
    await lost
    receiver.received.length = 0
    await service.restart()
    const failed = await receiver.event(({ body }) => body.type === 'turn.failed')
    assert.equal(failed.body.data.userMessage.content, 'Are you there?')
    assert.equal(failed.body.data.error.code, 'unavailable')
    new Webhook(hook.secret).verify(failed.text, failed.headers)
    const completed = await receiver.event(({ body }) => body.type === 'message.completed')
    assert.equal(completed.body.data.userMessage.content, 'Hello')
  })
})
