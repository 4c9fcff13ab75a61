import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { insertTogether, selectTogether } from '../../src/store/knowledge/postgres/batched-sql.ts'
import { ofAgent, scope } from '../../src/store/knowledge/postgres/scope.ts'

const GRAM = {
  into: 'gram',
  columns: ['gram', 'n'],
  onConflict: { key: ['gram'], set: 'n = gram.n + excluded.n' },
}
const DOCUMENT = { into: 'document', columns: ['id', 'status', 'url'] }

describe('statements of a knowledge base, in PostgreSQL', () => {
  test('read rows of one agent from every table that they name', () => {
    assert.equal(
      scope("SELECT d.id FROM {passage p} JOIN {document d} ON d.number = p.document WHERE p.id = ? AND d.source <> '{}'"),
      "SELECT d.id FROM (SELECT * FROM knowledge_passage WHERE agent_id = $1) p JOIN (SELECT * FROM knowledge_document WHERE agent_id = $1) d ON d.number = p.document WHERE p.id = $2 AND d.source <> '{}'",
    )
    assert.equal(scope('SELECT df FROM {word}'), 'SELECT df FROM (SELECT * FROM knowledge_word WHERE agent_id = $1) word')
  })

  test('change rows of one agent, whatever their condition says', () => {
    assert.equal(ofAgent('word', 'word = ? OR df < 0'), 'WHERE word.agent_id = $1 AND (word = ? OR df < 0)')
    assert.equal(ofAgent('manifest'), 'WHERE manifest.agent_id = $1 AND (true)')
  })

  test('insert many rows at once, and no row is changed twice', () => {
    const [grams, ...others] = insertTogether('a', GRAM, [
      ['ab', 1],
      ['bc', 2],
    ])
    assert.deepEqual([grams!.params, others], [['a', ['ab', 'bc'], [1, 2]], []])
    assert.equal(
      grams!.sql,
      'INSERT INTO knowledge_gram AS gram (agent_id, gram, n) SELECT $1, k.p0, k.p1 FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS k (p0, p1, i) ON CONFLICT (agent_id, gram) DO UPDATE SET n = gram.n + excluded.n',
    )
    const [documents] = insertTogether('a', DOCUMENT, [
      ['x', 'queued', null],
      ['y', 'queued', null],
    ])
    assert.match(documents!.sql, /SELECT \$1, k\.p0, k\.p1, NULL FROM/)
    assert.equal(insertTogether('a', GRAM, [['ab', 1], ['ab', 2]]).length, 2) // biome-ignore format: one line
  })

  test('are read for many parameters at once, numbers as numbers and bytes as bytes', () => {
    const { sql, params } = selectTogether('a', 'SELECT df FROM {post} WHERE segment = ? AND key = ?', [
      [1, 'ea'],
      [1.5, 'eb'],
    ])
    assert.match(sql, /unnest\(\$2::double precision\[\], \$3::text\[\]\) WITH ORDINALITY AS k \(p0, p1, i\)/)
    assert.match(sql, /WHERE segment = k\.p0 AND key = k\.p1\) one LIMIT 1/)
    assert.deepEqual(params, ['a', [1, 1.5], ['ea', 'eb']])
  })
})
