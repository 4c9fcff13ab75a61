// What a request costs in PostgreSQL does not grow with what is stored: the server itself counts how often a table was read from end to end.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import type { Answer } from '../support/client.ts'
import { until } from '../support/poll.ts'
import { dropDatabase, newDatabase, query } from '../support/postgres.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

/** What takes no more is rightly read as it is. */
const SMALL_BYTES = 65_536

/** Asks again where a slow machine does not answer in time. Resolves to the answer, which is a success. */
async function ok(ask: () => Promise<Answer>): Promise<Answer> {
  const answer = await until('it is answered', async () => {
    const given = await ask()
    return given.status !== 503 && given
  })
  isOk(answer)
  return answer
}

describe('on a full database', { skip: needsProcess }, () => {
  let url: string
  let service: Service
  let agent: string
  /** A connection reports for certain what it has counted when it ends. */
  const reconnect = async () => {
    await service.end('SIGTERM')
    const others = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`
    await until('no connection is left', async () => (await query(url, others)).length === 0)
    await service.restart()
  }
  before(async () => {
    url = await newDatabase()
    service = await startService({ REPARTEE_DATABASE_URL: url })
    agent = await service.newAgent({ model: 'extractive' })
    const session = `md5('s' || i)::uuid::text`
    await query(
      url,
      `INSERT INTO agent SELECT md5('a' || i)::uuid::text, 'other', a.settings, 1, 1 FROM agent a, generate_series(1, 2000) i;
       INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
         SELECT '${agent}', ${session}, 'old', md5('u' || i % 3000)::uuid::text, 4, i, i, i FROM generate_series(1, 30000) i;
       INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
         SELECT md5('a' || i % 2000)::uuid::text, ${session}, 'old', md5('u' || i)::uuid::text, 0, i, i, i FROM generate_series(1, 20000) i;
       INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at)
         SELECT '${agent}', ${session}, n, md5('m' || i || n)::uuid::text, CASE n % 2 WHEN 1 THEN 'USER' ELSE 'AI' END, 'old text', i
         FROM generate_series(1, 30000) i, generate_series(1, 4) n;
       INSERT INTO kept_answer SELECT 'k', 'h' || i, 'f', '${agent}', ${session}, 'c', 1, 200, '{}', extract(epoch FROM now()) * 1000 FROM generate_series(1, 20000) i;
       INSERT INTO summary SELECT agent_id, id, 1, 'text', 1 FROM session;
       INSERT INTO message_version SELECT agent_id, session_id, id, 1, 'text', NULL, NULL, NULL, NULL, 1 FROM message WHERE seq = 2;
       UPDATE session_count SET sessions = sessions + 30000 WHERE agent_id = '${agent}' AND shard = 0`,
    )
    await query(url, 'VACUUM ANALYZE')
    const documents = `/agents/${agent}/documents`
    for (let i = 0; i < 20; i++) {
      const words = Array.from({ length: 120 }, (_, n) => `word${(i * 37 + n * n) % 4_000}`).join(' ')
      isOk(await service.client.post(documents, { markdown: `# Document ${i}\n\n${words}` }), 202)
    }
    await until('all are ready', async () => (await service.client.get(`${documents}?status=ready`)).body.pagination.total === 20)
    await fillKnowledgeOfOthers()
    await query(url, 'VACUUM ANALYZE')
    await reconnect()
  })
  /** Forty agents that know the same. */
  async function fillKnowledgeOfOthers(): Promise<void> {
    const tables = await query(
      url,
      "SELECT tablename AS name FROM pg_tables WHERE (tablename LIKE 'knowledge%' AND tablename <> 'knowledge_removal') OR tablename = 'session_count'",
    )
    for (const { name } of tables) {
      const columns = await query(
        url,
        `SELECT attname AS name FROM pg_attribute WHERE attrelid = '${name}'::regclass AND attnum > 0 AND NOT attisdropped`,
      )
      const names = columns.map((column) => column.name).filter((column) => column !== 'agent_id' && column !== 'is_pending')
      await query(
        url,
        `INSERT INTO ${name} (agent_id, ${names.join(', ')})
         SELECT md5('a' || i)::uuid::text, ${names.join(', ')} FROM ${name}, generate_series(1, 40) i WHERE agent_id = '${agent}'`,
      )
    }
  }
  after(async () => {
    await service.stop()
    await dropDatabase(url)
  })

  test('no request reads a table from end to end', async () => {
    const { client } = service
    const sessions = `/agents/${agent}/sessions`
    const scans = async () => {
      await reconnect()
      const rows = await query(
        url,
        `SELECT relname AS name, seq_scan AS scans FROM pg_stat_user_tables WHERE pg_relation_size(relid) > ${SMALL_BYTES}`,
      )
      return new Map(rows.map(({ name, scans }) => [name as string, Number(scans)]))
    }
    const [{ user_id: user, id: old }] = await query(url, `SELECT user_id, id FROM session WHERE agent_id = '${agent}' LIMIT 1`)
    const before = await scans()
    const keyed = { headers: { 'idempotency-key': randomUUID() } }
    const own = await service.newSession(agent, { externalUserId: user })
    for (const path of [
      `${sessions}?limit=50`,
      `${sessions}?externalUserId=${user}`,
      `${sessions}?externalUserId=${user}&limit=5`,
      `${sessions}?limit=20&from=1970-01-01T00:00:10Z`,
      `${sessions}/${old}`,
      `${sessions}/${old}/messages?limit=2`,
      `${sessions}/${old}/messages?limit=2&order=desc`,
      `/agents/${agent}/documents`,
      `/agents?limit=10`,
      `/agents/${agent}`,
    ])
      await ok(() => client.get(path))
    await ok(() => client.post(`${own}/messages`, { message: 'What is word37?' }))
    await ok(() => client.post(`${own}/messages`, { message: 'And word74?' }, keyed))
    const { aiMessage } = (await ok(() => client.post(`${own}/messages`, { message: 'And word74?' }, keyed))).body
    await ok(() => client.post(`${sessions}/${old}/messages`, { message: 'And word37?' }))
    await ok(() => client.get(`${own}/messages/${aiMessage.id}`))
    await ok(() => client.post(`${own}/messages/${aiMessage.id}/regenerate`, {}))
    await ok(() => client.get(`${own}/messages/${aiMessage.id}/versions`))
    await ok(() => client.put(`${own}/messages/${aiMessage.id}/feedback`, { rating: 'up' }))
    await ok(() => client.patch(own, { name: 'Another' }))
    await ok(() => client.post(`/agents/${agent}/search`, { query: 'word37 wrod74' }))
    await ok(() => client.delete(own))
    await ok(() => client.delete(`${sessions}/${old}`))
    const now = await scans()
    const scanned = [...now].filter(([name, count]) => count > (before.get(name) ?? 0))
    assert.deepEqual(scanned, [])
  })

  test('a message into a long session reads no more rows than one into a short one', async () => {
    const [long, short] = [await service.newSession(agent), await service.newSession(agent)]
    await query(
      url,
      `INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at)
         SELECT '${agent}', '${long.split('/').at(-1)}', n, md5('l' || n)::uuid::text, CASE n % 2 WHEN 1 THEN 'USER' ELSE 'AI' END, 'old text', n
         FROM generate_series(1, 5000) n;
       -- With few messages for each agent and session the planner thinks that those of a session are one row.
       INSERT INTO message (agent_id, session_id, seq, id, role, content, created_at)
         SELECT md5('a' || i % 2000)::uuid::text, md5('s' || i)::uuid::text, 1, md5('o' || i)::uuid::text, 'USER', 'old text', i
         FROM generate_series(1, 20000) i;
       ANALYZE message;
       UPDATE session SET message_count = 5000 WHERE agent_id = '${agent}' AND id = '${long.split('/').at(-1)}'`,
    )
    const readRows = async () => {
      await reconnect()
      const [row] = await query(url, "SELECT idx_tup_fetch AS n FROM pg_stat_user_tables WHERE relname = 'message'")
      return Number(row.n)
    }
    // Enough that each connection of the service has chosen the plan that it keeps.
    const rowsRead = async (session: string) => {
      const before = await readRows()
      for (let i = 0; i < 40; i++) await ok(() => service.client.post(`${short}/messages`, { message: `What is word${i}?` }))
      for (let i = 0; i < 40; i++) await ok(() => service.client.post(`${session}/messages`, { message: `What is word${i}?` }))
      return (await readRows()) - before
    }
    const [ofShort, ofLong] = [await rowsRead(short), await rowsRead(long)]
    assert.ok(ofLong < ofShort + 5_000, `${ofLong} rows read in the long session, ${ofShort} in the short one`)
  })
})
