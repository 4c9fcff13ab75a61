// Segments of an index become one, a list at a time: what happens in between is seen by nobody, and nothing of it stays.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { newId } from '../../src/core/platform/ids.ts'
import { INDEX_LIMITS, indexSome } from '../../src/knowledge/ingest/index-documents.ts'
import { Ingest } from '../../src/knowledge/ingest/ingest.ts'
import { LargeDocuments } from '../../src/knowledge/ingest/large-documents.ts'
import type { DocumentReading } from '../../src/knowledge/ingest/read-documents.ts'
import { SlowReadings } from '../../src/knowledge/ingest/slow-readings.ts'
import { Questions } from '../../src/knowledge/questions.ts'
import { readDocument } from '../../src/knowledge/read/read.ts'

import { checkKnowledge } from '../../src/store/backup/check/check-knowledge.ts'
import type { KnowledgeBase, KnowledgeStore } from '../../src/store/knowledge/base.ts'
import { acceptDocument, removeDocument } from '../../src/store/knowledge/documents.ts'
import { KnowledgeFolder } from '../../src/store/knowledge/folder.ts'
import { eraseSome, markDeleted } from '../../src/store/knowledge/index/index.ts'
import { emptySome, Merge } from '../../src/store/knowledge/index/merge.ts'
import { PostgresKnowledge } from '../../src/store/knowledge/postgres/postgres-knowledge.ts'
import type { Task } from '../../src/store/knowledge/tasks.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { textOf, until } from '../contract/knowledge.ts'
import { anyRoom } from '../support/any-room.ts'
import { newDatabase, query } from '../support/postgres.ts'

const WORDS = 'lamp river stone window garden market paper cloud engine bridge summer copper silver planet harbour'.split(' ')
const sentence = (i: number) => Array.from({ length: 30 }, (_, j) => WORDS[(i * 7 + j * j) % WORDS.length]).join(' ')
const SECRET = 'xylophonequartz'

