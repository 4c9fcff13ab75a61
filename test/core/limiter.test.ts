// Work of which only some runs at the same time: owners take turns, and none has all places.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Limiter } from '../../src/core/fairness/limiter.ts'

/** Begins work that ends when it is told to. */
function open(atOnce: number) {
  const limiter = new Limiter(atOnce)
  const running: { owner: string; end: () => void }[] = []
  const begun: string[] = []
  const begin = (owner: string, times: number) => {
    for (let i = 0; i < times; i++)
      void limiter.run({ id: owner }, () => {
        begun.push(owner)
        return new Promise<void>((end) => running.push({ owner, end }))
      })
  }
  const end = async () => {
    running.shift()!.end()
    await nextTurn()
  }
  return { begin, end, begun, limiter }
}

test('one owner leaves a place for another, whose turn comes before the rest of the first', async () => {
  const { begin, end, begun } = open(4)
  begin('busy', 50)
  assert.deepEqual(begun, ['busy', 'busy'])
  begin('quiet', 2)
  assert.deepEqual(begun, ['busy', 'busy', 'quiet'])
  await end()
  await end()
  assert.deepEqual(begun, ['busy', 'busy', 'quiet', 'busy', 'quiet'])
})

test('one place is given to everybody in turn, also behind work that failed', async () => {
  const { begin, end, begun, limiter } = open(1)
  begin('busy', 3)
  begin('quiet', 1)
  const failed = assert.rejects(
    limiter.run({ id: 'third' }, () => Promise.reject(new Error('a failure'))),
    /a failure/,
  )
  await end()
  await end()
  assert.deepEqual(begun, ['busy', 'busy', 'quiet'])
  await end()
  await failed
  await nextTurn()
  assert.deepEqual(begun, ['busy', 'busy', 'quiet', 'busy'])
})

test('of one agent, callers take turns: many requests of one do not come before the next of another', async () => {
  const limiter = new Limiter(4)
  const begun: string[] = []
  const ends: (() => void)[] = []
  const begin = (userId: string, times: number) => {
    for (let i = 0; i < times; i++)
      void limiter.run({ id: 'agent', userId }, () => {
        begun.push(userId)
        return new Promise<void>((end) => ends.push(end))
      })
  }
  begin('busy', 50)
  begin('quiet', 1)
  assert.deepEqual(begun, ['busy', 'busy'])
  for (let i = 0; i < 2; i++) {
    ends.shift()!()
    await nextTurn()
  }
  assert.deepEqual(begun, ['busy', 'busy', 'busy', 'quiet'])
})

test('of many users that wait, those whose key may have nothing are not looked at', async () => {
  const limiter = new Limiter(4)
  const ends = new Map<string, () => void>()
  let looks = 0
  let begun = 0
  const begin = (id: string, userId: string) => {
    const sharer = {
      id,
      get userId() {
        looks++
        return userId
      },
    }
    void limiter.run(sharer, () => {
      begun++
      return new Promise<void>((end) => ends.set(id, end))
    })
  }
  for (let i = 0; i < 300; i++) begin('many', `user${i}`)
  begin('one', 'user')
  assert.equal(begun, 3)
  looks = 0
  ends.get('one')!()
  await nextTurn()
  assert.equal(begun, 3, 'its key has half of the places')
  assert.ok(looks < 10, `${looks} looks`)
  ends.get('many')!()
  await nextTurn()
  assert.equal(begun, 4)
})
