import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Metrics } from '../../src/http/metrics/metrics.ts'

test('of models that nobody can count, the first have figures of their own, and the others of a provider are one', () => {
  const metrics = new Metrics()
  const usage = { tokensIn: 1, tokensOut: 1, tokensCached: 0 }
  for (let i = 0; i < 2_000; i++)
    metrics.modelCalled({ model: `gateway/made-up-${i}`, outcome: 'ok', ms: 1, firstTextMs: 1, usage, cost: 1 } as never)
  const lines = metrics.render().split('\n')
  const of = (model: string) => lines.filter((line) => line.includes(`model="${model}"`))
  assert.equal(of('gateway/made-up-0').length, 3)
  assert.deepEqual(
    of('gateway/other').map((line) => line.split(' ').at(-1)),
    ['1500', '1500', '1500'],
  )
})
