// Lists of many requests share a transaction of the embedded store: one that fails does not cost the others their commit, and none waits for all.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, mock, type TestContext, test } from 'node:test'
import { statement } from '../../src/store/database.ts'
import { SqliteConnection } from '../../src/store/sqlite/connection.ts'
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'

const root = mkdtempSync(join(tmpdir(), 'repartee-commit-'))
after(() => rmSync(root, { recursive: true }))
const open = (t: TestContext): SqliteDatabase => {
  const db = new SqliteDatabase(mkdtempSync(join(root, 'db-')))
  t.after(() => db.close())
  return db
}

const agent = (id: string) =>
  statement('INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($1, $1, $2, 1, 1) RETURNING id', id, '{}')
const ids = async (db: SqliteDatabase) => (await db.readValues('SELECT id FROM agent ORDER BY rowid', [])).flat()

/** Counts the commits that are made while `work` runs. */
async function countCommits(work: () => Promise<unknown>): Promise<number> {
  const all = mock.method(SqliteConnection.prototype, 'all')
  try {
    await work()
    return all.mock.calls.filter(({ arguments: [sql] }) => sql === 'COMMIT').length
  } finally {
    all.mock.restore()
  }
}

test('of lists that share a transaction one fails: what it did is taken back, and the others are written in one commit', async (t) => {
  const db = open(t)
  const lists = [[agent('a')], [agent('b'), agent('a')], [agent('c')], [agent('c')], [agent('d'), agent('e')]]
  let outcomes: PromiseSettledResult<unknown>[] = []
  const commits = await countCommits(async () => {
    outcomes = await Promise.allSettled(lists.map((list) => db.write(list)))
  })
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled'],
  )
  assert.deepEqual(await ids(db), ['a', 'c', 'd', 'e'])
  assert.equal(commits, 1)
})

test('a transaction that takes long ends after the list it is at, and the rest follows in the same order', async (t) => {
  const db = open(t)
  let now = 0
  // Each look at the clock is 8 ms later, so that of 20 ms two or three lists make use.
  const clock = mock.method(performance, 'now', () => {
    now += 8
    return now
  })
  const names = Array.from({ length: 12 }, (_, i) => `agent ${i}`)
  const commits = await countCommits(() => Promise.all(names.map((name) => db.write([agent(name)]))))
  clock.mock.restore()
  assert.deepEqual(await ids(db), names)
  assert.ok(commits >= 4, `${commits} commits`)
})
