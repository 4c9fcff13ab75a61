import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, mock, test } from 'node:test'
import pg from 'pg'
import { newId } from '../../src/core/platform/ids.ts'
import type { Knowledge } from '../../src/core/ports/knowledge.ts'
import type { Hit } from '../../src/core/ports/retrieval.ts'
import { Ingest } from '../../src/knowledge/ingest/ingest.ts'
import { openKnowledge } from '../../src/knowledge/knowledge.ts'
import { Questions } from '../../src/knowledge/questions.ts'
import { type KnowledgeStore, LeaseLost } from '../../src/store/knowledge/base.ts'
import { KnowledgeFolder } from '../../src/store/knowledge/folder.ts'
import { Merge } from '../../src/store/knowledge/index/merge.ts'
import { PostgresKnowledge } from '../../src/store/knowledge/postgres/postgres-knowledge.ts'
import { PostgresReads } from '../../src/store/knowledge/postgres/reads.ts'
import { NotYet } from '../../src/store/knowledge/reader/filters.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { isTransient } from '../../src/store/transient.ts'
import { find, knowledgeContract, settled, textOf, until } from '../contract/knowledge.ts'
import { inTurns } from '../support/in-turns.ts'
import { throughPooler } from '../support/pgbouncer.ts'
import { newDatabase, query } from '../support/postgres.ts'

const url = await newDatabase()
const pooled = await throughPooler(url)
await (await PostgresDatabase.open({ url, connections: 1 })).close()
const folder = mkdtempSync(join(tmpdir(), 'repartee-knowledge-'))
after(() => rmSync(folder, { recursive: true, force: true }))

async function newAgent(): Promise<string> {
  const id = newId()
  await query(url, `INSERT INTO agent VALUES ('${id}', 'a', '{}', 0, 0)`)
  return id
}
async function newReplica(): Promise<string> {
  const id = newId()
  await query(url, `INSERT INTO replica VALUES ('${id}', 0, NULL)`)
  return id
}
const leaves = (replica: string) => query(url, `DELETE FROM replica WHERE id = '${replica}'`)
const open = (holder: string, pooler = false): Knowledge =>
  openKnowledge({ place: { postgres: { url: pooler ? pooled : url, pooler, holder } }, ids: newId })

// Without a pooler it is what the tests of the specification run on, on this engine.
knowledgeContract('PostgreSQL behind a pooler', async () => open(await newReplica(), true), newAgent)

const HOUR_MS = 3_600_000
const idOf = (i: number) => `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`

