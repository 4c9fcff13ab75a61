// The connection to PostgreSQL breaks after a commit and before its answer.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { dropDatabase, newDatabase, query } from '../support/postgres.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

describe('a commit whose answer is lost', { skip: needsProcess }, () => {
  let proxy: CuttingProxy
  let database: string
  let service: Service
  let session: string
  before(async () => {
    database = await newDatabase()
    const url = new URL(database)
    proxy = new CuttingProxy(Number(url.port))
    url.port = String(await proxy.listen())
    service = await startService({ REPARTEE_DATABASE_URL: url.href })
    session = await service.newSession(await service.newAgent())
  })
  after(async () => {
    await service.stop()
    proxy.close()
    await dropDatabase(database)
  })
  const send = (message: string) => service.client.post(`${session}/messages`, { message })
  const rows = (sql: string) => query(database, sql)
  const contents = async () =>
    ((await service.client.get(`${session}/messages`)).body.messages as { content: string }[]).map(({ content }) => content)

  test('of a reply: it was written once, and is answered', async () => {
    // The packet that text goes to the database in ends with the commit.
    const release = service.model.hold(says('a reply'))
    const sending = send('first')
    await service.model.received(1)
    const cut = proxy.cutAfter('a reply')
    release()
    await cut
    const answer = await sending
    isOk(answer)
    assert.equal(answer.body.aiMessage.content, 'a reply')
    assert.deepEqual(await contents(), ['first', 'a reply'])
  })

  test('of a message: the sender is told, and the same text continues it', async () => {
    service.model.reset()
    service.model.behaviour = says('another')
    const cut = proxy.cutAfter('second')
    const sending = send('second')
    await cut
    isError(await sending, 503, 'unavailable')
    isOk(await send('second'))
    assert.deepEqual(await contents(), ['first', 'a reply', 'second', 'another'])
    isOk(await send('third'))
  })

  test('of a regeneration: the session is free again, and its reply stays', async () => {
    const [{ id: replica }] = await rows('SELECT id FROM replica')
    const reply = (await service.client.get(`${session}/messages`)).body.messages.at(-1) as { id: string; content: string }
    // A lease begins with the id of its process.
    const cut = proxy.cutAfter(replica)
    const regenerating = service.client.post(`${session}/messages/${reply.id}/regenerate`, {})
    await cut
    // Without a release, the lease would now last for the whole test.
    await rows(`UPDATE session SET lease_until = lease_until + 86400000 WHERE lease IS NOT NULL RETURNING id`)
    isError(await regenerating, 503, 'unavailable')
    await until('the lease is released', async () => (await rows('SELECT id FROM session WHERE lease IS NOT NULL')).length === 0)
    assert.equal((await contents()).at(-1), reply.content)
  })

  test('of a session: an Idempotency-Key tells that it was made', async () => {
    const [path] = session.split('/sessions') as [string]
    const make = () => service.client.post(`${path}/sessions`, { name: 'once' }, { headers: { 'idempotency-key': 'k' } })
    const cut = proxy.cutAfter('once')
    const making = make()
    await cut
    isError(await making, 503, 'unavailable')
    isOk(await make(), 201)
    const { sessions } = (await service.client.get(`${path}/sessions`)).body
    assert.equal(sessions.filter(({ name }: { name: string }) => name === 'once').length, 1)
  })

  test('of the claim of an Idempotency-Key: the key is free again', async () => {
    service.model.reset()
    service.model.behaviour = says('claimed')
    const key = 'lost claim'
    const sendKeyed = () =>
      service.client.post(`${session}/messages`, { message: 'keyed' }, { headers: { 'idempotency-key': key } })
    const cut = proxy.cutAfter(createHash('sha256').update(key).digest('hex'))
    const sending = sendKeyed()
    await cut
    isError(await sending, 503, 'unavailable')
    const answer = await until('the key is free', async () => {
      const again = await sendKeyed()
      return again.status !== 409 && again
    })
    isOk(answer)
    assert.equal((await contents()).filter((content) => content === 'keyed').length, 1)
  })
})
