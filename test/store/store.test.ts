import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import type { Agent } from '../../src/core/agent.ts'
import { newId } from '../../src/core/platform/ids.ts'
import { noTracer } from '../../src/core/ports/tracer.ts'
import type { Session } from '../../src/core/session.ts'
import type { Deps } from '../../src/http/deps.ts'
import { type Database, type Statement, statement, type Value } from '../../src/store/database.ts'
import { lockFolder } from '../../src/store/sqlite/lock.ts'
import { migrationsIn, numberOf } from '../../src/store/sqlite/migrate.ts'
import { Snapshots } from '../../src/store/sqlite/snapshots.ts'
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { deleteAgentRows, deleteSession } from '../../src/store/tables/deletion.ts'
import { claimDue } from '../../src/store/tables/deliveries.ts'
import { countSessions, insertCounts, insertSession, listSessions, streamSessions } from '../../src/store/tables/sessions.ts'
import { NoPeers } from '../../src/turns/peers.ts'
import { runTurn, sessionsFor } from '../../src/turns/run-turn.ts'
import { Turns } from '../../src/turns/turns.ts'
import { databaseContract } from '../contract/database.ts'
import { slicesContract } from '../contract/slices.ts'
import { storeContract } from '../contract/store.ts'
import { textSlicesContract } from '../contract/text-slices.ts'
import { claimKey } from '../support/claims.ts'
import { until } from '../support/poll.ts'

const SQLITE = new URL('../../migrations/sqlite/', import.meta.url)
const KNOWLEDGE = new URL('../../migrations/knowledge/', import.meta.url)
const root = mkdtempSync(join(tmpdir(), 'repartee-store-'))
after(() => rmSync(root, { recursive: true }))
const folder = () => mkdtempSync(join(root, 'db-'))
const open = async () => new SqliteDatabase(folder())

databaseContract('SQLite', open)
storeContract('SQLite', open)
slicesContract('SQLite', open)
textSlicesContract('SQLite', open)

test('a message that waits in a session does not go to another one that has its id by then', async () => {
  const db = await open()
  const peers = new NoPeers(newId)
  const turns = new Turns({ maxWaitingSends: 5, maxWaitMs: 60_000, turnTimeoutMs: 60_000 }, newId, peers)
  const deps = { db, turns, peers, tracer: noTracer, meters: { turnEnded() {} } } as unknown as Deps
  const made = (createdAt: number): Session => ({
    ...{ id: 's', agentId: 'a', name: 'n', userId: 'u', totalMessages: 0, lastMessageAt: createdAt, updatedAt: createdAt },
    createdAt,
  })
  await db.write([agent('a'), insertCounts('a')])
  await insertSession(db, made(1))
  const first = await turns.take('a', 's')
  const asked = { agent: { id: 'a' } as Agent, sessionId: 's', session: made(1), include: [], userId: 'u' }
  const waiting = runTurn(deps, asked, {}, async (turn) => {
    for await (const _ of sessionsFor(deps, turn, asked)) assert.fail('it must not begin')
    return assert.fail('a session is yielded, or an error is thrown')
  })
  await deleteSession(db, made(1))
  await insertSession(db, made(2))
  turns.release(first)
  await assert.rejects(waiting, { code: 'session_not_found' })
  await db.close()
})

test('text that was deleted before a crash leaves the log after the next start', async () => {
  const path = folder()
  const db = new SqliteDatabase(path)
  await db.write([agent('a'), statement('UPDATE agent SET settings = $1', 'a secret text')])
  await db.write([statement('DELETE FROM agent')])
  const copy = folder()
  for (const file of readdirSync(path)) copyFileSync(join(path, file), join(copy, file))
  await db.close()
  const log = () => readFileSync(join(copy, 'repartee.db-wal'), 'latin1')
  assert.match(log(), /a secret text/)
  const after = new SqliteDatabase(copy)
  await until('the log holds it no more', () => !log().includes('a secret text'))
  assert.doesNotMatch(readFileSync(join(copy, 'repartee.db'), 'latin1'), /a secret text/)
  await after.close()
})

test('an agent that writes much does not hold up the writes of others', async () => {
  const db = await open()
  const insert = (agentId: string, id: string) =>
    statement("INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($2, $1, '{}', 1, 1)", agentId, id)
  let written = 0
  const many = Array.from({ length: 200 }, (_, i) => db.write([insert('busy', `busy ${i}`)]).then(() => written++))
  const { before } = await db.write([insert('other', 'other')]).then(() => ({ before: written }))
  await Promise.all(many)
  assert.ok(before < 5, `${before} of 200 were written before`)
  await db.close()
})

