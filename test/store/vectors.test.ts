import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, mock, test } from 'node:test'
import { INDEX_LIMITS, indexSome } from '../../src/knowledge/ingest/index-documents.ts'
import { LargeDocuments } from '../../src/knowledge/ingest/large-documents.ts'
import type { DocumentReading } from '../../src/knowledge/ingest/read-documents.ts'
import { SlowReadings } from '../../src/knowledge/ingest/slow-readings.ts'
import { fuse } from '../../src/knowledge/query/fuse.ts'
import { putVectors, takeUnembedded } from '../../src/knowledge/query/vectors/build.ts'
import { HammingScan } from '../../src/knowledge/query/vectors/hamming.ts'
import { cosine, fromCode, padded, toCode, toSigns, toUnit } from '../../src/knowledge/query/vectors/quantise.ts'
import { VectorSearch } from '../../src/knowledge/query/vectors/search.ts'
import { readDocument } from '../../src/knowledge/read/read.ts'
import { acceptDocument, acceptVersion } from '../../src/store/knowledge/documents.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { addToBatch, markDeleted, newBatch, writeBatch } from '../../src/store/knowledge/index/index.ts'
import { KnowledgeIndex } from '../../src/store/knowledge/reader/knowledge-index.ts'
import { Snapshot } from '../../src/store/knowledge/reader/snapshot.ts'
import type { Task } from '../../src/store/knowledge/tasks.ts'
import { appendSigns, BLOCK_VECTORS, readBlocks } from '../../src/store/knowledge/vector-blocks.ts'
import {
  dropSpace,
  eraseDropped,
  eraseVectors,
  findSpace,
  hasDropped,
  insertVectors,
  listVectors,
  makeLive,
  openSpace,
  setSpace,
} from '../../src/store/knowledge/vectors.ts'
import { done, drive } from '../../src/store/knowledge/work.ts'
import { textOf } from '../contract/knowledge.ts'
import { anyRoom } from '../support/any-room.ts'

let state = 11
const random = (): number => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
  return state / 2_147_483_648
}
const vector = (length: number) => Float32Array.from({ length }, () => random() * 2 - 1)

describe('a vector in a byte a dimension', () => {
  test('keeps the cosine to a part in a hundred, at any number of dimensions', () => {
    for (const length of [1, 3, 127, 128, 384, 1_000]) {
      const [a, b] = [toUnit(vector(length)), toUnit(vector(length))]
      const exact = a.reduce((sum, x, i) => sum + x * b[i]!, 0)
      const code = toCode(b)
      assert.equal(code.length, 4 + padded(length))
      assert.ok(Math.abs(cosine(a, code) - exact) < 0.01)
      assert.ok(Math.abs(cosine(b, toCode(b)) - 1) < 0.01)
      assert.ok(fromCode(code, length).every((x, i) => Math.abs(x - b[i]!) < 0.01))
    }
  })

  test('of nothing is nothing', () => {
    const nothing = new Float32Array(8)
    assert.deepEqual(toUnit(nothing), nothing)
    assert.equal(cosine(toUnit(vector(8)), toCode(nothing)), 0)
  })
})

describe('the scan of signs', () => {
  test('counts the bits that differ', () => {
    const length = 300
    const mean = new Float32Array(length).fill(0.1)
    const question = toSigns(vector(length), mean)
    const signs = Array.from({ length: 500 }, () => toSigns(vector(length), mean))
    const scan = new HammingScan(padded(length) / 8)
    scan.reserve(100)
    signs.slice(0, 100).forEach((own, slot) => {
      scan.set(slot, own)
    })
    scan.reserve(500)
    signs.slice(100).forEach((own, i) => {
      scan.set(100 + i, own)
    })
    const bits = (byte: number) => byte.toString(2).replaceAll('0', '').length
    const expected = signs.map((own) => own.reduce((sum, byte, i) => sum + bits(byte ^ question[i]!), 0))
    assert.deepEqual([...scan.distances(question, 500)], expected)
  })
})

