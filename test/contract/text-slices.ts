import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listAgents as listPage } from '../../src/agents/agents.ts'
import type { Agent } from '../../src/core/agent.ts'
import type { Message } from '../../src/core/message.ts'
import type { PromptMessage } from '../../src/core/ports/model.ts'
import type { Session } from '../../src/core/session.ts'
import { DocumentEvents } from '../../src/events/document-events.ts'
import type { Deps } from '../../src/http/deps.ts'
import type { Past } from '../../src/reply/history.ts'
import { deleteOldSessions } from '../../src/sessions/retention.ts'
import { searchSessions } from '../../src/sessions/search-sessions.ts'
import { type ExportedRow, exportUser } from '../../src/sessions/users.ts'
import { type Database, type Row, statement, type Value } from '../../src/store/database.ts'
import { insertAgent, listAgents } from '../../src/store/tables/agents.ts'
import { findLastReply, findMessage, insertConversation } from '../../src/store/tables/messages.ts'
import { findSession } from '../../src/store/tables/sessions.ts'
import { findSummary } from '../../src/store/tables/summaries.ts'
import { listMessageRows, listVersionRows } from '../../src/store/tables/users.ts'
import { NoPeers } from '../../src/turns/peers.ts'
import { getHead, rate, turnStateOf } from '../../src/turns/read-message.ts'
import { summariseIfLong } from '../../src/turns/summarise.ts'

const AGENT = '01980000-0000-7000-8000-00000000000a'
const MINE = { owner: 'one', isWanted: () => true }

/** In bytes, of texts in a row. A statement reads 300,000 of them. */
const SIZES = [100_000, 100_000, 100_000, 1, 400_000, 1, 299_999, 300_000, 2]
/** The numbers of texts that fit in a statement, in order. */
const FITTING = [3, 1, 1, 2, 1, 1]
/** Two bytes for each character: a limit of characters would let too much through. */
const textOf = (bytes: number, end = ''): string => (bytes % 2 === 0 ? '' : 'x') + 'é'.repeat(Math.floor(bytes / 2)) + end

const message = (i: number, content: string, role: Message['role'] = 'USER'): Message => ({
  ...{ id: `m${String(i).padStart(4, '0')}`, role, content, createdAt: i },
})

async function insert(db: Database, messages: Message[], id = 's'): Promise<Session> {
  const session: Session = {
    ...{ id, agentId: AGENT, name: 'n', userId: 'u', totalMessages: messages.length },
    ...{ lastMessageAt: 1_000, createdAt: 1_000, updatedAt: 1_000 },
  }
  await insertConversation(db, session, messages)
  return session
}

/** Reads slices until one is empty. Resolves to their sizes, and to all rows in order. */
async function readAll<T>(read: (last: T | undefined) => Promise<T[]>): Promise<{ sizes: number[]; rows: T[] }> {
  const sizes: number[] = []
  const rows: T[] = []
  for (let slice = await read(undefined); slice.length > 0; slice = await read(rows.at(-1))) {
    sizes.push(slice.length)
    rows.push(...slice)
  }
  return { sizes, rows }
}

/** Fails if the event loop did not go round while it ran. */
async function servingOthers<T>(run: () => Promise<T>): Promise<T> {
  let isServed = false
  setImmediate(() => {
    isServed = true
  })
  const result = await run()
  assert.ok(isServed)
  return result
}

/** Notes the rows that each statement returns. */
function watch(db: Database): { watched: Database; reads: Value[][][] } {
  const reads: Value[][][] = []
  const note = <R extends object>(rows: R[]): R[] => {
    reads.push(rows.map((row) => Object.values(row)))
    return rows
  }
  const watched: Partial<Database> = {
    read: (sql, params) => db.read(sql, params).then(note),
    readValues: (sql, params) => db.readValues(sql, params).then(note),
    scan: (sql, params, sharer) => db.scan(sql, params, sharer).then(note),
    write: (statements, options) => db.write(statements, options),
    writeIf: (statements, options) => db.writeIf(statements, options),
    stream: (sql, params, sliceRows) => db.stream(sql, params, sliceRows),
  }
  return { watched: watched as Database, reads }
}

