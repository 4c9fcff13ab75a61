import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import type { Agent } from '../../src/core/agent.ts'
import type { ReparteeError } from '../../src/core/errors.ts'
import { newId } from '../../src/core/platform/ids.ts'
import type { Deps } from '../../src/http/deps.ts'
import { type StoreAnswer, workOnce } from '../../src/http/route/idempotency.ts'
import { importSession } from '../../src/sessions/sessions.ts'
import { ConditionFailed, condition, type Database, type Statement, statement, type Value } from '../../src/store/database.ts'
import { exchange } from '../../src/store/postgres/exchange.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { PostgresPresence } from '../../src/store/postgres/presence.ts'
import { insertAgent } from '../../src/store/tables/agents.ts'
import { deleteAgentRows, deleteSession } from '../../src/store/tables/deletion.ts'
import { listRecent } from '../../src/store/tables/messages.ts'
import { insertCounts, insertSession } from '../../src/store/tables/sessions.ts'
import { takeFromBudgets } from '../../src/store/tables/spending.ts'
import { beginTurn, failLapsedTurns } from '../../src/store/tables/turns.ts'
import { NoPeers } from '../../src/turns/peers.ts'
import { databaseContract } from '../contract/database.ts'
import { slicesContract } from '../contract/slices.ts'
import { storeContract } from '../contract/store.ts'
import { textSlicesContract } from '../contract/text-slices.ts'
import { CuttingProxy } from '../support/cutting-proxy.ts'
import { throughPooler } from '../support/pgbouncer.ts'
import { until } from '../support/poll.ts'
import { newDatabase, query, startPostgres } from '../support/postgres.ts'

const agent = (id: string) =>
  statement('INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($1, $2, $3, 1, 1)', id, 'n', '{}')
const open = async (more: object = {}) => PostgresDatabase.open({ url: await newDatabase(), connections: 8, ...more })
const openThroughPooler = async () => open({ url: await throughPooler(await newDatabase()), pooler: true })

databaseContract('PostgreSQL', open)
databaseContract('PostgreSQL behind a pooler', openThroughPooler)
// Without a pooler it is what the tests of the specification run on, on this engine.
storeContract('PostgreSQL behind a pooler', openThroughPooler)
slicesContract('PostgreSQL', open)
textSlicesContract('PostgreSQL', open)

test('replicas that start at once bring the schema up once, and all of them work', async () => {
  const url = await newDatabase()
  const replicas = await Promise.all(Array.from({ length: 10 }, () => PostgresDatabase.open({ url, connections: 2 })))
  await Promise.all(replicas.map((db, i) => db.write([agent(String(i))])))
  assert.equal((await replicas[0]!.read('SELECT id FROM agent', [])).length, 10)
  assert.equal((await query(url, 'SELECT version FROM schema_version')).length, 1)
  await Promise.all(replicas.map((db) => db.close()))
})

test('connections that die without a word cost one wait, and not one for each of them', async () => {
  const url = new URL(await newDatabase())
  const silent = new CuttingProxy(Number(url.port))
  url.port = String(await silent.listen())
  const db = await PostgresDatabase.open({ url: url.href, connections: 8, answerWithinMs: 1_000 })
  const ask = () => db.read('SELECT 1 AS one', [])
  // As many connections as there may be.
  await Promise.all(Array.from({ length: 40 }, () => db.write([statement('SELECT pg_sleep(0.02)')])))
  silent.freeze()
  await assert.rejects(ask(), (error: ReparteeError) => error.code === 'unavailable')
  const { swallowed } = silent
  for (let i = 0; i < 20; i++) await ask()
  assert.equal(silent.swallowed, swallowed, 'no other dead connection is asked')
  await db.close()
  silent.close()
})

test('a server that answers too late commits no first statement without the rest', async () => {
  const url = await newDatabase()
  const db = await PostgresDatabase.open({ url, connections: 2, answerWithinMs: 500 })
  await db.write([agent('1')])
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query("BEGIN; SELECT * FROM agent WHERE id = '1' FOR UPDATE")
  const rename = statement('UPDATE agent SET name = $2 WHERE id = $1 RETURNING name', '1', 'half')
  const change = statement('UPDATE agent SET updated_at = 2 WHERE id = $1', '1')
  await assert.rejects(db.writeIf([rename, change], { long: true }), (error: ReparteeError) => error.code === 'unavailable')
  await holder.query('ROLLBACK')
  const others =
    "SELECT 1 FROM pg_stat_activity WHERE application_name = 'repartee' AND datname = current_database() AND state <> 'idle'"
  await until('the server is done with it', async () => (await holder.query(others)).rowCount === 0)
  assert.deepEqual((await holder.query('SELECT name, updated_at FROM agent')).rows, [{ name: 'n', updated_at: '1' }])
  await holder.end()
  await db.close()
})

