// A large knowledge base in PostgreSQL is removed at once, and its rows are deleted in slices.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { newId } from '../../src/core/platform/ids.ts'
import { Ingest } from '../../src/knowledge/ingest/ingest.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { Questions } from '../../src/knowledge/questions.ts'
import { PostgresKnowledge } from '../../src/store/knowledge/postgres/postgres-knowledge.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { textOf, until } from '../contract/knowledge.ts'
import { newDatabase, query } from '../support/postgres.ts'

const url = await newDatabase()
await (await PostgresDatabase.open({ url, connections: 1 })).close()

async function newStore(): Promise<PostgresKnowledge> {
  const holder = newId()
  await query(url, `INSERT INTO replica VALUES ('${holder}', 0, NULL)`)
  return new PostgresKnowledge({ url, pooler: false, holder })
}

async function newAgent(): Promise<string> {
  const id = newId()
  await query(url, `INSERT INTO agent VALUES ('${id}', 'a', '{}', 0, 0)`)
  return id
}

/** An agent with 20,000 words, 30 MB of contents and 3,000 lists, whose row is gone. */
async function newRemovedAgent(store: PostgresKnowledge): Promise<string> {
  const id = await newAgent()
  store.openToWrite(id)
  await query(url, `INSERT INTO knowledge_word SELECT '${id}', n, 'word' || n, 1 FROM generate_series(1, 20000) n`)
  await query(
    url,
    `INSERT INTO knowledge_content SELECT '${id}', n, convert_to(repeat('x', 3000000), 'UTF8') FROM generate_series(1, 10) n`,
  )
  await query(url, `INSERT INTO knowledge_post SELECT '${id}', n % 7, 'k' || n, 1, 1, '' FROM generate_series(1, 3000) n`)
  await query(url, `DELETE FROM agent WHERE id = '${id}'`)
  return id
}

const TABLES = ['word', 'content', 'post', 'removal'] as const
async function countRows(agent: string): Promise<Record<string, number>> {
  const counts = TABLES.map((table) => `(SELECT count(*)::int FROM knowledge_${table} WHERE agent_id = '${agent}') AS ${table}`)
  return (await query(url, `SELECT ${counts.join(', ')}`))[0] as Record<string, number>
}
const NOTHING = { word: 0, content: 0, post: 0, removal: 0 }
const ALL = { word: 20_000, content: 10, post: 3_000, removal: 1 }

describe('a large base', () => {
  test('that is removed is not found any more, and leaves its rows for slices of 2,000 rows and 4 MB', async () => {
    const store = await newStore()
    after(() => store.close())
    const agent = await newRemovedAgent(store)
    assert.notEqual(store.openToRead(agent), undefined)
    store.remove(agent)
    assert.equal(store.openToRead(agent), undefined)
    let rows = await countRows(agent)
    assert.deepEqual(rows, ALL)
    for (let slices = 0; store.removeSome(); slices++) {
      const left = await countRows(agent)
      assert.ok(rows['word']! - left['word']! <= 2_000 && rows['post']! - left['post']! <= 2_000)
      assert.ok(rows['content']! - left['content']! <= 1)
      rows = left
      assert.ok(slices < 60)
    }
    assert.deepEqual(rows, NOTHING)
  })

  test('does not touch those of others', async () => {
    const store = await newStore()
    after(() => store.close())
    const [agent, other] = [await newRemovedAgent(store), await newRemovedAgent(store)]
    store.remove(agent)
    while (store.removeSome());
    assert.deepEqual([await countRows(agent), await countRows(other)], [NOTHING, { ...ALL, removal: 0 }])
    store.remove(other)
    while (store.removeSome());
  })

  test('is deleted while documents of others come in', async () => {
    const store = await newStore()
    const agent = await newRemovedAgent(store)
    const other = await newAgent()
    let slices = 0
    let isDone = false
    const removeSome = store.removeSome.bind(store)
    store.removeSome = () => {
      slices++
      isDone = !removeSome()
      return !isDone
    }
    const ingest = new Ingest({ store, clock: Date.now })
    await ingest.removeAgent(agent)
    await ingest.add(other, newId(), textOf('The walnut is brown.'))
    assert.ok(slices < 5, `${slices} slices came before the document`)
    await until(async () => isDone)
    assert.deepEqual(await countRows(agent), NOTHING)
    await ingest.close()
  })

  test('is deleted by the next process, if one was cut off', async () => {
    const store = await newStore()
    const agent = await newRemovedAgent(store)
    store.remove(agent)
    for (let i = 0; i < 8; i++) store.removeSome()
    store.close()
    const rows = await countRows(agent)
    assert.ok(rows['word']! + rows['content']! > 0)
    const holder = newId()
    await query(url, `INSERT INTO replica VALUES ('${holder}', 0, NULL)`)
    const next = openKnowledge({ place: { postgres: { url, pooler: false, holder } }, ids: newId })
    await next.start()
    await until(async () => (await countRows(agent))['removal'] === 0)
    assert.deepEqual(await countRows(agent), NOTHING)
    await next.close()
  })
})

test('a question about a removed base finds nothing, while its rows are still there', async () => {
  const store = await newStore()
  const agent = await newRemovedAgent(store)
  store.remove(agent)
  const questions = new Questions(store)
  assert.deepEqual(questions.count(agent), { documents: 0, passages: 0 })
  store.close()
})
