// A provider that sends fast, in events of one letter, leaves time for requests.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readBody, send } from '../src/models/http.ts'
import { ReadingTurns } from '../src/models/reading-turns.ts'
import { never } from './contract/model.ts'
import { endsBy } from './support/cleanup.ts'

/** A clock that goes on by a millisecond whenever it is read. */
function tickingClock(): () => number {
  let now = 0
  return () => now++
}

/** Reads a body with a clock that leaves time for two slices in each turn; returns the bytes that each turn of the event loop took. */
async function readBytes(url: URL, turns: ReadingTurns): Promise<number[]> {
  const response = await send(url, { headers: {}, signal: never })
  const byTurn: number[] = [0]
  let isReading = true
  const count = async () => {
    for (; isReading; await nextTurn()) byTurn.push(0)
  }
  const counting = count()
  const take = (slice: Buffer) => {
    byTurn[byTurn.length - 1]! += slice.length
  }
  await readBody(response, never, take, { turns })
  isReading = false
  await counting
  return byTurn
}

describe('the answer of a provider', () => {
  const EVENT = 'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'
  const BODY = EVENT.repeat(20_000)

  test('is read whole, and little of it in each turn of the event loop', async () => {
    const server = createServer((_request, response) => response.end(BODY)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    endsBy('a fast provider', () => server.close())
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    const turns = new ReadingTurns(tickingClock())
    const both = await Promise.all([readBytes(url, turns), readBytes(url, turns)])
    for (const bytes of both)
      assert.equal(
        bytes.reduce((sum, n) => sum + n, 0),
        BODY.length,
      )
    const most = Math.max(...both.flat())
    assert.ok(most <= 16_384, `${most} bytes in one turn`)
  })
})

describe('turns of reading', () => {
  test('go on in the order in which they began to wait', async () => {
    const turns = new ReadingTurns(tickingClock())
    const read: string[] = []
    for (const name of ['a', 'b', 'c', 'd', 'e']) turns.run(() => read.push(name))
    assert.deepEqual(read, ['a', 'b'])
    await nextTurn()
    assert.deepEqual(read, ['a', 'b', 'c', 'd'])
    for (let i = 0; i < 10; i++) await nextTurn()
    assert.deepEqual(read, ['a', 'b', 'c', 'd', 'e'])
  })

  test('leave out the time that other work takes', () => {
    let now = 0
    const turns = new ReadingTurns(() => now)
    let count = 0
    for (let i = 0; i < 10; i++) {
      turns.run(() => count++)
      now += 1_000
    }
    assert.equal(count, 10)
  })

  test('count the time of work that goes on in promises', async () => {
    let now = 0
    const turns = new ReadingTurns(() => now)
    const read: string[] = []
    const goesOn = (name: string, ms: number) =>
      turns.later(async () => {
        read.push(name)
        await Promise.resolve()
        now += ms
      }, true)
    for (const name of ['a', 'b', 'c', 'd', 'e']) goesOn(name, 1)
    goesOn('f', 5)
    turns.later(() => read.push('g'))
    const byTurn: string[] = []
    for (let i = 0; i < 4; i++) {
      await nextTurn()
      byTurn.push(read.splice(0).join(''))
    }
    assert.deepEqual(byTurn, ['ab', 'cd', 'ef', 'g'])
  })
})

test('a stream whose events are parsed later is handed over few events at a time', async () => {
  const BODY = 'event: ping\ndata: {"type":"ping"}\n\n'.repeat(1_000)
  const server = createServer((_request, response) => response.end(BODY)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  endsBy('a fast provider', () => server.close())
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  const response = await send(url, { headers: {}, signal: never })
  const slices: string[] = []
  await readBody(response, never, (slice) => void slices.push(slice.toString()), { takesLater: true })
  assert.equal(slices.join(''), BODY)
  for (const slice of slices) assert.ok(slice.split('ping\n').length <= 4, slice)
})
