import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertTogether, selectTogether } from '../../src/store/knowledge/postgres/batched-sql.ts'
import { scope } from '../../src/store/knowledge/postgres/scope.ts'
import type { SqlValue } from '../../src/store/knowledge/rows.ts'

const PUT_GRAM = 'INSERT INTO gram (gram, n) VALUES (?, ?) ON CONFLICT (gram) DO UPDATE SET n = gram.n + excluded.n'
const PUT_DOCUMENT = "INSERT INTO document (id, status, url) VALUES (?, 'queued', ?)"
const steps = (sql: string, ...each: SqlValue[][]) => each.map((params) => ({ sql: scope(sql).text, params: ['a', ...params] }))

describe('statements of a knowledge base, in PostgreSQL', () => {
  test('are told the agent wherever they name a table', () => {
    assert.equal(
      scope('SELECT d.id FROM passage p JOIN document d ON d.number = p.document WHERE p.id = ?').text,
      'SELECT d.id FROM (SELECT * FROM knowledge_passage WHERE agent_id = $1) p JOIN (SELECT * FROM knowledge_document WHERE agent_id = $1) d ON d.number = p.document WHERE p.id = $2',
    )
    assert.equal(
      scope('UPDATE word SET df = df + ? WHERE word = ? OR df < 0 RETURNING number').text,
      'UPDATE knowledge_word AS word SET df = df + $2 WHERE word.agent_id = $1 AND (word = $3 OR df < 0) RETURNING number',
    )
    assert.equal(
      scope('DELETE FROM content WHERE document = (SELECT number FROM document WHERE id = ?)').text.match(/agent_id = \$1/g)
        ?.length,
      2,
    )
    assert.equal(
      scope('UPDATE manifest SET version = version + 1').text,
      'UPDATE knowledge_manifest AS manifest SET version = version + 1 WHERE manifest.agent_id = $1',
    )
  })

  test('that give out a number take it as their last parameter', () => {
    assert.deepEqual(scope('INSERT INTO word (word, df) VALUES (?, ?)'), {
      text: 'INSERT INTO knowledge_word AS word (agent_id, word, df, number) VALUES ($1, $2, $3, $4)',
      numbered: 'word',
    })
    assert.equal(scope('INSERT INTO post (segment, key) VALUES (?, ?)').numbered, undefined)
  })

  test('are joined where the same follow on each other, and no row is touched twice', () => {
    const joined = insertTogether([
      ...steps(PUT_GRAM, ['ab', 1], ['bc', 2]),
      ...steps(PUT_DOCUMENT, ['x', null, 1], ['y', null, 2]),
      ...steps(PUT_GRAM, ['ab', 1], ['ab', 2]),
      ...steps('DELETE FROM gram WHERE gram = ?', ['ab'], ['bc']),
    ])
    assert.equal(joined.length, 6)
    assert.deepEqual(joined[0]!.params, ['a', ['ab', 'bc'], [1, 2]])
    assert.match(joined[0]!.sql, /\(agent_id, gram, n\) SELECT \$1, k\.p0, k\.p1 FROM unnest\(\$2::text\[\], \$3::bigint\[\]\)/)
    assert.match(joined[1]!.sql, /SELECT \$1, k\.p0, 'queued', NULL, k\.p2 FROM/)
  })

  test('are read for many parameters at once, numbers as numbers and bytes as bytes', () => {
    const { sql, params } = selectTogether('a', 'SELECT df FROM post WHERE segment = ? AND key = ?', [
      [1, 'ea'],
      [1.5, 'eb'],
    ])
    assert.match(sql, /unnest\(\$2::double precision\[\], \$3::text\[\]\) WITH ORDINALITY AS k \(p0, p1, i\)/)
    assert.match(sql, /WHERE segment = k\.p0 AND key = k\.p1\) one LIMIT 1/)
    assert.deepEqual(params, ['a', [1, 1.5], ['ea', 'eb']])
  })
})
