import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { updateAgent as changeAgent } from '../../src/agents/agents.ts'
import type { Agent } from '../../src/core/agent.ts'
import type { Session } from '../../src/core/session.ts'
import type { Deps } from '../../src/http/deps.ts'
import { getOrCreateSession } from '../../src/sessions/sessions.ts'
import { type Database, statement } from '../../src/store/database.ts'
import { findAgent, insertAgent, updateAgent } from '../../src/store/tables/agents.ts'
import { deleteAgentRows, deleteSession } from '../../src/store/tables/deletion.ts'
import { claimDue, queueEvent } from '../../src/store/tables/deliveries.ts'
import type { ClaimRow } from '../../src/store/tables/idempotency.ts'
import * as store from '../../src/store/tables/idempotency.ts'
import {
  forgetAnswers,
  forgetAnswersOf,
  noteSession,
  releaseClaim,
  releaseLapsedClaims,
  storeAnswer,
} from '../../src/store/tables/idempotency.ts'
import { deleteFixedKeys, deleteKey, insertFirstKey, listKeys, replaceFixedKey, rollKey } from '../../src/store/tables/keys.ts'
import {
  findMessage,
  findSeq,
  insertConversation,
  listMessagesAfter,
  listRecent,
  listVersions,
} from '../../src/store/tables/messages.ts'
import {
  askToStop,
  beat,
  forgetLeftovers,
  listOthers,
  ownedId,
  readGeneration,
  settleReplica,
  takeStopRequests,
} from '../../src/store/tables/processes/replicas.ts'
import { enterQueue, isFree, leaveQueue } from '../../src/store/tables/processes/send-queue.ts'
import {
  countSessions,
  findSession,
  insertSession,
  listOldestSessions,
  listSessions,
  renameSession,
  streamSessions,
} from '../../src/store/tables/sessions.ts'
import { findSummary, putSummary } from '../../src/store/tables/summaries.ts'
import {
  abandonTurn,
  beginTurn,
  completeTurn,
  continueTurn,
  failLapsedTurns,
  isLeased,
  leaseSession,
  releaseSession,
  renewLeases,
  replaceReply,
} from '../../src/store/tables/turns.ts'
import { insertWebhook } from '../../src/store/tables/webhooks.ts'
import { NoPeers } from '../../src/turns/peers.ts'
import { claimKey, claimOf } from '../support/claims.ts'
import { until } from '../support/poll.ts'

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
const API_KEY = {
  name: 'k',
  hash: '',
  prefix: 'p',
  scopes: [],
  agentIds: null,
  expiresAt: null,
  lastUsedAt: null,
  budget: null,
  fixed: false,
  createdAt: 1,
}
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
        assert.deepEqual(await listMessagesAfter(db, orphan.agentId, orphan.id, 0, 10), [])
      }))

    test('a session under an id that was made up is made once, whoever asks; and not while one before it is still being deleted', () =>
      kept(async (db) => {
        const deps = {
          db,
          clock: () => 1000,
          newId: id,
          peers: new NoPeers(id),
          webhooks: { queue: () => [] },
        } as unknown as Deps
        const sessionId = id()
        const get = () => getOrCreateSession(deps, AGENT, sessionId, {})
        const made = await Promise.all(Array.from({ length: 5 }, get))
        assert.deepEqual(new Set(made.map((session) => session.userId)).size, 1)
        assert.equal(await countSessions(db, { agentId: AGENT }, { owner: 'one' }), 1)
        await deleteSession(db, made[0]!)
        await db.write([statement('INSERT INTO purge (agent_id, session_id) VALUES ($1, $2)', AGENT, sessionId)])
        await assert.rejects(get(), { code: 'unavailable' })
        await db.write([statement('DELETE FROM purge WHERE agent_id = $1', AGENT)])
        assert.equal((await get()).id, sessionId)
      }))

    test('of many changes of an agent at once none is lost, and each reads it once', () =>
      kept(async (db) => {
        let reads = 0
        const counting: Database = Object.assign(Object.create(db), {
          read: (sql: string, params: string[]) => {
            reads++
            return db.read(sql, params)
          },
          writeIf: db.writeIf.bind(db),
        })
        const deps = {
          db: counting,
          clock: () => 1000,
          agents: { forget() {} },
          peers: new NoPeers(id),
          embedder: { wake() {} },
        } as unknown as Deps
        const texts = ['instructions', 'greeting', 'name'] as const
        await Promise.all(Array.from({ length: 60 }, (_, i) => changeAgent(deps, AGENT, { [texts[i % 3]!]: `${i}` })))
        assert.equal(reads, 60)
        const { instructions, greeting, name } = (await findAgent(db, AGENT))!
        assert.deepEqual([instructions, greeting, name], ['57', '58', '59'])
      }))

    test('agents take turns in the deliveries to a webhook, and each delivery is claimed once', () =>
      kept(async (db) => {
        const webhookId = id()
        const event = 'session.deleted' as const
        await insertWebhook(db, {
          ...{
            id: webhookId,
            url: 'https://a.example',
            events: [event],
            agentIds: null,
            secret: 's',
            // By the clock of another process, which is ahead.
            createdAt: 2_000,
            disabledAt: null,
          },
        })
        const queue = (agentId: string, n: number) =>
          db.write(Array.from({ length: n }, () => queueEvent(id(), { event, agentId, sessionId: '', target: '' }, 1)))
        const many = Array.from({ length: 601 }, id)
        await db.write(many.map((agentId) => statement("INSERT INTO agent VALUES ($1, 'a', '{}', 0, 0)", agentId)))
        for (const agentId of many) await queue(agentId, 1)
        // Of what happened before the webhook was made nothing is told.
        await db.write([queueEvent(id(), { event, agentId: many[0]!, sessionId: '', target: '' }, 2_001, 1_999)])
        // Of an agent that is gone nothing is told.
        await queue(id(), 1)
        await queue(many[300]!, 50)
        let after = ''
        const claim = async (most: number) => {
          const claimed = await claimDue(db, webhookId, { now: 2, claimedUntil: 10, most, after })
          after = claimed.at(-1)?.agentId ?? after
          return claimed
        }
        const first = await claim(600)
        assert.deepEqual(
          first.map(({ agentId }) => agentId),
          many.slice(0, 600),
        )
        const second = await claim(8)
        assert.deepEqual(
          second.map(({ agentId }) => agentId),
          [many[600], ...Array.from({ length: 4 }, () => many[300])],
        )
        await queue(many[0]!, 1)
        const next = await claim(2)
        assert.deepEqual(
          next.map(({ agentId }) => agentId),
          [many[0], many[300]],
        )
        const rest = await claim(100)
        assert.equal(rest.length, 45)
        assert.equal(new Set([...first, ...second, ...next, ...rest].map((delivery) => delivery.id)).size, 652)
        assert.deepEqual(await claim(8), [])
      }))

    test('a session is deleted for being unused only if it still is, and the agent is unchanged', () =>
      kept(async (db) => {
        const session = { ...newSession(), lastMessageAt: 100 }
        await insertSession(db, session)
        const { updatedAt: agentUpdatedAt } = (await findAgent(db, AGENT))!
        const unused = { unusedSince: 101, agentUpdatedAt }
        assert.equal(await deleteSession(db, session, [], { ...unused, unusedSince: 100 }), undefined)
        assert.equal(await deleteSession(db, session, [], { ...unused, agentUpdatedAt: agentUpdatedAt + 1 }), undefined)
        const place = { agentId: AGENT, sessionId: session.id, lease: 'one' }
        assert.ok(await leaseSession(db, place, upTo(0)))
        assert.equal(await deleteSession(db, session, [], unused), undefined)
        assert.deepEqual(await listOldestSessions(db, AGENT, 101, 9), [])
        await releaseSession(db, place)
        assert.ok(await findSession(db, AGENT, session.id))
        assert.deepEqual(
          (await listOldestSessions(db, AGENT, 101, 9)).map((listed) => listed.id),
          [session.id],
        )
        assert.deepEqual(await deleteSession(db, session, [], unused), { lease: null })
        assert.equal(await findSession(db, AGENT, session.id), undefined)
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
    const claim = (change: Partial<ClaimRow> = {}) => claimOf(AGENT, change)
    const OF_NONE = { sessionId: '', userId: '' }
    const states = async (db: Database, sessionId: string) =>
      db.readValues('SELECT content, turn FROM message WHERE agent_id = $1 AND session_id = $2 ORDER BY seq', [AGENT, sessionId])

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
        const messages = await listMessagesAfter(db, AGENT, session.id, 0, 100)
        assert.equal(messages.length, 1)
        assert.equal((await findSession(db, AGENT, session.id))?.totalMessages, 1)
        assert.equal(await findSeq(db, AGENT, session.id, messages[0]!.id), 1)
      }))

    test('a reply stands right behind its message, the turn is done, and the session is free', () =>
      kept(async (db) => {
        const { session, place } = await running(db)
        assert.equal(await completeTurn(db, place, 1, 'done', reply('a', 3000)), true)
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
        const { session, place } = await running(db)
        assert.deepEqual(await deleteSession(db, session), { lease: place.lease })
        assert.equal(await completeTurn(db, place, 1, 'done', reply('a')), false)
        assert.deepEqual(await listMessagesAfter(db, AGENT, session.id, 0, 10), [])
        assert.equal(await deleteSession(db, session), undefined)
      }))

    test('a turn that failed keeps its message and why, and can be taken up again, once', () =>
      kept(async (db) => {
        const { session, place, message } = await running(db)
        assert.equal(await abandonTurn(db, place, message.id, 'failed', '{"why":1}'), true)
        assert.equal(await abandonTurn(db, place, message.id, 'failed', '{}'), false)
        assert.equal((await findMessage(db, AGENT, session.id, message.id))?.detail, '{"why":1}')
        assert.equal(await continueTurn(db, { ...place, lease: 'two' }, upTo(1), message.id), true)
        assert.equal(await continueTurn(db, { ...place, lease: 'three' }, upTo(1), message.id), false)
        assert.equal(await completeTurn(db, { ...place, lease: 'two' }, 1, 'done', reply('a')), true)
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
        assert.equal(await completeTurn(db, place, 1, 'done', reply('late')), false)
        assert.equal(await completeTurn(db, heir, 1, 'done', reply('a')), true)
        assert.deepEqual(await states(db, session.id), [
          ['q', 'done'],
          ['a', null],
        ])
      }))

    test('sends of several replicas get their session in the order in which they came', () =>
      kept(async (db) => {
        const { session, place } = await running(db)
        const { agentId, id: sessionId } = session
        const waiter = (replica: string) => ({ agentId, sessionId, replica, now: 1, until: FAR })
        const queue = (replica: string, at?: number) => ({ ...upTo(2), queue: { replica, now: 1, position: at } })
        const begin = (replica: string, at?: number) =>
          beginTurn(db, { ...place, lease: replica }, queue(replica, at), user(replica))
        assert.equal(await enterQueue(db, waiter('b'), 2), 1)
        assert.equal(await enterQueue(db, waiter('c'), 2), 2)
        assert.equal(await enterQueue(db, waiter('d'), 2), 'full')
        assert.equal(await enterQueue(db, { ...waiter('d'), sessionId: id() }, 2), 'gone')
        assert.equal(await isFree(db, agentId, sessionId, 'b', 1), false, 'a turn runs')
        assert.equal(await completeTurn(db, place, 1, 'done', reply('a')), true)
        assert.deepEqual(await Promise.all(['b', 'c', 'd'].map((r) => isFree(db, agentId, sessionId, r, 1))), [
          true,
          false,
          false,
        ])
        assert.equal(await isFree(db, agentId, id(), 'b', 1), undefined)
        assert.equal(await begin('d'), false, 'others came before')
        assert.equal(await begin('c', 2), false, 'b came before')
        assert.equal(await begin('b', 1), true)
        assert.equal(await releaseSession(db, { ...place, lease: 'b' }), true)
        await leaveQueue(db, waiter('c'), 2)
        assert.equal(await isFree(db, agentId, sessionId, 'd', 1), true)
        await enterQueue(db, waiter('c'), 2)
        assert.equal(await isFree(db, agentId, sessionId, 'd', 1), false)
        assert.equal(await isFree(db, agentId, sessionId, 'd', FAR), true, 'its time is over')
      }))

    test('a send that leaves the queue takes a place of its replica along, whichever another has used', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        const { agentId, id: sessionId } = session
        const waiter = (replica: string) => ({ agentId, sessionId, replica, now: 1, until: FAR })
        const [first, , second] = [
          await enterQueue(db, waiter('a'), 9),
          await enterQueue(db, waiter('b'), 9),
          await enterQueue(db, waiter('a'), 9),
        ]
        const hold = { ...upTo(0), queue: { replica: 'a', now: 1, position: second as number } }
        assert.equal(
          await beginTurn(db, { agentId, sessionId, lease: 'l' }, hold, user('q')),
          true,
          'the first place of the replica counts',
        )
        await leaveQueue(db, waiter('a'), first as number)
        assert.deepEqual(
          (await db.read('SELECT replica FROM waiting_send', [])).map((row) => row.replica),
          ['b'],
        )
      }))

    test('what a replica left that is gone is settled once, and what others hold is not touched', () =>
      kept(async (db) => {
        const lost = await running(db, ownedId('r1', 'x'))
        const held = await running(db, ownedId('r2', 'x'))
        for (const r of ['r1', 'r2']) {
          await beat(db, r, 5, r === 'r1' ? 7 : null)
          await enterQueue(db, { agentId: AGENT, sessionId: held.session.id, replica: r, now: 1, until: FAR }, 9)
          await askToStop(db, AGENT, r === 'r1' ? lost.session.id : held.session.id, 1, 1)
          await claimKey(db, claim({ keyHash: r, claim: ownedId(r, 'y') }), 0)
        }
        assert.deepEqual(await listOthers(db, 'r2'), [{ id: 'r1', seenAt: 5, lockId: 7 }])
        const settled = await Promise.all(['s1', 's2'].map((settler) => settleReplica(db, 'r1', settler)))
        assert.deepEqual(settled.toSorted(), [1, undefined])
        assert.deepEqual(await states(db, lost.session.id), [['q', 'failed']])
        assert.deepEqual(await states(db, held.session.id), [['q', 'running']])
        assert.deepEqual(await listOthers(db, 'r0'), [{ id: 'r2', seenAt: 5, lockId: null }])
        assert.deepEqual(
          (await db.read('SELECT replica FROM waiting_send', [])).map((row) => row.replica),
          ['r2'],
        )
        assert.deepEqual(
          (await db.read('SELECT claim FROM kept_answer', [])).map((row) => row.claim),
          ['r2/y'],
        )
        assert.deepEqual(await takeStopRequests(db, 'r2'), ['r2/x'])
        assert.deepEqual(await takeStopRequests(db, 'r2'), [])
      }))

    test('of a turn that is to be stopped its replica learns the lease; where none runs there is nothing to stop', () =>
      kept(async (db) => {
        const { session, place } = await running(db, ownedId('r', 'x'))
        assert.equal(await askToStop(db, AGENT, session.id, 1, 10), 'r/x')
        assert.equal(await isLeased(db, AGENT, session.id), true)
        await enterQueue(db, { agentId: AGENT, sessionId: session.id, replica: 'r', now: 1, until: 10 }, 9)
        await forgetLeftovers(db, 11)
        assert.deepEqual(await takeStopRequests(db, 'r'), [])
        assert.deepEqual(await db.read('SELECT place FROM waiting_send', []), [])
        await completeTurn(db, place, 1, 'done', reply('a'))
        assert.equal(await askToStop(db, AGENT, session.id, 1, 10), undefined)
        assert.equal(await isLeased(db, AGENT, session.id), false)
      }))

    test('a turn is stopped by its own message, not by the one before, which has ended', () =>
      kept(async (db) => {
        const { session, place } = await running(db, ownedId('r', 'x'))
        await completeTurn(db, place, 1, 'done', reply('a'))
        // The first reply is generated again.
        const again = { ...place, lease: ownedId('r', 'y') }
        assert.ok(await leaseSession(db, again, upTo(2)))
        assert.equal(await askToStop(db, AGENT, session.id, 1, 10), 'r/y')
        await releaseSession(db, again)
        assert.ok(await beginTurn(db, { ...place, lease: ownedId('r', 'z') }, upTo(2), user('second')))
        assert.equal(await askToStop(db, AGENT, session.id, 1, 10), undefined)
        assert.equal(await askToStop(db, AGENT, session.id, 2, 10), undefined)
        assert.equal(await askToStop(db, AGENT, session.id, 3, 10), 'r/z')
      }))

    test('every change of agents and keys is seen by the generation, and of first keys there is one', () =>
      kept(async (db) => {
        const key = (n: string) => ({ ...API_KEY, id: n, hash: n })
        const firsts = await Promise.all(['1', '2', '3'].map((n) => insertFirstKey(db, key(n))))
        assert.deepEqual(firsts.toSorted(), [false, false, true])
        const [only] = await listKeys(db, undefined, 9)
        let last = await readGeneration(db)
        const raises = async (change: Promise<unknown>) => {
          await change
          const now = await readGeneration(db)
          assert.ok(now > last)
          last = now
        }
        await raises(rollKey(db, only!.id, 5, key('4')))
        await raises(deleteKey(db, '4'))
        await raises(replaceFixedKey(db, { ...key('5'), fixed: true }))
        await raises(deleteFixedKeys(db))
        const agent = (await findAgent(db, AGENT))!
        await raises(updateAgent(db, { ...agent, updatedAt: 2 }, agent))
        await raises(deleteAgentRows(db, AGENT))
      }))

    test('a reply that is made anew keeps id and place; what it said before is a version, with what was thought of it', () =>
      kept(async (db) => {
        const { session, place, message } = await running(db)
        const first = reply('first', 3000)
        await completeTurn(db, place, 1, 'done', first)
        for (const [i, content] of ['second', 'third'].entries()) {
          const again = { ...place, lease: `again ${i}` }
          assert.equal(await leaseSession(db, again, upTo(1)), false, 'it is longer than was read')
          assert.equal(await leaseSession(db, again, upTo(2)), true)
          assert.equal(await beginTurn(db, { ...place, lease: 'other' }, upTo(2), user('no')), false, 'the session is taken')
          assert.equal(await replaceReply(db, again, message.id, { ...first, content }, 4000 + i), true)
          assert.equal(await replaceReply(db, again, message.id, { ...first, content }, 4000 + i), false, 'the lease is over')
        }
        const messages = await listMessagesAfter(db, AGENT, session.id, 0, 10)
        assert.deepEqual([messages[1]!.id, messages[1]!.content, messages.length], [first.id, 'third', 2])
        assert.deepEqual(
          (await listVersions(db, session, first.id, 0, 10)).map(({ content, replacedAt }) => [content, replacedAt]),
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
        await putSummary(db, session, { upto: 10, text: 'ten' }, 1)
        await putSummary(db, session, { upto: 20, text: 'twenty' }, 2)
        await putSummary(db, session, { upto: 15, text: 'late' }, 3)
        assert.deepEqual(await findSummary(db, AGENT, session.id), { upto: 20, text: 'twenty' })
        await deleteSession(db, session)
        assert.equal(await findSummary(db, AGENT, session.id), undefined)
        await putSummary(db, session, { upto: 30, text: 'after its end' }, 4)
        // Somebody made a session of the same id again.
        await insertSession(db, { ...session, createdAt: session.createdAt + 1 })
        await putSummary(db, session, { upto: 30, text: 'of the one before' }, 5)
        assert.equal(await findSummary(db, AGENT, session.id), undefined)
      }))

    test('a key is claimed by one; its answer is kept, found by all who come later, and forgotten in time', () =>
      kept(async (db) => {
        const names = ['a', 'b', 'c']
        const tries = await Promise.all(names.map((c) => claimKey(db, claim({ claim: c }), 0)))
        assert.equal(tries.filter((kept) => kept === undefined).length, 1)
        const winner = names[tries.indexOf(undefined)]!
        assert.equal(tries.find((kept) => kept !== undefined)?.status, null)
        await db.write([storeAnswer(claim({ claim: 'not the one' }), OF_NONE, 200, 'wrong')])
        assert.equal((await claimKey(db, claim({ claim: 'd' }), 0))?.answer, null)
        await db.write([storeAnswer(claim({ claim: winner }), { ...OF_NONE, sessionId: 's' }, 201, 'right')])
        const found = await claimKey(db, claim({ claim: 'e', createdAt: 900_000 }), 0)
        assert.deepEqual([found?.status, found?.answer, found?.fingerprint], [201, 'right', 'f'])
        await releaseClaim(db, claim({ claim: 'a' }))
        assert.equal((await claimKey(db, claim({ claim: 'e' }), 0))?.answer, 'right', 'an answer is not released')
        assert.equal(
          await claimKey(db, claim({ claim: 'f', createdAt: 5000, claimedUntil: 9000 }), 1001),
          undefined,
          'what is too old is gone',
        )
        assert.equal(await forgetAnswers(db, 5001), 0, 'a request under way is no old answer')
        assert.notEqual(await claimKey(db, claim({ claim: 'g', createdAt: 1500 }), 9000), undefined)
        await db.write([storeAnswer(claim({ claim: 'f' }), OF_NONE, 200, 'new')])
        assert.equal(await forgetAnswers(db, 4999), 0)
        assert.equal(await forgetAnswers(db, 5001), 1)
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

    test('a session that a try made, whose process died, is found by the next try, and forgotten in time', () =>
      kept(async (db) => {
        await claimKey(db, claim({ claim: ownedId('r1', 'a') }), 0)
        await db.write([noteSession(claim({ claim: ownedId('r1', 'a') }), 'made')])
        await beat(db, 'r1', 5, 7)
        await settleReplica(db, 'r1', 'settler')
        const again = claim({ claim: 'b', createdAt: 1500 })
        assert.deepEqual({ ...(await store.claimKey(db, again, 0)) }, { begunSessionId: 'made' })
        assert.notEqual(await claimKey(db, claim({ claim: 'c', createdAt: 1600 }), 0), undefined, 'it is claimed')
        await releaseLapsedClaims(db, 3000)
        const other = claim({ claim: 'd', createdAt: 1700, fingerprint: 'another request' })
        assert.deepEqual({ ...(await store.claimKey(db, other, 0)) }, { begunSessionId: '' })
        await db.write([noteSession(other, 'made')])
        await releaseLapsedClaims(db, 3000)
        assert.equal(await forgetAnswers(db, 1600), 0)
        assert.equal(await forgetAnswers(db, 1800), 1)
      }))

    test('the answer to a user who is erased during the request is not kept', () =>
      kept(async (db) => {
        await claimKey(db, claim({ userId: 'u' }), 0)
        assert.equal(await forgetAnswersOf(db, AGENT, 'u'), 1)
        await db.write([storeAnswer(claim({ userId: 'u' }), { sessionId: '', userId: 'u' }, 200, 'what was said')])
        assert.deepEqual(await db.read('SELECT * FROM kept_answer', []), [])
      }))

    test('answers of a user that belong to no session are forgotten, those of others stay', () =>
      kept(async (db) => {
        const keepOne = async (n: number, agentId: string, userId: string) => {
          const one = claim({ keyHash: `h${n}`, agentId })
          await claimKey(db, one, 0)
          await db.write([storeAnswer(one, { sessionId: '', userId }, 200, `of ${agentId} ${userId}`)])
        }
        for (const n of [1, 2, 3]) await keepOne(n, AGENT, 'u')
        await keepOne(4, AGENT, 'v')
        await keepOne(5, AGENT, '')
        await keepOne(6, 'another', 'u')
        assert.equal(await forgetAnswersOf(db, AGENT, 'u'), 3)
        assert.equal(await forgetAnswersOf(db, AGENT, 'u'), 0)
        assert.equal(await forgetAnswersOf(db, AGENT, ''), 0)
        const left = await db.read('SELECT answer FROM kept_answer ORDER BY key_hash', [])
        assert.deepEqual(
          left.map(({ answer }) => answer),
          [`of ${AGENT} v`, `of ${AGENT} `, 'of another u'],
        )
      }))

    test('a session takes the answers that are kept of it along', () =>
      kept(async (db) => {
        const session = newSession()
        await insertSession(db, session)
        await claimKey(db, claim(), 0)
        await db.write([storeAnswer(claim(), { ...OF_NONE, sessionId: session.id }, 200, 'its text')])
        await deleteSession(db, session)
        assert.deepEqual(await db.read('SELECT * FROM kept_answer', []), [])
      }))

    test('of a message longer than a limit the beginning and the end are read, and its size', () =>
      kept(async (db) => {
        const texts = ['short', `${'a'.repeat(3_000)}${'😀'.repeat(5_000)}${'z'.repeat(1_000)}`, 'é'.repeat(8_192)]
        const session = newSession({ totalMessages: texts.length })
        await insertConversation(db, session, texts.map(user))
        const read = async (maxBytes: number) =>
          (await listRecent(db, AGENT, session.id, 1, maxBytes)).messages.map(({ content, bytes }) => [content, bytes])
        const sizes = [5, 24_000, 16_384]
        assert.deepEqual(
          await read(24_000),
          texts.map((text, i) => [text, sizes[i]]),
        )
        const cut = [texts[0], `${'a'.repeat(3_000)} … ${'z'.repeat(1_000)}`, texts[2]]
        for (const maxBytes of [23_999, 0])
          assert.deepEqual(
            await read(maxBytes),
            cut.map((text, i) => [text, sizes[i]]),
          )
      }))

    test('a long history is gone from sight at once, and from the tables soon after', () =>
      kept(async (db) => {
        const session = newSession({ totalMessages: 1500 })
        await insertConversation(
          db,
          session,
          Array.from({ length: 1500 }, (_, i) => user(`m${i}`)),
        )
        assert.deepEqual(await deleteSession(db, session), { lease: null })
        assert.equal(await findSession(db, AGENT, session.id), undefined)
        const count = async () =>
          (await db.read('SELECT (SELECT count(*) FROM message) + (SELECT count(*) FROM purge) AS n', []))[0]!.n
        await until('the tables are empty', async () => (await count()) === 0)
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
        assert.equal(await countSessions(db, filter, { owner: 'one' }), 1)
        const times = { agentId: AGENT, from: 5000, to: 9000 }
        assert.equal((await listSessions(db, times, undefined, 10)).length, 2)
        assert.equal(await countSessions(db, { ...times, from: 5001 }, { owner: 'one' }), 0)
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
