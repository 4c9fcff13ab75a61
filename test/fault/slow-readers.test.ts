import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { after, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { gauge } from '../support/gauge.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'
import { storeOf } from '../support/store.ts'

/** Long enough that the reader that does read is not cut off on a busy machine. */
const STALL_MS = 10_000
const service = await startService({ REPARTEE_STREAM_STALL_MS: String(STALL_MS), REPARTEE_MAX_REPLY_CHARS: '100000000' })
after(() => service.stop())
const { client, model } = service
const READERS = 30
const MEGABYTES = 12
const memoryMb = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid()}/status`, 'latin1'))![1]) / 1024

describe('a reader of a long list that does not read', { skip: needsProcess }, () => {
  test('holds nobody up while something is deleted, and is cut off', async () => {
    const own = await startService({ REPARTEE_STREAM_STALL_MS: '3000' })
    after(() => own.stop())
    const { client } = own
    const agent = await own.newAgent()
    const doomed = await own.newSession(agent)
    const store = storeOf(own)
    const padded = (n: number) => (store.isPostgres ? `lpad(i::text, ${n}, '0')` : `printf('%0${n}d', i)`)
    await store.run(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
      INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
      SELECT '${agent}', '00000000-0000-4000-8000-' || ${padded(12)}, ${padded(200)}, 'a user', 0, i, i, i FROM n`)
    const inProgress = () => gauge(client, 'http_requests_in_progress')
    const before = await inProgress()
    const reader = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { 'x-api-key': client.key }
      httpGet(`${client.address.baseUrl}/agents/${agent}/sessions`, { headers, agent: false }, resolve).on('error', reject)
    })
    reader.on('error', () => {})
    const cut = new Promise((resolve) => reader.on('close', resolve))
    isOk(await client.delete(doomed))
    isOk(await client.get('^/healthz'))
    await until('it is cut off', async () => (await inProgress()) === before)
    reader.resume()
    await cut
    assert.equal(reader.complete, false)
  })
})

describe('readers of a stream that do not read', { skip: needsProcess }, () => {
  test('cost no memory, are cut off, hold nobody up, and can take the stream up again', async () => {
    const session = await service.newSession(await service.newAgent())
    const speaker = new Speaker()
    model.behaviour = speaker.behaviour
    const reader = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
    const { data } = await reader.find('turn.started')
    await speaker.say('begun ')
    await reader.textOf(6)
    const stream = `${session}/messages/${data.userMessage.id}/stream`
    const slow = await Promise.all(Array.from({ length: READERS }, () => readEvents(client, 'GET', stream)))
    for (const { pause } of slow) pause()
    const before = memoryMb()
    const piece = 'x'.repeat(200_000)
    for (let i = 0; i < MEGABYTES * 5; i++) await speaker.say(piece)
    await reader.textOf(MEGABYTES * 1_000_000)
    // The text once, and what the sockets hold; not the text for each of them.
    assert.ok(
      memoryMb() - before < MEGABYTES * (READERS / 2),
      `${memoryMb() - before} MB more for ${READERS} readers of ${MEGABYTES} MB`,
    )
    isOk(await client.get(session))
    await until('all but the one that reads are cut off', async () => (await gauge(client, 'event_streams')) === 1)
    for (const { resume } of slow) resume()
    await Promise.all(slow.map(({ ended }) => assert.rejects(ended)))
    const [one] = slow
    const again = await readEvents(client, 'GET', stream, { headers: { 'last-event-id': one!.events.at(-1)!.id } })
    await speaker.end()
    await again.ended
    assert.equal((one!.text() + again.text()).length, 6 + MEGABYTES * 1_000_000)
    assert.equal(again.events.at(-1)!.event, 'turn.completed')
  })
})
