// The clock is set while the service runs: times within a session never go back, and nobody waits for an hour to come again.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { openClock } from '../support/clock.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Long enough that a busy machine renews a lease in time. */
const LEASE_MS = 6_000
const MOST_SENDS = 5
const clock = openClock()
after(() => clock.close())
const { shift } = clock
const service = await startService({
  ...clock.env,
  REPARTEE_LEASE_MS: String(LEASE_MS),
  REPARTEE_RATE_LIMIT: 'on',
  REPARTEE_KEY_REQUESTS_PER_MINUTE: '100000',
  REPARTEE_USER_SENDS_PER_MINUTE: String(MOST_SENDS),
})
after(() => service.stop())
const { client, model } = service
const isSet = async (ms: number) => {
  // What an answer says of the time is of the clock that was set.
  const begun = Date.now()
  const { body } = await client.post('/agents', { name: 'A clock', model: 'extractive' })
  const createdAt = Date.parse(body.agent.createdAt)
  assert.ok(createdAt >= begun + ms && createdAt <= Date.now() + ms, body.agent.createdAt)
}

describe('the clock is set', { skip: needsProcess }, () => {
  afterEach(() => {
    shift(0)
    model.reset()
  })

  test('forwards and backwards: the times and the order of a session go on', async () => {
    const session = await service.newSession(await service.newAgent())
    const said: string[] = []
    const times: number[] = []
    for (const ms of [0, DAY_MS, -HOUR_MS, 0]) {
      shift(ms)
      await isSet(ms)
      const sent = await client.post(`${session}/messages`, { message: `at ${ms}, ${said.length}` })
      isOk(sent)
      said.push(sent.body.userMessage.content, sent.body.aiMessage.content)
      times.push(...[sent.body.userMessage, sent.body.aiMessage].map(({ createdAt }) => Date.parse(createdAt)))
    }
    const { messages } = (await client.get(session)).body
    assert.deepEqual(
      messages.map(({ content }: { content: string }) => content),
      said,
    )
    assert.deepEqual(
      messages.map(({ createdAt }: { createdAt: string }) => Date.parse(createdAt)),
      times,
    )
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    )
  })

  for (const [name, ms] of [
    ['forwards by a day', DAY_MS],
    ['backwards by an hour', -HOUR_MS],
  ] as const) {
    test(`${name}: a turn that runs goes on, and keeps its session`, async () => {
      const session = await service.newSession(await service.newAgent())
      const release = model.hold(says('in the end'))
      const sending = client.post(`${session}/messages`, { message: 'a long one' })
      await model.received(1)
      shift(ms)
      const setAt = performance.now()
      await until('leases were looked through', () => performance.now() > setAt + LEASE_MS)
      assert.equal((await client.get(session)).body.messages.at(-1).role, 'USER')
      release()
      const sent = await sending
      isOk(sent)
      assert.equal(sent.body.aiMessage.content, 'in the end')
      isOk(await client.post(`${session}/messages`, { message: 'the next' }))
    })
  }

  test('forwards by a day: what fails for a moment is tried again within the time of the turn', async () => {
    await service.end('SIGTERM')
    await service.restart({ REPARTEE_MODEL_RETRIES: '2' })
    const session = await service.newSession(await service.newAgent())
    model.behaviour = (_call, response) => {
      shift(DAY_MS)
      model.behaviour = says('after all')
      response.writeHead(503).end()
    }
    const sent = await client.post(`${session}/messages`, { message: 'hello' })
    isOk(sent)
    assert.equal(sent.body.aiMessage.content, 'after all')
  })

  test('backwards by an hour: who was over a rate waits for a minute at most', async () => {
    const agent = await service.newAgent()
    const session = await service.newSession(agent, { externalUserId: randomUUID() })
    const send = () => client.post(`${session}/messages`, { message: 'hello' })
    shift(DAY_MS)
    for (let i = 0; i < MOST_SENDS; i++) isOk(await send())
    isError(await send(), 429, 'rate_limited')
    shift(-HOUR_MS)
    for (let i = 0; i < MOST_SENDS; i++) isOk(await send())
    const over = await send()
    isError(over, 429, 'rate_limited')
    assert.ok(Number(over.headers['retry-after']) <= 60, String(over.headers['retry-after']))
  })

  test('backwards by an hour: a request is not done twice, and a token is good for no longer than by the clock', async () => {
    const agent = await service.newAgent()
    const session = await service.newSession(agent)
    const once = () => client.post(`${session}/messages`, { message: 'once' }, { headers: { 'idempotency-key': 'k' } })
    const first = await once()
    isOk(first)
    const made = await client.post(`/agents/${agent}/tokens`, { externalUserId: randomUUID(), ttlSeconds: 60 })
    isOk(made, 201)
    const user = client.as(made.body.token)
    const asUser = () => user.get(`/agents/${agent}/sessions`)
    isOk(await asUser())
    shift(-HOUR_MS)
    assert.equal((await once()).text, first.text)
    isOk(await asUser())
    shift(DAY_MS)
    isError(await asUser(), 401, 'unauthorized')
    assert.equal((await client.get(session)).body.messages.length, 2)
  })

  test('backwards by a day, and the process dies: its session is free after the start', async () => {
    shift(DAY_MS)
    const session = await service.newSession(await service.newAgent())
    model.hold()
    const sending = client.post(`${session}/messages`, { message: 'cut off' }).catch(() => {})
    await model.received(1)
    await service.kill()
    await sending
    shift(0)
    model.reset()
    await service.restart()
    const again = await until('the session is free', async () => {
      const sent = await client.post(`${session}/messages`, { message: 'cut off' })
      return sent.status === 200 && sent
    })
    const { messages } = (await client.get(session)).body
    assert.deepEqual(
      messages.map(({ id }: { id: string }) => id),
      [again.body.userMessage.id, again.body.aiMessage.id],
    )
  })
})
