// A question to a large base costs others little: of long lists only what counts is read and added up.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { findCandidates } from '../../src/knowledge/query/candidates.ts'
import { toQuestion } from '../../src/knowledge/query/question.ts'
import { toSearchTerms } from '../../src/knowledge/query/search-terms.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { addToBatch, newBatch, raiseVersion, writeBatch } from '../../src/store/knowledge/index/index.ts'
import { CacheBudget } from '../../src/store/knowledge/reader/cache.ts'
import { KnowledgeIndex } from '../../src/store/knowledge/reader/knowledge-index.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-long-lists-'))
after(() => rmSync(folder, { recursive: true }))

const TEXTS = ['Walnut and almond.', 'Walnut and hazel.', 'Walnut.', 'Walnut.', 'Walnut.']

/** A base whose passages share a segment. */
function baseOf(name: string): KnowledgeFile {
  const file = KnowledgeFile.openToWrite(join(folder, name))
  file.write(() => {
    const batch = newBatch()
    for (const [position, text] of TEXTS.entries())
      addToBatch(batch, { title: '', heading: '', text, document: 1, position, page: null })
    writeBatch(file, batch)
    raiseVersion(file)
  })
  return file
}

describe('a long list', () => {
  test('is counted without being read, and read once', () => {
    const file = baseOf('counted.db')
    const read: string[] = []
    const getMany = file.getMany.bind(file)
    file.getMany = <T>(sql: string, each: Parameters<typeof getMany>[1]) => {
      const rows = getMany<T & { data?: Uint8Array | null }>(sql, each)
      for (const [i, row] of rows.entries()) if (row?.data) read.push(each[i]![1] as string)
      return rows
    }
    const index = new KnowledgeIndex(file, new CacheBudget(), 4)
    index.read(function* (one) {
      yield* one.load(['ewalnut', 'ealmond'])
      assert.deepEqual([one.frequency('ewalnut'), one.frequency('ealmond')], [5, 1])
      assert.deepEqual(read, ['ealmond'])
      for (let i = 0; i < 2; i++) {
        yield* one.loadLists(['ewalnut'])
        assert.equal(one.lists('ewalnut').parts[0]!.posting.data.length, 10)
      }
      assert.deepEqual(read, ['ealmond', 'ewalnut'])
    })
    file.close()
  })

  test('does not count where the shorter ones fill the limit of entries; the shortest always counts', () => {
    const file = baseOf('limited.db')
    const index = new KnowledgeIndex(file)
    const found = (query: string, mostEntries?: number) =>
      index.read(function* (read) {
        const terms = yield* toSearchTerms(read, toQuestion(query, [], read.languages))
        return (yield* findCandidates(read, terms, 9, undefined, mostEntries)).map(({ slot }) => slot)
      })
    assert.deepEqual(found('walnut almond hazel').sort(), [0, 1, 2, 3, 4])
    assert.deepEqual(found('walnut almond hazel', 4).sort(), [0, 1])
    assert.deepEqual(found('walnut', 0).sort(), [0, 1, 2, 3, 4])
    file.close()
  })
})
