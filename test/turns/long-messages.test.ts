// Long messages are read a slice at a time, callers in turn: a hundred requests for them could otherwise hold up everybody.
import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import type { Agent } from '../../src/core/agent.ts'
import type { Session } from '../../src/core/session.ts'
import type { Deps } from '../../src/http/deps.ts'
import { messageSlices } from '../../src/sessions/message-slices.ts'
import { CONVERSATIONS, isLast, readSlice } from '../../src/store/backup/move/place.ts'
import type { Database, Value } from '../../src/store/database.ts'
import { SqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts'
import { insertAgent } from '../../src/store/tables/agents.ts'
import { insertConversation, listMessagesAfter } from '../../src/store/tables/messages.ts'
import { getMessage } from '../../src/turns/read-message.ts'
import { removedAtExit } from '../support/cleanup.ts'

const session: Session = {
  ...{ id: 's', agentId: 'a', name: 'n', userId: 'u', totalMessages: 60, lastMessageAt: 1, createdAt: 1, updatedAt: 1 },
}

describe('long messages', async () => {
  const db = new SqliteDatabase(removedAtExit(mkdtempSync(join(tmpdir(), 'long-'))))
  after(() => db.close())
  await insertAgent(db, { ...({} as Agent), id: 'a', name: 'a', createdAt: 1, updatedAt: 1 })
  const messages = Array.from({ length: 60 }, (_, i) => ({
    ...{ id: `m${i}`, role: i % 2 ? ('AI' as const) : ('USER' as const), createdAt: 1 },
    content: `${i} `.padEnd(16_000, 'x'),
  }))
  messages[59]!.content = 'x'.repeat(190_000)
  messages[58]!.content = 'short'
  await insertConversation(db, session, messages)

  /** The same store; notes how many characters each statement returns. */
  const watching = () => {
    const read: number[] = []
    const note = <R extends object>(rows: R[]): R[] => {
      read.push(rows.flatMap((row) => Object.values(row)).reduce((sum, value) => sum + String(value).length, 0))
      return rows
    }
    const watched: Partial<Database> = {
      read: async (sql, params) => note(await db.read(sql, params)),
      readValues: async (sql, params) => note(await db.readValues(sql, params)),
      scan: async (sql, params) => note(await db.scan(sql, params)),
    }
    return { watched: watched as Database, read }
  }

  test('a page of them is read in slices of fifty thousand characters', async () => {
    const { watched, read } = watching()
    const listed = await listMessagesAfter(watched, 'a', 's', 0, 60)
    assert.ok(read[0]! < 10_000, `${read[0]} characters in the list`)
    const got: string[] = []
    for await (const slice of messageSlices(watched, session, listed, { owner: 'one' })) got.push(...slice.map((m) => m.content))
    assert.deepEqual(
      got,
      messages.map(({ content }) => content),
    )
    const most = Math.max(...read.slice(0, -1))
    assert.ok(most < 51_000, `${most} characters at once`)
  })

  test('of many requests for one, one reads it in each round of the event loop, callers in turn; a short one is read at once', async () => {
    const { watched } = watching()
    const done: string[] = []
    const get = (owner: string, id: string) =>
      getMessage({ db: watched } as Deps, session, id, { owner }).then(() => done.push(`${owner} ${id}`))
    const all = [get('one', 'm59'), get('one', 'm59'), get('one', 'm59'), get('two', 'm59'), get('one', 'm58')]
    await Promise.all(all)
    assert.deepEqual(done, ['one m58', 'one m59', 'two m59', 'one m59', 'one m59'])
  })

  test('it is not read for a caller who has left', async () => {
    const { watched, read } = watching()
    const left = { owner: 'one', isWanted: () => false }
    await assert.rejects(getMessage({ db: watched } as Deps, session, 'm59', left), { code: 'unavailable' })
    assert.ok(Math.max(...read) < 100)
  })
})

test('a backup reads long messages a few at a time, and all of them', async () => {
  const db = new SqliteDatabase(removedAtExit(mkdtempSync(join(tmpdir(), 'backup-'))))
  after(() => db.close())
  await insertAgent(db, { ...({} as Agent), id: 'a', name: 'a', createdAt: 1, updatedAt: 1 })
  const long = Array.from({ length: 30 }, (_, i) => ({
    ...{ id: `m${i}`, role: 'USER' as const, createdAt: 1 },
    content: 'x'.repeat(i < 10 ? 10 : 150_000),
  }))
  await insertConversation(db, { ...session, totalMessages: 30 }, long)
  const messages = CONVERSATIONS.find(({ name }) => name === 'message')!
  const slices: number[] = []
  let last: Value = 0
  for (;;) {
    const rows = await db.readValues(readSlice(messages, ['seq', 'content'], `message WHERE seq > $1`, ['seq']), [last])
    if (isLast(messages, rows)) break
    slices.push(rows.length)
    last = rows.at(-1)![0]!
  }
  assert.deepEqual(slices, [11, ...Array.from({ length: 9 }, () => 2), 1])
})
