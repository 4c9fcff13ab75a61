import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isKeyLike, makeKey } from '../../src/access/key-format.ts'
import { toIso } from '../../src/core/time.ts'
import { timeAgo } from '../../src/reply/time-ago.ts'
import { NoPeers } from '../../src/turns/peers.ts'
import { Turn } from '../../src/turns/turn.ts'
import { Turns } from '../../src/turns/turns.ts'

describe('timeAgo', () => {
  const s = 1000
  const [minute, hour, day] = [60 * s, 3600 * s, 86_400 * s]
  const cases: [number, string][] = [
    [-5 * s, 'a few seconds ago'],
    [0, 'a few seconds ago'],
    [9.9 * s, 'a few seconds ago'],
    [10 * s, '10 seconds ago'],
    [42 * s, '42 seconds ago'],
    [minute, '1 minute ago'],
    [2 * minute - 1, '1 minute ago'],
    [5 * minute, '5 minutes ago'],
    [hour - 1, '59 minutes ago'],
    [3 * hour, '3 hours ago'],
    [2 * day, '2 days ago'],
    [7 * day, '1 week ago'],
    [29 * day, '4 weeks ago'],
    [120 * day, '4 months ago'],
    [364 * day, '12 months ago'],
    [365 * day, '1 year ago'],
    [800 * day, '2 years ago'],
  ]
  for (const [ms, text] of cases) test(`${ms / s} s: ${text}`, () => assert.equal(timeAgo(1e12, 1e12 + ms), text))
})

test('toIso writes what Date does, on both sides of midnight and of 1970', () => {
  for (const time of [0, -1, 86_399_999, 86_400_000, 1_795_219_200_123, -62_135_596_800_000, 253_402_300_799_999]) {
    assert.equal(toIso(time), new Date(time).toISOString())
  }
})

describe('keys', () => {
  test('a key has the form that its checksum says', () => {
    for (let i = 0; i < 50; i++) assert.ok(isKeyLike(makeKey()))
    // Worked out by another program: the CRC-32 of 34 times "A", in base 62.
    assert.ok(isKeyLike(`rpt_${'A'.repeat(34)}2vrdcY`))
  })

  test('one letter changed anywhere is seen without a look-up', () => {
    const key = makeKey()
    for (let i = 0; i < key.length; i++) {
      const other = key[i] === 'x' ? 'y' : 'x'
      assert.equal(isKeyLike(key.slice(0, i) + other + key.slice(i + 1)), false, `letter ${i}`)
    }
  })
})

