import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasMoreValues } from '../src/core/json-values.ts'

/** As `hasMoreValues` counts: lists, objects, and the commas in them. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return 1 + Math.max(0, inner.length - 1) + inner.reduce((sum: number, one) => sum + countOf(one), 0)
}

test('the values of a JSON text are counted without parsing it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const count = countOf(value)
      for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
        assert.equal(hasMoreValues(json, count), false)
        if (count > 0) assert.equal(hasMoreValues(json, count - 1), true)
      }
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('what is in a string does not count, and a string that never ends is one', () => {
  for (const text of [',[{', '\\"', '\\\\",', '"', '\\'])
    assert.equal(hasMoreValues(JSON.stringify(text.repeat(50)), 0), false, text)
  assert.equal(hasMoreValues('"[[[[[', 0), false)
})
