// How many documents and passages an agent has is read without a look at its documents, whose metadata may be large.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { newId } from '../../src/core/platform/ids.ts'
import { Questions } from '../../src/knowledge/questions.ts'
import type { KnowledgeBase } from '../../src/store/knowledge/base.ts'
import { KnowledgeFile } from '../../src/store/knowledge/file.ts'
import { raiseVersion } from '../../src/store/knowledge/index/index.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { newDatabase, query } from '../support/postgres.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-count-'))
after(() => rmSync(folder, { recursive: true }))
const DOCUMENTS = 3_000
const COLUMNS =
  'number, id, title, title_given, source, media_type, bytes, hash, metadata, status, progress, created_at, updated_at, first, last'
const VALUES = `n, 'd' || n, '', 0, '{}', '', 0, '', '{}', 'ready', 1, 0, 0, 2 * n, 2 * n + 1`

/** Remembers what is asked of a base. */
function watched(base: KnowledgeBase): { base: KnowledgeBase; asked: string[] } {
  const asked: string[] = []
  const getMany = base.getMany.bind(base)
  base.getMany = <T>(sql: string, each: Parameters<typeof getMany>[1]) => {
    asked.push(sql)
    return getMany<T>(sql, each)
  }
  return { base, asked }
}
const ofDocuments = (asked: readonly string[]) => asked.filter((sql) => /FROM \{?document\b/.test(sql))

test('the documents and passages of a file are counted by an index, and passages once for each version', () => {
  const writer = KnowledgeFile.openToWrite(join(folder, 'a.db'))
  after(() => writer.close())
  writer.run(`WITH RECURSIVE i (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < ${DOCUMENTS})
    INSERT INTO document (${COLUMNS}) SELECT ${VALUES} FROM i`)
  const { base, asked } = watched(KnowledgeFile.openToRead(join(folder, 'a.db'))!)
  after(() => base.close())
  const questions = new Questions({ openToRead: () => base })
  assert.deepEqual(questions.count('a'), { documents: DOCUMENTS, passages: 2 * DOCUMENTS })
  const statements = ofDocuments(asked)
  assert.equal(statements.length, 2)
  for (const sql of statements) {
    const plan = base.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
    assert.match(plan[0]!.detail, /USING COVERING INDEX/, sql)
  }
  const before = asked.length
  assert.deepEqual(questions.count('a'), { documents: DOCUMENTS, passages: 2 * DOCUMENTS })
  assert.equal(ofDocuments(asked.slice(before)).filter((sql) => sql.includes('last')).length, 0)
  writer.write(() => {
    writer.run('UPDATE document SET last = last + 5 WHERE number = 1')
    writer.run('DELETE FROM document WHERE number = 2')
    raiseVersion(writer)
  })
  assert.deepEqual(questions.count('a'), { documents: DOCUMENTS - 1, passages: 2 * DOCUMENTS + 3 })
})

test('those of a base in PostgreSQL are counted by an index', async () => {
  const url = await newDatabase()
  await (await PostgresDatabase.open({ url, connections: 1 })).close()
  const agents = Array.from({ length: 20 }, newId)
  const agent = agents[7]!
  const values = VALUES.replace("0, '',", "0, ''::bytea,")
  for (const id of agents)
    await query(
      url,
      `INSERT INTO knowledge_document (agent_id, ${COLUMNS}) SELECT '${id}', ${values} FROM generate_series(1, ${DOCUMENTS}) n`,
    )
  await query(url, 'VACUUM ANALYZE knowledge_document')
  const plan = await query(
    url,
    `EXPLAIN (COSTS OFF) SELECT sum(last - first + 1) FROM knowledge_document WHERE agent_id = '${agent}'`,
  )
  assert.match(JSON.stringify(plan), /Index Only Scan using knowledge_document_extent/)
})
