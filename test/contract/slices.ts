import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Agent } from '../../src/core/agent.ts'
import type { Session } from '../../src/core/session.ts'
import type { Deps } from '../../src/http/deps.ts'
import { findInsights } from '../../src/sessions/insights.ts'
import { type Database, statement } from '../../src/store/database.ts'
import { insertAgent } from '../../src/store/tables/agents.ts'
import { countAuditEntries, deleteAuditBefore, insertAuditEntry, listAuditEntries } from '../../src/store/tables/audit.ts'
import { deleteAgentRows, deleteSession, purgeMarked } from '../../src/store/tables/deletion.ts'
import { claimDue, deleteDeliveriesBefore } from '../../src/store/tables/deliveries.ts'
import { type AnswerOwner, forgetAnswers, forgetAnswersOf, storeAnswer } from '../../src/store/tables/idempotency.ts'
import { listReplies } from '../../src/store/tables/insights.ts'
import { insertConversation } from '../../src/store/tables/messages.ts'
import { countMessages, countSessions, findSession, insertSession } from '../../src/store/tables/sessions.ts'
import { deleteSpendingBefore } from '../../src/store/tables/spending.ts'
import { countUsers, listUsers } from '../../src/store/tables/users.ts'
import { deleteWebhook, insertWebhook } from '../../src/store/tables/webhooks.ts'
import { claimKey, claimOf } from '../support/claims.ts'
import { until } from '../support/poll.ts'

const AGENT = '01980000-0000-7000-8000-00000000000a'
const OTHER = '01980000-0000-7000-8000-00000000000b'
/** More than a slice of any kind. */
const MANY = 20_500
const MINE = { owner: 'one' }

async function keepLong(db: Database, answers: number, keptWith: AnswerOwner): Promise<void> {
  for (let i = 0; i < answers; i++) {
    const claim = {
      apiKeyId: 'k',
      keyHash: `h${i}`,
      fingerprint: 'f',
      agentId: AGENT,
      userId: '',
      claim: 'c',
      claimedUntil: 2,
      createdAt: 1,
    }
    await claimKey(db, claim, 0)
    await db.write([storeAnswer(claim, keptWith, 200, 'x'.repeat(400_000))])
  }
}

