import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasMoreShapes, hasMoreValues, ValueCount } from '../../src/core/platform/json-values.ts'

/** As `hasMoreValues` counts: lists, objects, and the commas in them. */
function countOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value)
  return 1 + Math.max(0, inner.length - 1) + inner.reduce((sum: number, one) => sum + countOf(one), 0)
}

function namesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const own = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce((sum: number, inner) => sum + namesOf(inner), own)
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
        assert.equal(values.add(bytes, bytes.length), count + 4 * namesOf(value))
      }
    }),
    { seed: 1, numRuns: 500 },
  )
})

/** The fields of all objects, each with those before it. */
function shapesOf(value: unknown, shapes = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return shapes
  const names = Array.isArray(value) ? [] : Object.keys(value)
  for (const i of names.keys()) shapes.add(JSON.stringify(names.slice(0, i + 1)))
  for (const inner of Object.values(value)) shapesOf(inner, shapes)
  return shapes
}

test('the shapes of objects are counted, whatever lies in them and around them', () => {
  const filler = 'x'.repeat(1_000)
  fc.assert(
    fc.property(fc.jsonValue(), (some) => {
      const value = [filler, some, { a: some, b: [1, 2, 3, 4] }, some]
      const { size } = shapesOf(value)
      for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
        assert.equal(hasMoreShapes(json, size), false)
        assert.equal(hasMoreShapes(json, size - 1), true)
      }
    }),
    { seed: 1, numRuns: 500 },
  )
})

test('the same fields in another order are another shape, and again in the same order none', () => {
  const filler = ' '.repeat(100)
  assert.equal(hasMoreShapes(`[{"a":1,"b":2},{"a":{"a":1},"b":3}]${filler}`, 2), false)
  assert.equal(hasMoreShapes(`[{"a":1,"b":2},{"b":1,"a":2}]${filler}`, 3), true)
})

test('what is in a string does not count, and a string that never ends is one', () => {
  for (const text of [',[{', '\\"', '\\\\",', '"', '\\'])
    assert.equal(hasMoreValues(JSON.stringify(text.repeat(50)), 0), false, text)
  assert.equal(hasMoreValues('"[[[[[', 0), false)
})
