// Which of the passages found go into a prompt
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Hit, Retrieval } from '../../src/core/ports/retrieval.ts'
import { passagesFor } from '../../src/reply/passages.ts'

const hit = (text: string, score: number): Hit => ({
  documentId: 'd',
  passageId: text,
  title: '',
  heading: '',
  text,
  page: null,
  url: null,
  score,
  scores: {},
})
const found = (hits: Hit[], change: Partial<Retrieval> = {}): Retrieval => ({
  query: '',
  standsAlone: true,
  hits,
  confidence: 1,
  ...change,
})
const textsFor = (retrieval: Retrieval, tokens = 8_000) => passagesFor(retrieval, tokens).map(({ text }) => text)

describe('passages for a prompt', () => {
  const falling = [hit('one', 10), hit('two', 4), hit('three', 3.9)]

  test('those far behind the best stay out, where scores are by words', () => {
    assert.deepEqual(textsFor(found(falling)), ['one', 'two'])
    assert.deepEqual(textsFor(found(falling, { mode: 'lexical', isReranked: false })), ['one', 'two'])
    assert.deepEqual(textsFor(found([])), [])
  })

  test('scores by meaning, and those of a reranker, which may be below zero, leave nothing out', () => {
    assert.deepEqual(textsFor(found(falling, { mode: 'hybrid' })), ['one', 'two', 'three'])
    const reranked = [hit('one', -1), hit('two', -7)]
    assert.deepEqual(textsFor(found(reranked, { isReranked: true })), ['one', 'two'])
  })

  test('one of which nearly all stands in better ones is left out; one that adds something is not', () => {
    const sentences = [
      'The lamp has a warranty of two years. ',
      'It is repaired in Bergen. ',
      'Parking costs three euros. ',
      'Nobody pays on Sunday. ',
    ]
    const [a, b, c, d] = sentences
    const more = 'Dogs are welcome in the shop, as long as they behave themselves there.'
    const texts = [`${a}${b}`, `${c}${d}`, sentences.toReversed().join(''), `${a}${more}`]
    assert.deepEqual(textsFor(found(texts.map((text) => hit(text, 1)))), [texts[0], texts[1], texts[3]])
    const chinese = ['保修期为两年。停车每小时三欧元。', '停车每小时三欧元。']
    assert.deepEqual(textsFor(found(chinese.map((text) => hit(text, 1)))), [chinese[0]])
  })

  test('as many as there is room for, and at least one', () => {
    const long = [hit('a'.repeat(350), 1), hit('b'.repeat(350), 1)]
    assert.equal(textsFor(found(long), 200).length, 2)
    assert.equal(textsFor(found(long), 199).length, 1)
    assert.equal(textsFor(found(long), 0).length, 1)
  })
})
