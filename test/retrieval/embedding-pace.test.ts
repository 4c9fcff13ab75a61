import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EmbeddingPace } from '../../src/retrieval/embedding-pace.ts'

const { signal } = new AbortController()

/** Calls all begin at the same time. `waits`: how long each waited, in milliseconds. */
function newPace() {
  const waits: number[] = []
  const pace = new EmbeddingPace(
    () => 0,
    async (ms) => void waits.push(ms),
  )
  const embed = (model: string, texts: number, dimensions: number) =>
    pace.run({ model, texts, signal }, async () => [new Float32Array(dimensions)])
  return { waits, pace, embed }
}

test('passages are embedded as fast as their vectors may come, and all models share the pace', async () => {
  const { waits, embed } = newPace()
  await embed('small', 125, 1_000)
  assert.deepEqual(waits, [])
  // Nothing was known of it: 125 times 8,192 numbers take 512 ms.
  await embed('small', 400, 1_000)
  await embed('large', 1, 8_192)
  await embed('small', 1, 1_000)
  assert.deepEqual(waits.map(Math.round), [512, 712, 716])
})

test('a model that fails is assumed to send the longest vectors', async () => {
  const { waits, pace, embed } = newPace()
  const fails = async () => {
    throw new Error('too long')
  }
  await embed('m', 0, 1)
  await assert.rejects(pace.run({ model: 'm', texts: 0, signal }, fails), /too long/)
  await embed('m', 125, 1)
  await embed('m', 1, 1)
  assert.deepEqual(waits, [512])
})

test('a call whose wait is ended is not made', async () => {
  const pace = new EmbeddingPace(() => 0)
  const vectors = async () => [new Float32Array(1)]
  await pace.run({ model: 'm', texts: 1_000_000, signal }, vectors)
  const stop = new AbortController()
  const waiting = pace.run({ model: 'm', texts: 1, signal: stop.signal }, () => assert.fail('made'))
  stop.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
})