/** Rows are read and deleted in slices, whatever their number: nobody else waits for all of them. */
export function slicesContract(engine: string, open: () => Promise<Database>): void {
  describe(`slices contract: ${engine}`, () => {
    const withAgents = async (run: (db: Database) => Promise<void>) => {
      const db = await open()
      try {
        for (const id of [AGENT, OTHER]) await insertAgent(db, { ...({} as Agent), id, name: 'a', createdAt: 1, updatedAt: 1 })
        await run(db)
      } finally {
        await db.close()
      }
    }

    test('the sessions of a user are counted over slices, and others are served in between', () =>
      withAgents(async (db) => {
        await insertSessions(db, AGENT, 'u', MANY)
        for (const userId of ['t', 'v']) await insertSession(db, session({ id: userId, userId }))
        const counts = await servingOthers(() => countSessions(db, { agentId: AGENT, userId: 'u' }, MINE))
        assert.equal(counts, MANY)
        assert.equal(await countSessions(db, { agentId: AGENT, from: 3 }, MINE), (MANY / 5) * 2 + 2)
        assert.equal(await countSessions(db, { agentId: AGENT, userId: 'u', to: 1 }, MINE), MANY / 5)
      }))

    test('a count ends after its first slice when nobody waits for it any more', () =>
      withAgents(async (db) => {
        await insertSessions(db, AGENT, 'u', MANY)
        const { counted, calls } = counting(db)
        const unwanted = { ...MINE, isWanted: () => false }
        await countSessions(counted, { agentId: AGENT, userId: 'u' }, unwanted)
        await countMessages(counted, AGENT, unwanted)
        assert.equal(calls.scans, 2)
      }))

    test('many counts of one caller do not keep that of another of the same agent waiting', () =>
      withAgents(async (db) => {
        await insertSessions(db, AGENT, 'u', MANY)
        let ended = 0
        const count = (owner: string) => countSessions(db, { agentId: AGENT, userId: 'u' }, { owner })
        const many = Array.from({ length: 20 }, () => count('one').then(() => ended++))
        assert.equal(await count('other'), MANY)
        const before = ended
        await Promise.all(many)
        // In PostgreSQL the counts wait for connections, and not for each other.
        if (engine !== 'PostgreSQL') assert.ok(before < 10, `${before} of 20 ended before`)
      }))

    test('insights that nobody waits for any more are not worked out', () =>
      withAgents(async (db) => {
        await insertSessions(db, AGENT, 'u', 450)
        const { counted, calls } = counting(db)
        assert.equal(
          await findInsights({ db: counted } as Deps, AGENT, { from: 0, to: 10 }, { ...MINE, isWanted: () => false }),
          undefined,
        )
        assert.ok(calls.scans <= 2, `${calls.scans} scans`)
      }))

    test('users are listed and counted over slices of their sessions', () =>
      withAgents(async (db) => {
        await insertSessions(db, AGENT, 'u', MANY)
        for (const userId of ['t', 'v']) await insertSession(db, session({ id: userId, userId, totalMessages: 1 }))
        const small = (id: string) => ({ id, sessions: 1, messages: 1, lastMessageAt: 1000 })
        const large = { id: 'u', sessions: MANY, messages: 2 * MANY, lastMessageAt: 4 }
        assert.deepEqual(await servingOthers(() => listUsers(db, AGENT, '', 10, MINE)), [small('t'), large, small('v')])
        assert.deepEqual(await listUsers(db, AGENT, '', 2, MINE), [small('t'), large])
        assert.deepEqual(await listUsers(db, AGENT, 'u', 10, MINE), [small('v')])
        assert.equal(await servingOthers(() => countUsers(db, AGENT, MINE)), 3)
      }))

    test('replies of a span are looked for in pages of sessions, also where none of them belongs to it', () =>
      withAgents(async (db) => {
        await insertSessions(db, AGENT, 'u', 450)
        const { counted, calls } = counting(db)
        for await (const _ of listReplies(counted, AGENT, { from: 0, to: 1 }, MINE.owner));
        assert.equal(calls.scans, 5)
      }))

    test('of many long sessions that are deleted at once, the messages of one at a time are deleted', () =>
      withAgents(async (db) => {
        const long = Array.from({ length: 10 }, (_, i) => session({ id: `long${i}`, totalMessages: 30 }))
        const messages = (id: string) =>
          Array.from({ length: 30 }, (_, i) => ({ id: `${id} ${i}`, role: 'USER' as const, content: 'x', createdAt: 1 }))
        for (const one of long) await insertConversation(db, one, messages(one.id))
        const left = async () =>
          (await db.read("SELECT count(*) AS n FROM message WHERE session_id LIKE 'long%'", []))[0]!.n as number
        const writing = new Set<object>()
        let most = 0
        const watched: Database = {
          ...counting(db).counted,
          async writeIf(statements) {
            if (!/^UPDATE purge/.test(statements[0]!.sql)) return db.writeIf(statements)
            writing.add(statements)
            most = Math.max(most, writing.size)
            return db.writeIf(statements).finally(() => writing.delete(statements))
          },
        }
        await Promise.all(long.map((one) => deleteSession(watched, one)))
        for (const { id } of long) assert.equal(await findSession(db, AGENT, id), undefined)
        await until('all messages are deleted', async () => (await left()) === 0)
        assert.equal(most, 1)
      }))

    test('a chat that begins under the id of one that was deleted keeps its messages, though another process knows only the deletion', () =>
      withAgents(async (db) => {
        const before = session({ id: 'chat', totalMessages: 30 })
        const messages = (ids: string, n: number) =>
          Array.from({ length: n }, (_, i) => ({ id: `${ids} ${i}`, role: 'USER' as const, content: 'x', createdAt: 1 }))
        await insertConversation(db, before, messages('before', 30))
        let isBegun = false
        const late: Database = {
          ...counting(db).counted,
          async read(sql, params) {
            const rows = await db.read(sql, params)
            // Between its look at the marks and its first slice.
            if (/FROM purge LIMIT/.test(sql) && rows.length > 0 && !isBegun) {
              isBegun = true
              await purgeMarked(db)
              await insertConversation(db, { ...before, totalMessages: 3 }, messages('after', 3))
            }
            return rows
          },
        }
        await db.write([
          statement('DELETE FROM session WHERE agent_id = $1', AGENT),
          statement('INSERT INTO purge (agent_id, session_id) VALUES ($1, $2)', AGENT, before.id),
        ])
        await purgeMarked(late)
        assert.ok(isBegun)
        assert.equal(await countRows(db, 'message'), 3)
      }))

    const deleteAndCount = async (db: Database, gone: Session): Promise<number> => {
      const { counted, calls } = counting(db)
      assert.deepEqual(await deleteSession(counted, gone), { lease: null })
      assert.equal(await findSession(db, AGENT, gone.id), undefined)
      await until('the tables are empty', async () => (await countRows(db, 'message', 'kept_answer', 'purge')) === 0)
      return calls.writes
    }
    const insertMessages = async (db: Database, made: Session, content: string) => {
      const message = (i: number) => ({ id: `m${i}`, role: 'USER' as const, content, createdAt: 1 })
      await insertConversation(
        db,
        made,
        Array.from({ length: made.totalMessages }, (_, i) => message(i)),
      )
    }

    test('a session with much text is deleted at once, and its text later, in several transactions', () =>
      withAgents(async (db) => {
        const large = session({ id: 'large', totalMessages: 20 })
        await insertMessages(db, large, 'x'.repeat(200_000))
        // 4 MB, of which a transaction deletes 1 MB at most.
        assert.equal(await deleteAndCount(db, large), 1 + 4)
      }))

    test('long comments on replies count as text of their session', () =>
      withAgents(async (db) => {
        const rated = session({ id: 'rated', totalMessages: 3 })
        await insertMessages(db, rated, 'short')
        await db.write([statement('UPDATE message SET feedback = $1 WHERE session_id = $2', 'x'.repeat(400_000), 'rated')])
        assert.equal(await deleteAndCount(db, rated), 1 + 2)
      }))

    test('a session with little text is deleted in one transaction', () =>
      withAgents(async (db) => {
        const small = session({ id: 'small', totalMessages: 20 })
        await insertMessages(db, small, 'x'.repeat(2_000))
        assert.equal(await deleteAndCount(db, small), 1)
      }))

    test('long answers that are kept for replays of a session are deleted later', () =>
      withAgents(async (db) => {
        const made = session({ id: 'kept' })
        await insertSession(db, made)
        await keepLong(db, 3, { sessionId: 'kept', userId: '' })
        assert.equal(await deleteAndCount(db, made), 1 + 2)
      }))

    test('long answers that are kept for replays are forgotten in several transactions', () =>
      withAgents(async (db) => {
        await keepLong(db, 5, { sessionId: '', userId: '' })
        const slices = async (forget: () => Promise<number>) => {
          const forgotten = []
          for (let n = await forget(); n > 0; n = await forget()) forgotten.push(n)
          return forgotten
        }
        // 400 kB each, of which a transaction deletes 1 MB at most.
        assert.deepEqual(await slices(() => forgetAnswers(db, 2)), [2, 2, 1])
        await keepLong(db, 3, { sessionId: '', userId: 'u' })
        assert.deepEqual(await slices(() => forgetAnswersOf(db, AGENT, 'u')), [2, 1])
      }))

    test('an agent with many sessions is deleted at once, its sessions in several transactions, and those of others not', () =>
      withAgents(async (db) => {
        await insertSessions(db, AGENT, 'u', 1200)
        await insertSessions(db, OTHER, 'u', 3)
        let left = 0
        const { counted } = counting(db, async () => {
          left = await countRows(db, 'session')
        })
        assert.equal(await deleteAgentRows(counted, AGENT), true)
        assert.equal(left, 703, 'after the first transaction')
        await until('the marks are gone', async () => (await countRows(db, 'purge')) === 0)
        assert.equal(await countRows(db, 'session'), 3)
      }))

    test('entries of the audit log are looked for in slices, also where none of them passes', () =>
      withAgents(async (db) => {
        const entry = {
          at: 1,
          action: 'a',
          keyId: null,
          agentId: OTHER,
          target: null,
          requestId: null,
          address: null,
          status: 200,
        }
        await insertAuditEntry(db, { ...entry, id: '0' })
        await db.write([
          statement(
            `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)
            INSERT INTO audit_entry (id, at, action, agent_id) SELECT 'a' || i, i, 'a', CAST($1 AS TEXT) FROM n`,
            AGENT,
          ),
        ])
        assert.deepEqual(await servingOthers(() => listAuditEntries(db, { agentId: OTHER }, undefined, 10)), [
          { ...entry, id: '0' },
        ])
        assert.equal(await servingOthers(() => countAuditEntries(db, { agentId: OTHER })), 1)
        assert.equal(await countAuditEntries(db, { from: 1, to: 11 }), 11)
        assert.equal((await listAuditEntries(db, { from: 2 }, undefined, 10)).length, 10)
        assert.deepEqual(
          (await listAuditEntries(db, {}, 'a10001', 2)).map(({ id }) => id),
          ['a10000', 'a1000'],
        )
      }))

    test('old entries of the audit log are deleted, the oldest first, and none behind one that stays is looked for', () =>
      withAgents(async (db) => {
        const insert = (prefix: string, count: number, at: number) =>
          statement(
            `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
            INSERT INTO audit_entry (id, at, action) SELECT '${prefix}' || (10000 + i), ${at}, 'a' FROM n`,
          )
        await db.write([insert('a', 1_200, 10), insert('b', 600, 50), insert('c', 1, 10)])
        await deleteAuditBefore(db, 10)
        assert.equal(await countAuditEntries(db, {}), 1_801)
        await deleteAuditBefore(db, 20)
        assert.equal(await countAuditEntries(db, {}), 601)
        await deleteAuditBefore(db, 60)
        assert.equal(await countAuditEntries(db, {}), 0)
      }))

    test('what was spent on earlier days is deleted in slices', () =>
      withAgents(async (db) => {
        await db.write([
          statement(
            `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
            INSERT INTO spending (id, day, tokens, cost, calls) SELECT 'b' || (i / 3), i % 3, 1, 1, 0 FROM n`,
          ),
        ])
        await servingOthers(() => deleteSpendingBefore(db, 2))
        const left = await db.read('SELECT day, count(*) AS n FROM spending GROUP BY day', [])
        assert.deepEqual(
          left.map(({ day, n }) => [day, n]),
          [[2, 3_000]],
        )
      }))

    test('an answer kept for a session that is being deleted is not given any more', () =>
      withAgents(async (db) => {
        const claim = claimOf(AGENT)
        for (const marked of ['s', '']) {
          await db.write([
            statement('DELETE FROM kept_answer'),
            statement('DELETE FROM purge'),
            statement(
              `INSERT INTO kept_answer (api_key_id, key_hash, fingerprint, agent_id, session_id, claim, claimed_until, created_at, status, answer)
              VALUES ('k', 'h', 'f', $1, 's', 'c', 1, 1000, 200, 'its text')`,
              AGENT,
            ),
          ])
          assert.equal((await claimKey(db, claim, 0))?.answer, 'its text')
          await db.write([statement('INSERT INTO purge (agent_id, session_id) VALUES ($1, $2)', AGENT, marked)])
          assert.equal(await claimKey(db, claim, 0), undefined)
        }
      }))

    test('deliveries to a webhook that is deleted go in slices, and what a crash leaves of them goes with the old ones', () =>
      withAgents(async (db) => {
        const webhook = { id: 'w', url: 'http://x.test', events: [], agentIds: null, secret: 's', createdAt: 1, disabledAt: null }
        await insertWebhook(db, webhook)
        await insertDeliveries(db, 'w', 1200)
        await insertDeliveries(db, 'other', 3)
        const { counted, calls } = counting(db)
        assert.equal(await deleteWebhook(counted, 'w'), true)
        await until('its deliveries are gone', async () => (await countRows(db, 'webhook_delivery')) === 3)
        assert.equal(calls.writes, 4)
        await deleteDeliveriesBefore(db, 2)
        assert.equal(await countRows(db, 'webhook_delivery'), 0)
      }))

    test('old deliveries are deleted in slices, also where many of them still wait', () =>
      withAgents(async (db) => {
        const webhook = { id: 'w', url: 'http://x.test', events: [], agentIds: null, secret: 's', createdAt: 1, disabledAt: 1 }
        await insertWebhook(db, webhook)
        await insertDeliveries(db, 'w', 4_500)
        await insertDeliveries(db, 'young', 1)
        const place = 'CAST(substr(id, 2) AS BIGINT)'
        await db.write([
          statement(`UPDATE webhook_delivery SET created_at = ${place} WHERE webhook_id = 'w'`),
          statement(`UPDATE webhook_delivery SET state = 'delivered' WHERE ${place} % 3 = 0`),
          statement("UPDATE webhook_delivery SET created_at = 9999 WHERE webhook_id = 'young'"),
        ])
        const { counted, calls } = counting(db)
        await servingOthers(() => deleteDeliveriesBefore(counted, 4_500))
        // All are looked at once, 2,000 at a time.
        assert.equal(calls.scans, 3)
        const left = await db.read('SELECT state, count(*) AS n FROM webhook_delivery GROUP BY state ORDER BY state', [])
        assert.deepEqual(
          left.map(({ state, n }) => [state, n]),
          [
            ['delivered', 1],
            ['waiting', 3_001],
          ],
        )
      }))

    test('other requests are answered while many agents have deliveries that wait', () =>
      withAgents(async (db) => {
        await insertDeliveries(db, 'w', 900)
        await db.write([statement("UPDATE webhook_delivery SET agent_id = id, next_at = CASE id WHEN 'd900' THEN 1 ELSE 10 END")])
        const { counted } = counting(db)
        const claim = (after: string) => claimDue(counted, 'w', { now: 2, claimedUntil: 5, most: 8, after })
        const [claimed] = await servingOthers(() => claim('d950'))
        assert.equal(claimed!.id, 'd900')
        // In SQLite, a read alone does not let the event loop go round, and nothing is claimed.
        assert.deepEqual(await servingOthers(() => claim('d5')), [])
      }))
  })
}

