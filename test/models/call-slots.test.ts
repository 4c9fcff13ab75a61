// One key or agent with many slow calls leaves slots for others, and no line of waiting calls grows without end.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CallSlots } from '../../src/models/call-slots.ts'
import { never } from '../contract/model.ts'

/** Asks for slots, and counts those that each agent got. */
function open(slots: number, mostWaiting?: number) {
  const pool = new CallSlots(slots, mostWaiting)
  const had = new Map<string, number>()
  const refused: { code: string }[] = []
  /** `agent`, or `agent key`. */
  const ownerOf = (name: string) => {
    const [agentId = '', keyId] = name.split(' ')
    return { agentId, keyId }
  }
  const ask = async (agent: string, times: number, signal = never) => {
    for (let i = 0; i < times; i++)
      pool.take(ownerOf(agent), signal).then(
        () => had.set(agent, (had.get(agent) ?? 0) + 1),
        (error) => refused.push(error),
      )
    await nextTurn()
  }
  const give = async (agent: string) => {
    pool.give(ownerOf(agent))
    await nextTurn()
  }
  return { ask, give, had: (agent: string) => had.get(agent) ?? 0, refused }
}

describe('the slots for model calls', () => {
  test('leave always one for a key that has none', async () => {
    const { ask, had } = open(16)
    for (const agent of ['a 1', 'b 2', 'c 3', 'd 4', 'e 5']) await ask(agent, 100)
    assert.deepEqual(['a 1', 'b 2', 'c 3', 'd 4', 'e 5'].map(had), [8, 4, 2, 1, 1])
  })

  test('leave always one for another key of an agent', async () => {
    const { ask, had } = open(27)
    for (const name of ['a 1', 'a 2', 'b 3']) await ask(name, 100)
    assert.deepEqual(['a 1', 'a 2', 'b 3'].map(had), [13, 4, 5])
  })

  test('leave always one for another key, however many agents a key asks', async () => {
    const { ask, had } = open(16)
    for (const name of ['a 1', 'b 1', 'c 1', 'd 2', 'e 3']) await ask(name, 100)
    assert.deepEqual(['a 1', 'b 1', 'c 1', 'd 2', 'e 3'].map(had), [8, 0, 0, 4, 2])
  })

  test('of calls for no key are half at most, and each agent has some', async () => {
    const { ask, give, had } = open(16)
    for (const name of ['a', 'b', 'c', 'd', 'e 1']) await ask(name, 100)
    assert.deepEqual(['a', 'b', 'c', 'd', 'e 1'].map(had), [6, 2, 0, 0, 4])
    for (let i = 0; i < 4; i++) await give('a')
    for (const agent of ['b', 'c', 'd']) assert.ok(had(agent) > 0, agent)
  })

  test('go to the keys in turn, however many agents a key asks', async () => {
    const { ask, give, had } = open(4)
    for (const name of ['w 4', 'x 5', 'y 6']) await ask(name, 1)
    for (const name of ['a 1', 'b 1', 'c 1', 'd 2']) await ask(name, 3)
    assert.equal(had('a 1'), 1)
    await give('w 4')
    await give('x 5')
    assert.deepEqual(['a 1', 'b 1', 'c 1', 'd 2'].map(had), [1, 0, 0, 1])
  })

  test('go to the keys of an agent in turn', async () => {
    const { ask, give, had } = open(12)
    for (const name of ['a 1', 'a 2']) await ask(name, 40)
    const after = [['a 1', 'a 2'].map(had)]
    for (let i = 0; i < 4; i++) {
      await give('a 1')
      after.push(['a 1', 'a 2'].map(had))
    }
    assert.deepEqual(after, [
      [6, 1],
      [6, 2],
      [6, 3],
      [7, 3],
      [7, 4],
    ])
  })

  test('are given to one agent alone where there is one only', async () => {
    const { ask, give, had } = open(1)
    await ask('a', 2)
    assert.equal(had('a'), 1)
    await give('a')
    assert.equal(had('a'), 2)
  })

  test('go to the keys in turn, past those that have their share', async () => {
    const { ask, give, had } = open(4)
    await ask('busy 1', 10)
    await ask('other 2', 3)
    await ask('third 3', 3)
    assert.deepEqual(['busy 1', 'other 2', 'third 3'].map(had), [2, 1, 1])
    await give('busy 1')
    assert.deepEqual(['busy 1', 'other 2', 'third 3'].map(had), [2, 1, 1], 'the last free one is for a fourth key')
    await ask('fourth 4', 1)
    assert.equal(had('fourth 4'), 1)
  })

  test('are all given in the end', async () => {
    const { ask, give, had } = open(4)
    for (const agent of ['a', 'b', 'c']) await ask(agent, 20)
    for (let given = new Map([['a', 0]]), rounds = 0; rounds < 200; rounds++) {
      for (const agent of ['a', 'b', 'c'])
        if (had(agent) > (given.get(agent) ?? 0)) {
          given.set(agent, (given.get(agent) ?? 0) + 1)
          await give(agent)
        }
    }
    assert.deepEqual(['a', 'b', 'c'].map(had), [20, 20, 20])
  })
})

describe('the calls that wait for a slot', () => {
  test('are bounded, with some left for another key', async () => {
    const { ask, refused } = open(2, 8)
    await ask('a 1', 1 + 4)
    assert.equal(refused.length, 0)
    await ask('a 1', 3)
    assert.deepEqual(
      refused.map(({ code }) => code),
      ['unavailable', 'unavailable', 'unavailable'],
    )
    await ask('b 2', 1 + 2)
    assert.equal(refused.length, 3)
  })

  test('leave the line when they are stopped', async () => {
    const { ask, give, had, refused } = open(1, 2)
    await ask('a', 1)
    const abort = new AbortController()
    await ask('a', 1, abort.signal)
    abort.abort()
    await ask('a', 1)
    assert.deepEqual(
      refused.map(({ code }) => code),
      ['model_failed'],
    )
    await give('a')
    assert.equal(had('a'), 2)
  })
})
