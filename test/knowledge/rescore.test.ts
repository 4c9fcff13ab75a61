// How near the words of a question stand in a passage.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { ProximityScorer } from '../../src/knowledge/query/rescore.ts'
import { hashOf } from '../../src/text/ngrams.ts'

const NEAR = 8

/** One pair after the other, from the beginning of the passage to its end. */
function expected(pairs: { first: string; second: string; idf: number }[], words: string[]): number {
  let score = 0
  for (const { first, second, idf } of pairs) {
    let times = 0
    let best = 0
    let lastFirst = Number.NEGATIVE_INFINITY
    let lastSecond = Number.NEGATIVE_INFINITY
    for (const [at, word] of words.entries()) {
      const distance = word === second ? at - lastFirst : word === first ? at - lastSecond : Number.POSITIVE_INFINITY
      if (distance <= NEAR) {
        times++
        best = Math.max(best, word === second && distance === 1 ? 1 : 1 - distance / (NEAR + 1))
      }
      if (word === first) lastFirst = at
      if (word === second) lastSecond = at
    }
    if (times > 0) score += idf * (0.6 * best + (0.4 * times) / (times + 1))
  }
  return score
}

const word = fc.constantFrom(...'the of heron otter reed river fish'.split(' '))
const pairsOf = fc.array(fc.record({ first: word, second: word, idf: fc.integer({ min: 1, max: 4 }) }), { maxLength: 30 })

test('each pair of a question counts by how close its words come in a passage, and how often, as often as it is asked', () => {
  fc.assert(
    fc.property(pairsOf, fc.array(fc.oneof(word, fc.constant('other')), { maxLength: 60 }), (asked, words) => {
      const pairs = asked.filter(({ first, second }) => first !== second)
      const hashes = Uint16Array.from([...words, 'heron', 'otter'], hashOf)
      const score = new ProximityScorer(pairs).score({ hashes, title: words.length, text: words.length })
      assert.ok(Math.abs(score - expected(pairs, words)) < 1e-9)
    }),
    { seed: 1, numRuns: 1_000 },
  )
})

test('a word with many pairs counts as the same pairs would one by one', () => {
  const words = Array.from({ length: 30 }, (_, i) => `word${i}`)
  const pairs = words.flatMap((word, i) => [
    { first: 'hub', second: word, idf: 1 + i },
    { first: word, second: 'hub', idf: 2 + i },
  ])
  const text = ['hub', ...words.flatMap((word, i) => (i % 3 === 0 ? [word, 'hub', 'x'] : [word])), 'hub', 'hub'].map(hashOf)
  const sketch = { hashes: Uint16Array.from(text), title: text.length, text: text.length }
  const together = new ProximityScorer(pairs).score(sketch)
  const apart = pairs.reduce((sum, pair) => sum + new ProximityScorer([pair]).score(sketch), 0)
  assert.ok(together > 0)
  assert.ok(Math.abs(together - apart) < 1e-9, `${together} is not ${apart}`)
})