const session = (change: Partial<Session>): Session => ({
  ...{ id: '', agentId: AGENT, name: 'n', userId: 'u', totalMessages: 0, lastMessageAt: 1000, createdAt: 1000, updatedAt: 1000 },
  ...change,
})

/** Two messages each, last active at the times from 0 to 4. */
const insertSessions = (db: Database, agentId: string, userId: string, count: number) =>
  db.write([
    statement(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
      SELECT CAST($1 AS TEXT), 's' || i, 'n', CAST($2 AS TEXT), 2, i % 5, 1, 1 FROM n`,
      agentId,
      userId,
    ),
  ])

const insertDeliveries = (db: Database, webhookId: string, count: number) =>
  db.write([
    statement(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO webhook_delivery (agent_id, webhook_id, id, event, session_id, target, created_at)
      SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), 'd' || i, 'e', 's', 't', 1 FROM n`,
      AGENT,
      webhookId,
    ),
  ])

async function countRows(db: Database, ...tables: string[]): Promise<number> {
  const counts = tables.map((table) => `(SELECT count(*) FROM ${table})`)
  return (await db.read(`SELECT ${counts.join(' + ')} AS n`, []))[0]!.n as number
}

/** Fails if the event loop did not go round while it ran. */
async function servingOthers<T>(run: () => Promise<T>): Promise<T> {
  let isServed = false
  setImmediate(() => {
    isServed = true
  })
  const result = await run()
  assert.ok(isServed)
  return result
}

/** Counts calls; `afterFirst` runs after the transaction that a deletion begins with. */
function counting(
  db: Database,
  afterFirst?: () => Promise<void>,
): { counted: Database; calls: { scans: number; writes: number } } {
  const calls = { scans: 0, writes: 0 }
  const counted: Pick<Database, 'read' | 'scrub' | 'scan' | 'write' | 'writeIf'> = {
    read: (sql, params) => db.read(sql, params),
    scrub: () => db.scrub(),
    scan: (sql, params) => {
      calls.scans++
      return db.scan(sql, params)
    },
    write: (statements) => {
      calls.writes++
      return db.write(statements)
    },
    writeIf: async (statements) => {
      calls.writes++
      const done = await db.writeIf(statements)
      const after = afterFirst
      afterFirst = undefined
      await after?.()
      return done
    },
  }
  return { counted: counted as Database, calls }
}
