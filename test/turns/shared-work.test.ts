import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedWork } from '../../src/turns/shared-work.ts'

test('work under one name is begun once for all that wait for it, is wanted as long as one of them wants it, and is begun again when it is done', async () => {
  const work = new SharedWork<number>()
  let begun = 0
  let isWanted = () => true
  const done: (() => void)[] = []
  const begin = (wanted: () => boolean) => {
    isWanted = wanted
    return { result: ++begun, done: new Promise<void>((resolve) => done.push(resolve)) }
  }
  let first = true
  let second = true
  assert.equal(
    work.join('a', () => first, begin),
    1,
  )
  assert.equal(
    work.join('a', () => second, begin),
    1,
  )
  assert.equal(
    work.join(
      'b',
      () => true,
      () => ({ result: 7, done: Promise.resolve() }),
    ),
    7,
  )
  first = false
  assert.equal(isWanted(), true)
  second = false
  assert.equal(isWanted(), false)
  done[0]!()
  await new Promise(setImmediate)
  assert.equal(
    work.join('a', () => true, begin),
    2,
  )
})