describe('a knowledge base in a file and one in PostgreSQL', () => {
  const words = 'lamp river stone window garden market paper cloud engine bridge summer copper silver planet harbour'.split(' ')
  const section = (i: number) => Array.from({ length: 40 }, (_, j) => words[(i * 7 + j * j) % words.length]).join(' ')
  const docs = new URL('../../docs/', import.meta.url)
  const texts = [
    ...readdirSync(docs)
      .filter((name) => name.endsWith('.md'))
      .sort()
      .slice(0, 16)
      .map((name) => readFileSync(new URL(name, docs), 'utf8')),
    ...Array.from({ length: 40 }, (_, i) => `# Section ${i}\n\n${section(i)}`),
    '# 配置\n\n服务从端口 8080 启动。数据保存在文件夹中。',
    '# Rückgabe\n\nTickets werden innerhalb von zehn Tagen erstattet. Der Code ist A-1700 😀.',
  ]
  const ready = (questions: Questions, agent: string) =>
    until(async () =>
      ['queued', 'processing'].every(
        (status) => questions.listDocuments(agent, { limit: 1, status: status as 'queued' })?.total === 0,
      ),
    )

  /** Nothing is left to be read, erased or merged: what the dead count for is a matter of time until then. */
  async function atRest(store: KnowledgeStore, questions: Questions, agent: string): Promise<void> {
    await ready(questions, agent)
    await until(async () => {
      if (store.list().pending.includes(agent)) return false
      const base = store.openToRead(agent)!
      const isMore =
        base.get('SELECT 1 FROM {dead} WHERE erased <= last') !== undefined ||
        base.get('SELECT 1 FROM {segment} WHERE n = 0') !== undefined ||
        Merge.begin(base, true) !== undefined
      base.close()
      return !isMore
    })
  }

  async function takeThrough(store: KnowledgeStore, agent: string): Promise<unknown[]> {
    // Each document by itself, one after another, with all merges after it: otherwise time decides which are indexed or joined together, and scores depend on
    // what was there before. No limit of time either: on a slow machine a merge would take more turns, without the documents of those.
    const untimed = { mergeMs: HOUR_MS, turnMs: HOUR_MS, slowMs: HOUR_MS, analyseMs: HOUR_MS }
    const alike = { words: 10_000, pieces: 100_000 }
    const index = { documents: 1, passages: 30, ...alike, ...untimed }
    const ingest = new Ingest({ store, clock: () => 1_000, tidyAfterMs: 0, index })
    const questions = new Questions(store)
    for (const [i, text] of texts.entries()) {
      const metadata = { even: i % 2 === 0 }
      await ingest.add(agent, idOf(i), textOf(text, { title: `Text ${i}`, mediaType: 'text/markdown', metadata }))
      await atRest(store, questions, agent)
    }
    const told: unknown[] = []
    const ask = (text: string, more: object = {}) => {
      const input = { query: text, history: [], topK: 12, filter: null, ...more }
      const { result: found } = inTurns(() => questions.retrieve(agent, input))
      told.push(found, questions.extract(agent, { question: text, history: [], retrieval: found }))
    }
    const askAll = () => {
      for (const text of [
        'How do I back up the service?',
        'postgres conections',
        'What does the copper engine do?',
        '数据保存在哪里？',
      ])
        ask(text)
      ask('lamp by the river', { filter: { even: true } })
      ask('And A-1700?', { history: [{ role: 'USER', content: 'Wann werden Tickets erstattet?' }] })
    }
    askAll()
    await ingest.remove(agent, idOf(0))
    await atRest(store, questions, agent)
    await ingest.replace(agent, idOf(3), textOf('# Anew\n\nThe copper engine drives the bridge.', { mediaType: 'text/markdown' }))
    await atRest(store, questions, agent)
    await ingest.change(agent, idOf(5), { title: 'The silver harbour' })
    await atRest(store, questions, agent)
    askAll()
    const vector = (id: number) => Float32Array.from({ length: 16 }, (_, i) => Math.sin(id * (i + 1)))
    for (;;) {
      const items = await ingest.takeUnembedded(agent, 'm', 100)
      if (items.length === 0) break
      await ingest.putVectors(
        agent,
        'm',
        items.map(({ id }) => id),
        items.map(({ id }) => vector(id)),
      )
    }
    ask('nothing that is written', { vector: { model: 'm', values: vector(17) } })
    told.push(questions.listDocuments(agent, { limit: 5 }), questions.listPassages(agent, idOf(4), { limit: 5 }))
    questions.close()
    await ingest.close()
    return told
  }

  test('give the same passages in the same order, the same scores, and the same answers', async () => {
    const agent = await newAgent()
    const store = new KnowledgeFolder(folder)
    store.list()
    const inFile = await takeThrough(store, agent)
    const inDatabase = await takeThrough(new PostgresKnowledge({ url, pooler: false, holder: await newReplica() }), agent)
    assert.equal(inDatabase.length, inFile.length)
    assert.deepEqual(JSON.parse(JSON.stringify(inDatabase)), JSON.parse(JSON.stringify(inFile)))
    assert.ok(JSON.stringify(inFile).includes('hybrid'))
  })
})