const agent = (id: string) =>
  statement('INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($1, $2, $3, 1, 1)', id, 'n', '{}')

test('a slow reader is cut off when the log has become too large, and a quick one is not', async () => {
  const path = folder()
  const maxLogBytes = 4_000_000
  const db = new SqliteDatabase(path, { maxLogBytes })
  await db.write(Array.from({ length: 50 }, (_, i) => agent(`a${i}`)))
  const list = () => db.stream('SELECT id FROM agent ORDER BY id', [], 10)
  const slow = list()
  assert.equal((await slow.next()).value!.length, 10)
  const log = () => statSync(join(path, 'repartee.db-wal')).size
  let written = 0
  const fill = () => db.write([statement('UPDATE agent SET settings = $1', `${written++}`.padEnd(20_000, 'x'))])
  while (log() <= maxLogBytes) await fill()
  await until('it is cut off', async () => {
    const quick = list()
    for await (const slice of quick) assert.equal(slice.length, 10)
    await fill()
    return db.scan('PRAGMA wal_checkpoint(TRUNCATE)', []).then(([row]) => row!.busy === 0)
  })
  await assert.rejects(slow.next(), { code: 'unavailable', message: /read too slowly/ })
  await db.close()
})

test('a reader that takes nothing is cut off once', async () => {
  const log = join(folder(), 'log')
  writeFileSync(log, 'long')
  const snapshots = new Snapshots(log, 0)
  const cuts = [0, 0]
  for (const i of [0, 1]) {
    snapshots.add(() => cuts[i]!++)
    // The second is cut off some looks after the first.
    await until('it is cut off', () => cuts[i]! > 0)
  }
  assert.deepEqual(cuts, [1, 1])
})

test('a parameter of another type is refused before anything is written', async () => {
  assert.throws(() => statement('SELECT $1', (() => {}) as never), /a parameter of a statement is a function/)
  assert.throws(() => statement('SELECT $1', undefined as never), TypeError)
})

test('every commit waits for the disk, in write-ahead mode', async () => {
  const db = await open()
  const pragma = async (name: string) => Object.values((await db.read(`PRAGMA ${name}`, []))[0]!)[0]
  assert.deepEqual([await pragma('journal_mode'), await pragma('synchronous'), await pragma('secure_delete')], ['wal', 2, 1])
  await db.close()
})

const deletions: [what: string, remove: (db: SqliteDatabase) => Promise<unknown>][] = [
  ['deleted text', (db) => db.write([statement('DELETE FROM agent')]).then(() => db.scrub())],
  ['an agent that is deleted without any session', (db) => deleteAgentRows(db, '1')],
]
for (const [what, remove] of deletions)
  test(`${what} leaves no trace in the data files`, async () => {
    const path = folder()
    const db = new SqliteDatabase(path)
    const secret = 'a text that must go'
    const held = () => readdirSync(path).filter((file) => readFileSync(join(path, file)).includes(secret))
    await db.write([
      statement('INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($1, $2, $3, 1, 1)', '1', secret, '{}'),
    ])
    assert.notDeepEqual(held(), [])
    await remove(db)
    await until('no file holds it', () => held().length === 0)
    await db.close()
  })

test("a user's list costs what that user has, not what the agent has", async () => {
  const db = await open()
  const plans: string[] = []
  const explain = async (sql: string, params: Value[]) => {
    const rows = await db.read(`EXPLAIN QUERY PLAN ${sql}`, params)
    plans.push(rows.map((row) => row.detail).join(', '))
    return [{ n: 0 }]
  }
  const explainValues = async (sql: string, params: Value[]) => (await explain(sql, params)).map(Object.values)
  async function* explainStream(sql: string, params: Value[]) {
    yield await explainValues(sql, params)
  }
  const explained = {
    ...db,
    read: explain,
    scan: explain,
    readValues: explainValues,
    stream: explainStream,
  } as unknown as Database
  for (const times of [{}, { from: 1 }, { to: 2 }, { from: 1, to: 2 }]) {
    const filter = { agentId: 'a', userId: 'u', ...times }
    await listSessions(explained, filter, undefined, 10)
    await listSessions(explained, filter, { lastMessageAt: 1, id: 'x' }, 10)
    await countSessions(explained, filter, { owner: 'one' })
    for await (const _ of streamSessions(explained, filter, 10));
  }
  // The range ends at the place: a page deep in the list costs what the first one costs.
  const range = String.raw`\(agent_id=\? AND user_id=\? AND last_message_at>\? AND \(last_message_at,id\)<\(\?,\?\)\)`
  const isRange = new RegExp(`^(CO-ROUTINE slice, )?SEARCH session USING (COVERING )?INDEX session_user ${range}(, SCAN slice)?$`)
  assert.deepEqual(
    plans.filter((plan) => !isRange.test(plan)),
    [],
  )
  assert.deepEqual(
    plans.filter((plan) => plan.includes('TEMP B-TREE')),
    [],
  )
  plans.length = 0
  await countSessions(explained, { agentId: 'a' }, { owner: 'one' })
  assert.match(plans.join(), /^SEARCH session_count /)
  await db.close()
})

