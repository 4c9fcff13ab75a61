import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Agent } from '../../src/core/agent.ts'
import type { Session } from '../../src/core/session.ts'
import { insertAgent } from '../../src/store/agents.ts'
import type { Database } from '../../src/store/database.ts'
import { deleteSession } from '../../src/store/deletion.ts'
import { claimKey, forgetAnswers, keepAnswer, releaseClaim, releaseLapsedClaims } from '../../src/store/kept-answers.ts'
import { findMessage, findPlace, insertConversation, listFrom, listMessages, listVersions } from '../../src/store/messages.ts'
import {
  countSessions,
  findSession,
  insertSession,
  listSessions,
  renameSession,
  streamSessions,
} from '../../src/store/sessions.ts'
import { findSummary, putSummary } from '../../src/store/summaries.ts'
import {
  abandonTurn,
  beginTurn,
  completeTurn,
  continueTurn,
  failLapsedTurns,
  leaseSession,
  renewLeases,
  replaceReply,
} from '../../src/store/turns.ts'

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
  tookMs: 5,
  answered: true,
})

/** What the statements of sessions and messages must do on every engine. */
export function storeContract(engine: string, open: () => Promise<Database>): void {
  describe(`store contract: ${engine}`, () => {
    const kept = async (run: (db: Database) => Promise<void>) => {
      const db = await open()
      try {
        await insertAgent(db, { ...({} as Agent), id: AGENT, name: 'a', createdAt: 1, updatedAt: 1 })
        await run(db)
      } finally {
        await db.close()
      }
    }

    test('a session is not made where its agent is gone', () =>
      kept(async (db) => {
        const orphan = newSession({ agentId: id() })
        assert.equal(await insertSession(db, orphan), false)
        assert.equal(await insertConversation(db, orphan, [user('q')]), false)
        assert.equal(await findSession(db, orphan.agentId, orphan.id), undefined)
        assert.deepEqual(await listMessages(db, orphan.agentId, orphan.id, 0, 10), [])
      }))

    const FAR = 1_000_000
    const upTo = (messages: number, leaseUntil = FAR) => ({ leaseUntil, messages })
    /** A session with a turn that runs in it. */
    const running = async (db: Database, lease = 'one') => {
      const session = newSession()
      await insertSession(db, session)
      const place = { agentId: AGENT, sessionId: session.id, lease }
      const message = user('q')
      assert.equal(await beginTurn(db, place, upTo(0), message), true)
      return { session, place, message }
    }
    const states = async (db: Database, sessionId: string) =>
      (await listFrom(db, AGENT, sessionId, 1)).map(({ content, turn }) => [content, turn])

    test('of turns begun at the same moment in one session one gets it, and appends from many sessions leave no gap', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        const begun = await Promise.all(
          Array.from({ length: 20 }, (_, i) =>
            beginTurn(db, { agentId: AGENT, sessionId: session.id, lease: `l${i}` }, upTo(0), user(`m${i}`)),
          ),
        )
        assert.equal(begun.filter(Boolean).length, 1)
        const messages = await listMessages(db, AGENT, session.id, 0, 100)
        assert.equal(messages.length, 1)
        assert.equal((await findSession(db, AGENT, session.id))?.totalMessages, 1)
        assert.equal(await findPlace(db, AGENT, session.id, messages[0]!.id), 1)
      }))

    test('a reply stands right behind its message, the turn is done, and the session is free', () =>
      kept(async (db) => {
        const { session, place, message } = await running(db)
        assert.equal(await completeTurn(db, place, message.id, 'done', reply('a', 3000)), true)
        assert.deepEqual(await states(db, session.id), [
          ['q', 'done'],
          ['a', null],
        ])
        assert.equal((await findSession(db, AGENT, session.id))?.lastMessageAt, 3000)
        assert.equal(await beginTurn(db, { ...place, lease: 'two' }, upTo(1), user('stale')), false, 'it is longer than was read')
        assert.equal(await beginTurn(db, { ...place, lease: 'two' }, upTo(2), user('next')), true)
      }))

    test('a turn whose session was deleted cannot be completed', () =>
      kept(async (db) => {
        const { session, place, message } = await running(db)
        assert.equal(await deleteSession(db, session), true)
        assert.equal(await completeTurn(db, place, message.id, 'done', reply('a')), false)
        assert.deepEqual(await listMessages(db, AGENT, session.id, 0, 10), [])
        assert.equal(await deleteSession(db, session), false)
      }))

    test('a turn that failed keeps its message and why, and can be taken up again, once', () =>
      kept(async (db) => {
        const { session, place, message } = await running(db)
        assert.equal(await abandonTurn(db, place, message.id, 'failed', '{"why":1}'), true)
        assert.equal(await abandonTurn(db, place, message.id, 'failed', '{}'), false)
        assert.equal((await findMessage(db, AGENT, session.id, message.id))?.detail, '{"why":1}')
        assert.equal(await continueTurn(db, { ...place, lease: 'two' }, upTo(1), message.id), true)
        assert.equal(await continueTurn(db, { ...place, lease: 'three' }, upTo(1), message.id), false)
        assert.equal(await completeTurn(db, { ...place, lease: 'two' }, message.id, 'done', reply('a')), true)
        assert.deepEqual(await states(db, session.id), [
          ['q', 'done'],
          ['a', null],
        ])
        assert.equal((await findMessage(db, AGENT, session.id, message.id))?.detail, null)
      }))

    test('a turn whose lease is over is failed, once; one that was renewed is not', () =>
      kept(async (db) => {
        const dead = await running(db)
        const alive = await running(db, 'alive')
        await renewLeases(db, [alive.place, { ...dead.place, lease: 'not the one' }], FAR + 1000)
        assert.equal(await failLapsedTurns(db, FAR + 1, id()), 1)
        assert.equal(await failLapsedTurns(db, FAR + 1, id()), 0)
        assert.deepEqual(await states(db, dead.session.id), [['q', 'failed']])
        assert.deepEqual(await states(db, alive.session.id), [['q', 'running']])
      }))

    test('a turn that lost its lease cannot put its reply beside that of the turn that took over', () =>
      kept(async (db) => {
        const { session, place, message } = await running(db)
        await failLapsedTurns(db, FAR + 1, id())
        const heir = { ...place, lease: 'heir' }
        assert.equal(await continueTurn(db, heir, upTo(1, 2 * FAR), message.id), true)
        assert.equal(await completeTurn(db, place, message.id, 'done', reply('late')), false)
        assert.equal(await completeTurn(db, heir, message.id, 'done', reply('a')), true)
        assert.deepEqual(await states(db, session.id), [
          ['q', 'done'],
          ['a', null],
        ])
      }))

    test('a reply that is made anew keeps id and place; what it said before is a version, with what was thought of it', () =>
      kept(async (db) => {
        const { session, place, message } = await running(db)
        const first = reply('first', 3000)
        await completeTurn(db, place, message.id, 'done', first)
        for (const [i, content] of ['second', 'third'].entries()) {
          const again = { ...place, lease: `again ${i}` }
          assert.equal(await leaseSession(db, again, upTo(1)), false, 'it is longer than was read')
          assert.equal(await leaseSession(db, again, upTo(2)), true)
          assert.equal(await beginTurn(db, { ...place, lease: 'other' }, upTo(2), user('no')), false, 'the session is taken')
          assert.equal(await replaceReply(db, again, message.id, { ...first, content }, 4000 + i), true)
          assert.equal(await replaceReply(db, again, message.id, { ...first, content }, 4000 + i), false, 'the lease is over')
        }
        const messages = await listMessages(db, AGENT, session.id, 0, 10)
        assert.deepEqual([messages[1]!.id, messages[1]!.content, messages.length], [first.id, 'third', 2])
        assert.deepEqual(
          (await listVersions(db, AGENT, session.id, first.id)).map(({ content, replacedAt }) => [content, replacedAt]),
          [
            ['first', 4000],
            ['second', 4001],
          ],
        )
        assert.equal((await findSession(db, AGENT, session.id))?.totalMessages, 2)
      }))

    test('a summary only ever reaches further, and goes with its session', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        await putSummary(db, AGENT, session.id, { upto: 10, text: 'ten' }, 1)
        await putSummary(db, AGENT, session.id, { upto: 20, text: 'twenty' }, 2)
        await putSummary(db, AGENT, session.id, { upto: 15, text: 'late' }, 3)
        assert.deepEqual(await findSummary(db, AGENT, session.id), { upto: 20, text: 'twenty' })
        await deleteSession(db, session)
        assert.equal(await findSummary(db, AGENT, session.id), undefined)
        await putSummary(db, AGENT, session.id, { upto: 30, text: 'after its end' }, 4)
        assert.equal(await findSummary(db, AGENT, session.id), undefined)
      }))

    const claim = (change: object = {}) => ({
      ...{ apiKeyId: 'k', keyHash: 'h', fingerprint: 'f', agentId: AGENT, claim: 'c', claimedUntil: 2000, createdAt: 1000 },
      ...change,
    })
    test('a key is claimed by one; its answer is kept, found by all who come later, and forgotten in time', () =>
      kept(async (db) => {
        const tries = await Promise.all(['a', 'b', 'c'].map((c) => claimKey(db, claim({ claim: c }), 0)))
        assert.equal(tries.filter((kept) => kept === undefined).length, 1)
        assert.equal(tries.find((kept) => kept !== undefined)?.status, null)
        await db.write([keepAnswer(claim({ claim: 'not the one' }), '', 200, 'wrong')])
        assert.equal((await claimKey(db, claim({ claim: 'd' }), 0))?.answer, null)
        await db.write([keepAnswer(claim({ claim: 'a' }), 's', 201, 'right')])
        const found = await claimKey(db, claim({ claim: 'e', createdAt: 900_000 }), 0)
        assert.deepEqual([found?.status, found?.answer, found?.fingerprint], [201, 'right', 'f'])
        await releaseClaim(db, claim({ claim: 'a' }))
        assert.equal((await claimKey(db, claim({ claim: 'e' }), 0))?.answer, 'right', 'an answer is not released')
        assert.equal(await claimKey(db, claim({ claim: 'f', createdAt: 5000 }), 1001), undefined, 'what is too old is gone')
        assert.equal(await forgetAnswers(db, 5001, 10), 0, 'a request under way is no old answer')
        assert.notEqual(await claimKey(db, claim({ claim: 'g', createdAt: 1500 }), 9000), undefined)
        await db.write([keepAnswer(claim({ claim: 'f' }), '', 200, 'new')])
        assert.equal(await forgetAnswers(db, 4999, 10), 0)
        assert.equal(await forgetAnswers(db, 5001, 10), 1)
      }))

    test('a claim that was released, or whose time is over, is free again', () =>
      kept(async (db) => {
        await claimKey(db, claim(), 0)
        await releaseClaim(db, claim())
        assert.equal(await claimKey(db, claim({ claim: 'd' }), 0), undefined)
        assert.notEqual(await claimKey(db, claim({ claim: 'e' }), 0), undefined)
        assert.equal(await claimKey(db, claim({ claim: 'e', createdAt: 2001 }), 0), undefined)
        await releaseLapsedClaims(db, 3000)
        assert.equal(await claimKey(db, claim({ claim: 'f' }), 0), undefined)
      }))

    test('a session takes the answers that are kept of it along', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        await claimKey(db, claim(), 0)
        await db.write([keepAnswer(claim(), session.id, 200, 'its text')])
        await deleteSession(db, session)
        assert.deepEqual(await db.read('SELECT * FROM kept_answer', []), [])
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