describe('knowledge bases in PostgreSQL', () => {
  test('are worked on by one replica at a time, and by another when that is gone', async () => {
    const agent = await newAgent()
    const [one, other] = [await newReplica(), await newReplica()]
    const first = new PostgresKnowledge({ url, pooler: false, holder: one })
    const second = new PostgresKnowledge({ url, pooler: false, holder: other })
    const [a, b] = [first.openToWrite(agent), second.openToWrite(agent)]
    assert.equal(first.hold(agent), 'taken')
    assert.equal(first.hold(agent), 'kept')
    assert.equal(second.hold(agent), false)
    assert.throws(() => b.held.write(() => {}), LeaseLost)
    assert.equal(
      a.held.write(() => 1),
      1,
    )
    await leaves(one)
    assert.equal(second.hold(agent), 'taken')
    assert.throws(() => a.held.write(() => a.update('manifest', { set: 'version = 99' })), LeaseLost)
    assert.deepEqual(b.get('SELECT version FROM {manifest}'), { version: 0 })
    // What came since the base was looked at is looked at before it is let go of.
    a.write(() => {})
    assert.equal(second.unmarkPending(agent), false)
    assert.equal(second.hold(agent), 'kept')
    assert.equal(second.unmarkPending(agent), true)
    assert.ok(!second.list().pending.includes(agent))
    first.close()
    second.close()
  })

  test('stay with the replica that has begun something in them, though it has no time for them', async () => {
    const [agent, other] = [await newAgent(), await newAgent()]
    const [one, two] = [await newReplica(), await newReplica()]
    const store = new PostgresKnowledge({ url, pooler: false, holder: one })
    const keepHeld = store.keepHeld.bind(store)
    const kept = new Set<string>()
    store.keepHeld = (agentIds) => {
      for (const agentId of agentIds) kept.add(agentId)
      keepHeld(agentIds)
    }
    const ingest = new Ingest({ store, clock: Date.now, index: { passages: 1 } })
    const section = 'The walnut is brown. '.repeat(40)
    const markdown = Array.from({ length: 2_000 }, (_, i) => `# Part ${i}\n\n${section}`).join('\n\n')
    for (const agentId of [agent, other]) await ingest.add(agentId, newId(), textOf(markdown, { mediaType: 'text/markdown' }))
    await until(async () => kept.has(agent) && kept.has(other))
    const held = `SELECT 1 FROM knowledge_manifest WHERE agent_id = '${agent}' AND held_until > clock_timestamp()`
    const expire = `UPDATE knowledge_manifest SET held_until = clock_timestamp() - INTERVAL '1 second' WHERE agent_id = '${agent}'`
    await ingest.close()
    const first = new PostgresKnowledge({ url, pooler: false, holder: one })
    assert.notEqual(first.hold(agent), false)
    await query(url, expire)
    first.keepHeld([agent])
    assert.equal((await query(url, held)).length, 1)
    const second = new PostgresKnowledge({ url, pooler: false, holder: two })
    await query(url, expire)
    second.keepHeld([agent])
    assert.equal((await query(url, held)).length, 0)
    assert.equal(second.hold(agent), 'taken')
    for (const opened of [first, second]) opened.close()
  })

  test('stay with the replica that works on them while a change through another is under way', async () => {
    const agent = await newAgent()
    const worker = new PostgresKnowledge({ url, pooler: false, holder: await newReplica() })
    const idle = new PostgresKnowledge({ url, pooler: false, holder: await newReplica() })
    const base = worker.openToWrite(agent)
    assert.equal(worker.hold(agent), 'taken')
    idle.openToWrite(agent).write(() => assert.equal(worker.hold(agent), 'kept'))
    assert.equal(
      base.held.write(() => 1),
      1,
    )
    worker.close()
    idle.close()
  })

  test('are changed as a whole or not at all, though the connection breaks in between', async () => {
    const agent = await newAgent()
    const stores = await Promise.all(
      [1, 2].map(async () => new PostgresKnowledge({ url, pooler: false, holder: await newReplica() })),
    )
    const [a, b] = stores.map((store) => store.openToWrite(agent))
    const breakOff = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE state = 'idle in transaction' AND datname = current_database() AND $1::text <> ''`
    const change = () =>
      a!.write(() => {
        a!.update('manifest', { set: 'version = 7' })
        a!.get('SELECT version FROM {manifest}')
        assert.equal(b!.all(breakOff).length, 1)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200)
        a!.update('manifest', { set: 'version = 8' })
      })
    assert.throws(change, { code: 'unavailable' })
    assert.deepEqual(b!.get('SELECT version FROM {manifest}'), { version: 0 })
    assert.throws(() => a!.write(() => a!.get('SELECT nothing FROM {manifest}')), /nothing/)
    a!.write(() => a!.update('manifest', { set: 'version = 9' }))
    assert.deepEqual(b!.get('SELECT version FROM {manifest}'), { version: 9 })
    for (const store of stores) store.close()
  })

  test('are read again after the server may have crashed, though their version is the same', async () => {
    const agent = await newAgent()
    const knowledge = open(await newReplica())
    await knowledge.addDocument(agent, textOf('The walnut is brown.'))
    await settled(knowledge, agent)
    const text = async () => (await find(knowledge, agent, 'walnut'))[0]?.text
    assert.equal(await text(), 'The walnut is brown.')
    await query(url, `UPDATE knowledge_passage SET text = 'The walnut is green.' WHERE agent_id = '${agent}'`)
    assert.equal(await text(), 'The walnut is brown.')
    await query(url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'repartee questions'")
    // The service notices a moment later.
    await until(async () => (await text().catch(() => undefined)) === 'The walnut is green.')
    await knowledge.close()
  })

  test('fail a document that cannot be written, at the fifth attempt, and index those after it', async () => {
    const agent = await newAgent()
    await query(
      url,
      `CREATE FUNCTION refuse() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'hemlock'; END $$ LANGUAGE plpgsql;
       CREATE TRIGGER t BEFORE INSERT ON knowledge_passage FOR EACH ROW WHEN (NEW.text LIKE '%hemlock%') EXECUTE FUNCTION refuse()`,
    )
    const store = new PostgresKnowledge({ url, pooler: false, holder: await newReplica() })
    const ingest = new Ingest({ store, clock: Date.now, retryAfterMs: 1 })
    const questions = new Questions(store)
    await ingest.add(agent, idOf(1), textOf('The hemlock of the ditch.'))
    await ingest.add(agent, idOf(2), textOf('The walnut of the garden.'))
    await until(async () => questions.findDocument(agent, idOf(2))?.status === 'ready')
    await until(async () => questions.findDocument(agent, idOf(1))?.status === 'failed')
    assert.match(questions.findDocument(agent, idOf(1))?.error?.message ?? '', /failed 5 times/)
    questions.close()
    await ingest.close()
  })

  test('suggest questions of the other sections of the quoted document', async () => {
    const agent = await newAgent()
    const knowledge = open(await newReplica())
    const lamp = 'The lamp has a wheel at its foot. '.repeat(12)
    const text = ['How do I dim the lamp?', 'How do I clean the lamp?', 'How do I mount the lamp?'].map(
      (of) => `## ${of}\n\n${lamp}`,
    )
    await knowledge.addDocument(agent, textOf(text.join('\n\n'), { title: 'Lamp', mediaType: 'text/markdown' }))
    await settled(knowledge, agent)
    const asked = 'How do I dim the lamp?'
    const found = await knowledge.retrieve(agent, { query: asked, history: [], topK: 1, filter: null, extract: true })
    assert.equal(found.hits.length, 1)
    const suggested = await knowledge.suggest(agent, { asked: [asked], retrieval: found, count: 3, filter: null })
    assert.deepEqual(suggested.map((one) => one.text).sort(), ['How do I clean the lamp?', 'How do I mount the lamp?'])
    await knowledge.close()
  })

  test('have the lengths of a large vocabulary read in pages, once for all questions', async () => {
    const agent = await newAgent()
    const knowledge = open(await newReplica())
    await knowledge.addDocument(agent, textOf('The walnut is brown.'))
    await settled(knowledge, agent)
    await knowledge.close()
    await query(
      url,
      `INSERT INTO knowledge_word (agent_id, number, word, df) SELECT '${agent}', n, 'x' || n, 1 FROM generate_series(1000, 250000) n`,
    )
    const store = new PostgresReads({ url, pooler: false })
    const questions = new Questions(store)
    let pages = 0
    let mostRows = 0
    const send = pg.Client.prototype.query as (...args: unknown[]) => unknown
    mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
      const text = (args[0] as { text?: string }).text ?? ''
      if (text.includes('string_agg')) pages++
      const sent = send.apply(this, args)
      if (sent instanceof Promise)
        sent.then(({ rows }) => {
          mostRows = Math.max(mostRows, rows.length)
        })
      return sent
    })
    const ask = async (): Promise<Hit[]> => {
      try {
        return (await questions.retrieve(agent, { query: 'walnutt', history: [], topK: 1, filter: null })).hits
      } catch (error) {
        if (!(error instanceof NotYet)) throw error
        return ask()
      }
    }
    const found = await Promise.all(Array.from({ length: 8 }, ask))
    mock.restoreAll()
    assert.deepEqual(
      found.map((hits) => hits[0]?.text),
      Array(8).fill('The walnut is brown.'),
    )
    assert.ok(mostRows > 0 && mostRows < 100, `${mostRows} rows`)
    assert.equal(pages, 3)
    questions.close()
    await store.close()
  })

  test('take documents through all replicas at once, and index each once', async () => {
    const agent = await newAgent()
    const replicas = await Promise.all(Array.from({ length: 3 }, async () => open(await newReplica())))
    await Promise.all(replicas.map((replica) => replica.start()))
    await Promise.all(
      Array.from({ length: 150 }, (_, i) => replicas[i % 3]!.addDocument(agent, textOf(`The walnut of number${i} is brown.`))),
    )
    for (const replica of replicas) {
      await settled(replica, agent)
      assert.deepEqual(await replica.count(agent), { documents: 150, passages: 150 })
      assert.equal((await find(replica, agent, 'number77'))[0]?.text, 'The walnut of number77 is brown.')
    }
    assert.equal((await query(url, `SELECT count(*)::int AS n FROM knowledge_passage WHERE agent_id = '${agent}'`))[0].n, 150)
    await Promise.all(replicas.map((replica) => replica.close()))
  })

  test('lose no document, and fail none that is fine, though connections break again and again', async () => {
    const agent = await newAgent()
    const knowledge = open(await newReplica())
    const killer = new pg.Client({ connectionString: url })
    await killer.connect()
    const breakThose = async (where: string) => {
      const { rowCount } = await killer.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'repartee knowledge' AND ${where}`)
      return rowCount!
    }
    const ids: string[] = []
    const text = 'The walnut is brown. '.repeat(15_000)
    // Some while they read a document, some at any time.
    for (let broken = 0; broken < 30; ) {
      const added = knowledge.addDocument(agent, textOf(`Number ${ids.length}. ${text}`)).catch(() => undefined)
      for (let n = 0; n < 100; n++) broken += await breakThose("state = 'active' AND query LIKE 'SELECT content%'")
      broken += await breakThose('true')
      const document = await added
      if (document !== undefined) ids.push(document.id)
    }
    await killer.end()
    await settled(knowledge, agent)
    for (const id of ids) assert.equal((await knowledge.findDocument(agent, id))?.status, 'ready')
    await knowledge.close()
  })

  test('of an agent that is deleted through one replica are gone for all', async () => {
    const agent = await newAgent()
    const [one, other] = [open(await newReplica()), open(await newReplica())]
    await one.addDocument(agent, textOf('The walnut is brown.'))
    await settled(one, agent)
    assert.equal((await find(other, agent, 'walnut')).length, 1)
    await query(url, `DELETE FROM agent WHERE id = '${agent}'`)
    await one.deleteAgent(agent)
    assert.equal((await find(other, agent, 'walnut')).length, 0)
    await assert.rejects(other.addDocument(agent, textOf('The hazel, too.')), { code: 'agent_not_found' })
    for (const row of await query(url, "SELECT tablename FROM pg_tables WHERE tablename LIKE 'knowledge%'"))
      await until(async () => (await query(url, `SELECT 1 FROM ${row.tablename} WHERE agent_id = '${agent}'`)).length === 0)
    await one.close()
    await other.close()
  })

  test('of an agent that was deleted while nobody could clear up are cleared up by the next process', async () => {
    const agent = await newAgent()
    const first = open(await newReplica())
    await first.addDocument(agent, textOf('The walnut is brown.'))
    await settled(first, agent)
    await first.close()
    await query(url, `DELETE FROM agent WHERE id = '${agent}'`)
    const second = open(await newReplica())
    await second.start()
    await until(async () => (await query(url, `SELECT 1 FROM knowledge_passage WHERE agent_id = '${agent}'`)).length === 0)
    await second.close()
  })

  test('of an agent whose deletion another process did not finish are cleared up by one that runs', async () => {
    const agent = await newAgent()
    mock.timers.enable({ apis: ['setInterval'] })
    const ingest = new Ingest({
      store: new PostgresKnowledge({ url, pooler: false, holder: await newReplica() }),
      clock: () => 1_000,
    })
    try {
      await ingest.add(agent, newId(), textOf('The walnut is brown.'))
      mock.timers.tick(1_000)
      await query(url, `DELETE FROM agent WHERE id = '${agent}'`)
      mock.timers.tick(60_000)
      await until(async () => (await query(url, `SELECT 1 FROM knowledge_passage WHERE agent_id = '${agent}'`)).length === 0)
    } finally {
      mock.timers.reset()
      await ingest.close()
    }
  })

  test('have their passages embedded by one replica at a time, and by another when that is gone', async () => {
    const agent = await newAgent()
    const [one, other] = [await newReplica(), await newReplica()]
    const [first, second] = [open(one), open(other)]
    await second.start()
    let told = 0
    second.onIndexed((of) => {
      if (of === agent) told++
    })
    await first.addDocument(agent, textOf('The walnut is brown.'))
    await settled(first, agent)
    const [passage] = await first.takeUnembedded(agent, 'm', 10)
    assert.match(passage!.text, /walnut/)
    assert.deepEqual(await second.takeUnembedded(agent, 'm', 10), [])
    const before = told
    await leaves(one)
    await until(async () => told > before)
    assert.deepEqual(await second.takeUnembedded(agent, 'm', 10), [passage])
    // The first comes back with vectors that it had asked for.
    const vector = new Float32Array([1, 2, 3])
    assert.equal(await second.putVectors(agent, 'm', [passage!.id], [vector]), true)
    assert.equal(await first.putVectors(agent, 'm', [passage!.id], [vector]), true)
    assert.deepEqual(await second.takeUnembedded(agent, 'm', 10), [])
    assert.equal((await query(url, `SELECT 1 FROM knowledge_vector WHERE agent_id = '${agent}'`)).length, 1)
    assert.deepEqual(await query(url, 'SELECT 1 FROM knowledge_manifest WHERE embedder IS NOT NULL'), [])
    await Promise.all([first.close(), second.close()])
  })

  test('that another process is changing do not keep other agents waiting', async () => {
    const knowledge = open(await newReplica())
    const [agent, deleted, other] = [await newAgent(), await newAgent(), await newAgent()]
    const { id } = await knowledge.addDocument(agent, textOf('The walnut is brown.'))
    await knowledge.addDocument(deleted, textOf('The walnut is brown.'))
    await until(
      async () =>
        (
          await query(
            url,
            `SELECT 1 FROM knowledge_manifest WHERE agent_id IN ('${agent}', '${deleted}') AND (is_pending = 1 OR holder IS NOT NULL)`,
          )
        ).length === 0,
    )
    const process = new pg.Client(url)
    await process.connect()
    await process.query('BEGIN')
    await process.query('SELECT 1 FROM knowledge_manifest WHERE agent_id = ANY($1) FOR UPDATE', [[agent, deleted]])
    const done: string[] = []
    // Each may be refused after ten seconds, within which a slow machine does not add all documents of the other agent.
    const untilTaken = async (work: () => Promise<unknown>): Promise<void> => {
      try {
        await work()
        done.push('busy')
      } catch (error) {
        if (!isTransient(error)) throw error
        await untilTaken(work)
      }
    }
    const waiting = [
      () => knowledge.addDocument(agent, textOf('The hazel is red.')),
      () => knowledge.updateDocument(agent, id, { title: 'Walnut' }),
      () => knowledge.addSite(agent, { type: 'site', url: 'http://127.0.0.1:1/', refreshHours: 1 }),
      () => knowledge.takeUnembedded(agent, 'm', 10),
      () => knowledge.deleteDocumentEvents(agent, []),
      () => knowledge.deleteAgent(deleted),
    ].map(untilTaken)
    for (let i = 0; i < 5; i++) {
      await knowledge.addDocument(other, textOf('The hazel is red.'))
      done.push('other')
    }
    assert.deepEqual(done, Array(5).fill('other'))
    await process.query('COMMIT')
    await process.end()
    await Promise.all(waiting)
    await settled(knowledge, agent)
    assert.equal((await knowledge.findDocument(agent, id))?.title, 'Walnut')
    assert.equal((await find(knowledge, agent, 'hazel'))[0]?.text, 'The hazel is red.')
    await until(
      async () => (await query(url, `SELECT 1 FROM knowledge_manifest WHERE agent_id = '${agent}' AND due_at > 0`)).length === 1,
    )
    assert.deepEqual(await query(url, `SELECT 1 FROM knowledge_manifest WHERE agent_id = '${deleted}'`), [])
    await knowledge.close()
  })

  test('do not touch those of other agents', async () => {
    const knowledge = open(await newReplica())
    const [agent, other] = [await newAgent(), await newAgent()]
    const life = async (of: string) => {
      const { id } = await knowledge.addDocument(of, textOf('The walnut is brown.', { title: 'Walnut' }))
      const { id: gone } = await knowledge.addDocument(of, textOf('The hazel is red.', { title: 'Hazel' }))
      await settled(knowledge, of)
      await knowledge.deleteDocument(of, gone)
      await knowledge.replaceDocument(of, id, textOf('The walnut is green.', { title: 'Walnut' }))
      await settled(knowledge, of)
      await until(async () => (await query(url, `SELECT 1 FROM knowledge_passage WHERE agent_id = '${of}'`)).length === 1)
      await knowledge.takeUnembedded(of, 'm', 10)
    }
    // But for those that the base's own tidying changes.
    const rows = async () => {
      const tables = await query(
        url,
        "SELECT tablename FROM pg_tables WHERE tablename LIKE 'knowledge%' AND tablename !~ '_(manifest|segment|post|dead|removal)$' ORDER BY 1",
      )
      return Promise.all(
        tables.map(async ({ tablename }) => [
          tablename,
          await query(url, `SELECT * FROM ${tablename} WHERE agent_id = '${other}' ORDER BY 1, 2`),
        ]),
      )
    }
    await life(other)
    const before = await rows()
    await life(agent)
    await knowledge.deleteAgent(agent)
    assert.deepEqual(await rows(), before)
    assert.equal((await find(knowledge, other, 'walnut'))[0]?.text, 'The walnut is green.')
    await knowledge.close()
  })
})
