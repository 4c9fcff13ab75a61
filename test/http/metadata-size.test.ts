import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MetadataMap } from '../../src/api/agents.ts'
import { FilledText } from '../../src/api/fields.ts'
import { Type } from '../../src/api/schema.ts'
import type { ReparteeError } from '../../src/core/errors.ts'
import { toShown } from '../../src/http/route/body.ts'
import { isLonger, validator } from '../../src/http/route/validation.ts'

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

// A body may hold one of 48 MB: to look through it takes a tenth of a second, in which nobody else is served.
test('texts and names that are far too long are refused after a look at their beginning', (t) => {
  const check = validator(Type.Object({ title: FilledText(500, 'A title.'), metadata: Type.Optional(MetadataMap) }), 'body')
  const seen = t.mock.method(RegExp.prototype, 'test')
  const problems = (body: object) => {
    try {
      check(body)
    } catch (error) {
      return (error as ReparteeError).details?.map(({ path, message }) => `${path} ${message}`)
    }
  }
  assert.deepEqual(problems({ title: ' '.repeat(1_000_000) }), ['body.title must not be blank'])
  assert.deepEqual(problems({ title: 'a', metadata: { ['\u0001'.repeat(1_000_000)]: 1 } }), [
    `body.metadata.${toShown('\u0001'.repeat(200))} is a name that must have at most 100 characters`,
  ])
  assert.equal(problems({ title: '😀'.repeat(500), metadata: { ['😀'.repeat(100)]: 1 } }), undefined)
  assert.deepEqual(problems({ title: '😀'.repeat(501) }), ['body.title must have at most 500 characters'])
  const lengths = seen.mock.calls.map(({ arguments: [text] }) => text.length)
  assert.ok(lengths.length > 0 && Math.max(...lengths) <= 1_001, `${lengths}`)
})

test('the characters of a text are counted up to the limit alone', () => {
  let counted = 0
  const text = {
    length: 1_500,
    *[Symbol.iterator]() {
      for (; counted < 1_500; counted++) yield 'a'
    },
  } as unknown as string
  assert.equal(isLonger(text, 1_000), true)
  assert.ok(counted <= 1_001, `${counted}`)
  assert.equal(isLonger('😀'.repeat(1_000), 1_000), false)
  assert.equal(isLonger('😀'.repeat(1_001), 1_000), true)
  assert.equal(isLonger(`${'a'.repeat(999)}😀`, 1_000), false)
})