const folder = mkdtempSync(join(tmpdir(), 'repartee-merge-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function inFolder(): Promise<{ newStore: () => KnowledgeStore; agent: string }> {
  new KnowledgeFolder(folder).list()
  return { newStore: () => new KnowledgeFolder(folder), agent: newId() }
}

async function inPostgres(): Promise<{ newStore: () => KnowledgeStore; agent: string }> {
  const url = await newDatabase()
  await (await PostgresDatabase.open({ url, connections: 1 })).close()
  const [agent, holder] = [newId(), newId()]
  await query(url, `INSERT INTO agent VALUES ('${agent}', 'a', '{}', 0, 0)`)
  await query(url, `INSERT INTO replica VALUES ('${holder}', 0, NULL)`)
  return { newStore: () => new PostgresKnowledge({ url, pooler: false, holder }), agent }
}

const idOf = (i: number) => `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`

/** Adds documents, each in a segment of its own, and merges none. */
async function addTo(
  store: KnowledgeStore,
  agent: string,
  from: number,
  upTo: number,
  textAt: (i: number) => string,
): Promise<void> {
  const writing = store.openToWrite(agent)
  for (let i = from; i < upTo; i++) {
    writing.write(() => acceptDocument(writing, idOf(i), textOf(textAt(i)), 1_000))
    await indexSome(writing, {
      clock: () => 1_000,
      limits: INDEX_LIMITS,
      isOver: () => false,
      unreleased: new Set(),
      slow: new SlowReadings<Task, DocumentReading | undefined>(),
      othersWait: () => false,
      large: new LargeDocuments(anyRoom),
      agentId: agent,
      read: readDocument,
    })
  }
}

for (const [engine, open] of Object.entries({ file: inFolder, PostgreSQL: inPostgres }))
  describe(`a merge in ${engine === 'file' ? 'a file' : engine}`, async () => {
    const { newStore, agent } = await open()
    const store = newStore()
    let ingest: Ingest | undefined
    const addAlone = (from: number, upTo: number, textAt = sentence) => addTo(store, agent, from, upTo, textAt)
    let base: KnowledgeBase | undefined
    const read = (): KnowledgeBase => {
      base ??= store.openToRead(agent)
      return base!
    }
    const numbers = (sql: string) =>
      read()
        .all<{ n: number }>(sql)
        .map(({ n }) => n)
    const live = () => numbers('SELECT n FROM {segment} WHERE n > 0 ORDER BY first')
    const questions = new Questions(store)
    const ask = () =>
      ['copper engine by the river', 'silver planet', 'what is in the garden of the harbour'].map((text) =>
        questions.retrieve(agent, { query: text, history: [], topK: 8, filter: null }).hits.map(({ passageId }) => passageId),
      )
    after(async () => {
      questions.close()
      await ingest?.close()
      store.close()
    })

    test('is seen by nobody until it is done', async () => {
      await addAlone(0, 12, (i) => (i === 3 ? `${sentence(i)} ${SECRET}` : sentence(i)))
      const before = ask()
      const writing = store.openToWrite(agent)
      while (emptySome(writing));
      const merge = Merge.begin(writing, true)!
      const segments = live()
      let steps = 0
      while (merge.step(writing, 0)) {
        steps++
        if (steps % 7 === 0) assert.deepEqual(ask(), before)
        if (steps % 7 === 0) assert.deepEqual(live(), segments)
      }
      assert.ok(steps > 20)
      assert.ok(live().length < segments.length)
      assert.deepEqual(ask(), before)
      while (emptySome(writing));
      assert.deepEqual(checkKnowledge(writing), [])
    })

    test('that is given up leaves nothing behind', async () => {
      await addAlone(12, 24)
      const writing = store.openToWrite(agent)
      const before = ask()
      const given = Merge.begin(writing, true)!
      for (let i = 0; i < 10; i++) assert.equal(given.step(writing, 0), true)
      assert.notDeepEqual(numbers('SELECT number AS n FROM {segment} WHERE n = 0'), [])
      while (emptySome(writing));
      assert.deepEqual(
        numbers('SELECT DISTINCT segment AS n FROM {post}').sort(),
        numbers('SELECT number AS n FROM {segment}').sort(),
      )
      assert.deepEqual(ask(), before)
      assert.deepEqual(checkKnowledge(writing), [])
    })

    test('does not bring back the words of a document that is deleted meanwhile', async () => {
      ingest = new Ingest({ store: newStore(), clock: () => 1_000, index: { documents: 1, passages: 1, mergeMs: 0 } })
      const holders = () => numbers(`SELECT count(*) AS n FROM {post} WHERE key LIKE '%${SECRET}%'`)[0]
      assert.notEqual(holders(), 0)
      for (let i = 24; i < 36; i++) await ingest.add(agent, idOf(i), textOf(sentence(i)))
      await until(async () => numbers('SELECT n FROM {segment} WHERE n = 0').length > 0)
      await ingest.remove(agent, idOf(3))
      await until(
        async () =>
          numbers('SELECT count(*) AS n FROM {segment}')[0]! <= 2 &&
          numbers('SELECT count(*) AS n FROM {dead} WHERE erased <= last')[0] === 0,
      )
      assert.equal(holders(), 0)
      assert.deepEqual(checkKnowledge(store.openToWrite(agent)), [])
    })
  })

test('a merge of one segment forgets the stretches of erased passages that it has, when there are too many', async () => {
  const { newStore, agent } = await inFolder()
  const store = newStore()
  await addTo(store, agent, 0, 17, sentence)
  const writing = store.openToWrite(agent)
  const mergeAll = (maxStretches?: number) => {
    for (
      let merge = Merge.begin(writing, true, maxStretches);
      merge !== undefined;
      merge = Merge.begin(writing, true, maxStretches)
    )
      while (merge.step(writing, 0));
    while (emptySome(writing));
  }
  const stretches = () => writing.get<{ n: number }>('SELECT count(*) AS n FROM {dead}')!.n
  mergeAll()
  const some = [1, 9]
  writing.write(() => {
    for (const i of some) {
      const { first, last, indexedTitle } = removeDocument(writing, idOf(i))!
      markDeleted(writing, first, last, indexedTitle)
    }
  })
  while (eraseSome(writing));
  mergeAll()
  assert.equal(stretches(), some.length)
  mergeAll(some.length - 1)
  assert.equal(stretches(), 0)
  assert.deepEqual(checkKnowledge(writing), [])
  store.close()
})
