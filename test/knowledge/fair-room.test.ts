import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairRoom } from '../../src/knowledge/ingest/fair-room.ts'
import { Owners } from '../../src/knowledge/ingest/owners.ts'

/** A room of 100 in which the agent whose name comes first in the alphabet is the next. Agents belong to the key of their first letter. */
function newRoom() {
  const woken: string[] = []
  const held = new Map<string, number>()
  const owners = new Owners()
  for (const agent of ['a1', 'a2', 'b1', 'b2', 'c1']) owners.note(agent, agent[0])
  const room = new FairRoom({
    most: 100,
    owners,
    held: () => held,
    next: (agentIds) => [...agentIds].toSorted()[0],
    wake: (agentId) => woken.push(agentId),
  })
  /** A turn of an agent that wants so much of the room for each of its documents. Returns what it got. */
  const turn = (agent: string, ...amounts: number[]) => {
    const visit = room.visit(agent)
    const entered = amounts.filter((amount) => visit.enter(amount))
    visit.end()
    return entered
  }
  return { room, owners, held, woken, turn }
}

test('a key has half of what no other takes, however many agents it fills', () => {
  const { room, held, turn } = newRoom()
  held.set('a1', 30)
  assert.deepEqual(turn('a2', 41), [])
  assert.deepEqual(turn('b1', 70), [70])
  assert.ok(room.isWaiting('a2') && !room.isWaiting('b1'))
  assert.deepEqual(turn('a2', 40), [40])
})

test('agents of which no key is known have a share as one', () => {
  const { held, turn } = newRoom()
  held.set('x1', 30)
  assert.deepEqual(turn('x2', 41), [])
  assert.deepEqual(turn('b1', 70), [70])
  assert.deepEqual(turn('x2', 40), [40])
})

test('a key that makes a change to an agent does not pay for the work of another key there', () => {
  const { owners, held, turn } = newRoom()
  owners.note('a1', 'b')
  held.set('a1', 60)
  assert.deepEqual(turn('a1', 20), [])
  assert.deepEqual(turn('b1', 40), [40])
  owners.note('a1', 'c')
  assert.equal(owners.ownerOf('a1'), 'a+b/a1')
  owners.rest('a1')
  assert.equal(owners.ownerOf('a1'), 'a+b/a1')
  owners.note('a1', 'b')
  assert.equal(owners.ownerOf('a1'), 'b/a1')
})

test('work from before the start is not that of the key that makes the next change', () => {
  const { owners } = newRoom()
  owners.resume('x1')
  owners.note('x1', 'b')
  assert.equal(owners.ownerOf('x1'), 'b+unknown/x1')
})

test('what is larger than all has room alone', () => {
  const { held, turn } = newRoom()
  held.set('a1', 1)
  assert.deepEqual(turn('b1', 101), [])
  held.clear()
  assert.deepEqual(turn('b1', 101), [101])
})

test('agents of a key enter in the order in which they came, and one that has entered goes to the end', () => {
  const { room, held, woken, turn } = newRoom()
  held.set('c1', 60)
  assert.deepEqual([turn('b1', 50), turn('b2', 10)], [[], []], 'b1 waits for longer')
  held.set('c1', 30)
  room.wake()
  assert.deepEqual(woken, ['b1'])
  assert.deepEqual(turn('b1', 50, 80), [50])
  assert.deepEqual(woken, ['b1', 'b2'])
  assert.deepEqual(turn('b1', 60), [], 'b2 waits for longer')
  assert.deepEqual(turn('b2', 10), [10])
})

test('one for which there is no room holds up no other key', () => {
  const { room, held, woken, turn } = newRoom()
  held.set('c1', 60)
  assert.deepEqual(turn('a1', 80), [])
  assert.deepEqual(turn('b1', 40), [40])
  held.set('b1', 40)
  assert.deepEqual(turn('b2', 30), [])
  held.delete('b1')
  room.wake()
  assert.deepEqual(woken, ['b2'])
})

test('the smallest of the documents of an agent decides when it is woken, and those that it has no more do not', () => {
  const { held, woken, room, turn } = newRoom()
  held.set('c1', 60)
  assert.deepEqual(turn('a1', 80, 45, 90), [])
  held.set('c1', 50)
  room.wake()
  assert.deepEqual(woken, ['a1'])
  assert.deepEqual(turn('a1', 80), [])
  held.set('c1', 40)
  room.wake()
  assert.deepEqual(woken, ['a1'])
  assert.deepEqual(turn('a1'), [])
  assert.ok(!room.isWaiting('a1'))
})

test('the keys of many agents that wait are looked up once each to wake one', () => {
  const agents = Array.from({ length: 300 }, (_, i) => `agent${i}`)
  let looks = 0
  const woken: string[] = []
  const ownerOf = (agent: string) => {
    looks++
    return `key of ${agent}/${agent}`
  }
  const room = new FairRoom({
    most: 100,
    owners: { ownerOf } as Owners,
    held: () => [],
    next: (agentIds) => [...agentIds][0],
    wake: (agent) => woken.push(agent),
  })
  for (const agent of agents) room.wait(agent, 1)
  room.wake()
  assert.deepEqual(woken, ['agent0'])
  assert.ok(looks <= 2 * agents.length, `${looks} looks`)
})
