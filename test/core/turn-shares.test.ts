import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { TurnShares } from '../../src/core/fairness/turn-shares.ts'

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

test('a key with many agents gets no more time than one with a single agent', () => {
  const shares = new TurnShares()
  const owners = [...Array.from({ length: 10 }, (_, i) => `many/${i}`), 'one/a', 'alone']
  const turns = new Map<string, number>()
  for (let now = 0; now < 300_000; now += 1_000) {
    const owner = shares.least(owners, now)!
    const [key] = owner.split('/') as [string]
    turns.set(key, (turns.get(key) ?? 0) + 1)
    turns.set(owner, (turns.get(owner) ?? 0) + 1)
    shares.add(owner, 1_000, now)
  }
  for (const key of ['many', 'one/a']) assert.ok(Math.abs(turns.get(key)! - 100) <= 2, `${key}: ${turns.get(key)} turns`)
  for (let i = 0; i < 10; i++)
    assert.ok(Math.abs(turns.get(`many/${i}`)! - 10) <= 2, `agent ${i}: ${turns.get(`many/${i}`)} turns`)
})

test('owners of long ago are not looked for at each work', () => {
  const shares = new TurnShares()
  const looks = (['keys', 'values', 'entries', Symbol.iterator] as const).map((name) => mock.method(Map.prototype, name))
  try {
    for (let i = 0; i < 1_000; i++) shares.add(`key/agent${i}`, 5, i)
  } finally {
    for (const look of looks) look.mock.restore()
  }
  const count = looks.reduce((sum, look) => sum + look.mock.callCount(), 0)
  assert.ok(count < 20, `${count} looks through all`)
})
