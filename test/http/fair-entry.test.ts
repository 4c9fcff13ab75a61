import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { FastifyRequest } from 'fastify'
import { admitBody } from '../../src/http/route/admit.ts'
import { FairEntry } from '../../src/http/server/fair-entry.ts'

const nextRound = () => new Promise(setImmediate)

test('a body that came in the round of its head begins at once, and of later ones only some in each round', async () => {
  const fairEntry = new FairEntry()
  assert.equal(fairEntry.enter('a'), undefined)
  const request = { server: { fairEntry }, caller: { id: 'a' }, enteredIn: fairEntry.round } as unknown as FastifyRequest
  let waiting = 0
  const begin = () => {
    const turn = admitBody(request)
    if (turn === undefined) return
    waiting++
    turn.then(() => waiting--)
  }
  for (let i = 0; i < 100; i++) begin()
  assert.equal(waiting, 0)
  await nextRound()
  for (let i = 0; i < 100; i++) begin()
  assert.equal(waiting, 84)
  await nextRound()
  assert.equal(waiting, 68)
  for (let i = 0; i < 5; i++) await nextRound()
  assert.equal(waiting, 0)
})

describe('work of several keys', () => {
  test('begins at once where there is little of it', () => {
    const entry = new FairEntry()
    for (let i = 0; i < 16; i++) assert.equal(entry.enter('a'), undefined)
    assert.notEqual(entry.enter('a'), undefined)
  })

  test('begins in rounds: another key does not wait for a burst of one, and each keeps its order', async () => {
    const entry = new FairEntry()
    const begun: string[] = []
    const begin = (key: string, i: number) => {
      const turn = entry.enter(key)
      if (turn === undefined) begun.push(`${key}${i}`)
      else turn.then(() => begun.push(`${key}${i}`))
    }
    for (let i = 0; i < 100; i++) begin('a', i)
    begin('b', 0)
    assert.deepEqual([begun.length, begun.at(-1)], [17, 'b0'])
    await nextRound()
    begin('a', 100)
    begin('b', 1)
    assert.deepEqual([begun.length, begun.at(-1)], [34, 'b1'])
    for (let i = 0; i < 10; i++) await nextRound()
    const ofA = begun.filter((name) => name.startsWith('a'))
    assert.deepEqual(
      ofA,
      Array.from({ length: 101 }, (_, i) => `a${i}`),
    )
  })

  test('of users of one key begins in turn: one who sends many keeps the others waiting for a round', async () => {
    const entry = new FairEntry()
    const begun: string[] = []
    const begin = (user: string) => {
      const turn = entry.enter(`a/${user}`)
      if (turn === undefined) begun.push(user)
      else turn.then(() => begun.push(user))
    }
    for (let i = 0; i < 500; i++) begin('many')
    begin('one')
    begin('other')
    await nextRound()
    await nextRound()
    assert.deepEqual(
      begun.filter((user) => user !== 'many'),
      ['one', 'other'],
    )
    assert.equal(begun.length, 48)
  })

  test('takes a round for what is large, also for more than a round has', async () => {
    const entry = new FairEntry()
    const begun: number[] = []
    for (const units of [100, 10, 10, 5])
      await Promise.race([entry.enter('a', units)?.then(() => begun.push(units)) ?? begun.push(units), undefined])
    assert.deepEqual(begun, [100])
    await nextRound()
    assert.deepEqual(begun, [100, 10])
    await nextRound()
    assert.deepEqual(begun, [100, 10, 10, 5])
  })
})
