import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SlowReadings } from '../../src/knowledge/ingest/slow-readings.ts'

const MB = 1_000_000

test('what was read holds its own size until it is taken, and not that of its file', async () => {
  const slow = new SlowReadings({ sizeOf: (chars: number) => chars })
  const reading = Promise.withResolvers<number>()
  slow.keep({ number: 1, revision: 1 }, reading.promise, 2 * MB)
  assert.equal(slow.bytes, 2 * MB)
  reading.resolve(20 * MB)
  await nextTurn()
  assert.equal(slow.bytes, 20 * MB)
  assert.equal(await slow.take({ number: 1, revision: 1 }), 20 * MB)
  assert.equal(slow.bytes, 0)
})

test('what was read and has no room is given up, before its agent is told', async () => {
  const events: string[] = []
  const slow: SlowReadings<{ number: number; revision: number }, number> = new SlowReadings({
    sizeOf: (chars: number) => chars,
    mayHold: (bytes) => slow.bytes + bytes <= 30 * MB,
    settled: () => events.push('settled'),
    givenUp: ({ number }) => events.push(`given up ${number}`),
  })
  for (const number of [1, 2]) slow.keep({ number, revision: 1 }, Promise.resolve(20 * MB), MB)
  await nextTurn()
  assert.deepEqual(events, ['settled', 'given up 2', 'settled'])
  assert.deepEqual(
    [1, 2].map((number) => slow.has({ number, revision: 1 })),
    [true, false],
  )
  assert.equal(slow.bytes, 20 * MB)
})

test('the reading of a version that was changed is given up', async () => {
  const givenUp: number[] = []
  const slow = new SlowReadings({ sizeOf: () => 0, givenUp: ({ revision }) => givenUp.push(revision) })
  slow.keep({ number: 1, revision: 1 }, new Promise(() => {}), MB)
  slow.keep({ number: 1, revision: 2 }, Promise.resolve(), MB)
  assert.deepEqual(givenUp, [1])
  await nextTurn()
  assert.deepEqual(slow.ready([{ number: 1, revision: 3 }]), [{ number: 1, revision: 3 }])
  assert.deepEqual(givenUp, [1, 2])
})

test('slow documents keep others waiting, and quick ones only where several of those turn out to be slow', async () => {
  interface Version {
    number: number
    revision: number
    isText: boolean
  }
  const version = (number: number, isText: boolean): Version => ({ number, revision: 1, isText })
  const slow = new SlowReadings<Version, void>({ isQuick: ({ isText }) => isText })
  const listed = [version(100, false), version(101, true)]
  const ready = () => slow.ready(listed).map(({ number }) => number)
  assert.deepEqual(ready(), [100, 101])
  for (const number of [1, 2]) slow.keep(version(number, false), new Promise(() => {}), MB)
  assert.deepEqual(ready(), [101])
  for (let number = 3; ready().length > 0; number++) slow.keep(version(number, true), new Promise(() => {}), 100)
  assert.equal(slow.underWay(), 10)
})
