import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TurnShares } from '../src/core/turn-shares.ts'

test('the agent that had the least time lately comes next, and those with the same in their order', () => {
  const shares = new TurnShares()
  const agents = ['a', 'b', 'c']
  assert.equal(shares.least(agents, 0), 'a')
  assert.equal(shares.least([], 0), undefined)
  shares.add('a', 2_000, 0)
  assert.equal(shares.least(agents, 0), 'b')
  shares.add('b', 2_000, 0)
  shares.add('c', 500, 0)
  assert.equal(shares.least(agents, 0), 'c')
  assert.equal(shares.least(['a', 'b'], 0), 'a')
})

test('one of many agents with much to do gets as much time as the others', () => {
  const shares = new TurnShares()
  const agents = Array.from({ length: 10 }, (_, i) => `agent ${i}`)
  const turns = new Map(agents.map((agent) => [agent, 0]))
  for (let now = 0; now < 200_000; now += 1_000) {
    const agent = shares.least(agents, now)!
    turns.set(agent, turns.get(agent)! + 1)
    shares.add(agent, 1_000, now)
  }
  for (const count of turns.values()) assert.ok(count >= 19 && count <= 21, `${count} turns`)
})

test('time of long ago counts less, and is forgotten', () => {
  const shares = new TurnShares()
  shares.add('a', 1_000, 0)
  shares.add('b', 600, 60_000)
  assert.equal(shares.least(['a', 'b'], 60_000), 'a')
  assert.equal(shares.least(['b', 'a'], 3_600_000), 'a')
  shares.add('c', 1, 7_200_000)
  assert.equal(shares.least(['b', 'a'], 7_200_000), 'b')
})

test('one that had much before does not wait for all that another brings', () => {
  const shares = new TurnShares()
  shares.add('a', 60_000, 60_000)
  let now = 60_000
  for (; shares.least(['a', 'b'], now) === 'b'; now += 500) shares.add('b', 500, now + 500)
  assert.ok(now >= 60_500 && now <= 61_500, `a had its turn after ${now - 60_000} ms of b`)
})
