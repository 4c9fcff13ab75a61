import assert from 'node:assert/strict'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { after, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { gauge } from '../support/gauge.ts'
import { openMemory } from '../support/memory.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'
import { storeOf } from '../support/store.ts'

const READERS = 30
const MEGABYTES = 12
const PIECE_CHARS = 200_000

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

/** A turn with readers of which only the first goes on reading, once the first words have come. */
async function readBy(service: Service) {
  const { client, model } = service
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
  const sayMuch = async () => {
    for (let i = 0; i < (MEGABYTES * 1_000_000) / PIECE_CHARS; i++) await speaker.say('x'.repeat(PIECE_CHARS))
  }
  return { session, stream, speaker, reader, slow, sayMuch }
}

describe('readers of a stream that do not read', { skip: needsProcess }, () => {
  const REPARTEE_MAX_REPLY_CHARS = '100000000'

  test('cost no memory and hold nobody up', async () => {
    const memory = openMemory()
    // None of them is cut off before the memory is measured.
    const service = await startService({ REPARTEE_MAX_REPLY_CHARS, REPARTEE_STREAM_STALL_MS: '3600000', ...memory.env })
    after(() => service.stop())
    const { session, speaker, reader, slow, sayMuch } = await readBy(service)
    const before = await memory.megabytes(service.pid()!)
    await sayMuch()
    await reader.textOf(MEGABYTES * 1_000_000)
    const more = (await memory.megabytes(service.pid()!)) - before
    assert.equal(await gauge(service.client, 'event_streams'), READERS + 1)
    // The text, and what was last sent to each of them; not the text for each of them.
    assert.ok(more < MEGABYTES * (READERS / 2), `${more} MB more for ${READERS} readers of ${MEGABYTES} MB`)
    isOk(await service.client.get(session))
    for (const { leave } of slow) leave()
    await speaker.end()
    await reader.ended
  })

  test('are cut off, and can take the stream up again', async () => {
    // Long enough that the reader that does read is not cut off on a busy machine.
    const service = await startService({ REPARTEE_MAX_REPLY_CHARS, REPARTEE_STREAM_STALL_MS: '10000' })
    after(() => service.stop())
    const { stream, speaker, slow, sayMuch } = await readBy(service)
    await sayMuch()
    await until('all but the one that reads are cut off', async () => (await gauge(service.client, 'event_streams')) === 1)
    for (const { resume } of slow) resume()
    await Promise.all(slow.map(({ ended }) => assert.rejects(ended)))
    const [one] = slow
    const lastEventId = one!.events.at(-1)!.id
    const again = await readEvents(service.client, 'GET', stream, { headers: { 'last-event-id': lastEventId } })
    await speaker.end()
    await again.ended
    assert.equal((one!.text() + again.text()).length, 6 + MEGABYTES * 1_000_000)
    assert.equal(again.events.at(-1)!.event, 'turn.completed')
  })
})