/** Long texts are read in slices of so many bytes, and are not read where they are not needed. */
export function textSlicesContract(engine: string, open: () => Promise<Database>): void {
  const withAgent = async (run: (db: Database) => Promise<void>) => {
    const db = await open()
    try {
      await insertAgent(db, { ...({} as Agent), id: AGENT, name: 'a', retentionDays: null, createdAt: 1, updatedAt: 1 })
      await run(db)
    } finally {
      await db.close()
    }
  }
  messagesContract(engine, withAgent)
  agentsContract(engine, withAgent)
}

type WithAgent = (run: (db: Database) => Promise<void>) => Promise<void>

function messagesContract(engine: string, withAgent: WithAgent): void {
  describe(`long texts of messages: ${engine}`, () => {
    const texts = SIZES.map((size) => textOf(size))

    test('messages are read as many as fit in a statement, and one at least', () =>
      withAgent(async (db) => {
        await insert(
          db,
          texts.map((text, i) => message(i, text)),
        )
        const first = await readAll<Row>((last) => listMessageRows(db, AGENT, 's', (last?.seq as number) ?? 0, 100))
        assert.deepEqual(first.sizes, FITTING)
        assert.ok(first.rows.every(({ content }, i) => content === texts[i]))
        assert.equal((await listMessageRows(db, AGENT, 's', 0, 2)).length, 2)
        await db.write([statement('UPDATE message SET markdown = content, content = $1, detail = $1, feedback = $1', '{}')])
        const kept = await readAll<Row>((last) => listMessageRows(db, AGENT, 's', (last?.seq as number) ?? 0, 100))
        assert.deepEqual(kept.sizes, [2, 2, 1, 1, 1, 1, 1])
        assert.deepEqual(
          kept.rows.map(({ seq }) => seq),
          SIZES.map((_, i) => i + 1),
        )
      }))

    test('earlier versions are read as many as fit in a statement, in order, and one at least', () =>
      withAgent(async (db) => {
        const sql = `INSERT INTO message_version (agent_id, session_id, message_id, version, content, replaced_at)
          VALUES ($1, 's', $2, $3, $4, 1)`
        const keys = SIZES.map((_, i) => [`m${Math.floor(i / 4)}`, (i % 4) + 1] as const)
        await db.write(keys.map((key, i) => statement(sql, AGENT, ...key, texts[i]!)))
        const none = { messageId: '', version: 0 }
        const { sizes, rows } = await readAll<Row>((last) => {
          const after = last && { messageId: last.message_id as string, version: last.version as number }
          return listVersionRows(db, AGENT, 's', after ?? none, 100)
        })
        assert.deepEqual(sizes, FITTING)
        assert.deepEqual(
          rows.map(({ message_id, version }) => [message_id, version]),
          keys,
        )
        assert.deepEqual(await listVersionRows(db, AGENT, 'another', none, 100), [])
      }))

    test('a user is exported whole and in order over slices of messages and of versions', () =>
      withAgent(async (db) => {
        const many = [...texts, ...Array.from({ length: 230 }, (_, i) => `short ${i}`), ...texts]
        await insert(
          db,
          many.map((text, i) => message(i, text)),
        )
        await insert(db, [], 't')
        const sql = `INSERT INTO message_version (agent_id, session_id, message_id, version, content, detail, replaced_at)
          VALUES ($1, 's', 'm0001', $2, $3, '{"a":1}', 1)`
        await db.write(many.map((text, i) => statement(sql, AGENT, i + 1, text)))
        const kept: ExportedRow[] = []
        for await (const slice of exportUser({ db }, AGENT, 'u', { owner: 'one', isWanted: () => true })) kept.push(...slice)
        const of = (type: ExportedRow['type']) => kept.filter((one) => one.type === type).map(({ content }) => content)
        assert.equal(of('session').length, 2)
        for (const type of ['message', 'version'] as const) {
          assert.equal(of(type).length, many.length)
          assert.ok(of(type).every((content, i) => content === many[i]))
        }
      }))

    test('sessions are searched in all of their messages, over slices', () =>
      withAgent(async (db) => {
        const { watched, reads } = watch(db)
        const filler = Array.from({ length: 230 }, () => 'filler')
        const search = async (q: string) => {
          const found: string[] = []
          for await (const slice of searchSessions({ db: watched } as Deps, { agentId: AGENT }, q, MINE))
            found.push(...slice.map(({ id }) => id))
          return found
        }
        const marked = [...texts.map((text, i) => `${text} word${i}`), ...filler, 'last']
        await insert(
          db,
          marked.map((text, i) => message(i, text)),
        )
        for (const word of [...SIZES.map((_, i) => `WORD${i}`), 'last']) assert.deepEqual(await search(word), ['s'])
        assert.deepEqual(await search('word0 word4 word8 last'), ['s'])
        assert.deepEqual(await search('word0 missing'), [])
        // 25 texts without the long ones have 75 kB at most. Long ones are read in slices, or by themselves.
        const sizes = reads.map((rows) => rows.flat().reduce<number>((sum, value) => sum + Buffer.byteLength(String(value)), 0))
        assert.ok(
          sizes.every((bytes) => bytes < 410_000),
          `${sizes}`,
        )
      }))

    test('the newest reply is looked for in slices, however many messages follow it', () =>
      withAgent(async (db) => {
        for (const behind of [0, 1, 199, 200, 201, 900]) {
          const id = `behind ${behind}`
          const replies = [message(0, 'old', 'AI'), message(1, 'new', 'AI')]
          await insert(db, [...replies, ...Array.from({ length: behind }, (_, i) => message(i + 2, 'x'))], id)
          assert.equal(await findLastReply(db, AGENT, id), 'm0001', id)
        }
        assert.equal(await servingOthers(() => findLastReply(db, AGENT, 'behind 900')), 'm0001')
        await insert(
          db,
          Array.from({ length: 450 }, (_, i) => message(i, 'x')),
          'none',
        )
        assert.equal(await findLastReply(db, AGENT, 'none'), undefined)
        assert.equal(await findLastReply(db, AGENT, 'missing'), undefined)
      }))

    test('a rating and the state of a turn read no text', () =>
      withAgent(async (db) => {
        const session = await insert(db, [message(0, textOf(500_000)), message(1, textOf(500_000), 'AI')])
        const { watched, reads } = watch(db)
        const deps = { db: watched, turns: { find: () => undefined }, peers: new NoPeers(() => 'id') } as unknown as Deps
        await rate(deps, session, 'm0001', { rating: 'up' })
        await assert.rejects(rate(deps, session, 'm0000', null), { code: 'invalid_request' })
        await assert.rejects(rate(deps, session, 'm9999', null), { code: 'message_not_found' })
        assert.equal(await turnStateOf(deps, session, await getHead(deps, session, 'm0001')), 'done')
        assert.ok(reads.length > 3)
        assert.ok(reads.flat(2).every((value) => String(value).length < 100))
        assert.equal((await findMessage(db, AGENT, 's', 'm0001'))!.feedback, '{"rating":"up"}')
      }))

    test('a session is summarised from its messages in parts, in order', () =>
      withAgent(async (db) => {
        const session = await insert(
          db,
          Array.from({ length: 125 }, (_, i) => message(i, `text ${i + 1}`)),
        )
        const { watched, reads } = watch(db)
        let prompt: PromptMessage[] = []
        let done: Promise<void> | undefined
        const deps = {
          db: watched,
          clock: () => 1,
          limits: { historyTokens: 8_000, sideCallTimeoutMs: 60_000 },
          models: {
            find: () => ({
              generate: async (asked: { prompt: PromptMessage[] }) => {
                prompt = asked.prompt
                return { text: 'summary' }
              },
            }),
          },
          background: {
            runOnce: (_key: string, _about: string, work: () => Promise<void>) => {
              done = work()
            },
          },
        } as unknown as Deps
        const past = { messages: Array.from({ length: 30 }, () => ({ content: '', bytes: 0 })) } as unknown as Past
        const budget = { tokensPerDay: null, costPerDay: null, tokensPerUserPerDay: null }
        const agent = { id: AGENT, model: 'm', budget } as Agent
        summariseIfLong(deps, { agent }, session, past)
        await servingOthers(() => done!)
        const summed = Array.from({ length: 90 }, (_, i) => `User: text ${i + 26}`)
        assert.deepEqual(String(prompt[1]!.content).match(/User: text \d+/g), summed)
        assert.deepEqual(await findSummary(db, AGENT, 's'), { upto: 115, text: 'summary' })
        assert.ok(reads.every((rows) => rows.length <= 10))
      }))
  })
}

