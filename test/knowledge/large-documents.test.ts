import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LargeDocuments } from '../../src/knowledge/ingest/large-documents.ts'
import { Owners } from '../../src/knowledge/ingest/owners.ts'
import type { DocumentReading } from '../../src/knowledge/ingest/read-documents.ts'
import { isLarge } from '../../src/knowledge/ingest/write-documents.ts'
import type { Task } from '../../src/store/knowledge/tasks.ts'
import { anyRoom } from '../support/any-room.ts'

const taskOf = (number: number, revision = 1) => ({ number, revision }) as Task
const readingOf = (task: Task, chars: number): DocumentReading => ({
  task,
  mediaType: 'text/plain',
  title: '',
  indexedTitle: '',
  passages: [{ text: 'x'.repeat(chars), heading: '', page: null }],
  same: [],
})

function setUp() {
  const woken: string[] = []
  const owners = new Owners()
  for (const agent of ['a', 'b', 'c', 'd']) owners.note(agent, 'key')
  const large = new LargeDocuments({ ...anyRoom, owners, most: 100, wake: (agentId) => woken.push(agentId) })
  return { large, woken }
}

test('documents begin while there is room for their key, and one at least', () => {
  const { large } = setUp()
  assert.ok(large.begin('a', readingOf(taskOf(1), 150)))
  assert.equal(large.begin('b', readingOf(taskOf(1), 11)), undefined)
  assert.equal(large.isWaiting('b'), true)
  large.end('a')
  assert.ok(large.begin('b', readingOf(taskOf(1), 50)))
  assert.ok(large.begin('of another key', readingOf(taskOf(1), 50)))
  assert.equal(large.isWaiting('b'), false)
})

test('headings count, which every passage below them holds', () => {
  const { large } = setUp()
  const [first] = readingOf(taskOf(1), 50).passages.slice(0, 1)
  const reading = { ...readingOf(taskOf(1), 50), passages: [{ ...first!, heading: 'x'.repeat(45) }] }
  assert.equal(large.begin('a', reading)?.chars, 95)
  assert.equal(isLarge(reading, { passages: 10, words: 9, pieces: 10, vectors: 10, analyseMs: 0 }), true)
  assert.equal(isLarge(reading, { passages: 10, words: 10, pieces: 10, vectors: 10, analyseMs: 0 }), false)
})

test('agents wait in the order in which they came, and the first is told', () => {
  const { large, woken } = setUp()
  large.begin('a', readingOf(taskOf(1), 100))
  large.begin('b', readingOf(taskOf(1), 90))
  large.begin('c', readingOf(taskOf(1), 20))
  large.end('a')
  assert.deepEqual(woken, ['b'])
  assert.equal(large.begin('d', readingOf(taskOf(1), 20)), undefined, 'b was there before')
  assert.deepEqual(large.ready('c', [taskOf(1)]), [])
  assert.deepEqual(large.ready('b', [taskOf(1)]), [taskOf(1)])
  assert.ok(large.begin('b', readingOf(taskOf(1), 90)))
  large.end('b')
  assert.deepEqual(woken, ['b', 'c'])
  assert.ok(large.begin('c', readingOf(taskOf(1), 20)))
  assert.deepEqual(woken, ['b', 'c', 'd'], 'there is room for d, too')
})

test('other documents of an agent do not wait', () => {
  const { large } = setUp()
  large.begin('a', readingOf(taskOf(1), 100))
  large.begin('b', readingOf(taskOf(2), 100))
  assert.deepEqual(large.ready('b', [taskOf(1), taskOf(2), taskOf(3)]), [taskOf(1), taskOf(3)])
  assert.deepEqual(large.ready('c', [taskOf(2)]), [taskOf(2)])
})

test('several large documents of an agent wait, and let those of others go first', () => {
  const { large, woken } = setUp()
  large.begin('a', readingOf(taskOf(1), 100))
  large.begin('b', readingOf(taskOf(1), 80))
  large.begin('b', readingOf(taskOf(2), 70))
  large.begin('c', readingOf(taskOf(1), 90))
  assert.deepEqual(large.ready('b', [taskOf(1), taskOf(2), taskOf(3)]), [taskOf(3)])
  large.end('a')
  assert.deepEqual(large.ready('b', [taskOf(1), taskOf(2), taskOf(3)]), [taskOf(1), taskOf(3)])
  assert.ok(large.begin('b', readingOf(taskOf(1), 80)))
  large.end('b')
  assert.deepEqual(woken, ['b', 'c'])
  assert.deepEqual(large.ready('b', [taskOf(2)]), [])
  assert.deepEqual(large.ready('c', [taskOf(1)]), [taskOf(1)])
  large.leave('c')
  assert.deepEqual(woken, ['b', 'c', 'b'])
})

test('a document that was changed or removed waits no more, and holds nobody up', () => {
  const { large, woken } = setUp()
  large.begin('a', readingOf(taskOf(1), 40))
  large.begin('b', readingOf(taskOf(1), 90))
  large.begin('c', readingOf(taskOf(1), 20))
  assert.deepEqual(large.ready('b', [taskOf(1, 2)]), [taskOf(1, 2)])
  assert.deepEqual([large.isWaiting('b'), woken], [false, ['c']])
})
