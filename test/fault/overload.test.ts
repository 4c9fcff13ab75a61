// More is asked of the service than it can do: some of it is refused at once and clearly, what was acknowledged is there, and health is told all the while.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService({ REPARTEE_MAX_DELAY_MS: '20', REPARTEE_LOG_LEVEL: 'warn' })
after(() => service.stop())
const { client } = service
const SENDERS = 200

describe('overload', { skip: needsProcess }, () => {
  test('some of what is new is refused; what was acknowledged is stored; health answers; it passes by itself', async () => {
    const agent = await service.newAgent({ model: 'extractive' })
    const text = Array.from(
      { length: 400 },
      (_, i) => `Lamp ${i} burns for ${i + 3} hours. It is lit in the evening by keeper ${i}.`,
    )
    const added = await client.post(`/agents/${agent}/documents`, { title: 'Lamps', text: text.join('\n\n') })
    isOk(added, 202)
    await until('the document is read', async () => {
      const { body } = await client.get(`/agents/${agent}/documents/${added.body.document.id}`)
      return body.document.status === 'ready'
    })
    const sessions: string[] = []
    while (sessions.length < SENDERS) sessions.push(await service.newSession(agent))
    const answered = new Map(sessions.map((session) => [session, 0]))
    let refused = 0
    let isOver = false
    const healthy: number[] = []
    const send = async (session: string) => {
      for (let i = 0; !isOver && i < 200; i++) {
        const answer = await client.post(`${session}/messages`, { message: `How long does lamp ${i} burn?` })
        if (answer.status === 200) {
          answered.set(session, answered.get(session)! + 1)
          continue
        }
        isError(answer, 503, 'unavailable')
        assert.match(String(answer.headers['retry-after']), /^[1-3]$/)
        refused++
      }
    }
    const load = Promise.all(sessions.map(send))
    const looks = setInterval(() => client.get('^/healthz', { key: null }).then(({ status }) => healthy.push(status)), 50)
    await until('something is refused', () => refused > 50)
    isOver = true
    await load
    clearInterval(looks)
    assert.deepEqual([...new Set(healthy)], [200])
    assert.match(service.printed(), /more comes in than can be done/)
    await until('nothing is refused any more', () => /nothing is refused any more; \d+ requests were/.test(service.printed()))
    for (const session of sessions.slice(0, 40)) {
      const { messages } = (await client.get(session)).body
      assert.equal(messages.length, 2 * answered.get(session)!)
    }
  })

  test('large uploads at once wait for each other, and none is refused', async () => {
    const own = await startService({ REPARTEE_UPLOADS_AT_ONCE: '2' })
    after(() => own.stop())
    const agent = await own.newAgent()
    const text = 'A line that is long enough to matter. '.repeat(40_000)
    const added = await Promise.all(
      Array.from({ length: 6 }, (_, i) => own.client.post(`/agents/${agent}/documents`, { title: `T${i}`, text: `${i}${text}` })),
    )
    for (const answer of added) isOk(answer, 202)
  })
})
