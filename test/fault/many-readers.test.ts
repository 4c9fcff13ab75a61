// Many follow one turn: its end, which holds the whole reply, is told to some of them at a time.
import assert from 'node:assert/strict'
import { get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fastify from 'fastify'
import type { ApiKey } from '../../src/core/api-key.ts'
import { WritingTurns } from '../../src/http/server/writing-turns.ts'
import { EventStreams } from '../../src/http/turns/event-stream.ts'
import { endsBy } from '../support/cleanup.ts'
import { readEvents } from '../support/events.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const MOST = 100
const REPLY = 'walnut '.repeat(20_000)

describe('the readers of one turn', { skip: needsProcess }, () => {
  test(`are ${MOST} at most, and all of them get the whole reply and its end`, async () => {
    const service = await startService()
    after(() => service.stop())
    const { client, model } = service
    const session = await service.newSession(await service.newAgent())
    const speaker = new Speaker()
    model.behaviour = speaker.behaviour
    const sender = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
    const { data } = await sender.find('turn.started')
    const path = `${session}/messages/${data.userMessage.id}/stream`
    const readers = await Promise.all(Array.from({ length: MOST - 1 }, () => readEvents(client, 'GET', path)))
    await until('one more is refused', async () => (await client.get(path)).status === 503)
    await speaker.say(REPLY)
    await speaker.end()
    for (const reader of [sender, ...readers]) {
      const { data } = await reader.find('turn.completed')
      assert.equal(data.aiMessage.content.trim(), REPLY.trim())
    }
  })
})

test('the last events of many streams are made and written with other work in between', async () => {
  const app = fastify()
  endsBy('the server', () => void app.close())
  const streams = new EventStreams({ heartbeatMs: 60_000, streamStallMs: 60_000 }, Date.now, assert.fail)
  const open: ReturnType<EventStreams['open']>[] = []
  app.get('/', (_request, reply) => {
    open.push(streams.open(reply, { id: 'k', expiresAt: null } as ApiKey))
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const answers = Array.from({ length: 50 }, () => new Promise<IncomingMessage>((resolve) => get({ port }, resolve)))
  const texts = answers.map(async (answer) => (await (await answer).toArray()).join(''))
  await until('all are open', () => open.length === 50)
  let rounds = 0
  const count = () => {
    rounds++
    if (made < 50) setImmediate(count)
  }
  let made = 0
  const event = Buffer.from('data: the end\n\n')
  setImmediate(count)
  for (const stream of open)
    stream.end(() => {
      const start = performance.now()
      while (performance.now() - start < 2);
      made++
      return event
    })
  for (const text of await Promise.all(texts)) assert.match(text, /data: the end\n\n$/)
  // 100 ms of work, of which 5 may be done in one go.
  assert.ok(rounds >= 10, `${rounds} rounds of the event loop`)
  streams.close()
  await app.close()
})

test('a stream whose last events cannot be made is cut and reported, and others go on', async () => {
  const app = fastify()
  endsBy('the server', () => void app.close())
  const reported: unknown[] = []
  const limits = { heartbeatMs: 60_000, streamStallMs: 60_000 }
  const streams = new EventStreams(limits, Date.now, (_about, error) => reported.push(error))
  const open: ReturnType<EventStreams['open']>[] = []
  app.get('/', (_request, reply) => {
    open.push(streams.open(reply, { id: 'k', expiresAt: null } as ApiKey))
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const [bad, good] = await Promise.all(
    Array.from({ length: 2 }, () => new Promise<IncomingMessage>((resolve) => get({ port, agent: false }, resolve))),
  )
  const error = new RangeError('Invalid string length')
  open[0]!.end(() => {
    throw error
  })
  open[1]!.end(() => 'data: the end\n\n')
  const outcomes = await Promise.allSettled([bad!, good!].map(async (answer) => (await answer.toArray()).join('')))
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  assert.deepEqual(reported, [error])
  streams.close()
  await app.close()
})

test('the last events of a stream that nobody reads are not made', async () => {
  const app = fastify()
  endsBy('the server', () => void app.close())
  const streams = new EventStreams({ heartbeatMs: 60_000, streamStallMs: 60_000 }, Date.now, assert.fail)
  const PIECES = 4_000
  let made = 0
  function* pieces() {
    for (; made < PIECES; made++) yield `data: ${'x'.repeat(16_000)}\n\n`
  }
  app.get('/', (_request, reply) => {
    streams.open(reply, { id: 'k', expiresAt: null } as ApiKey).end(pieces)
  })
  await app.listen({ port: 0 })
  const { port } = app.server.address() as AddressInfo
  const answer = await new Promise<IncomingMessage>((resolve) => get({ port }, resolve))
  let before = -1
  await until('no more is made', () => {
    const isSame = before === made && made > 0
    before = made
    return isSame
  })
  assert.ok(made < PIECES, `${made} of ${PIECES} were made`)
  let bytes = 0
  for await (const chunk of answer) bytes += chunk.length
  assert.equal(bytes > PIECES * 16_000, true)
})

describe('turns at writing', () => {
  test('a key with many streams does not hold up another', async () => {
    const turns = new WritingTurns(() => 0)
    const written: string[] = []
    for (const line of ['a/1', 'a/2', 'a/3', 'b/'])
      turns.soon(line, () => {
        written.push(line)
        return 0
      })
    await nextTurn()
    assert.deepEqual(written, ['a/1', 'b/', 'a/2', 'a/3'])
  })

  test('what Node sends behind a slice is not much', async () => {
    const turns = new WritingTurns(() => 0)
    let written = 0
    for (let i = 0; i < 10; i++)
      turns.soon('a', () => {
        written++
        return 250_000
      })
    await null
    assert.equal(written, 3)
    await nextTurn()
    await until('all is written', () => written === 10)
  })

  test('a long round is followed by a short pause, and by none where that has gone by', async () => {
    let now = 0
    const turns = new WritingTurns(() => now)
    const write = (ms: number) =>
      new Promise<void>((resolve) =>
        turns.soon('a', () => {
          now += ms
          resolve()
          return 0
        }),
      )
    await write(60_000)
    let isWritten = false
    const note = () => {
      isWritten = true
    }
    const next = write(0).then(note)
    await nextTurn()
    assert.equal(isWritten, false)
    await next
    await write(60_000)
    now += 200
    isWritten = false
    void write(0).then(note)
    await nextTurn()
    assert.equal(isWritten, true)
  })
})
