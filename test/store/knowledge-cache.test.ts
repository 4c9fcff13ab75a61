import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ByteCache, CacheBudget } from '../../src/store/knowledge/reader/cache.ts'

describe('a budget of bytes that caches share', () => {
  it('drops what was not used while half of it was filled anew, whosever it is', () => {
    const budget = new CacheBudget(100)
    const quiet = new ByteCache<string, number>(budget)
    const busy = new ByteCache<string, number>(budget)
    quiet.set('unused', 1, 10)
    quiet.set('used', 2, 10)
    for (let i = 0; i < 10; i++) {
      busy.set(`${i}`, i, 20)
      assert.equal(quiet.get('used'), 2)
    }
    assert.equal(quiet.get('unused'), undefined)
    assert.equal(busy.get('0'), undefined)
    assert.equal(busy.get('9'), 9)
  })

  it('keeps what fits', () => {
    const cache = new ByteCache<number, number>(new CacheBudget(100))
    for (let i = 0; i < 5; i++) cache.set(i, i, 10)
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((i) => cache.get(i)),
      [0, 1, 2, 3, 4],
    )
    cache.clear()
    assert.equal(cache.get(0), undefined)
  })
})
