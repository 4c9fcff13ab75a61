import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Rate, type TakeShared } from '../../src/access/rates.ts'
import { PostgresDatabase } from '../../src/store/postgres/postgres-database.ts'
import { takeFromWindow } from '../../src/store/tables/processes/rate-windows.ts'
import { newDatabase } from '../support/postgres.ts'

describe('a rate', () => {
  test('lets so many through in a minute that begins with the first, and tells what is left', async () => {
    let now = 1_000
    const rate = new Rate('key', 3, () => now)
    const take = async () => {
      const { remaining, resetMs, isOver } = await rate.take('a')
      return [remaining, resetMs, isOver]
    }
    assert.deepEqual(await take(), [2, 60_000, false])
    now += 20_000
    assert.deepEqual(await take(), [1, 40_000, false])
    assert.deepEqual(await take(), [0, 40_000, false])
    assert.deepEqual(await take(), [0, 40_000, true])
    now += 39_999
    assert.deepEqual(await take(), [0, 1, true])
    now += 1
    assert.deepEqual(await take(), [2, 60_000, false])
  })

  test('counts each caller by itself', async () => {
    const rate = new Rate('key', 1, () => 0)
    assert.equal((await rate.take('a')).isOver, false)
    assert.equal((await rate.take('b')).isOver, false)
    assert.equal((await rate.take('a')).isOver, true)
  })

  test('of very many callers costs no more for each than of few', async () => {
    let now = 0
    let looks = 0
    const rate = new Rate('key', 1, () => now)
    const forEach = Map.prototype[Symbol.iterator]
    Map.prototype[Symbol.iterator] = function (this: Map<unknown, unknown>) {
      looks++
      return forEach.call(this)
    }
    for (let i = 0; i < 30_000; i++) rate.take(String(i))
    now = 60_000
    rate.take('again')
    Map.prototype[Symbol.iterator] = forEach
    assert.ok(looks <= 2, `${looks} looks through all`)
  })

  test('lets through no more where several processes count, and all that may where they share one caller', async () => {
    const db = await PostgresDatabase.open({ url: await newDatabase(), connections: 8 })
    let now = 5_000
    let trips = 0
    const shared: TakeShared = (id, ask) => {
      trips++
      return takeFromWindow(db, id, ask)
    }
    const processes = Array.from({ length: 4 }, () => new Rate('key', 200, () => now, shared))
    const round = async (each: number) => {
      const standings = await Promise.all(processes.flatMap((rate) => Array.from({ length: each }, () => rate.take('a'))))
      return standings.filter(({ isOver }) => !isOver).length
    }
    assert.equal(await round(40), 160)
    assert.equal(await round(40), 40)
    assert.equal(await round(40), 0)
    assert.ok(trips <= 24, `${trips} trips`)
    now += 60_000
    assert.equal(await round(50), 200)
    await db.close()
  })
})
