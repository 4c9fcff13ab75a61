// Requests with an Idempotency-Key: long kept answers are sent in turns, because a key may repeat a request a hundred times a second.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { newId } from '../../src/core/platform/ids.ts'
import type { Deps } from '../../src/http/deps.ts'
import type { Statement } from '../../src/store/database.ts'
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { claimRequest, type RequestClaim } from '../../src/turns/idempotency.ts'
import { NoPeers } from '../../src/turns/peers.ts'
import { until } from '../support/poll.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-kept-'))
after(() => rmSync(folder, { recursive: true }))

test('of long kept answers, one is sent in each round of the event loop, and short ones at once', async () => {
  const db = new SqliteDatabase(folder)
  const limits = { maxWaitMs: 1, turnTimeoutMs: 1, keepAnswersMs: 60_000 }
  const deps = { db, clock: Date.now, newId, peers: new NoPeers(newId), limits, warn() {} } as unknown as Deps
  const request = (key: string) => ({ apiKeyId: 'k', key, parts: ['x'], agentId: '' })
  for (const [key, chars] of Object.entries({ long: 20_000, short: 10 })) {
    const claim = (await claimRequest(deps, request(key))) as RequestClaim
    await db.write([claim.keep({ sessionId: '', userId: '' }, 200, 'x'.repeat(chars))])
  }
  let round = 0
  let isOver = false
  const counting = (async () => {
    for (; !isOver; round++) await new Promise(setImmediate)
  })()
  const roundOf = async (key: string) => {
    await claimRequest(deps, request(key))
    return round
  }
  const rounds = await Promise.all([...Array.from({ length: 5 }, () => roundOf('long')), roundOf('short')])
  isOver = true
  await counting
  const short = rounds.pop()!
  assert.equal(new Set(rounds).size, 5, rounds.join())
  assert.ok(short <= Math.min(...rounds), `${short} after ${rounds.join()}`)
  await db.close()
})

test('a key that could not be freed is freed as soon as the store can write again', async () => {
  const db = new SqliteDatabase(mkdtempSync(join(folder, 'full-')))
  const limits = { maxWaitMs: 60_000, turnTimeoutMs: 60_000, keepAnswersMs: 60_000 }
  let isFull = false
  const warnings: string[] = []
  const full = Object.assign(Object.create(db) as SqliteDatabase, {
    read: db.read.bind(db),
    write: async (statements: Statement[]) => {
      if (isFull) throw new Error('the disk is full')
      return db.write(statements)
    },
  })
  const deps = {
    db: full,
    clock: Date.now,
    newId,
    peers: new NoPeers(newId),
    limits,
    warn: (about: string) => warnings.push(about),
  } as unknown as Deps
  const request = { apiKeyId: 'k', key: 'a', parts: ['x'], agentId: '' }
  const claim = (await claimRequest(deps, request)) as RequestClaim
  isFull = true
  await claim.release()
  isFull = false
  await until('another request has the key', async () => {
    const again = await claimRequest(deps, request).catch(() => undefined)
    return again !== undefined && 'release' in again
  })
  assert.equal(warnings.length, 1)
  await db.close()
})
