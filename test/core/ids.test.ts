import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isUuid, makeId, newId } from '../../src/core/platform/ids.ts'

for (const [title, make] of Object.entries({ 'on this Node': newId, 'on Node before 24.16': makeId }))
  test(`an id is a UUID of version 7 with the time in milliseconds, ${title}`, () => {
    const before = Date.now()
    const ids = Array.from({ length: 1_000 }, make)
    const after = Date.now()
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) {
      assert.ok(isUuid(id), id)
      assert.match(id, /^.{14}7.{4}[89ab]/, 'version and variant (RFC 9562)')
      const at = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
      assert.ok(at >= before && at <= after, `${id} was made between ${before} and ${after}`)
    }
  })