test('a session that a suspended process holds does not keep the turns of others from being settled', async () => {
  const url = await newDatabase()
  const db = await PostgresDatabase.open({ url, connections: 2 })
  await db.write([agent('1')])
  await query(
    url,
    `INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at, lease, lease_until)
      SELECT '1', 's' || n, 'n', 'u', 0, 1, 1, 1, 'gone/' || n, 5 FROM generate_series(1, 3) n`,
  )
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query("BEGIN; SELECT * FROM session WHERE id = 's2' FOR UPDATE")
  await failLapsedTurns(db, 10, 'settler')
  const leased = () => query(url, 'SELECT id FROM session WHERE lease IS NOT NULL')
  assert.deepEqual(await leased(), [{ id: 's2' }])
  await holder.query('ROLLBACK')
  await failLapsedTurns(db, 10, 'settler')
  assert.deepEqual(await leased(), [])
  await holder.end()
  await db.close()
})

test('the server ends a connection whose process is cut off, and not only after hours', async () => {
  const db = await open()
  const settings = "SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_user_timeout') AS unread"
  assert.deepEqual(await db.read(settings, []), [{ idle: '10', unread: '25000' }])
  await db.close()
})

test('data of a newer version is refused', async () => {
  const url = await newDatabase()
  await (await PostgresDatabase.open({ url, connections: 1 })).close()
  await query(url, 'UPDATE schema_version SET version = 9999')
  await assert.rejects(PostgresDatabase.open({ url, connections: 1 }), /newer version of Repartee/)
})

test('transactions that wait for each other all come through', async () => {
  const db = await open()
  await db.write([agent('1'), agent('2')])
  const raise = (id: string) => statement('UPDATE agent SET updated_at = updated_at + 1 WHERE id = $1', id)
  const pairs = Array.from({ length: 6 }, (_, i) => (i % 2 === 0 ? [raise('1'), raise('2')] : [raise('2'), raise('1')]))
  await Promise.all(pairs.map((pair) => db.write(pair)))
  assert.deepEqual(
    (await db.read('SELECT updated_at FROM agent', [])).map((row) => row.updated_at),
    [7, 7],
  )
  await db.close()
})

test('lists asked for at the same moment share a transaction, except those that begin with the same row', async () => {
  const db = await open()
  await db.write([agent('1'), agent('2'), agent('3')])
  const rename = (id: string, name: string) => [
    statement('UPDATE agent SET name = $2 WHERE id = $1 RETURNING name', id, name),
    statement('SELECT pg_current_xact_id()::text AS id'),
  ]
  const lists = await Promise.all(
    [rename('1', 'x'), rename('2', 'x'), rename('4', 'x'), rename('3', 'x')].map((l) => db.writeIf(l)),
  )
  assert.equal(lists[2], undefined)
  const shared = lists.flatMap((rows) => (rows === undefined ? [] : rows[1]![0]!.id))
  assert.equal(shared.length, 3)
  assert.equal(new Set(shared).size, 1)
  const apart = await Promise.all([db.writeIf(rename('1', 'y')), db.writeIf(rename('1', 'y'))])
  assert.notEqual(apart[0]![1]![0]!.id, apart[1]![1]![0]!.id)
  await db.close()
})

test('what is read at the same moment is asked for together, except what goes over many rows', async () => {
  const db = await open()
  await db.read('SELECT 1 AS one', [])
  const pid = 'SELECT pg_backend_pid() AS pid'
  const [one, two, scanned] = await Promise.all([db.read(pid, []), db.read(pid, []), db.scan(pid, [])])
  assert.equal(one![0]!.pid, two![0]!.pid)
  assert.notEqual(one![0]!.pid, scanned![0]!.pid)
  await db.close()
})