function agentsContract(engine: string, withAgent: WithAgent): void {
  /** Newest first. */
  const IDS = Array.from({ length: 130 }, (_, i) => `a${String(i).padStart(4, '0')}`).reverse()
  const insertMany = (db: Database, instructions: (i: number) => string) =>
    db.write(
      IDS.map((id, i) => {
        const settings = JSON.stringify({ instructions: instructions(i), retentionDays: i === IDS.length - 1 ? 1 : null })
        return statement('INSERT INTO agent VALUES ($1, $2, $3, $4, 1)', id, 'n', settings, 1_000 - i)
      }),
    )

  describe(`long texts of agents: ${engine}`, () => {
    test('agents are listed as many as fit in a statement, and a page of them is whole', () =>
      withAgent(async (db) => {
        await insertMany(db, (i) => (i < 10 ? textOf(140_000) : ''))
        const { sizes, rows } = await readAll<Agent>((last) => listAgents(db, null, last, 100))
        assert.deepEqual(sizes, [2, 2, 2, 2, 100, 23])
        assert.deepEqual(
          rows.map(({ id }) => id),
          [...IDS, AGENT],
        )
        const page = async (visible: string[] | null, limit: number) => {
          const { items, hasMore, total } = await listPage({ db } as Deps, visible, { limit }, MINE)
          return { ids: items.map(({ id }) => id), hasMore, total }
        }
        assert.deepEqual(await page(null, 20), { ids: IDS.slice(0, 20), hasMore: true, total: 131 })
        const visible = IDS.filter((_, i) => i % 3 === 0)
        assert.deepEqual(await page(visible, 100), { ids: visible, hasMore: false, total: visible.length })
      }))

    test('old sessions of all agents are deleted, and other requests are answered in between', () =>
      withAgent(async (db) => {
        await insertMany(db, () => '')
        await insert(db, [message(0, 'kept')])
        const agentId = IDS.at(-1)!
        const old = { ...(await findSession(db, AGENT, 's'))!, agentId }
        await insertConversation(db, old, [])
        const deps = {
          db,
          clock: () => 1e12,
          turns: { stop() {} },
          peers: new NoPeers(() => 'id'),
          webhooks: { queue: () => [] },
          warn() {},
        } as unknown as Deps
        await servingOthers(() => deleteOldSessions(deps))
        assert.equal(await findSession(db, agentId, 's'), undefined)
        assert.ok(await findSession(db, AGENT, 's'))
      }))

    test('events of documents are looked for at all agents, and their settings are not read', () =>
      withAgent(async (db) => {
        await insertMany(db, () => textOf(1_000))
        const { watched, reads } = watch(db)
        const asked: string[] = []
        const listDocumentEvents = async (agentId: string) => {
          asked.push(agentId)
          return []
        }
        const webhooks = { list: async () => [{ events: ['document.ready'] }] }
        const deps = { db: watched, webhooks, knowledge: { listDocumentEvents } }
        const news = new DocumentEvents(deps as unknown as ConstructorParameters<typeof DocumentEvents>[0])
        await servingOthers(() => news.wakeAll())
        assert.deepEqual(asked, [...IDS, AGENT])
        assert.ok(reads.flat(2).every((value) => String(value).length < 100))
      }))
  })
}
