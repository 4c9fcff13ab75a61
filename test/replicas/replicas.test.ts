// Two processes on one PostgreSQL database.
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { isError, isOk } from '../support/assert.ts'
import type { Client } from '../support/client.ts'
import { readEvents } from '../support/events.ts'
import { says, streams } from '../support/model-server.ts'
import { throughPooler } from '../support/pgbouncer.ts'
import { until } from '../support/poll.ts'
import { dropDatabase, newDatabase, query } from '../support/postgres.ts'
import { makeKey, needsProcess, type Service, startService } from '../support/service.ts'

const echo = says((call) => `to ${call.body.messages.at(-1)!.content}`)

for (const pooler of ['off', 'on'])
  describe(`two replicas, ${pooler === 'on' ? 'behind a pooler' : 'connected directly'}`, { skip: needsProcess }, () => {
    let database: string
    let url: string
    let one: Service
    let two: Service
    let session: string
    const startReplica = async (env: Record<string, string> = {}) =>
      startService({ REPARTEE_DATABASE_URL: url, REPARTEE_DATABASE_POOLER: pooler, ...env })
    before(async () => {
      database = await newDatabase()
      url = pooler === 'on' ? await throughPooler(database) : database
      const key = makeKey()
      one = await startReplica({ REPARTEE_ADMIN_KEY: key })
      two = await startReplica({ REPARTEE_ADMIN_KEY: key, OPENAI_BASE_URL: await one.model.listen() })
    })
    after(async () => {
      await Promise.all([one.stop(), two.stop()])
      await dropDatabase(database)
    })
    beforeEach(async () => {
      one.model.reset()
      session = await one.newSession(await one.newAgent({ followUps: { enabled: false } }))
      // The first request of a process takes longer than the next.
      isOk(await two.client.get(session))
    })
    const send = ({ client }: { client: Client }, message: string, headers = {}) =>
      client.post(`${session}/messages`, { message }, { headers })
    const history = async () => (await two.client.get(session)).body.messages as { id: string; role: string; content: string }[]
    const contents = async () => (await history()).map(({ content }) => content)

    test('sends to one session go in the order in which they came, wherever they came', async () => {
      const release = one.model.hold(echo)
      const sent = [send(one, '0')]
      await one.model.received(1)
      for (let i = 1; i < 8; i++) {
        sent.push(send([one, two, two][i % 3]!, String(i)))
        const [, id] = session.split('/sessions/')
        await until('it waits for its turn', async () => {
          const [row] = await query(database, `SELECT count(*)::int AS n FROM waiting_send WHERE session_id = '${id}'`)
          return row.n === i
        })
      }
      release()
      for (const answer of await Promise.all(sent)) isOk(answer)
      assert.deepEqual(await contents(), Array.from({ length: 8 }, (_, i) => [String(i), `to ${i}`]).flat())
    })

    test('sends at the same moment to both are each answered once, one after the other', async () => {
      one.model.behaviour = echo
      const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => send(i % 2 ? one : two, String(i))))
      for (const answer of answers) isOk(answer)
      const messages = await history()
      assert.equal(messages.length, 20)
      for (let i = 0; i < 20; i += 2) assert.equal(messages[i + 1]!.content, `to ${messages[i]!.content}`)
      assert.equal(one.model.calls.length, 10)
    })

    test('no more sends wait than may, however they are spread', async () => {
      const release = one.model.hold(echo)
      const first = send(one, 'first')
      await one.model.received(1)
      const rest = Array.from({ length: 20 }, (_, i) => send(i % 2 ? one : two, String(i)))
      let refused = 0
      for (const sending of rest)
        void sending.then(({ status }) => {
          if (status === 409) refused++
        })
      await until('some are sent away', () => refused >= 4)
      release()
      const statuses = (await Promise.all(rest)).map(({ status }) => status)
      isOk(await first)
      assert.equal(statuses.filter((status) => status === 409).length, 4)
      assert.equal((await history()).length, 34)
    })

    test('a turn is cancelled through the other', async () => {
      const release = one.model.hold(says('late'))
      const sending = send(one, 'Hello')
      await one.model.received(1)
      const { id } = (await history())[0]!
      assert.equal((await two.client.get(`${session}/messages/${id}`)).body.message.turn, 'running')
      const cancelled = await two.client.post(`${session}/messages/${id}/cancel`)
      isOk(cancelled)
      assert.equal(cancelled.body.message.turn, 'cancelled')
      isError(await sending, 409, 'turn_cancelled')
      release()
      one.model.reset()
      isOk(await send(two, 'next'))
    })

    test('a session that is deleted through the other ends its turn', async () => {
      const release = one.model.hold(says('late'))
      const sending = send(one, 'Hello')
      await one.model.received(1)
      isOk(await two.client.delete(session))
      isError(await sending, 404, 'session_not_found')
      release()
    })

    test('a stream is taken up at the other where it broke, with no text twice and none left out', async () => {
      const parts = Array.from({ length: 12 }, (_, i) => `part ${i} 😀 `)
      const gates = parts.map(() => Promise.withResolvers<void>())
      one.model.behaviour = streams(parts, { gates: gates.map(({ promise }) => promise) })
      const whole = parts.join('')
      const stream = await readEvents(one.client, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
      const { data } = await stream.find('turn.started')
      for (const gate of gates.slice(0, 3)) gate.resolve()
      await until('some is streamed', () => stream.text().includes('part 2'))
      const last = stream.events.at(-1)!
      const seen = stream.text()
      const at = `${session}/messages/${data.userMessage.id}/stream`
      const behind = await readEvents(two.client, 'GET', at, { headers: { 'Last-Event-ID': last.id } })
      const anew = await readEvents(two.client, 'GET', at)
      await anew.find('turn.started')
      for (const gate of gates.slice(3, 6)) gate.resolve()
      await until('it is seen at the other while the turn runs', () =>
        [behind, anew].every((again) => again.text().includes('part 5')),
      )
      for (const gate of gates) gate.resolve()
      for (const again of [behind, anew]) {
        const end = await again.find('turn.completed')
        assert.equal(end.data.aiMessage.content, whole)
        await again.ended
      }
      assert.equal(seen + behind.text(), whole)
      assert.equal(anew.text(), whole)
      await stream.ended
    })

    test('a reply that is made anew is followed at the other', async () => {
      one.model.behaviour = says('old')
      const answer = await send(one, 'Hello')
      isOk(answer)
      const { userMessage, aiMessage } = answer.body
      const release = one.model.hold(says('new'))
      const making = one.client.post(`${session}/messages/${aiMessage.id}/regenerate`, {})
      await one.model.received(2)
      const again = await readEvents(two.client, 'GET', `${session}/messages/${userMessage.id}/stream`)
      await again.find('turn.started')
      release()
      assert.equal((await again.find('turn.completed')).data.aiMessage.content, 'new')
      isOk(await making)
    })

    test('a stream is taken up again at the other, which tells how it ended', async () => {
      const release = one.model.hold(says('the whole reply'))
      const stream = await readEvents(one.client, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
      const { data } = await stream.find('turn.started')
      const again = await readEvents(two.client, 'GET', `${session}/messages/${data.userMessage.id}/stream`)
      release()
      assert.equal((await again.find('turn.completed')).data.aiMessage.content, 'the whole reply')
      await stream.ended
    })

    test('a key that is revoked is refused by both at once, and its streams are cut', async () => {
      const { key: record, secret } = await newKey(one.client)
      const other = two.client.as(secret)
      isOk(await other.get(session))
      const release = one.model.hold()
      const stream = await readEvents(other, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
      const cut = assert.rejects(stream.ended)
      isOk(await one.client.delete(`/keys/${record.id}`))
      isError(await other.get(session), 401, 'unauthorized')
      await cut
      release()
    })

    test('a changed agent, and a deleted one, is known to both at once', async () => {
      const agent = session.split('/sessions')[0]!
      isOk(await two.client.get(agent))
      for (let i = 0; i < 10; i++) {
        isOk(await one.client.patch(agent, { name: `name ${i}` }))
        assert.equal((await two.client.get(agent)).body.agent.name, `name ${i}`)
      }
      isOk(await one.client.delete(agent))
      isError(await two.client.get(agent), 404, 'agent_not_found')
      isError(await send(two, 'x'), 404, 'agent_not_found')
    })

    test('the first document of an agent is found by both as soon as it is ready', async () => {
      const agent = await one.newAgent({ model: 'extractive' })
      const sessions = [await one.newSession(agent), await one.newSession(agent)]
      const ask = async ({ client }: Service, at: string) => {
        const answer = await client.post(`${at}/messages`, { message: 'When is the museum open?', include: ['sources'] })
        isOk(answer)
        return answer.body.sources.length
      }
      assert.deepEqual(await Promise.all([ask(one, sessions[0]!), ask(two, sessions[1]!)]), [0, 0])
      isOk(await one.client.post(`/agents/${agent}/documents`, { markdown: 'The museum is open from nine to five.' }), 202)
      await until('the document is ready', async () => {
        const { documents } = (await one.client.get(`/agents/${agent}/documents`)).body
        return documents[0].status === 'ready' || undefined
      })
      assert.deepEqual(await Promise.all([ask(one, sessions[0]!), ask(two, sessions[1]!)]), [1, 1])
    })

    test('what somebody else says on their channel harms neither', async () => {
      for (const text of ['not ours', '7', 'null', '[]', '{}']) await query(database, `NOTIFY repartee, '${text}'`)
      await pause(100)
      for (const { client } of [one, two]) isOk(await client.get(session))
    })

    test('a request that is repeated at the other has one effect', async () => {
      one.model.behaviour = echo
      const headers = { 'idempotency-key': 'once' }
      const answers = await Promise.all([one, two, one, two].map((service) => send(service, 'Hello', headers)))
      const [kept] = [await send(two, 'Hello', headers)]
      isOk(kept)
      for (const answer of answers) if (answer.status !== 200) isError(answer, 409, 'request_in_progress')
      assert.deepEqual(await contents(), ['Hello', 'to Hello'])
    })

    test('what one was doing when it was killed is settled by the other, and can be done again', async () => {
      const dying = await startReplica({ REPARTEE_ADMIN_KEY: one.client.key, OPENAI_BASE_URL: await one.model.listen() })
      const release = one.model.hold(says('lost'))
      const headers = { 'idempotency-key': 'again' }
      const sending = send(dying, 'Hello', headers).catch((error: unknown) => error)
      await one.model.received(1)
      await dying.kill()
      assert.ok((await sending) instanceof Error)
      release()
      one.model.reset()
      one.model.behaviour = echo
      const waited = await send(two, 'Hello')
      isOk(waited)
      assert.deepEqual(await contents(), ['Hello', 'to Hello'], 'the same text continues it')
      isOk(await send(two, 'Hello', headers))
      assert.equal((await history()).length, 4)
      await dying.stop()
    })
  })

describe('ten replicas that start at once on an empty database', { skip: needsProcess }, () => {
  test('make one admin key between them', async () => {
    const database = await newDatabase()
    const replicas = await Promise.all(
      Array.from({ length: 10 }, () => startService({ REPARTEE_DATABASE_URL: database, REPARTEE_ADMIN_KEY: '' })),
    )
    assert.equal(replicas.filter((replica) => /rpt_/.test(replica.printed())).length, 1)
    await Promise.all(replicas.map((replica) => replica.stop()))
    await dropDatabase(database)
  })
})

async function newKey(client: Client): Promise<{ key: { id: string }; secret: string }> {
  const answer = await client.post('/keys', { name: 'k', scopes: ['chat'] })
  assert.equal(answer.status, 201)
  return answer.body
}

describe('the sample agent of replicas', { skip: needsProcess }, () => {
  test('is made once between them, and stays deleted, wherever the next one starts', async () => {
    const url = await newDatabase()
    const key = makeKey()
    const startReplica = () => startService({ REPARTEE_DATABASE_URL: url, REPARTEE_ADMIN_KEY: key, REPARTEE_SAMPLE: 'on' })
    const replicas = await Promise.all([startReplica(), startReplica()])
    const { client } = replicas[0]!
    const agents = async () => (await client.get('/agents')).body.agents as { id: string; name: string }[]
    const isComplete = async () => (await query(url, 'SELECT complete FROM sample'))[0]?.complete === 1
    await until('it has its documents', isComplete)
    const [sample, ...others] = await agents()
    assert.match(sample!.name, /Sample/)
    assert.deepEqual(others, [])
    isOk(await client.delete(`/agents/${sample!.id}`))
    const later = await startReplica()
    assert.deepEqual((await later.client.get('/agents')).body.agents, [])
    await Promise.all([...replicas, later].map((replica) => replica.stop()))
    await dropDatabase(url)
  })
})