test('the newest messages are read by their places, also where the table was never analysed', async () => {
  const db = await open()
  await db.write([
    statement(`INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at)
      SELECT 'a', 's', n, 'm' || n, 'USER', 'x', 1 FROM generate_series(1, 1000) n`),
  ])
  const plans: string[] = []
  const explain = async (sql: string, params: Value[]) => {
    for (const row of await db.read(`EXPLAIN ${sql}`, params)) plans.push(row['QUERY PLAN'] as string)
    return []
  }
  await listRecent({ ...db, readValues: explain } as unknown as Database, 'a', 's', 990, 1_000)
  assert.match(plans.join('\n'), /message_pkey on message .*\n *Index Cond: .*seq >= /)
  await db.close()
})

const keyed = async (db: PostgresDatabase) => {
  const agent = { ...({} as Agent), id: newId(), name: 'a', createdAt: 1, updatedAt: 1 }
  await insertAgent(db, agent)
  const limits = { maxWaitMs: 1_000, turnTimeoutMs: 1_000, keepAnswersMs: 60_000 }
  const deps = {
    db,
    clock: Date.now,
    newId,
    peers: new NoPeers(newId),
    limits,
    warn() {},
    webhooks: { queue: () => [] },
  } as unknown as Deps
  const request = { apiKeyId: 'k', key: 'import', parts: ['x'], agentId: agent.id }
  const kept = { status: 201, sessionId: '', toText: JSON.stringify as (answer: object) => string }
  const messages = Array.from({ length: 200 }, (_, i) => ({
    role: i % 2 ? ('AI' as const) : ('USER' as const),
    content: `${i}`,
  }))
  const make = (keep: StoreAnswer) => importSession(deps, agent.id, {}, messages, (made) => keep({ id: made.id }, made.id))
  // This one stands still behind its claim, is settled, and goes on when another one has done the work.
  let second: object | undefined
  const first = workOnce(deps, request, kept, async (keep) => {
    await db.write([statement('DELETE FROM kept_answer')])
    second = await workOnce(deps, request, kept, make)
    return make(keep)
  })
  await assert.rejects(first, { code: 'request_in_progress' })
  const counts = await db.readValues('SELECT (SELECT count(*)::int FROM session), (SELECT count(*)::int FROM message)', [])
  assert.deepEqual(counts, [[1, 200]])
  assert.ok(second !== undefined && 'id' in second)
  // The answer of the one that came through is still there.
  assert.deepEqual(JSON.parse(((await workOnce(deps, request, kept, make)) as { answer: string }).answer), { id: second.id })
  await db.close()
}
test('what an Idempotency-Key makes is rolled back if another replica has its claim by then', async () => keyed(await open()))
test('the same behind a pooler', async () => keyed(await openThroughPooler()))

test('a turn does not take its session if another replica has the claim of its request by then', async () => {
  const db = await open()
  await db.write([agent('a'), insertCounts('a')])
  await insertSession(db, session('a', 's'))
  const message = { id: 'm', role: 'USER' as const, content: 'x', createdAt: 1 }
  const begin = (condition: Statement) =>
    beginTurn(db, { agentId: 'a', sessionId: 's', lease: 'l' }, { leaseUntil: 9, messages: 0, condition: [condition] }, message)
  await assert.rejects(begin(condition('SELECT 1 WHERE $1 = $2', 'x', 'y')), ConditionFailed)
  assert.equal((await db.read('SELECT * FROM message', [])).length, 0)
  assert.equal(await begin(condition('SELECT 1 WHERE $1 = $2', 'x', 'x')), true)
  await db.close()
})

test('who waits for a row that is held does not keep others waiting as long', async () => {
  const url = await newDatabase()
  const db = await PostgresDatabase.open({ url, connections: 8 })
  await db.write([agent('1'), agent('2')])
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query("BEGIN; UPDATE agent SET name = 'held' WHERE id = '1'")
  const rename = (id: string) => db.write([statement('UPDATE agent SET name = $2 WHERE id = $1', id, 'x')])
  const [held, free] = [rename('1'), rename('2')]
  const first = Promise.race([held.catch(() => 'held'), free.then(() => 'free')])
  assert.equal(await first, 'free')
  await assert.rejects(held, { code: 'unavailable' })
  await holder.query('ROLLBACK')
  await rename('1')
  await holder.end()
  await db.close()
})

