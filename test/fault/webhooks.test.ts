// The service is killed again and again while it tells of what happens: in the end everything that is in a history was told.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { startReceiver } from '../support/receiver.ts'
import { startService } from '../support/service.ts'

const ROUNDS = Number(process.env.CRASH_ROUNDS ?? 3)
const SESSIONS = 4

describe('webhooks of a service that is killed', { timeout: 300_000 + ROUNDS * 60_000 }, async () => {
  const receiver = await startReceiver()
  const service = await startService({
    REPARTEE_FETCH_ALLOW: receiver.host,
    REPARTEE_WEBHOOK_RETRY_SECONDS: '0,0,0,1,1,1,1,2,2,2,5,5,5,5,5,5',
    REPARTEE_WEBHOOK_TIMEOUT_MS: '3000',
  })
  const { client } = service
  after(async () => {
    await service.stop()
    receiver.close()
  })

  test(`${ROUNDS} times`, async (t) => {
    isOk(await client.post('/webhooks', { url: receiver.url, events: ['message.completed', 'turn.failed'] }), 201)
    const agent = await service.newAgent()
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => service.newSession(agent)))
    for (let round = 0; round < ROUNDS; round++) {
      let isOver = false
      let answered = 0
      const sending = sessions.map(async (session) => {
        for (let i = 0; !isOver; i++) {
          const answer = await client.post(`${session}/messages`, { message: `${round}/${i}` }).catch(() => undefined)
          if (answer?.status === 200) answered++
        }
      })
      // Some are refused, too, so that deliveries wait.
      receiver.answer(500, () => {}, 503)
      await until('something is answered', () => answered >= SESSIONS)
      await pause((round * 170) % 300)
      await service.kill()
      isOver = true
      await Promise.all(sending)
      await service.restart()
    }
    const told = (type: string, field: string) =>
      new Set(receiver.received.filter(({ body }) => body.type === type).map(({ body }) => body.data[field].id as string))
    const histories = await Promise.all(sessions.map(async (session) => (await client.get(session)).body.messages))
    const messages: { id: string; role: string }[] = histories.flat()
    const replies = messages.filter(({ role }) => role === 'AI')
    // A message that no reply stands behind.
    const failed: { id: string; role: string }[] = histories.flatMap((history) =>
      history.filter(({ role }: { role: string }, i: number) => role === 'USER' && history[i + 1]?.role !== 'AI'),
    )
    const missing = () => {
      const [completed, lost] = [told('message.completed', 'aiMessage'), told('turn.failed', 'userMessage')]
      return [...replies.filter(({ id }) => !completed.has(id)), ...failed.filter(({ id }) => !lost.has(id))]
    }
    await until('all is told', () => missing().length === 0).catch(() => {})
    assert.deepEqual(missing(), [])
    assert.ok(replies.length >= ROUNDS * SESSIONS)
    t.diagnostic(`${replies.length} replies and ${failed.length} failed turns, told in ${receiver.received.length} attempts`)
  })
})
