import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bursts } from '../../src/knowledge/ingest/web/bursts.ts'

test('the work of an agent waits for the end of its own changes, and of nobody else’s', () => {
  const bursts = new Bursts()
  bursts.changed('one', 0)
  assert.equal(bursts.isOver('one', 10), false)
  assert.equal(bursts.isOver('another', 10), true)
  bursts.changed('another', 20)
  assert.equal(bursts.isOver('one', 30), true)
  assert.equal(bursts.isOver('another', 30), false)
})

test('in a row of changes the pause that ends it is longer', () => {
  const bursts = new Bursts()
  for (let ms = 0; ms <= 400; ms += 80) bursts.changed('one', ms)
  assert.equal(bursts.isOver('one', 450), false)
  assert.equal(bursts.isOver('one', 499), false)
  assert.equal(bursts.isOver('one', 500), true)
})

test('changes without end hold up the work of their agent for half a second at a time', () => {
  const bursts = new Bursts()
  for (let ms = 0; ms < 500; ms += 10) {
    bursts.changed('one', ms)
    assert.equal(bursts.isOver('one', ms), false, `after ${ms} ms`)
  }
  bursts.changed('one', 500)
  assert.equal(bursts.isOver('one', 500), true)

  bursts.endTurn('one', 510)
  for (let ms = 510; ms < 1_010; ms += 10) {
    bursts.changed('one', ms)
    assert.equal(bursts.isOver('one', ms), false, `after ${ms} ms`)
  }
  bursts.changed('one', 1_010)
  assert.equal(bursts.isOver('one', 1_010), true)
})

test('a change after a pause begins a new row', () => {
  const bursts = new Bursts()
  for (let ms = 0; ms <= 400; ms += 20) bursts.changed('one', ms)
  bursts.changed('one', 550)
  assert.equal(bursts.isOver('one', 560), false)
  assert.equal(bursts.isOver('one', 575), true)
})