test('what is deleted in slices is read once, also where the tables were analysed before', async () => {
  const url = await newDatabase()
  const db = await PostgresDatabase.open({ url, connections: 8 })
  await db.write([agent('1'), agent('2')])
  const session = "'s' || lpad(i::text, 6, '0')"
  const fill = (id: string, sessions: number, messages: number) =>
    query(
      url,
      `INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
         SELECT '${id}', ${session}, 'n', 'u', ${messages}, 1, 1, 1 FROM generate_series(1, ${sessions}) i;
       INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at)
         SELECT '${id}', ${session}, n, md5(i || '-' || n), 'USER', 'text', 1 FROM generate_series(1, ${sessions}) i, generate_series(1, ${messages}) n`,
    )
  await fill('1', 20_000, 1)
  await query(
    url,
    'ALTER TABLE session SET (autovacuum_enabled = off); ALTER TABLE message SET (autovacuum_enabled = off); ANALYZE',
  )
  await fill('2', 2_000, 0)
  await query(
    url,
    `INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at)
     SELECT '2', 's000001', n, md5('long' || n), 'USER', 'text', 1 FROM generate_series(1, 2000) n`,
  )
  const read = async () => {
    const sql =
      "SELECT sum(idx_tup_fetch + coalesce(seq_tup_read, 0)) AS n FROM pg_stat_user_tables WHERE relname IN ('session', 'message')"
    return Number((await query(url, sql))[0]!.n)
  }
  const before = await read()
  await deleteAgentRows(db, '2')
  await until('all is deleted', async () => (await query(url, 'SELECT 1 FROM purge')).length === 0)
  // A connection reports for certain what it has counted when it ends.
  await db.close()
  const rows = (await read()) - before
  assert.ok(rows < 100_000, `${rows} rows were read to delete 4,000`)
})

test('many who wait for one row leave the connections to others', async () => {
  const url = await newDatabase()
  const db = await PostgresDatabase.open({ url, connections: 10 })
  await db.write([agent('1'), agent('2')])
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  await holder.query("BEGIN; UPDATE agent SET name = 'held' WHERE id = '1'")
  let settled = 0
  const rename = (id: string) => db.write([statement('UPDATE agent SET name = $2 WHERE id = $1', id, 'x')])
  const held = Array.from({ length: 30 }, () => rename('1').finally(() => settled++))
  const all = Promise.allSettled(held)
  await rename('2')
  assert.ok(settled < 10, `${settled} of those that wait were over before`)
  await holder.query('ROLLBACK')
  await holder.end()
  await all
  await db.close()
})

const session = (agentId: string, id: string) => ({
  ...{ agentId, id, name: 'n', userId: 'u', totalMessages: 0 },
  ...{ lastMessageAt: 1, createdAt: 1, updatedAt: 1 },
})

test('sessions are deleted in transactions of their own', async () => {
  const db = await open()
  const ids = ['1', '2', '3']
  await db.write([agent('a'), insertCounts('a')])
  await Promise.all(ids.map((id) => insertSession(db, session('a', id))))
  const transactions: unknown[] = []
  const noted = {
    async writeIf(...given: Parameters<Database['writeIf']>) {
      const rows = await db.writeIf(...given)
      transactions.push(...rows!.flat().flatMap(({ xid }) => xid ?? []))
      return rows
    },
    write: db.write.bind(db),
    scrub() {},
  } as unknown as Database
  const own = statement('SELECT pg_current_xact_id()::text AS xid')
  await Promise.all(ids.map((id) => deleteSession(noted, { ...session('a', id), totalMessages: 50 }, [own])))
  assert.equal(transactions.length, ids.length)
  assert.equal(new Set(transactions).size, ids.length)
  await db.close()
})

test('a session is not made beside the deletion of its agent', async () => {
  const url = await newDatabase()
  const [one, two] = await Promise.all([1, 2].map(() => PostgresDatabase.open({ url, connections: 4 })))
  for (let round = 0; round < 20; round++) {
    const agentId = `a${round}`
    await one!.write([agent(agentId)])
    await Promise.all([insertSession(one!, session(agentId, 's')), deleteAgentRows(two!, agentId)])
    assert.deepEqual(await two!.read('SELECT id FROM session WHERE agent_id = $1', [agentId]), [])
  }
  await Promise.all([one!.close(), two!.close()])
})

