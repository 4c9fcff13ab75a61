// Specification 4.7: GET /agents/{agentId}/sessions/{sessionId}/messages
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { says } from '../support/model-server.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())

interface Message {
  id: string
  content: string
}
interface Page {
  messages: Message[]
  pagination: { hasMore: boolean; nextCursor: string | null; total: number }
}
let agentId: string
/** A session of 120 messages. */
let path: string
let all: Message[]
before(async () => {
  agentId = await service.newAgent()
  path = await importSession(120)
  all = (await client.get(path.replace(/\/messages$/, ''))).body.messages
})

async function importSession(count: number): Promise<string> {
  const messages = Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `m${i}` }))
  const { session } = (await client.post(`/agents/${agentId}/sessions/import`, { messages })).body
  return `/agents/${agentId}/sessions/${session.id}/messages`
}
async function page(query: string, of = path): Promise<Page> {
  const answer = await client.get(of + query)
  isOk(answer)
  return answer.body
}
const contents = (messages: Message[]) => messages.map(({ content }) => content)
const span = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `m${from + i}`)

describe('4.7 get message history', () => {
  test('a page of very long messages is the same as a page of short ones, and so is the whole session', async () => {
    const talking = await service.newAgent({ model: 'openai/stub' })
    const session = await service.newSession(talking)
    const reply = `Yes. ${'walnut '.repeat(28_000)}`.trim()
    service.model.behaviour = says(reply)
    for (let i = 0; i < 7; i++) isOk(await client.post(`${session}/messages`, { message: `q${i}` }))
    const { messages } = (await client.get(session)).body
    const expected = Array.from({ length: 14 }, (_, i) => (i % 2 ? reply : `q${i / 2}`))
    assert.deepEqual(contents(messages), expected)
    const first = await page('?limit=13', `${session}/messages`)
    assert.deepEqual(contents(first.messages), expected.slice(0, 13))
    assert.deepEqual(first.pagination, { hasMore: true, nextCursor: messages[12].id, total: 14 })
    hasFields(first.messages[0]!, 'id', 'role', 'content', 'type', 'createdAt')
    const last = await page('?limit=13&order=desc', `${session}/messages`)
    assert.deepEqual(contents(last.messages), expected.toReversed().slice(0, 13))
  })

  test('"{ success: true, messages: [ { id, role, content, type, createdAt } ], pagination: { hasMore, nextCursor, total } }": these fields and no others', async () => {
    const body = await page('?limit=2')
    hasFields(body, 'success', 'messages', 'pagination')
    hasFields(body.pagination, 'hasMore', 'nextCursor', 'total')
    for (const message of body.messages as (Message & { role: string; type: string; createdAt: string })[]) {
      hasFields(message, 'id', 'role', 'content', 'type', 'createdAt')
      assert.match(message.id, UUID)
      assert.match(message.role, /^(USER|AI)$/)
      assert.equal(message.type, 'TEXT')
      assert.match(message.createdAt, TIMESTAMP)
    }
  })

  test('order=desc: from the newest back to the oldest, page by page', async () => {
    const first = await page('?order=desc&limit=50')
    assert.deepEqual(contents(first.messages), span(70, 120).reverse())
    assert.deepEqual(first.pagination, { hasMore: true, nextCursor: first.messages.at(-1)!.id, total: 120 })
    const second = await page(`?order=desc&limit=50&cursor=${first.pagination.nextCursor}`)
    assert.deepEqual(contents(second.messages), span(20, 70).reverse())
    const last = await page(`?order=desc&limit=50&cursor=${second.pagination.nextCursor}`)
    assert.deepEqual(contents(last.messages), span(0, 20).reverse())
    assert.deepEqual(last.pagination, { hasMore: false, nextCursor: null, total: 120 })
    assert.deepEqual(contents((await page('?order=asc&limit=2')).messages), ['m0', 'm1'])
    isError(await client.get(`${path}?order=newest`), 400, 'invalid_request', 'query.order')
    isError(await client.get(`${path}?order=desc&cursor=${randomUUID()}`), 400, 'invalid_cursor', 'query.cursor')
  })

  test('it is the same history as the session details show', async () => {
    const { messages } = (await client.get(`${path}?limit=100`)).body
    assert.deepEqual(
      messages.map(({ type, ...rest }: Message & { type: string }) => rest),
      all.slice(0, 100),
    )
  })

  test('"limit: default 50"; "The first request omits cursor"; ascending creation order', async () => {
    const { messages, pagination } = await page('')
    assert.deepEqual(contents(messages), span(0, 50))
    assert.deepEqual(pagination, { hasMore: true, nextCursor: all[49]!.id, total: 120 })
  })

  test('"cursor: ID of the message after which the page starts"; nextCursor is the id of the last message of the page', async () => {
    const { messages, pagination } = await page(`?limit=3&cursor=${all[9]!.id}`)
    assert.deepEqual(contents(messages), span(10, 13))
    assert.deepEqual(pagination, { hasMore: true, nextCursor: all[12]!.id, total: 120 })
  })

  test('a cursor is taken in upper case', async () => {
    assert.deepEqual(contents((await page(`?limit=1&cursor=${all[0]!.id.toUpperCase()}`)).messages), ['m1'])
  })

  test('a cursor without limit takes pages of 50', async () => {
    assert.deepEqual(contents((await page(`?cursor=${all[49]!.id}`)).messages), span(50, 100))
  })

  for (const limit of [1, 7, 40, 50, 60, 100]) {
    test(`"A full history is read by repeating requests until nextCursor is null": limit ${limit}`, async () => {
      const read: Message[] = []
      let cursor: string | null = null
      do {
        const body: Page = await page(`?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`)
        assert.ok(body.messages.length > 0 && body.messages.length <= limit)
        read.push(...body.messages)
        cursor = body.pagination.nextCursor
        assert.equal(body.pagination.hasMore, cursor !== null)
        assert.equal(body.pagination.total, 120)
      } while (cursor !== null)
      assert.deepEqual(contents(read), span(0, 120))
    })
  }

  test('"When nextCursor is null (and hasMore is false), there are no more pages": a page that ends exactly at the end', async () => {
    const last = await page(`?limit=20&cursor=${all[99]!.id}`)
    assert.equal(last.messages.length, 20)
    assert.deepEqual(last.pagination, { hasMore: false, nextCursor: null, total: 120 })
  })

  test('after the last message comes an empty page', async () => {
    const { messages, pagination } = await page(`?cursor=${all[119]!.id}`)
    assert.deepEqual(messages, [])
    assert.deepEqual(pagination, { hasMore: false, nextCursor: null, total: 120 })
  })

  test('an empty session: no messages, no next page, a total of 0', async () => {
    const body = await page('', `${await service.newSession(agentId)}/messages`)
    assert.deepEqual(body, { success: true, messages: [], pagination: { hasMore: false, nextCursor: null, total: 0 } })
  })

  test('messages that arrive during a walk show up at its end, never twice and never skipping one', async () => {
    const session = await service.newSession(agentId)
    const send = async (message: string) => isOk(await client.post(`${session}/messages`, { message }))
    for (const message of ['a', 'b', 'c']) await send(message)
    const read: string[] = []
    let cursor: string | null = null
    let late = 3
    do {
      const body: Page = await page(`?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`, `${session}/messages`)
      read.push(...body.messages.map(({ id }) => id))
      cursor = body.pagination.nextCursor
      if (late-- > 0) await send(`late ${late}`)
    } while (cursor !== null)
    assert.deepEqual(
      read,
      (await client.get(session)).body.messages.map(({ id }: Message) => id),
    )
    assert.equal(read.length, 12)
  })

  test('total is the number of messages at that moment', async () => {
    const session = await service.newSession(agentId)
    isOk(await client.post(`${session}/messages`, { message: 'x' }))
    assert.equal((await page('?limit=1', `${session}/messages`)).pagination.total, 2)
    isOk(await client.post(`${session}/messages`, { message: 'x' }))
    assert.equal((await page('?limit=1', `${session}/messages`)).pagination.total, 4)
  })
})