describe('vectors in the file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'repartee-vectors-'))
  after(() => rmSync(folder, { recursive: true }))
  const signs = (id: number) => ({ id, bits: new Uint8Array(16).fill(id) })

  test('a block that takes the number of one that is gone is not taken for it', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'blocks.db'))
    const { number } = openSpace(file, 'a/b')
    appendSigns(file, number, [signs(1)])
    const known = new Map(drive(file, readBlocks(number, new Map())).changed.map((block) => [block.number, block.version]))
    eraseVectors(file, 1, 1)
    appendSigns(file, number, [signs(2)])
    const { all, changed } = drive(file, readBlocks(number, known))
    assert.deepEqual([all, changed.map(({ ids }) => [...ids])], [[1], [[2]]])
    file.close()
  })

  test('what is left of many that are gone takes the room of what is left', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'join.db'))
    const { number } = openSpace(file, 'a/b')
    const last = 4 * BLOCK_VECTORS
    appendSigns(
      file,
      number,
      Array.from({ length: last }, (_, i) => signs(i + 1)),
    )
    eraseVectors(file, 2, 2 * BLOCK_VECTORS)
    eraseVectors(file, 2 * BLOCK_VECTORS + 1, last - 2)
    const { all, changed } = drive(file, readBlocks(number, new Map()))
    assert.deepEqual(all, [1])
    assert.deepEqual([...changed[0]!.ids], [1, last - 1, last])
    assert.deepEqual(
      [...changed[0]!.bits],
      [1, last - 1, last].flatMap((id) => [...signs(id).bits]),
    )
    file.close()
  })

  test('a passage that has none, and can have none, is not asked for again', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'none.db'))
    takeUnembedded(file, 'a/b', 10)
    assert.equal(putVectors(file, 'a/b', [6, 7], [null, null]), true)
    assert.deepEqual([findSpace(file, 'a/b')!.upto, findSpace(file, 'a/b')!.dimensions], [7, 0])
    assert.equal(putVectors(file, 'a/b', [8, 9], [null, vector(8)]), true)
    assert.deepEqual([findSpace(file, 'a/b')!.upto, findSpace(file, 'a/b')!.dimensions], [9, 8])
    file.close()
  })

  test('are copied once to each passage of a new version that says the same, some in each transaction', async () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'same.db'))
    const work = {
      ...{ agentId: 'a', clock: Date.now, limits: INDEX_LIMITS, isOver: () => false, unreleased: new Set<Task>() },
      slow: new SlowReadings<Task, DocumentReading | undefined>(),
      othersWait: () => false,
      large: new LargeDocuments(anyRoom),
      read: readDocument,
    }
    const say = `${'The same words again and again. '.repeat(40)}\n\n`
    file.write(() => acceptDocument(file, 'd', textOf(say.repeat(600)), 0))
    while (await indexSome(file, work));
    for (let ids = [0]; ids.length > 0; ) {
      ids = takeUnembedded(file, 'a/b', 100).map(({ id }) => id)
      putVectors(
        file,
        'a/b',
        ids,
        ids.map(() => vector(8)),
      )
    }
    file.run('CREATE TABLE inserted (n INTEGER)')
    file.run('INSERT INTO inserted VALUES (0)')
    file.run('CREATE TRIGGER t BEFORE INSERT ON vector BEGIN UPDATE inserted SET n = n + 1; END')
    const inserted = () => file.get<{ n: number }>('SELECT n FROM inserted')!.n
    const write = file.write.bind(file)
    let most = 0
    file.write = (run, options) => {
      const before = inserted()
      const result = write(run, options)
      most = Math.max(most, inserted() - before)
      return result
    }
    file.write(() => acceptVersion(file, 'd', textOf(`${say.repeat(600)}The end.`), 1))
    while (await indexSome(file, work));
    const { n } = file.get<{ n: number }>('SELECT count(*) AS n FROM passage WHERE id > 600')!
    assert.deepEqual(inserted(), n - 1)
    assert.ok(most <= INDEX_LIMITS.vectors, `${most} in one transaction`)
    assert.deepEqual(
      takeUnembedded(file, 'a/b', 10).map(({ id }) => id),
      [600 + n],
    )
    file.close()
  })

  test('those of different lengths are refused together', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'lengths.db'))
    takeUnembedded(file, 'a/b', 10)
    assert.throws(() => putVectors(file, 'a/b', [1, 2, 3], [vector(8), null, vector(2_000)]), { code: 'model_failed' })
    assert.deepEqual([findSpace(file, 'a/b')!.upto, findSpace(file, 'a/b')!.dimensions], [0, 0])
    file.close()
  })

  test('a block of another size is not searched, and its space is dropped when passages are next embedded', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'size.db'))
    const space = { ...openSpace(file, 'a/b'), dimensions: 100, mean: vector(100), upto: 2 }
    setSpace(file, space)
    makeLive(file, space)
    const unit = toUnit(vector(100))
    insertVectors(file, space, [{ id: 1, code: toCode(unit) }])
    appendSigns(file, space.number, [{ id: 1, bits: toSigns(unit, space.mean) }])
    const search = new VectorSearch()
    const near = (version: number) =>
      drive(file, search.nearest({ base: file, version }, unit, 5, { key: '', mask: () => undefined })).map(({ id }) => id)
    assert.deepEqual(near(1), [1])
    appendSigns(file, space.number, [{ id: 2, bits: new Uint8Array(400) }])
    assert.deepEqual(near(2), [])
    takeUnembedded(file, 'a/b', 10)
    assert.deepEqual([findSpace(file, 'a/b')!.dimensions, near(3)], [0, []])
    file.close()
  })

  test('of many that are equal, some are looked at, and all that are nearer', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'equal.db'))
    const dimensions = 1_024
    const equal = toUnit(vector(dimensions))
    const turned = equal.map((value, i) => (i < 200 ? -value : value))
    const space = { ...openSpace(file, 'a/b'), dimensions, mean: new Float32Array(dimensions), upto: 5_100 }
    setSpace(file, space)
    makeLive(file, space)
    for (let id = 1; id <= 5_100; id += 100) {
      const rows = Array.from({ length: 100 }, (_, i) => ({ id: id + i, unit: id > 5_000 ? equal : turned }))
      insertVectors(
        file,
        space,
        rows.map((row) => ({ id: row.id, code: toCode(row.unit) })),
      )
      appendSigns(
        file,
        space.number,
        rows.map((row) => ({ id: row.id, bits: toSigns(row.unit, space.mean) })),
      )
    }
    let read = 0
    const { getMany } = file
    file.getMany = (sql, each) => {
      read += each.length
      return getMany.call(file, sql, each) as never
    }
    const hide = { key: '', mask: () => undefined }
    const near = drive(file, new VectorSearch().nearest({ base: file, version: 1 }, equal, 300, hide)).map(({ id }) => id)
    assert.deepEqual(near.slice(0, 100).toSorted(), Array.from({ length: 100 }, (_, i) => 5_001 + i).toSorted())
    assert.equal(near.length, 300)
    assert.ok(read < 1_000, `${read} vectors`)
    file.close()
  })

  test('are looked through once for each of several filters that take turns', () => {
    for (const mean of [null, vector(100)]) {
      const file = KnowledgeFile.openToWrite(join(folder, `filters-${mean === null}.db`))
      const space = { ...openSpace(file, 'a/b'), dimensions: 100, mean, upto: 9 }
      setSpace(file, space)
      makeLive(file, space)
      const units = Array.from({ length: 9 }, () => toUnit(vector(100)))
      insertVectors(
        file,
        space,
        units.map((unit, i) => ({ id: i + 1, code: toCode(unit) })),
      )
      if (mean !== null)
        appendSigns(
          file,
          space.number,
          units.map((unit, i) => ({ id: i + 1, bits: toSigns(unit, mean) })),
        )
      let looks = 0
      const search = new VectorSearch()
      const near = (hidden: number) => {
        const mask = (ids: Uint32Array) => {
          looks++
          return Uint8Array.from(ids, (id) => Number(id === hidden))
        }
        const hide = { key: String(hidden), mask }
        return drive(file, search.nearest({ base: file, version: 1 }, units[0]!, 9, hide)).map(({ id }) => id)
      }
      for (const hidden of [1, 2, 1, 2]) assert.equal(near(hidden).includes(hidden), false)
      assert.equal(near(1).length, 8)
      assert.equal(looks, 2)
      file.close()
    }
  })

  test('those that are hidden are found in any order, and not looked up one by one', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'hidden.db'))
    for (let segment = 0; segment < 4; segment++) {
      const batch = newBatch()
      for (let position = 0; position < 20; position++)
        addToBatch(batch, { title: '', heading: '', text: 'lantern', document: segment, position, page: null })
      file.write(() => writeBatch(file, batch))
    }
    file.write(() => markDeleted(file, 11, 50, ''))
    const index = new KnowledgeIndex(file)
    const { mock: looks } = mock.method(Snapshot.prototype, 'slotOf')
    const hiddenOf = (ids: number[]) => index.read((read) => done([...read.hiddenIds(Uint32Array.from(ids), null)!]))
    const all = Array.from({ length: 90 }, (_, i) => i + 1)
    const isHidden = (id: number) => Number(id === 0 || (id >= 11 && id <= 50) || id > 80)
    for (const ids of [all, [...all.slice(60), 0, 0, ...all.slice(0, 60)], all.filter((id) => id % 3 === 0), all.toReversed()])
      assert.deepEqual(hiddenOf(ids), ids.map(isHidden))
    assert.equal(looks.callCount(), 0)
    file.close()
  })

  test('a space with few vectors, of which one has another size, is dropped when passages are next embedded', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'few.db'))
    const space = { ...openSpace(file, 'a/b'), dimensions: 100, upto: 2 }
    setSpace(file, space)
    insertVectors(file, space, [
      { id: 1, code: toCode(vector(100)) },
      { id: 2, code: toCode(vector(100)) },
    ])
    takeUnembedded(file, 'a/b', 10)
    assert.equal(findSpace(file, 'a/b')!.dimensions, 100)
    insertVectors(file, space, [
      { id: 3, code: toCode(vector(24).slice(0, 1)) },
      { id: 4, code: toCode(vector(2_000)) },
    ])
    takeUnembedded(file, 'a/b', 10)
    assert.equal(findSpace(file, 'a/b')!.dimensions, 0)
    while (eraseDropped(file));
    assert.equal(drive(file, listVectors(space.number)).length, 0)
    file.close()
  })

  test('of a space that is dropped are erased some at a time, and no others', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'dropped.db'))
    const models = ['a/one', 'a/two', 'a/three']
    const spaces = models.map((model) => {
      file.run('INSERT INTO vector_space (model) VALUES (?)', model)
      return { ...findSpace(file, model)!, dimensions: 8 }
    })
    const ids = Array.from({ length: 1_200 }, (_, i) => i + 1)
    file.write(() => {
      for (const space of spaces) {
        insertVectors(
          file,
          space,
          ids.map((id) => ({ id, code: new Uint8Array(8) })),
        )
        for (let number = 1; number <= 20; number++)
          file.run(
            'INSERT INTO vector_block (space, number, version, first, last, ids, bits) VALUES (?, ?, 1, 1, 1, ?, ?)',
            ...[space.number, number, new Uint8Array(4), new Uint8Array(1)],
          )
      }
    })
    const count = (table: string) => file.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n
    assert.equal(hasDropped(file), false)
    for (const { number } of [spaces[0]!, spaces[2]!]) file.write(() => dropSpace(file, number))
    assert.equal(hasDropped(file), true)
    let most = 0
    for (let before = count('vector'); eraseDropped(file); before = count('vector'))
      most = Math.max(most, before - count('vector'))
    assert.deepEqual([most, count('vector'), count('vector_block'), hasDropped(file)], [500, 1_200, 20, false])
    assert.equal(drive(file, listVectors(spaces[1]!.number)).length, 1_200)
    file.close()
  })

  test('those of passages that are gone are not kept', () => {
    const file = KnowledgeFile.openToWrite(join(folder, 'gone.db'))
    takeUnembedded(file, 'a/b', 10)
    assert.equal(putVectors(file, 'a/b', [7], [vector(8)]), true)
    const space = findSpace(file, 'a/b')!
    assert.deepEqual([drive(file, listVectors(space.number)), space.upto], [[], 7])
    file.close()
  })
})

describe('one order of two', () => {
  const ranked = (slot: number, score: number) => ({ slot, score, scores: { terms: score } })

  test('what is best by both is best; each order can bring a passage of its own', () => {
    const order = fuse(
      [ranked(1, 8), ranked(2, 4)],
      new Map([
        [1, 0.9],
        [3, 0.8],
        [2, 0.1],
      ]),
    )
    assert.deepEqual(
      order.map(({ slot }) => slot),
      [1, 3, 2],
    )
    assert.deepEqual(order[0]!.scores, { terms: 8, cosine: 0.9 })
    assert.equal(order[0]!.score, 1)
  })

  test('without words meaning decides, and the other way round', () => {
    assert.deepEqual(
      fuse(
        [],
        new Map([
          [1, 0.2],
          [2, 0.4],
        ]),
      ).map(({ slot }) => slot),
      [2, 1],
    )
    assert.deepEqual(
      fuse(
        [ranked(5, 3), ranked(6, 2)],
        new Map([
          [5, 0.2],
          [6, 0.4],
        ]),
        0,
      ).map(({ slot }) => slot),
      [5, 6],
    )
  })
})