test('a database that is away is "unavailable", and used again once it is back', async () => {
  const server = await startPostgres()
  const db = await PostgresDatabase.open({ url: server.url, connections: 2 })
  await db.write([agent('1')])
  await query(server.url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'repartee'")
  await until('a connection is had again', () => db.read('SELECT id FROM agent', []).catch(() => undefined))
  await server.stop()
  await assert.rejects(db.write([agent('2')]), { code: 'unavailable' })
  await assert.rejects(db.read('SELECT id FROM agent', []), { code: 'unavailable' })
  await assert.rejects(collect(db.stream('SELECT id FROM agent', [], 10)), { code: 'unavailable' })
  await db.close()
})

test('a transaction that is given to a connection which just broke is refused, and ends nothing else', async () => {
  const url = await newDatabase()
  const pool = new pg.Pool({ connectionString: url, max: 1 })
  pool.on('error', () => {}).on('connect', (fresh) => fresh.on('error', () => {}))
  const client = await pool.connect()
  const broken = new Promise<void>((resolve) => client.once('end', resolve))
  await query(
    url,
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  )
  await broken
  const asked = { name: 's', text: 'SELECT 1', values: [], columns: [], rows: [] }
  await assert.rejects(
    exchange(client, pg.types, [asked], () => []),
    /not queryable|terminated/,
  )
  client.release(true)
  await pool.end()
})

test('a value that cannot be sent fails its transaction, and ends nothing else', async () => {
  const pool = new pg.Pool({ connectionString: await newDatabase(), max: 1 })
  pool.on('error', () => {}).on('connect', (fresh) => fresh.on('error', () => {}))
  const asked = (values: unknown[]) => ({ name: 's', text: 'SELECT $1::text', values, columns: [], rows: [] })
  const bad = [Symbol('no text')]
  const first = await pool.connect()
  await assert.rejects(exchange(first, pg.types, [asked(bad)] as never))
  first.release(true)
  const second = await pool.connect()
  await assert.rejects(exchange(second, pg.types, [asked(['a'])] as never, () => [asked(bad)] as never))
  second.release(true)
  assert.deepEqual((await pool.query('SELECT 1 AS one')).rows, [{ one: 1 }])
  await pool.end()
})

async function collect<T>(slices: AsyncIterable<T[]>): Promise<T[]> {
  const all: T[] = []
  for await (const slice of slices) all.push(...slice)
  return all
}

test('budgets are taken in one order, whatever order they are named in', async () => {
  const url = await newDatabase()
  const db = await PostgresDatabase.open({ url, connections: 4 })
  const taking = (id: string) => ({ id, tokens: 1, cost: 0, maxTokens: null, maxCost: null })
  assert.equal(await takeFromBudgets(db, 1, [taking('a'), taking('b'), taking('c')]), true)
  const holder = new pg.Client({ connectionString: url })
  const looker = new pg.Client({ connectionString: url })
  await Promise.all([holder.connect(), looker.connect()])
  await holder.query("BEGIN; UPDATE spending SET calls = calls WHERE id = 'a'")
  const taken = Promise.all(
    [
      ['c', 'a'],
      ['b', 'a'],
    ].map((ids) => takeFromBudgets(db, 1, ids.map(taking))),
  )
  const isWaiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
  await until('they wait for the budget that is held', async () => (await looker.query(isWaiting)).rows.length > 0)
  // They hold none that another one could wait for.
  await looker.query("SELECT 1 FROM spending WHERE id IN ('b', 'c') FOR UPDATE NOWAIT")
  await holder.query('ROLLBACK')
  assert.deepEqual(await taken, [true, true])
  const rows = await db.read('SELECT id, calls FROM spending ORDER BY id', [])
  assert.deepEqual(
    rows.map(({ id, calls }) => [id, calls]),
    [
      ['a', 3],
      ['b', 2],
      ['c', 2],
    ],
  )
  await Promise.all([holder.end(), looker.end(), db.close()])
})

test('the connection of a replica ends although the server has fallen silent', async () => {
  const url = new URL(await newDatabase())
  const proxy = new CuttingProxy(Number(url.port))
  url.port = String(await proxy.listen())
  const presence = new PostgresPresence({
    url: url.href,
    db: {} as never,
    onMessage: () => {},
    warn: () => {},
  })
  await presence.open()
  proxy.freeze()
  await presence.close()
  proxy.close()
})