describe('4.7 what is refused', () => {
  test('400 invalid_cursor where the cursor is not a message of this session: unknown, of another session, or a session', async () => {
    const other = await importSession(3)
    const foreign = (await page('', other)).messages[0]!.id
    for (const cursor of [randomUUID(), foreign, path.split('/')[4]!, agentId]) {
      isError(await client.get(`${path}?cursor=${cursor}`), 400, 'invalid_cursor', 'query.cursor')
    }
  })

  for (const cursor of ['', '1', 'abc', 'null', '11111111-1111-4111-8111-111111111111,11111111-1111-4111-8111-111111111111']) {
    test(`400 for a cursor that is no UUID: "${cursor}"`, async () => {
      isError(await client.get(`${path}?cursor=${cursor}`), 400, 'invalid_request', 'query.cursor')
    })
  }

  for (const limit of ['0', '101', '-1', '1.5', '50.0', '1e1', '0x10', '007', '+5', '%205', 'all', '', '9007199254740993']) {
    test(`"limit: minimum 1, maximum 100", anything else is 400: limit=${limit}`, async () => {
      isError(await client.get(`${path}?limit=${limit}`), 400, 'invalid_request', 'query.limit')
    })
  }

  test('a parameter given twice, and an unknown one, are refused', async () => {
    isError(await client.get(`${path}?limit=1&limit=1`), 400, 'invalid_request', 'query.limit')
    const answer = await client.get(`${path}?curser=${all[0]!.id}`)
    isError(answer, 400, 'invalid_request', 'query.curser')
    assert.match(answer.body.error.message, /did you mean cursor\?/)
  })

  test('404 for a session that does not exist or is another agent’s', async () => {
    isError(await client.get(`/agents/${agentId}/sessions/${randomUUID()}/messages`), 404, 'session_not_found')
    isError(await client.get(path.replace(agentId, await service.newAgent())), 404, 'session_not_found')
  })
})
