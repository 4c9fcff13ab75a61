// Tokens of users: which are good is decided when they are used, whatever made them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { KeyCache } from '../../src/access/key-cache.ts'
import { createKey, type IssuedKey, type NewKey } from '../../src/access/keys.ts'
import { openTokenSecret } from '../../src/access/user-token.ts'
import { newId } from '../../src/core/platform/ids.ts'
import { statement } from '../../src/store/database.ts'
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { endsBy } from '../support/cleanup.ts'

const NOW = Date.parse('2026-01-01T00:00:00Z')
const HOUR = 3_600_000
const [agent, other] = [newId(), newId()]
const userId = randomUUID()
const clock = () => NOW

const folder = mkdtempSync(join(tmpdir(), 'tokens-'))
const db = new SqliteDatabase(folder)
endsBy('the database', () => db.close())
for (const id of [agent, other])
  await db.write([statement("INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($1, 'a', '{}', 1, 1)", id)])
const ring = new KeyCache(db, clock, await openTokenSecret(db))
const newKey = (more: Partial<NewKey> = {}): Promise<IssuedKey> =>
  createKey({ db, clock, newId }, { name: 'k', scopes: ['chat'], ...more })
const tokenOf = ({ key }: IssuedKey, agentId = agent, expiresAt = NOW + HOUR) =>
  ring.makeToken(key, { keyId: key.id, agentId, userId, expiresAt })
const isRefused = (token: string) => assert.rejects(ring.identify(token), { code: 'unauthorized' })

describe('a signed token', () => {
  test('is the user of one agent, with what a user may do', async () => {
    for (const scopes of [['chat'], ['admin'], ['read', 'chat']] as const) {
      const caller = await ring.identify(tokenOf(await newKey({ scopes: [...scopes] })))
      assert.deepEqual([caller.userId, caller.agentIds, caller.scopes], [userId, [agent], ['chat']])
    }
  })

  test('has one spelling', async () => {
    const token = tokenOf(await newKey())
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const spellings = [...letters].map((letter) => token.slice(0, -1) + letter)
    const taken = await Promise.all(
      spellings.map((spelling) =>
        ring.identify(spelling).then(
          () => spelling,
          () => undefined,
        ),
      ),
    )
    assert.deepEqual(
      taken.filter((spelling) => spelling !== undefined),
      [token],
    )
  })

  test('is refused where its key may not chat', async () => {
    for (const scope of ['read', 'knowledge'] as const) await isRefused(tokenOf(await newKey({ scopes: [scope] })))
  })

  test('is refused where its key may not use the agent', async () => {
    const key = await newKey({ agentIds: [agent] })
    await isRefused(tokenOf(key, other))
    assert.equal((await ring.identify(tokenOf(key, agent))).userId, userId)
  })

  test('is refused where it is good for longer than a day', async () => {
    const key = await newKey()
    await isRefused(tokenOf(key, agent, NOW + 25 * HOUR))
    assert.equal((await ring.identify(tokenOf(key, agent, NOW + 24 * HOUR))).userId, userId)
  })
})

test('the secret of a deployment is random, stays, and is joined by the one of the configuration', async () => {
  const elsewhere = new SqliteDatabase(mkdtempSync(join(tmpdir(), 'tokens-')))
  endsBy('the other database', () => elsewhere.close())
  const secrets = await Promise.all([
    openTokenSecret(db),
    openTokenSecret(db),
    openTokenSecret(db, 'more'),
    openTokenSecret(elsewhere),
  ])
  const [one, again, more, theirs] = secrets.map((secret) => secret.toString('hex'))
  assert.equal(one, again)
  assert.equal(new Set([one, more, theirs]).size, 3)
})
