import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Session } from '../../src/core/session.ts'
import type { Database } from '../../src/store/database.ts'
import { deleteSession } from '../../src/store/deletion.ts'
import {
  beginTurn,
  completeTurn,
  failRunningTurns,
  findPlace,
  insertConversation,
  listMessages,
  listRecent,
  moveTurn,
} from '../../src/store/messages.ts'
import {
  countSessions,
  findSession,
  insertSession,
  listSessions,
  renameSession,
  streamSessions,
} from '../../src/store/sessions.ts'

const AGENT = '01980000-0000-7000-8000-00000000000a'
let made = 0
const id = () => `01980000-0000-7000-8000-${String(++made).padStart(12, '0')}`

const newSession = (change: Partial<Session> = {}): Session => ({
  ...{
    id: id(),
    agentId: AGENT,
    name: 'n',
    userId: id(),
    totalMessages: 0,
    lastMessageAt: 1000,
    createdAt: 1000,
    updatedAt: 1000,
  },
  ...change,
})
const user = (content: string, createdAt = 2000) => ({ id: id(), role: 'USER' as const, content, createdAt })
const reply = (content: string, createdAt = 2000) => ({
  ...user(content, createdAt),
  role: 'AI' as const,
  markdown: null,
  model: 'm',
  detail: null,
})

/** What the statements of sessions and messages must do on every engine. */
export function storeContract(engine: string, open: () => Promise<Database>): void {
  describe(`store contract: ${engine}`, () => {
    const kept = async (run: (db: Database) => Promise<void>) => {
      const db = await open()
      try {
        await run(db)
      } finally {
        await db.close()
      }
    }

    test('turns begun at the same moment get places without gap or double', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        await Promise.all(Array.from({ length: 50 }, (_, i) => beginTurn(db, AGENT, session.id, user(`m${i}`))))
        const messages = await listMessages(db, AGENT, session.id, 0, 100)
        assert.deepEqual(
          messages.map((m) => m.content),
          Array.from({ length: 50 }, (_, i) => `m${i}`),
        )
        assert.equal((await findSession(db, AGENT, session.id))?.totalMessages, 50)
        assert.equal(await findPlace(db, AGENT, session.id, messages[49]!.id), 50)
      }))

    test('a reply stands right behind its message, and the turn is done', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        const message = user('q')
        await beginTurn(db, AGENT, session.id, message)
        assert.equal(await completeTurn(db, AGENT, session.id, message.id, reply('a', 3000)), true)
        const recent = await listRecent(db, AGENT, session.id, 10)
        assert.deepEqual(
          recent.map(({ content, turn }) => [content, turn]),
          [
            ['q', 'done'],
            ['a', null],
          ],
        )
        assert.equal((await findSession(db, AGENT, session.id))?.lastMessageAt, 3000)
      }))

    test('a turn whose session was deleted cannot be completed', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        const message = user('q')
        await beginTurn(db, AGENT, session.id, message)
        assert.equal(await deleteSession(db, session), true)
        assert.equal(await completeTurn(db, AGENT, session.id, message.id, reply('a')), false)
        assert.deepEqual(await listMessages(db, AGENT, session.id, 0, 10), [])
        assert.equal(await deleteSession(db, session), false)
      }))

    test('after a crash running turns are failed, once', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        const message = user('q')
        await beginTurn(db, AGENT, session.id, message)
        assert.equal(await failRunningTurns(db), 1)
        assert.equal(await failRunningTurns(db), 0)
        assert.equal(await moveTurn(db, AGENT, session.id, message.id, 'failed', 'running'), true)
        assert.equal(await moveTurn(db, AGENT, session.id, message.id, 'failed', 'running'), false)
      }))

    test('a long history is gone from sight at once, and from the tables soon after', () =>
      kept(async (db) => {
        const session = newSession({ totalMessages: 1500 })
        await insertConversation(
          db,
          session,
          Array.from({ length: 1500 }, (_, i) => user(`m${i}`)),
        )
        assert.equal(await deleteSession(db, session), true)
        assert.equal(await findSession(db, AGENT, session.id), undefined)
        const count = async () =>
          (await db.read('SELECT (SELECT count(*) FROM message) + (SELECT count(*) FROM purge) AS n', []))[0]!.n
        for (let tries = 0; (await count()) !== 0 && tries < 1000; tries++) await new Promise(setImmediate)
        assert.equal(await count(), 0)
      }))

    test('sessions are listed by last activity, then id, and paged without gap or double', () =>
      kept(async (db) => {
        const sessions = Array.from({ length: 30 }, (_, i) => newSession({ lastMessageAt: 1000 + (i % 3) }))
        for (const session of sessions) await insertSession(db, session)
        const expected = sessions.toSorted((a, b) => b.lastMessageAt - a.lastMessageAt || (a.id < b.id ? 1 : -1)).map((s) => s.id)
        const streamed: string[] = []
        for await (const slice of streamSessions(db, { agentId: AGENT }, 7)) streamed.push(...slice.map((s) => s.id))
        assert.deepEqual(streamed, expected)
        const paged: string[] = []
        for (
          let page = await listSessions(db, { agentId: AGENT }, undefined, 4);
          page.length > 0;
          page = await listSessions(db, { agentId: AGENT }, page.at(-1), 4)
        )
          paged.push(...page.map((s) => s.id))
        assert.deepEqual(paged, expected)
      }))

    test('filters by user and by time narrow list and count alike', () =>
      kept(async (db) => {
        const mine = newSession({ lastMessageAt: 5000 })
        for (const session of [
          mine,
          newSession({ lastMessageAt: 5000 }),
          newSession({ userId: mine.userId, lastMessageAt: 9000 }),
        ])
          await insertSession(db, session)
        const filter = { agentId: AGENT, userId: mine.userId, from: 5000, to: 9000 }
        assert.deepEqual(
          (await listSessions(db, filter, undefined, 10)).map((s) => s.id),
          [mine.id],
        )
        assert.equal((await countSessions(db, filter)).sessions, 1)
        const times = { agentId: AGENT, from: 5000, to: 9000 }
        assert.equal((await listSessions(db, times, undefined, 10)).length, 2)
        assert.equal((await countSessions(db, { ...times, from: 5001 })).sessions, 0)
      }))

    test('renaming moves the name and its time only, and misses a session that is gone', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        assert.equal(await renameSession(db, session, 'new', 7000), true)
        assert.deepEqual(await findSession(db, AGENT, session.id), { ...session, name: 'new', updatedAt: 7000 })
        assert.equal(await renameSession(db, newSession(), 'new', 7000), false)
      }))
  })
}
