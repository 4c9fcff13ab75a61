// A list is written as it is read; what is scarce is given back though its reader takes its time.
import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { scarceJsonStream, textOrStream } from '../../src/http/json/json-stream.ts'
import { until } from '../support/poll.ts'

const LONG_MS = 2 ** 31 - 1
const ROW_CHARS = 1_000
const ROWS_A_SLICE = 100

/** `slices` slices of 100 kB, and how many of them were read. */
function source(slices: number) {
  const state = { read: 0, isFreed: false }
  async function* rows() {
    try {
      for (; state.read < slices; ) {
        state.read++
        yield Array.from({ length: ROWS_A_SLICE }, (_, i) => `${state.read} ${i} ${'x'.repeat(ROW_CHARS)}`)
      }
    } finally {
      state.isFreed = true
    }
  }
  return { state, rows: rows() }
}
const write = (rows: AsyncIterable<string[]>, readerMs = LONG_MS, owner = 'one', othersWait?: () => boolean): Readable =>
  scarceJsonStream({ head: '[', slices: rows, toItem: (name) => ({ name }), tail: ']', owner }, readerMs, othersWait)

describe('a list that holds something scarce', () => {
  test('is read to its end though its reader takes nothing, and comes whole and in order', async () => {
    const { state, rows } = source(15)
    const stream = write(rows)
    stream.read(0)
    await until('all is read', () => state.isFreed)
    const items: { name: string }[] = JSON.parse(await text(stream))
    assert.deepEqual(
      items.map(({ name }) => name.slice(0, -ROW_CHARS)),
      Array.from({ length: 1_500 }, (_, i) => `${Math.floor(i / ROWS_A_SLICE) + 1} ${i % ROWS_A_SLICE} `),
    )
  })

  test('that is too long for that is cut off where its reader is waited for for too long', async () => {
    const { state, rows } = source(1_000)
    const stream = write(rows, 3_000)
    const failed = new Promise<Error>((resolve) => stream.once('error', resolve))
    stream.read(0)
    assert.match((await failed).message, /took too long/)
    await until('it is freed', () => state.isFreed)
    assert.ok(state.read < 100, `${state.read} slices were read`)
  })

  test('and that others wait for is cut off long before that', async () => {
    const { state, rows } = source(1_000)
    const stream = write(rows, LONG_MS, 'one', () => true)
    const failed = new Promise<Error>((resolve) => stream.once('error', resolve))
    stream.read(0)
    assert.match((await failed).message, /took too long/)
    await until('it is freed', () => state.isFreed)
  })

  test('gives back what was read ahead: as much is read ahead of readers that come later', async () => {
    for (let i = 0; i < 6; i++) {
      const { state, rows } = source(15)
      const stream = write(rows)
      stream.read(0)
      await until('all is read', () => state.isFreed)
      stream.destroy()
    }
  })

  test('whose reader leaves while it is read ahead is freed', async () => {
    const { state, rows } = source(1_000)
    const stream = write(rows)
    stream.read(0)
    await until('it is read ahead', () => state.read > 5)
    stream.destroy()
    await until('it is freed', () => state.isFreed)
  })
})

test('many lists of one caller do not keep the list of another waiting', async () => {
  const many = Array.from({ length: 20 }, () => source(15))
  const reading = many.map(({ rows }) => text(write(rows)))
  const other = source(15)
  await text(write(other.rows, LONG_MS, 'other'))
  const read = many.reduce((sum, { state }) => sum + state.read, 0)
  assert.ok(read < 150, `${read} slices of 300 were read before`)
  await Promise.all(reading)
})

describe('a list', () => {
  const list = (rows: AsyncIterable<string[]>) => ({
    head: '[',
    slices: rows,
    toItem: (name: string) => ({ name }),
    tail: ']',
    owner: 'one',
  })

  test('of one slice, or of none, is a text, which can be sent with its length', async () => {
    const { state, rows } = source(1)
    const whole = await textOrStream(list(rows), () => assert.fail('there is no second slice'))
    assert.ok(typeof whole === 'string')
    assert.equal(JSON.parse(whole).length, ROWS_A_SLICE)
    assert.ok(state.isFreed)
    assert.equal(await textOrStream(list(source(0).rows), () => {}), '[]')
  })

  test('of several slices is a stream that comes whole and in order, and frees them when its reader leaves', async () => {
    const { rows } = source(3)
    let seconds = 0
    const stream = await textOrStream(list(rows), () => seconds++)
    assert.ok(typeof stream !== 'string')
    const items: { name: string }[] = JSON.parse(await text(stream))
    const places = items.map(({ name }) => name.split(' ').slice(0, 2).map(Number))
    assert.equal(seconds, 1)
    assert.deepEqual(
      places,
      [1, 2, 3].flatMap((slice) => Array.from({ length: ROWS_A_SLICE }, (_, i) => [slice, i])),
    )
    const left = source(1_000)
    const unread = await textOrStream(list(left.rows), () => {})
    assert.ok(typeof unread !== 'string')
    unread.destroy()
    await until('it is freed', () => left.state.isFreed)
  })

  test('whose first slice cannot be read throws, before anything is sent', async () => {
    async function* broken(): AsyncGenerator<string[]> {
      yield* []
      throw new Error('no such row')
    }
    await assert.rejects(
      textOrStream(list(broken()), () => {}),
      /no such row/,
    )
  })
})
