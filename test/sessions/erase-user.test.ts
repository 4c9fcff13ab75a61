import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Agent } from '../../src/core/agent.ts'
import { newId } from '../../src/core/platform/ids.ts'
import type { Deps } from '../../src/http/deps.ts'
import { createSession } from '../../src/sessions/sessions.ts'
import { eraseUser } from '../../src/sessions/users.ts'
import { statement } from '../../src/store/database.ts'
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { insertAgent } from '../../src/store/tables/agents.ts'
import { listSessions } from '../../src/store/tables/sessions.ts'
import { NoPeers } from '../../src/turns/peers.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-erase-'))
after(() => rmSync(folder, { recursive: true }))

const AGENT = '01980000-0000-7000-8000-00000000000a'

test('a user who goes on using and making sessions is erased all the same: of the sessions before, none is left', async () => {
  const db = new SqliteDatabase(folder)
  await insertAgent(db, { ...({} as Agent), id: AGENT, name: 'a', createdAt: 1, updatedAt: 1 })
  let now = 1
  const make = () => createSession(deps, AGENT, { externalUserId: 'u' })
  const list = () => listSessions(db, { agentId: AGENT, userId: 'u' }, undefined, 1_000)
  const deps = {
    db,
    newId,
    clock: () => now++,
    turns: { stop() {} },
    peers: new NoPeers(newId),
    webhooks: { queue: () => [] },
    warn() {},
  } as unknown as Deps
  for (let i = 0; i < 119; i++) await make()
  // By the clock of another process, which is ahead.
  now += 1_000_000
  const ahead = await make()
  now -= 1_000_000
  const begun = now
  // Which the list shows last, until it is used.
  const used = (await list()).at(-1)!
  let deletions = 0
  deps.turns.stop = () => {
    deletions++
    void make()
    if (deletions === 60) void db.write([statement('UPDATE session SET last_message_at = $2 WHERE id = $1', used.id, now)])
  }
  const erased = await eraseUser(deps, AGENT, 'u')
  assert.ok(erased >= 120, `${erased} sessions`)
  assert.deepEqual(
    (await list()).filter((session) => session.createdAt < begun || session.id === ahead.id),
    [],
  )
  await db.close()
})
