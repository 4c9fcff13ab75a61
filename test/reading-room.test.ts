import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReadingRoom } from '../src/knowledge/ingest/reading-room.ts'

const MIB = 1_048_576

/** A room in which the agent whose name comes first in the alphabet is next. */
function newRoom(bytes: number) {
  const woken: string[] = []
  const state = { bytes }
  const room = new ReadingRoom({
    bytes: () => state.bytes,
    next: (agentIds) => [...agentIds].toSorted()[0],
    wake: (agentId) => woken.push(agentId),
  })
  return { room, state, woken }
}

test('a large document waits until there is room for it, and a small one does not', () => {
  const { room, state, woken } = newRoom(60 * MIB)
  assert.deepEqual([room.enter('a', 10 * MIB), room.enter('a', MIB)], [false, true])
  assert.ok(room.isWaiting('a'))
  state.bytes = 40 * MIB
  room.wake()
  assert.deepEqual(woken, ['a'])
  assert.equal(room.enter('a', 10 * MIB), true)
  assert.ok(!room.isWaiting('a'))
})

test('one that is larger than the room is read alone', () => {
  const { room, state } = newRoom(MIB)
  assert.equal(room.enter('a', 200 * MIB), false)
  state.bytes = 0
  assert.equal(room.enter('a', 200 * MIB), true)
})

test('agents have their turns, and one that leaves lets the next one in', () => {
  const { room, state, woken } = newRoom(60 * MIB)
  for (const agent of ['b', 'a']) assert.equal(room.enter(agent, 10 * MIB), false)
  state.bytes = 0
  assert.equal(room.enter('b', 10 * MIB), false, 'a is next')
  room.leave('a')
  assert.deepEqual(woken, ['b'])
  assert.equal(room.enter('b', 10 * MIB), true)
})
