import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MetadataMap } from '../src/api/agents.ts'
import { Type } from '../src/api/schema.ts'
import { validator } from '../src/http/validation.ts'

// Writing 48 MB as JSON would hold up everybody for most of a second.
for (const [about, metadata] of [
  ['a long text', { a: 'x'.repeat(20_000) }],
  ['many texts', { a: Array.from({ length: 50 }, () => 'x'.repeat(900)) }],
  ['a value of another kind', { a: { b: 'x'.repeat(20_000) } }],
  ['a list in a list', { a: [['x'.repeat(20_000)]] }],
] as const)
  test(`metadata with ${about} is refused without being written as JSON`, (t) => {
    const check = validator(Type.Object({ metadata: MetadataMap }), 'body')
    check({ metadata: { a: 'fits' } })
    const stringify = t.mock.method(JSON, 'stringify')
    assert.throws(() => check({ metadata }), { code: 'invalid_request' })
    assert.deepEqual(
      stringify.mock.calls.filter(({ arguments: [value] }) => value === metadata),
      [],
    )
  })
