import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CitedDocuments } from '../../src/sessions/insights.ts'

test('documents are listed by how often they were cited, with the ratings of those replies', () => {
  const cited = new CitedDocuments()
  for (const rating of ['up', undefined, 'down'] as const) cited.add('a', 'A', rating)
  cited.add('b', 'B', undefined)
  assert.deepEqual(cited.list(10), [
    { documentId: 'a', title: 'A', cited: 3, up: 1, down: 1 },
    { documentId: 'b', title: 'B', cited: 1, up: 0, down: 0 },
  ])
  assert.equal(cited.list(1).length, 1)
  assert.equal(cited.isComplete, true)
})

test('however many documents are cited, few are held, and those that are cited most stay', () => {
  const cited = new CitedDocuments(10)
  for (let i = 0; i < 1_000; i++) {
    cited.add(`once ${i}`, 'O', undefined)
    if (i % 3 === 0) cited.add('often', 'O', 'up')
    assert.ok(cited.list(1_000).length <= 10)
  }
  assert.deepEqual(cited.list(1), [{ documentId: 'often', title: 'O', cited: 334, up: 334, down: 0 }])
  assert.equal(cited.isComplete, false)
})
