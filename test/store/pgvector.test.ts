// Large bases, searched by pgvector: in a PostgreSQL compiled to run here, and in the real server where that has the extension.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { setTimeout as pauseMs } from 'node:timers/promises'
import type { MetadataFilter } from '../../src/core/agent.ts'
import { newId } from '../../src/core/platform/ids.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { checkKnowledge } from '../../src/store/backup/check/check-knowledge.ts'
import { PostgresKnowledge } from '../../src/store/knowledge/postgres/postgres-knowledge.ts'
import type { SqlRow } from '../../src/store/knowledge/rows.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { textOf, until } from '../contract/knowledge.ts'
import { isOk } from '../support/assert.ts'
import { EmbeddingServer } from '../support/embedding-server.ts'
import { startPgvector } from '../support/pgvector.ts'
import { newDatabase, query } from '../support/postgres.ts'
import { startService } from '../support/service.ts'

const MODEL = 'a/model'
const DIMENSIONS = 32
/** As many as tell the mean. */
const FROM = 1_000
const PASSAGES = 1_200
const A_DOCUMENT = 40
const FILLER = 'It says no more than this, and says it at some length. '.repeat(14)

interface Server {
  name: string
  url: string
  pooler: boolean
}

const compiled = await startPgvector()
after(() => compiled.stop())
const servers: Server[] = [{ name: 'PostgreSQL in WebAssembly', url: compiled.url, pooler: true }]
const real = await newDatabase()
const [available] = await query(real, "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
if (available !== undefined) servers.push({ name: 'the PostgreSQL server', url: real, pooler: false })

/** A direction for each number, the same at any time; neighbours are near. */
const vectorOf = (n: number) => Float32Array.from({ length: DIMENSIONS }, (_, i) => Math.sin((n / 500) * (i + 1) + i * i))

for (const { name, url, pooler } of servers)
  describe(`vectors in ${name}`, async () => {
    await (await PostgresDatabase.open({ url, connections: 1, pooler })).close()
    const agent = newId()
    const holder = newId()
    await query(url, `INSERT INTO agent VALUES ('${agent}', 'a', '{}', 0, 0)`)
    await query(url, `INSERT INTO replica VALUES ('${holder}', 0, NULL)`)
    const open = () => openKnowledge({ place: { postgres: { url, pooler, holder, nearFrom: FROM } }, ids: newId })
    let knowledge = open()
    /** By whose vectors it is searched. */
    let model = MODEL
    after(() => knowledge.close())
    const tables = async (): Promise<SqlRow[]> =>
      query(url, "SELECT tablename FROM pg_tables WHERE tablename LIKE 'knowledge_near_%'")
    const indexed = async (): Promise<number> => {
      const [table] = await tables()
      return Number((await query(url, `SELECT count(*) AS n FROM ${table!['tablename']}`))[0].n)
    }
    /** The passages nearest to a number's direction, by their numbers. */
    const near = async (n: number, filter: MetadataFilter | null): Promise<number[]> => {
      const asked = {
        query: 'nothing that is written',
        history: [],
        topK: 5,
        filter,
        vector: { model, values: vectorOf(n) },
      }
      const { hits } = await knowledge.retrieve(agent, asked)
      return hits.map(({ text }) => Number(/\d+/.exec(text)![0]))
    }
    const isNear = async (n: number, expected = [n, n - 1, n + 1, n - 2, n + 2], filter: MetadataFilter | null = null) =>
      assert.deepEqual((await near(n, filter)).sort(byNumber), expected.toSorted(byNumber))
    /** Resolves to the id of the last document. */
    const add = async (from: number, to: number): Promise<string> => {
      let last = ''
      for (let n = from; n < to; n += A_DOCUMENT) {
        const sections = Array.from({ length: A_DOCUMENT }, (_, i) => `## Part\n\nEntry ${n + i}. ${FILLER}`)
        const metadata = { first: n === 0 }
        const text = textOf(sections.join('\n\n'), { mediaType: 'text/markdown', metadata })
        last = (await knowledge.addDocument(agent, text)).id
      }
      await until(async () => (await knowledge.count(agent)).passages === to)
      return last
    }
    const embed = async (): Promise<void> => {
      for (;;) {
        const items = await knowledge.takeUnembedded(agent, MODEL, 500)
        if (items.length === 0) return
        const ids = items.map(({ id }) => id)
        const numbers = items.map(({ text }) => Number(/Entry (\d+)/.exec(text)![1]))
        await knowledge.putVectors(agent, MODEL, ids, numbers.map(vectorOf))
      }
    }
    const grow = async (): Promise<unknown> => {
      for (;;) {
        const grown = await knowledge.growVectorIndex(agent, MODEL)
        if (grown !== 'more') return grown
      }
    }

    test('without the extension are searched in memory, and it is said what is missing', async () => {
      await add(0, PASSAGES)
      await embed()
      assert.match(((await grow()) as { impossible: string }).impossible, /pgvector is not there \(`CREATE EXTENSION vector`/)
      await isNear(700)
      assert.deepEqual(await tables(), [])
    })

    test('are brought into an index that is searched once all are in it', async () => {
      await query(url, 'CREATE EXTENSION vector')
      assert.equal(await knowledge.growVectorIndex(agent, MODEL), 'more')
      assert.equal(await knowledge.growVectorIndex(agent, MODEL), 'more')
      assert.equal(await indexed(), 100)
      await isNear(700)
      assert.equal(await grow(), 'done')
      assert.equal(await indexed(), PASSAGES)
      // Without what is held in memory otherwise only the index can tell.
      await query(url, 'CREATE TABLE kept AS SELECT * FROM knowledge_vector_block')
      await query(url, 'DELETE FROM knowledge_vector_block')
      await knowledge.close()
      knowledge = open()
      await isNear(700)
      await isNear(33)
      await query(url, 'INSERT INTO knowledge_vector_block SELECT * FROM kept')
      await query(url, 'DROP TABLE kept')
    })

    test('that come later go into the index, and those of deleted passages leave it', async () => {
      const last = await add(PASSAGES, PASSAGES + A_DOCUMENT)
      await embed()
      assert.equal(await indexed(), PASSAGES + A_DOCUMENT)
      await isNear(PASSAGES + 10)
      await knowledge.deleteDocument(agent, last)
      const before = [1, 2, 3, 4, 5].map((back) => PASSAGES - back)
      await isNear(PASSAGES, before)
      await until(async () => (await indexed()) === PASSAGES)
    })

    test('of few documents, where a filter leaves no others, are compared in memory', async () => {
      await isNear(700, [35, 36, 37, 38, 39], { first: true })
    })

    test('of another model take their place', async () => {
      const [before] = await tables()
      for (;;) {
        const items = await knowledge.takeUnembedded(agent, 'another/model', 500)
        if (items.length === 0) break
        const ids = items.map(({ id }) => id)
        await knowledge.putVectors(agent, 'another/model', ids, ids.map(vectorOf))
      }
      model = 'another/model'
      assert.deepEqual(await tables(), [])
      await knowledge.retrieve(agent, {
        query: 'entry',
        history: [],
        topK: 5,
        filter: null,
        vector: { model, values: vectorOf(9) },
      })
      while ((await knowledge.growVectorIndex(agent, 'another/model')) === 'more');
      assert.equal(await indexed(), PASSAGES)
      assert.notDeepEqual(await tables(), [before])
    })

    test('whose index was lost with the extension are compared in memory from the next start on', async () => {
      await query(url, 'DROP EXTENSION vector CASCADE')
      await (await PostgresDatabase.open({ url, connections: 1, pooler })).close()
      await knowledge.close()
      knowledge = open()
      const asked = {
        query: 'nothing that is written',
        history: [],
        topK: 5,
        filter: null,
        vector: { model, values: vectorOf(9) },
      }
      assert.equal((await knowledge.retrieve(agent, asked)).hits.length, 5)
      await query(url, 'CREATE EXTENSION vector')
      while ((await knowledge.growVectorIndex(agent, 'another/model')) === 'more');
      assert.equal(await indexed(), PASSAGES)
    })

    test('are compared with the index by a check of the base', async () => {
      const store = new PostgresKnowledge({ url, pooler, holder })
      const problems = () => checkKnowledge(store.openToRead(agent)!).map(({ what }) => what)
      assert.deepEqual(problems(), [])
      const [table] = await tables()
      await query(url, `DELETE FROM ${table!['tablename']} WHERE id = (SELECT min(id) FROM ${table!['tablename']})`)
      assert.deepEqual(problems(), ['vectors that pgvector does not know, or knows and should not'])
      store.close()
    })

    test('go with their agent', async () => {
      await knowledge.deleteAgent(agent)
      assert.deepEqual(await tables(), [])
      assert.deepEqual(await query(url, 'SELECT * FROM knowledge_near'), [])
    })
  })

test('a service brings the vectors of a large base into the index by itself', async () => {
  const embeddings = await new EmbeddingServer().start()
  const database = await startPgvector()
  await query(database.url, 'CREATE EXTENSION vector')
  const service = await startService({
    REPARTEE_DATABASE_URL: database.url,
    REPARTEE_DATABASE_POOLER: 'on',
    REPARTEE_PGVECTOR_FROM: String(FROM),
    REPARTEE_PROVIDERS: JSON.stringify({ first: { protocol: 'chat', baseUrl: `${embeddings.url}/v1` } }),
  })
  try {
    const model = { model: 'extractive', embeddingModel: 'first/small', retrieval: { mode: 'hybrid' } }
    const path = `/agents/${await service.newAgent(model)}`
    const words = 'lamp river stone window garden market paper cloud engine bridge summer copper silver planet harbour'.split(' ')
    const entry = (i: number) => Array.from({ length: 120 }, (_, j) => words[(i * 7 + j * j * (i % 11)) % words.length]).join(' ')
    const sections = Array.from({ length: PASSAGES }, (_, i) => `## Part\n\n${entry(i)}.`)
    sections[600] = `## Part\n\n${'The surgeon sees patients on Monday. '.repeat(20)}`
    isOk(await service.client.post(`${path}/documents`, { markdown: sections.join('\n\n') }), 202)
    await until(async () => {
      // Its only backend has better to do than to be asked without a pause.
      await pauseMs(200)
      return (await query(database.url, 'SELECT 1 FROM knowledge_near WHERE is_ready = 1')).length > 0
    })
    const found = await service.client.post(`${path}/search`, { query: 'physician' })
    isOk(found)
    assert.match(found.body.hits[0].text, /surgeon/)
  } finally {
    await service.stop()
    await database.stop()
    await embeddings.stop()
  }
})

const byNumber = (a: number, b: number): number => a - b