describe('turns', () => {
  let made = 0
  const newTurnId = () => `turn ${++made}`
  const open = (limits: { maxWaitingSends?: number; maxWaitMs?: number; turnTimeoutMs?: number } = {}) =>
    new Turns({ maxWaitingSends: 5, maxWaitMs: 1000, turnTimeoutMs: 60_000, ...limits }, newTurnId, new NoPeers(newTurnId))

  test('of one session run one at a time, in order of arrival; of others at once', async () => {
    const turns = open()
    const first = await turns.take('a', 's')
    const order: number[] = []
    const waiting = [1, 2, 3].map(async (n) => {
      const turn = await turns.take('a', 's')
      order.push(n)
      return turn
    })
    turns.release(await turns.take('a', 'other'))
    turns.release(first)
    for (const turn of waiting) turns.release(await turn)
    assert.deepEqual(order, [1, 2, 3])
    assert.equal(turns.running, 0)
  })

  test('a send that finds too many waiting is refused, and says when to come again', async () => {
    const turns = open({ maxWaitingSends: 1 })
    const first = await turns.take('a', 's')
    const second = turns.take('a', 's')
    await assert.rejects(turns.take('a', 's'), { code: 'session_busy', retryAfter: 1 })
    turns.release(first)
    turns.release(await second)
  })

  test('a send that waits too long is refused, and those behind it keep their order', async () => {
    const turns = open({ maxWaitMs: 20 })
    const first = await turns.take('a', 's')
    await assert.rejects(turns.take('a', 's'), { code: 'session_busy' })
    const next = turns.take('a', 's')
    turns.release(first)
    turns.release(first)
    const running = await next
    await assert.rejects(turns.take('a', 's'), { code: 'session_busy' }, 'ending twice must not let two in')
    turns.release(running)
    assert.equal(turns.running, 0)
  })

  test('a turn that is stopped hears of it, and why first; the next does not', async () => {
    const turns = open()
    const first = await turns.take('a', 's')
    const second = turns.take('a', 's')
    turns.stop('s', 'deleted')
    turns.stop('s', 'cancelled')
    assert.deepEqual([first.signal.aborted, first.stopped], [true, 'deleted'])
    turns.release(first)
    assert.equal((await second).signal.aborted, false)
    turns.release(await second)
  })

  test('a turn is found by its message until it is forgotten, and stopped when its time is over', async () => {
    const turns = open({ turnTimeoutMs: 20 })
    const turn = await turns.take('a', 's')
    turns.start(turn, 'm', 5)
    assert.equal(turns.find('m'), turn)
    assert.deepEqual(turns.leasesOlderThan(6), [{ agentId: 'a', sessionId: 's', lease: turn.id }])
    assert.deepEqual(turns.leasesOlderThan(5), [])
    await once(turn.signal, 'abort')
    assert.equal(turn.stopped, 'late')
    turns.release(turn)
    turns.forget(turn)
    assert.equal(turns.find('m'), undefined)
  })

  test('idleness is told when the last turn is over', async () => {
    const turns = open()
    await turns.idle()
    const turn = await turns.take('a', 's')
    let idle = false
    const told = turns.idle().then(() => {
      idle = true
    })
    await new Promise(setImmediate)
    assert.equal(idle, false)
    turns.release(turn)
    await told
  })
})

describe('the text of a turn', () => {
  const turn = () => new Turn('a', 's', 'id')
  test('grows by pieces, and tells those who watch', () => {
    const t = turn()
    let told = 0
    const leave = t.watch(() => told++)
    t.append('Hel')
    t.append('')
    t.append('lo')
    leave()
    t.append('!')
    assert.deepEqual([t.text, told], ['Hello!', 2])
  })

  test('never holds half of a surrogate pair, nor what no store can keep', () => {
    const t = turn()
    const [high, low] = '😀'.split('').map((c) => c)
    t.append(`a${high}`)
    assert.equal(t.text, 'a')
    t.append(`${low}b\0`)
    t.append(`${low}c`)
    assert.equal(t.text, 'a😀b\uFFFD\uFFFDc')
  })

  test('can be taken back only while nobody may have read it', () => {
    const t = turn()
    t.append('x')
    assert.equal(t.wasShown, false)
    t.restart()
    t.watch(() => {})
    assert.equal(t.wasShown, false, 'there is nothing to read yet')
    t.append('y')
    assert.equal(t.wasShown, true)
  })

  test('does not grow any more once the turn was stopped', () => {
    const t = turn()
    t.append('x')
    t.stop('cancelled')
    t.append('y')
    assert.equal(t.text, 'x')
  })
})

test('a text is read from any place on, whole or in parts, however it grew', () => {
  const turn = new Turn('a', 's', 'id')
  let expected = ''
  for (let i = 0; i < 3_000; i++) {
    const piece = `${i} `.repeat(1 + (i % 5))
    turn.append(piece)
    expected += piece
    for (const start of [0, expected.length - piece.length, expected.length >> 1]) {
      assert.equal(turn.read(start, 100), expected.slice(start, start + 100))
    }
  }
})

test('a reply that somebody reads along takes its size, however small the pieces that it comes in', () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const turns = Array.from({ length: 200 }, () => new Turn('a', 's', 'id'))
  collect()
  const before = process.memoryUsage().heapUsed
  for (const turn of turns) {
    for (let i = 0; i < 1_000; i++) {
      turn.append(JSON.parse(`"${i % 10}word "`))
      turn.read(turn.length - 6, 100)
    }
  }
  collect()
  const bytes = (process.memoryUsage().heapUsed - before) / turns.length
  const chars = turns[0]!.length
  assert.ok(bytes < 2 * chars, `${Math.round(bytes)} bytes for ${chars} letters`)
})
