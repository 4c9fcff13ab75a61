import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Database, statement } from '../../src/store/database.ts'

const AGENT = 'INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($1, $2, $3, $4, $4)'
const agent = (id: string, name = 'a') => statement(AGENT, id, name, '{}', 1)

async function collect<T>(slices: AsyncIterable<T[]>): Promise<T[][]> {
  const all: T[][] = []
  for await (const slice of slices) all.push(slice)
  return all
}

/** What every storage engine must keep. `open` gives an empty database. */
export function databaseContract(engine: string, open: () => Promise<Database>): void {
  describe(`database contract: ${engine}`, () => {
    test('a list of statements is written whole, and answers with the rows of each', async () => {
      const db = await open()
      const rows = await db.write([agent('1'), statement('UPDATE agent SET name = $1 RETURNING id', 'b')])
      assert.deepEqual(
        rows.map((r) => r.map((row) => ({ ...row }))),
        [[], [{ id: '1' }]],
      )
      await db.close()
    })

    test('a list in which one statement fails leaves nothing behind', async () => {
      const db = await open()
      await assert.rejects(db.write([agent('1'), agent('1')]))
      assert.deepEqual(await db.read('SELECT id FROM agent', []), [])
      await db.close()
    })

    test('lists asked for at the same moment succeed and fail apart', async () => {
      const db = await open()
      const [other, ...alike] = await Promise.allSettled([db.write([agent('2')]), db.write([agent('1')]), db.write([agent('1')])])
      assert.equal(other.status, 'fulfilled')
      assert.deepEqual(alike.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
      assert.equal((await db.read('SELECT id FROM agent', [])).length, 2)
      await db.close()
    })

    test('what is read at the same moment is answered, or fails, apart', async () => {
      const db = await open()
      await db.write([agent('1'), agent('2')])
      const find = (id: string) => db.read('SELECT id FROM agent WHERE id = $1', [id])
      const [first, bad, last, none] = await Promise.allSettled([
        find('1'),
        db.read('SELECT no_such_column FROM agent', []),
        find('2'),
        find('3'),
      ])
      assert.equal(bad.status, 'rejected')
      const ids = [first, last, none].map((found) => found.status === 'fulfilled' && found.value.map(({ id }) => id))
      assert.deepEqual(ids, [['1'], ['2'], []])
      await db.close()
    })

    test('a guarded list whose first statement touches nothing does nothing', async () => {
      const db = await open()
      const guard = statement('UPDATE agent SET name = $1 WHERE id = $2 RETURNING id', 'x', 'nobody')
      assert.equal(await db.writeIf([guard, agent('1')]), undefined)
      assert.deepEqual(await db.read('SELECT id FROM agent', []), [])
      await db.close()
    })

    test('a parameter may stand in several places, and in any order', async () => {
      const db = await open()
      await db.write([agent('1', 'x')])
      const [row] = await db.read('SELECT $2 AS second, name FROM agent WHERE name = $1 OR id = $1', ['x', 'y'])
      assert.deepEqual({ ...row }, { second: 'y', name: 'x' })
      await db.close()
    })

    test('rows are had as values, too, in the order of the columns, from a read and from a stream', async () => {
      const db = await open()
      await db.write([agent('1', 'x'), agent('2', 'y')])
      const sql = 'SELECT name, created_at, NULL AS none, id FROM agent WHERE created_at = $1 ORDER BY id'
      const values = [
        ['x', 1, null, '1'],
        ['y', 1, null, '2'],
      ]
      assert.deepEqual(await db.readValues(sql, [1]), values)
      assert.deepEqual(await collect(db.stream(sql, [1], 10)), [values])
      assert.equal((await db.read(sql, [1]))[1]!.name, 'y', 'the same text, read by name')
      await db.close()
    })

    test('a stream shows one moment: what is written while it runs is not in it', async () => {
      const db = await open()
      await db.write(Array.from({ length: 10 }, (_, i) => agent(String(i))))
      const seen: number[] = []
      for await (const slice of db.stream('SELECT id FROM agent ORDER BY id', [], 4)) {
        if (seen.length === 0) await db.write([agent('99')])
        seen.push(slice.length)
      }
      assert.deepEqual(seen, [4, 4, 2])
      await db.close()
    })

    test('a stream that is left early can be followed by another', async () => {
      const db = await open()
      await db.write(Array.from({ length: 10 }, (_, i) => agent(String(i))))
      for await (const _ of db.stream('SELECT id FROM agent', [], 2)) break
      assert.equal((await collect(db.stream('SELECT id FROM agent', [], 100)))[0]!.length, 10)
      await db.close()
    })
  })
}
