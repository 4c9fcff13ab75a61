import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cite } from '../src/chat/cite.ts'
import { isKeyLike, makeKey } from '../src/chat/key-format.ts'
import { supportingText } from '../src/chat/snippet.ts'
import { timeAgo } from '../src/chat/time-ago.ts'
import { TurnQueue } from '../src/chat/turn-queue.ts'
import type { Hit } from '../src/core/retrieval.ts'
import { toIso } from '../src/core/time.ts'

const hit = (text: string, title = text): Hit => ({
  documentId: text,
  passageId: text,
  title,
  heading: '',
  text,
  url: null,
  score: 1,
  scores: {},
})

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

describe('cite', () => {
  const hits = [hit('a'), hit('b'), hit('c')]
  test('marks are numbered anew in order of first mention, and only what is cited is a source', () => {
    const { markdown, sources } = cite('x [3] y [1] z [3].', hits)
    assert.equal(markdown, 'x [1] y [2] z [1].')
    assert.deepEqual(
      sources.map(({ index, documentId }) => [index, documentId]),
      [
        [1, 'c'],
        [2, 'a'],
      ],
    )
  })
  test('a mark that names no passage goes, with the space before it', () => {
    assert.equal(cite('x [7]. y [0]', hits).markdown, 'x. y')
  })
  test('several numbers in one mark become marks of their own', () => {
    assert.equal(cite('x [2, 3, 9]', hits).markdown, 'x [1][2]')
  })
  test('code, links and escaped brackets are no marks', () => {
    const text = '`a[1]` [2](http://x) \\[3]\n```\nb[1]\n```'
    assert.deepEqual(cite(text, hits), { markdown: text, sources: [] })
  })
  test('a reply that no passages were given for is left as it is', () => {
    assert.equal(cite('see [1]', []).markdown, 'see [1]')
  })
  test('the snippet is the quote, else the sentence of the passage that says most of the reply', () => {
    const passage = 'Cats sleep. The warranty covers two years. Dogs bark.'
    assert.equal(cite('Two years of warranty [1]', [hit(passage)]).sources[0]!.snippet, 'The warranty covers two years.')
    assert.equal(cite('x [1]', [hit(passage)], new Map([[1, 'Cats sleep.']])).sources[0]!.snippet, 'Cats sleep.')
    assert.ok(passage.includes(supportingText(passage, 'nothing in common')))
  })
})

describe('turns', () => {
  test('of one session run one at a time, in order of arrival; of others at once', async () => {
    const queue = new TurnQueue({ maxWaitingSends: 5, maxWaitMs: 1000 })
    const first = await queue.take('a', 's')
    const order: number[] = []
    const waiting = [1, 2, 3].map(async (n) => {
      const turn = await queue.take('a', 's')
      order.push(n)
      return turn
    })
    ;(await queue.take('a', 'other')).end()
    first.end()
    for (const turn of waiting) (await turn).end()
    assert.deepEqual(order, [1, 2, 3])
    assert.equal(queue.running, 0)
  })

  test('a send that finds too many waiting is refused, and says when to come again', async () => {
    const queue = new TurnQueue({ maxWaitingSends: 1, maxWaitMs: 1000 })
    const first = await queue.take('a', 's')
    const second = queue.take('a', 's')
    await assert.rejects(queue.take('a', 's'), { code: 'session_busy', retryAfter: 1 })
    first.end()
    ;(await second).end()
  })

  test('a send that waits too long is refused, and those behind it keep their order', async () => {
    const queue = new TurnQueue({ maxWaitingSends: 5, maxWaitMs: 20 })
    const first = await queue.take('a', 's')
    await assert.rejects(queue.take('a', 's'), { code: 'session_busy' })
    const next = queue.take('a', 's')
    first.end()
    first.end()
    const running = await next
    await assert.rejects(queue.take('a', 's'), { code: 'session_busy' }, 'ending twice must not let two in')
    running.end()
    assert.equal(queue.running, 0)
  })

  test('a turn that is stopped hears of it; the next does not', async () => {
    const queue = new TurnQueue({ maxWaitingSends: 5, maxWaitMs: 1000 })
    const first = await queue.take('a', 's')
    const second = queue.take('a', 's')
    queue.abort('s')
    assert.equal(first.signal.aborted, true)
    first.end()
    assert.equal((await second).signal.aborted, false)
  })
})
