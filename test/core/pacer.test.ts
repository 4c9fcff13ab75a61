// Long work of many callers leaves as much time for requests as that of one.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { nextSlice, pacer } from '../../src/core/fairness/pacer.ts'

test('one slice of all long work is done in each round of the event loop, in the order of asking', async () => {
  const done: string[] = []
  for (const name of ['a', 'b', 'c']) nextSlice('one').then(() => done.push(name))
  const rounds: string[] = []
  for (let i = 0; i < 4; i++) {
    await nextTurn()
    rounds.push(done.splice(0).join(''))
  }
  assert.deepEqual(rounds, ['a', 'b', 'c', ''])
})

test('loops of several callers take turns', async () => {
  const steps: string[] = []
  const work = async (name: string) => {
    const pause = pacer('one')
    for (let i = 0; i < 3; i++) {
      const end = performance.now() + 3
      while (performance.now() < end);
      await pause()
      steps.push(name)
    }
  }
  let rounds = 0
  const counting = (async () => {
    for (; steps.length < 9; rounds++) await nextTurn()
  })()
  await Promise.all([work('a'), work('b'), work('c'), counting])
  assert.equal(steps.join(''), 'abcabcabc')
  assert.ok(rounds >= 8, `${rounds} rounds`)
})
