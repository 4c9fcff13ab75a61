import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasMoreFields, hasMoreValues, ValueCount } from '../src/core/json-values.ts'

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
        const values = new ValueCount()
        const bytes = Buffer.from(json)
        for (let at = 0; at < bytes.length; at += 3) values.add(bytes.subarray(at, at + 3))
        assert.equal(values.add(bytes, bytes.length), count)
      }
    }),
    { seed: 1, numRuns: 500 },
  )
})

/** Of the object with the most. */
function fieldsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Math.max(own, ...Object.values(value).map(fieldsOf))
}

test('the fields of an object are counted, whatever lies in them and around it', () => {
  const filler = 'x'.repeat(1_000)
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const json = JSON.stringify([filler, value, { a: value, b: [1, 2, 3, 4] }, value])
      const most = Math.max(2, fieldsOf(value))
      assert.equal(hasMoreFields(json, most), false)
      assert.equal(hasMoreFields(json, most - 1), true)
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('what is in a string does not count, and a string that never ends is one', () => {
  for (const text of [',[{', '\\"', '\\\\",', '"', '\\'])
    assert.equal(hasMoreValues(JSON.stringify(text.repeat(50)), 0), false, text)
  assert.equal(hasMoreValues('"[[[[[', 0), false)
})
