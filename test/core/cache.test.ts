import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Cache } from '../../src/core/platform/cache.ts'
import { openModels } from '../../src/models/models.ts'

describe('a cache', () => {
  test('creates a value once, and keeps those that were used last', () => {
    const cache = new Cache<string>(2)
    const created: string[] = []
    const use = (name: string) =>
      cache.getOrCreate(name, () => {
        created.push(name)
        return `value of ${name}`
      })
    for (const name of ['a', 'b', 'a', 'c', 'a', 'b']) assert.equal(use(name), `value of ${name}`)
    assert.deepEqual(created, ['a', 'b', 'c', 'b'])
    assert.deepEqual(cache.names, ['a', 'b'])
  })

  test('keeps nothing for a name whose value cannot be created', () => {
    const cache = new Cache<string>(2)
    const fail = () => {
      throw new Error('no')
    }
    assert.throws(() => cache.getOrCreate('a', fail))
    assert.deepEqual(cache.names, [])
  })
})

test('names of models that agents try are not kept for ever', async () => {
  const provider = { name: 'mine', protocol: 'chat' as const, baseUrl: 'http://127.0.0.1:1', apiKey: undefined, headers: {} }
  const models = openModels([provider], { extract: () => assert.fail() }, () => 0)
  for (let i = 0; i < 5_000; i++) models.find(`mine/${i}`)
  const listed = await models.list()
  assert.equal(listed.length, 2_001)
  assert.deepEqual([listed[0]!.id, listed.at(-1)!.id], ['extractive', 'mine/4999'])
})
