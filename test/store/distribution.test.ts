// A distributed PostgreSQL keeps the rows of an agent together by their agent id. That holds only while every key, join and statement names it.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { before, describe, test } from 'node:test'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { newDatabase, query } from '../support/postgres.ts'

/** Of the whole deployment, and small: copied to every node. Answers kept for replays, rates and budgets belong to an API key or a user. */
const SHARED = [
  'agent',
  'api_key',
  'audit_entry',
  'generation',
  'kept_answer',
  'rate_window',
  'replica',
  'sample',
  'schema_version',
  'spending',
  'token_secret',
  'webhook',
]
/** What goes through all agents, in the background and never on the way of a request. */
const BACKGROUND = [
  /FROM session WHERE lease IS NOT NULL AND lease_until < \$1 LIMIT 1/,
  /UPDATE session SET lease = .* WHERE lease IS NOT NULL AND/,
  /UPDATE message SET turn = 'failed'.*FROM session WHERE lease IS NOT NULL AND lease = \$1/s,
  /UPDATE session SET lease = NULL, lease_until = NULL WHERE lease IS NOT NULL AND lease = \$1/,
  /FROM waiting_send WHERE (replica = \$1|until)/,
  /FROM stop_request WHERE (lease >= \$1|asked_at)/,
  /FROM followed_(turn|text) WHERE (lease >= \$1|asked_at)/,
  /SELECT agent_id, session_id FROM purge LIMIT/,
  /SELECT agent_id FROM knowledge_manifest WHERE is_pending = 1/,
  /SELECT agent_id, due_at FROM knowledge_manifest WHERE due_at IS NOT NULL/,
  /SELECT agent_id FROM knowledge_manifest\s+WHERE embedder IS NOT NULL/,
  /SELECT agent_id FROM knowledge_manifest m WHERE NOT EXISTS/,
  /SELECT agent_id FROM knowledge_removal ORDER BY agent_id/,
  /INSERT INTO webhook_delivery .* FROM message m JOIN webhook w/s,
  /FROM webhook_delivery WHERE (webhook_id|created_at)/,
  /FROM\s+\(SELECT id FROM webhook_delivery WHERE webhook_id/,
  /UPDATE webhook_delivery SET (attempts = attempts|state = 'waiting')/,
  /UPDATE knowledge_manifest SET holder = NULL, held_until = NULL WHERE holder = \$1/,
]

describe('a schema that can be distributed by agent', () => {
  let url: string
  before(async () => {
    url = await newDatabase()
    await (await PostgresDatabase.open({ url, connections: 1 })).close()
  })
  const tables = async () =>
    (await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"))
      .map(({ tablename }) => tablename as string)
      .filter((name) => !SHARED.includes(name))

  test('every key of a table of agents begins with the agent, and every unique index names it', async () => {
    for (const table of await tables()) {
      const keys = await query(
        url,
        `SELECT i.indisprimary AS is_primary, array_agg(a.attname::text ORDER BY array_position(i.indkey::int2[], a.attnum)) AS columns
         FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
         WHERE i.indrelid = '${table}'::regclass AND i.indisunique GROUP BY i.indexrelid, i.indisprimary`,
      )
      const primary = keys.find(({ is_primary }) => is_primary)?.columns as string[] | undefined
      assert.equal(primary?.[0], 'agent_id', table)
      for (const { columns } of keys) assert.ok((columns as string[]).includes('agent_id'), table)
    }
  })

  test('there are no foreign keys, no sequences, no triggers', async () => {
    assert.deepEqual(await query(url, "SELECT conname FROM pg_constraint WHERE contype = 'f'"), [])
    assert.deepEqual(await query(url, "SELECT relname FROM pg_class WHERE relkind = 'S'"), [])
    assert.deepEqual(await query(url, 'SELECT tgname FROM pg_trigger WHERE NOT tgisinternal'), [])
  })

  test('every statement on a table of agents names the agent, of each table that it reads', async () => {
    const names = await tables()
    // A move, a backup and a check read whole tables.
    const files = globSync('src/store/**/*.ts').filter(
      (file) => !/^src\/store\/(backup\/(check|move)|sqlite|knowledge\/(?!postgres\/(postgres-knowledge|removal)))/.test(file),
    )
    let checked = 0
    for (const file of files) {
      for (const sql of statementsIn(readFileSync(file, 'utf8'))) {
        const used = [...sql.matchAll(/\b(?:FROM|INTO|UPDATE|JOIN) ([a-z_]+)\b/g)].map(([, name]) => name!)
        const own = used.filter((name) => names.includes(name))
        if (own.length === 0 || BACKGROUND.some((known) => known.test(sql))) continue
        checked++
        const named =
          sql.match(/agent_id\b|\$\{(where\(filter\)|COLUMNS|SESSION_COLUMNS|WHERE|DELETE_MESSAGES|OF_SESSION|VERSIONS|firstOf)/g)
            ?.length ?? 0
        assert.ok(named >= own.length, `${file}: ${sql}`)
      }
    }
    assert.ok(checked > 40, `${checked} statements`)
  })

  test('a statement of a knowledge base names its tables in braces, so that they are the rows of one agent', async () => {
    const names = (await tables()).filter((name) => name.startsWith('knowledge_')).map((name) => name.slice('knowledge_'.length))
    const files = globSync('src/store/knowledge/**/*.ts').filter(
      (file) =>
        !/\/(file|statements)\.ts$|postgres\/(postgres-base|postgres-knowledge|removal|scope|reads|batched-sql)\.ts$/.test(file),
    )
    let checked = 0
    for (const file of files)
      for (const sql of statementsIn(readFileSync(file, 'utf8'))) {
        for (const [, brace, name] of sql.matchAll(/\b(?:FROM|INTO|UPDATE|JOIN) (?!SET)(\{?)([a-z_]+)\b/g)) {
          // Tables of the server, and those that belong to one agent alone.
          if (/^(pg_|unnest$)/.test(name!)) continue
          checked++
          assert.ok(names.includes(name!) && brace === '{', `${file}: ${name} in ${sql}`)
        }
      }
    assert.ok(checked > 60, `${checked} statements`)
  })
})

/** The literals of a source that are SQL. */
function statementsIn(source: string): string[] {
  const literals = source.matchAll(/`((?:[^`\\]|\\.)*)`|'((?:[^'\\\n]|\\.)*)'/g)
  return [...literals]
    .map(([, template, plain]) => template ?? plain!)
    .filter((text) => /^\s*(WITH|SELECT|INSERT|UPDATE|DELETE|NOT EXISTS)\b/.test(text))
}