test('a slice of a deletion looks at no more rows than it deletes, however many there are', async () => {
  const db = await open()
  const asked: Statement[] = []
  const watched = {
    read: (sql: string, params: Value[]) => db.read(sql, params),
    writeIf: (statements: Statement[]) => {
      asked.push(...statements)
      return db.writeIf(statements)
    },
    scrub() {},
  } as unknown as Database
  const session = {
    id: 's',
    agentId: 'a',
    name: 'n',
    userId: 'u',
    totalMessages: 1,
    lastMessageAt: 1,
    createdAt: 1,
    updatedAt: 1,
  }
  await db.write([agent('a'), insertCounts('a')])
  await insertSession(db, session)
  await deleteSession(watched, session)
  const slices = asked.filter(({ sql }) => /^DELETE FROM \w+ WHERE agent_id = \$1 AND session_id = \$2 AND \(/.test(sql))
  const plans = await Promise.all(slices.map(({ sql, params }) => db.read(`EXPLAIN QUERY PLAN ${sql}`, params)))
  const ranges = plans.map(([first]) =>
    /^SEARCH (\w+) USING .*\(agent_id=\? AND session_id=\?(?: AND (\w+)<\?)?\)$/.exec(String(first!.detail))?.slice(1),
  )
  // One column each, because of two SQLite may use only the first. A session has one summary, and a message few versions.
  assert.deepEqual(ranges, [
    ['webhook_delivery', 'id'],
    ['kept_answer', 'key_hash'],
    ['summary', undefined],
    ['message_version', 'message_id'],
    ['message', 'seq'],
  ])
  await db.close()
})

test('a claim of deliveries goes through no more rows than it claims, however many are due', async () => {
  const path = folder()
  const db = new SqliteDatabase(path)
  await db.write([
    statement(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
      INSERT INTO webhook_delivery (agent_id, webhook_id, id, event, session_id, target, created_at, next_at)
      SELECT 'a', 'w', 'd' || (10000 + i), 'e', 's', 't', 1, i / 2 FROM n`),
  ])
  const asked: Statement[] = []
  const watched = {
    read: (sql: string, params: Value[]) => db.read(sql, params),
    write: async (statements: Statement[]) => {
      asked.push(...statements)
      return [[]]
    },
  } as unknown as Database
  await claimDue(watched, 'w', { now: 2_000, claimedUntil: 3_000, most: 8, after: '' })
  await db.close()
  const raw = new DatabaseSync(join(path, 'repartee.db'))
  let visited = 0
  raw.function('is_visited', () => {
    visited++
    return 1
  })
  assert.equal(asked.length, 1)
  const { sql, params } = asked[0]!
  const named = Object.fromEntries(params.map((value, i) => [`$${i + 1}`, value]))
  const claimed = raw.prepare(sql.replace("state = 'waiting'", "is_visited() AND state = 'waiting'")).all(named)
  assert.deepEqual(
    claimed.map(({ id }) => id),
    Array.from({ length: 8 }, (_, i) => `d${10_001 + i}`),
  )
  // Two are due at the same time, and only the time is the range.
  assert.ok(visited <= 9, `${visited} rows`)
  raw.close()
})

test('data of a newer version is refused', async () => {
  const path = folder()
  await new SqliteDatabase(path).close()
  const raw = new DatabaseSync(join(path, 'repartee.db'))
  raw.exec('PRAGMA user_version = 9999')
  raw.close()
  assert.throws(() => new SqliteDatabase(path), /newer version of Repartee/)
})

test('answers that an older version kept for replays are still there', async () => {
  const path = folder()
  const raw = new DatabaseSync(join(path, 'repartee.db'))
  const older = migrationsIn(SQLITE).filter((file) => numberOf(file) < 12)
  for (const file of older) raw.exec(readFileSync(new URL(file, SQLITE), 'utf8'))
  raw.exec(`INSERT INTO kept_answer (api_key_id, key_hash, fingerprint, agent_id, session_id, claim, claimed_until, status, answer, created_at, user_id)
    VALUES ('k', 'h', 'f', 'a', 's', 'c', 2, 201, 'the answer', 1, 'u'); PRAGMA user_version = 11`)
  raw.close()
  const db = new SqliteDatabase(path)
  const claim = {
    apiKeyId: 'k',
    keyHash: 'h',
    fingerprint: 'f',
    agentId: 'a',
    userId: '',
    claim: 'd',
    claimedUntil: 3,
    createdAt: 2,
  }
  assert.deepEqual({ ...(await claimKey(db, claim, 0)) }, { fingerprint: 'f', createdAt: 1, status: 201, answer: 'the answer' })
  assert.deepEqual(await db.readValues('SELECT session_id, user_id, created_at FROM kept_answer', []), [['s', 'u', 1]])
  await db.close()
})

test('messages, their earlier versions and summaries of an older version are still there', async () => {
  const path = folder()
  const raw = new DatabaseSync(join(path, 'repartee.db'))
  for (const file of migrationsIn(SQLITE).filter((file) => numberOf(file) < 14))
    raw.exec(readFileSync(new URL(file, SQLITE), 'utf8'))
  const TABLES = ['message', 'message_version', 'summary']
  const all = TABLES.map((table) => {
    const columns = raw.prepare(`SELECT name, type FROM pragma_table_info('${table}') ORDER BY name`).all()
    const values = columns.map(({ name, type }, i) => (type === 'INTEGER' ? i + 1 : `'${name}'`))
    raw.exec(`INSERT INTO ${table} (${columns.map(({ name }) => name)}) VALUES (${values})`)
    return { table, rows: raw.prepare(`SELECT ${columns.map(({ name }) => name)} FROM ${table}`).all() }
  })
  raw.exec('PRAGMA user_version = 13')
  raw.close()
  const db = new SqliteDatabase(path)
  for (const { table, rows } of all) {
    assert.equal(rows.length, 1)
    assert.deepEqual(await db.read(`SELECT ${Object.keys(rows[0]!)} FROM ${table}`, []), rows)
  }
  await db.close()
})

test('tables of long texts have row numbers, and their long columns come last', () => {
  // Without row numbers, SQLite reads whole rows to compare their keys and at each step of a range, with all their text.
  const long = new Set(['content', 'markdown', 'detail', 'feedback', 'text', 'links', 'answer', 'body', 'settings', 'metadata'])
  const found = new Set<string>()
  for (const migrations of [SQLITE, KNOWLEDGE]) {
    const raw = new DatabaseSync(':memory:')
    for (const file of migrationsIn(migrations)) raw.exec(readFileSync(new URL(file, migrations), 'utf8'))
    const tables = raw.prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").all()
    for (const { name, wr } of tables) {
      const columns = raw.prepare(`SELECT name FROM pragma_table_info('${name}') ORDER BY cid`).all()
      const texts = columns.filter(({ name }) => long.has(name as string))
      for (const text of texts) found.add(text.name as string)
      assert.ok(texts.length === 0 || wr === 0, `${name} has no row numbers`)
      if (['message', 'message_version', 'summary', 'page_links', 'kept_answer'].includes(name as string))
        assert.deepEqual(columns.slice(-texts.length), texts, `${name} has short columns behind long ones`)
    }
    raw.close()
  }
  assert.ok(found.has('feedback') && found.has('links'), 'the names of the columns have changed')
})

test('what was written is there after reopening', async () => {
  const path = folder()
  const first = new SqliteDatabase(path)
  await first.write([agent('1')])
  await first.close()
  const second = new SqliteDatabase(path)
  assert.equal((await second.read('SELECT id FROM agent', [])).length, 1)
  await second.close()
})

test('a database that another program holds is "unavailable", and nothing is written', async () => {
  const path = folder()
  const db = new SqliteDatabase(path)
  const other = new DatabaseSync(join(path, 'repartee.db'))
  other.exec('BEGIN IMMEDIATE')
  await assert.rejects(db.write([agent('1')]), { code: 'unavailable' })
  other.exec('ROLLBACK')
  assert.deepEqual(await db.read('SELECT id FROM agent', []), [])
  await db.write([agent('1')])
  other.close()
  await db.close()
})

test('a data folder belongs to one process at a time', () => {
  const path = folder()
  const lock = lockFolder(path)
  assert.throws(() => lockFolder(path), /in use by another process/)
  lock.release()
  lockFolder(path).release()
})
