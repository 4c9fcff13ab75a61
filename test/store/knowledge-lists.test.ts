// What an index is written from: terms collected passage by passage, and rows put into a file many at a time.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { SegmentBuilder } from '../../src/store/knowledge/index/build.ts'
import { Occurrences } from '../../src/store/knowledge/index/occurrences.ts'
import { hasIdIn } from '../../src/store/knowledge/index/ranges.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-lists-'))
after(() => rmSync(folder, { recursive: true, force: true }))

/** Term → [passage, times], of all terms in their order. */
function listsOf(occurrences: Occurrences): [string, [number, number][]][] {
  const { numbers, packed, starts } = occurrences.byTerm()
  return [...numbers].map((n) => [
    occurrences.terms[n]!,
    [...packed.subarray(starts[n]!, starts[n + 1]!)].map((entry): [number, number] => [entry >>> 8, entry & 255]),
  ])
}

describe('occurrences of terms', () => {
  test('come out by term, in order, with the passages of each and how often it stands there', () => {
    const occurrences = new Occurrences()
    const passages = ['b a b', '', 'a c', 'b c c'].map((text) => text.split(' ').filter((term) => term !== ''))
    for (const [local, terms] of passages.entries()) {
      occurrences.begin(local)
      for (const term of terms) occurrences.put(occurrences.numberOf(term), 1)
    }
    assert.deepEqual(listsOf(occurrences), [
      ['a', [[0, 1], [2, 1]]],
      ['b', [[0, 2], [3, 1]]],
      ['c', [[2, 1], [3, 2]]],
    ]) // biome-ignore format: a table
  })

  test('are counted up to 255 in a passage', () => {
    const occurrences = new Occurrences()
    occurrences.begin(0)
    for (let i = 0; i < 300; i++) occurrences.put(occurrences.numberOf('again'), 1)
    assert.deepEqual(listsOf(occurrences), [['again', [[0, 255]]]])
  })

  test('outgrow every first guess', () => {
    const occurrences = new Occurrences()
    for (let local = 0; local < 1_000; local++) {
      occurrences.begin(local)
      for (const term of ['all', `only ${local}`]) occurrences.put(occurrences.numberOf(term), 1)
    }
    const lists = new Map(listsOf(occurrences))
    assert.equal(lists.get('all')!.length, 1_000)
    assert.deepEqual(lists.get('only 777'), [[777, 1]])
  })

  test('of two builders at once do not mix', () => {
    const [one, other] = [new SegmentBuilder(), new SegmentBuilder()]
    const text = 'The lamps of the harbour are lit; 東京の灯台。'
    one.add({ title: 'Harbour', heading: '', text })
    other.add({ title: 'Before', heading: '', text: 'Something else about copper lamps.' })
    one.add({ title: 'Lamps', heading: '', text })
    const alone = new SegmentBuilder()
    alone.add({ title: 'Harbour', heading: '', text })
    alone.add({ title: 'Lamps', heading: '', text })
    for (const stream of ['exact', 'stems', 'title', 'unspaced'] as const)
      assert.deepEqual(listsOf(one.lists[stream]), listsOf(alone.lists[stream]))
  })
})

describe('rows of a knowledge file', () => {
  test('are inserted many at a time in their order, and the last one is told', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'rows.db'))
    const insert = { into: 'word', columns: ['word', 'df'] }
    let before = 0
    for (const count of [1, 31, 32, 33, 100, 0]) {
      const rows = Array.from({ length: count }, (_, i): [string, number] => [`word ${count} ${i}`, i])
      const last = file.write(() => file.insertMany(insert, rows))
      if (count > 0) assert.equal(last, before + count)
      before += count
      const there = file.all<{ word: string; df: number }>(
        'SELECT word, df FROM word WHERE number > ? ORDER BY number',
        before - count,
      )
      assert.deepEqual(
        there.map(({ word, df }) => [word, df]),
        rows,
      )
    }
    file.close()
  })

  test('that are there already are added to, also within one statement', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'added.db'))
    const set = 'n = gram.n + excluded.n'
    const add = { into: 'gram', columns: ['gram', 'n'], onConflict: { key: ['gram'], set } }
    file.write(() =>
      file.insertMany(
        add,
        Array.from({ length: 80 }, (_, i) => [`g${i % 3}`, 1]),
      ),
    )
    assert.deepEqual(file.all('SELECT gram, n FROM gram ORDER BY gram'), [
      { gram: 'g0', n: 27 },
      { gram: 'g1', n: 27 },
      { gram: 'g2', n: 26 },
    ])
    file.close()
  })
})

describe('ids of passages', () => {
  test('are looked for in a range without a look at each', () => {
    let looks = 0
    const counted = new Proxy(
      Uint32Array.from({ length: 100_000 }, (_, i) => 2 * i),
      {
        get(ids, key) {
          if (typeof key === 'string' && /^\d+$/.test(key)) looks++
          const value = Reflect.get(ids, key)
          return typeof value === 'function' ? value.bind(counted) : value
        },
      },
    )
    const found = [[0, 0], [1, 1], [1, 2], [199_998, 300_000], [199_999, 300_000]].map(([first, last]) =>
      hasIdIn(counted, { first: first!, last: last! }),
    ) // biome-ignore format: a table
    assert.deepEqual(found, [true, false, true, true, false])
    assert.ok(looks < 200, `${looks} looks`)
  })
})
