// Specification 4.2: GET /agents/{agentId}/sessions
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP } from '../support/assert.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())

interface Listed {
  id: string
  name: string
  lastMessageAt: string
}
let agentId: string
let path: string
beforeEach(async () => {
  agentId = await service.newAgent()
  path = `/agents/${agentId}/sessions`
})

const DAY = 86_400_000
const ago = (ms: number) => new Date(Date.now() - ms).toISOString()
/** Imports are the way to sessions of any age. */
async function importAt(createdAt: string, name = createdAt, externalUserId?: string, content = 'x'): Promise<string> {
  const answer = await client.post(`${path}/import`, { name, externalUserId, messages: [{ role: 'USER', content, createdAt }] })
  isOk(answer, 201)
  return answer.body.session.id
}
const ids = (sessions: Listed[]) => sessions.map((s) => s.id)
const list = async (query = '') => {
  const answer = await client.get(`${path}${query}`)
  isOk(answer)
  return answer.body
}

describe('4.2 list sessions of an agent', () => {
  test('"{ success: true, sessions: [ { id, name, userSessionId, totalMessages, lastMessageAt, timeAgo, createdAt } ] }": these fields and no others', async () => {
    const session = await service.newSession(agentId, { name: 'One' })
    isOk(await client.post(`${session}/messages`, { message: 'Hello' }))
    const body = await list()
    hasFields(body, 'success', 'sessions')
    const [listed] = body.sessions
    hasFields(listed, 'id', 'name', 'userSessionId', 'totalMessages', 'lastMessageAt', 'timeAgo', 'createdAt')
    const { messages } = (await client.get(session)).body
    assert.equal(listed.totalMessages, 2)
    assert.equal(listed.lastMessageAt, messages[1].createdAt)
    assert.match(listed.createdAt, TIMESTAMP)
  })

  test('an agent without sessions has an empty list', async () => {
    assert.deepEqual((await list()).sessions, [])
  })

  test('an empty session: no messages, and its creation counts as activity', async () => {
    await service.newSession(agentId)
    const [listed] = (await list()).sessions
    assert.equal(listed.totalMessages, 0)
    assert.equal(listed.lastMessageAt, listed.createdAt)
    assert.equal(listed.timeAgo, 'a few seconds ago')
  })

  test('"Without the filter, all sessions of the agent are returned", and of no other agent', async () => {
    await service.newSession(await service.newAgent())
    const made = [await service.newSession(agentId), await service.newSession(agentId)]
    assert.deepEqual(ids((await list()).sessions).sort(), made.map((s) => s.split('/').at(-1)).sort())
  })

  test('"externalUserId: When present, only sessions of that external user are returned", whatever its case', async () => {
    const user = randomUUID()
    const own = await service.newSession(agentId, { externalUserId: user })
    await service.newSession(agentId)
    for (const given of [user, user.toUpperCase()]) {
      const { sessions } = await list(`?externalUserId=${given}`)
      assert.equal(sessions.length, 1)
      assert.equal(sessions[0].id, own.split('/').at(-1))
      assert.equal(sessions[0].userSessionId, user)
    }
    assert.deepEqual((await list(`?externalUserId=${randomUUID()}`)).sessions, [])
  })

  test('last activity first; a message moves its session to the front', async () => {
    const old = await importAt(ago(DAY))
    const older = await importAt(ago(2 * DAY))
    const fresh = (await client.post(path, {})).body.session.id
    assert.deepEqual(ids((await list()).sessions), [fresh, old, older])
    isOk(await client.post(`${path}/${older}/messages`, { message: 'Again' }))
    assert.deepEqual(ids((await list()).sessions), [older, fresh, old])
  })

  test('sessions of the same moment stand by id, descending', async () => {
    const at = ago(DAY)
    const made: string[] = []
    for (let i = 0; i < 5; i++) made.push(await importAt(at))
    assert.deepEqual(ids((await list()).sessions), made.sort().reverse())
  })

  const SECOND = 1_000
  for (const [ms, text] of [
    [0, 'a few seconds ago'],
    [60 * SECOND, '1 minute ago'],
    [5.9 * 60 * SECOND, '5 minutes ago'],
    [60 * 60 * SECOND, '1 hour ago'],
    [3.9 * 3_600 * SECOND, '3 hours ago'],
    [DAY, '1 day ago'],
    [2.9 * DAY, '2 days ago'],
    [7 * DAY, '1 week ago'],
    [29.9 * DAY, '4 weeks ago'],
    [30 * DAY, '1 month ago'],
    [149.9 * DAY, '4 months ago'],
    [364.9 * DAY, '12 months ago'],
    [365 * DAY, '1 year ago'],
    [3.9 * 365 * DAY, '3 years ago'],
  ] as const) {
    test(`timeAgo, "a text such as \\"5 minutes ago\\"", rounded down: ${text}`, async () => {
      await importAt(ago(ms))
      assert.equal((await list()).sessions[0].timeAgo, text)
    })
  }

  test('timeAgo counts seconds from ten on', async () => {
    await importAt(ago(42 * SECOND))
    assert.match((await list()).sessions[0].timeAgo, /^4[2-9] seconds ago$/)
  })

  test('from and to choose by last activity', async () => {
    const times = [1, 2, 3].map((days) => ago(days * DAY))
    const [day1, day2, day3] = [await importAt(times[0]!), await importAt(times[1]!), await importAt(times[2]!)]
    const [near, far] = [ago(1.5 * DAY), ago(2.5 * DAY)]
    assert.deepEqual(ids((await list(`?from=${far}`)).sessions), [day1, day2])
    assert.deepEqual(ids((await list(`?to=${near}`)).sessions), [day2, day3])
    assert.deepEqual(ids((await list(`?from=${far}&to=${near}`)).sessions), [day2])
    assert.deepEqual(ids((await list(`?from=${times[1]}`)).sessions), [day1, day2], 'from counts its own moment in')
    const offset = `${new Date(Date.parse(far) + 3_600_000).toISOString().slice(0, -1)}%2B01:00`
    assert.deepEqual(ids((await list(`?from=${offset}`)).sessions), [day1, day2], 'a zone is understood')
  })

  test('a session whose last activity was before 1970 is listed too, and can be paged past', async () => {
    const ids69 = [await importAt('1969-07-20T20:17:40.000Z'), await importAt('1969-07-20T20:17:39.000Z')]
    assert.deepEqual(ids((await list()).sessions), ids69)
    const { pagination, sessions } = await list('?limit=1')
    assert.equal(pagination.total, 2)
    const next = await list(`?limit=1&cursor=${encodeURIComponent(pagination.nextCursor)}`)
    assert.deepEqual(ids([...sessions, ...next.sessions]), ids69)
  })

  test('q finds words in names and in messages, of both roles', async () => {
    const named = await importAt(ago(DAY), 'About a Zebra', undefined, 'nothing here')
    const said = await importAt(ago(2 * DAY), 'Animals', undefined, 'a zebra crossed, says Ünal')
    await importAt(ago(3 * DAY), 'Other', undefined, 'horses only')
    assert.deepEqual(ids((await list('?q=zebra')).sessions), [named, said])
    assert.deepEqual(ids((await list('?q=ZEBRA%20crossed')).sessions), [said], 'every word must be there, in any case')
    assert.deepEqual(ids((await list('?q=%C3%BCnal')).sessions), [said])
    assert.deepEqual((await list('?q=giraffe')).sessions, [])
    assert.deepEqual(ids((await list(`?q=${'zebra%20'.repeat(20)}`)).sessions), [named, said], 'a word counts once')
    const page = await list('?q=zebra&limit=1')
    assert.deepEqual(ids(page.sessions), [named])
    assert.deepEqual(ids((await list(`?q=zebra&limit=1&cursor=${page.pagination.nextCursor}`)).sessions), [said])
  })

  for (const [query, field] of [
    ['externalUserId=nobody', 'query.externalUserId'],
    ['externalUserId=', 'query.externalUserId'],
    ['from=yesterday', 'query.from'],
    ['to=2026-01-01', 'query.to'],
    ['from=2026-02-30T00:00:00Z', 'query.from'],
    ['from=2026-01-01T25:00:00Z', 'query.from'],
    ['q=', 'query.q'],
    ['q=%20', 'query.q'],
    ['q=%00', 'query.q'],
    ['q=%ED%A0%80', 'query.q'],
    ['q=%FF', 'query.q'],
    ['q=a%20b%20c%20d%20e%20f%20g%20h%20i', 'query.q'],
    ['limit=0', 'query.limit'],
    ['limit=101', 'query.limit'],
    ['limit=2.5', 'query.limit'],
    ['limit=ten', 'query.limit'],
    ['limit=', 'query.limit'],
    ['limit=1&limit=2', 'query.limit'],
    [
      'externalUserId=11111111-1111-4111-8111-111111111111&externalUserId=11111111-1111-4111-8111-111111111111',
      'query.externalUserId',
    ],
  ] as const) {
    test(`400 invalid_request for ?${query}`, async () => {
      isError(await client.get(`${path}?${query}`), 400, 'invalid_request', field)
    })
  }

  test('a mistyped filter never widens what is returned: it is refused with the nearest known name', async () => {
    for (const [given, meant] of [
      ['externaluserid', 'externalUserId'],
      ['userId', 'externalUserId'],
      ['limits', 'limit'],
      ['form', 'from'],
    ]) {
      const answer = await client.get(`${path}?${given}=${randomUUID()}`)
      isError(answer, 400, 'invalid_request', `query.${given}`)
      assert.match(answer.body.error.message, new RegExp(`did you mean ${meant}\\?`), given)
    }
  })

  test('404 agent_not_found for an agent that does not exist', async () => {
    isError(await client.get(`/agents/${randomUUID()}/sessions`), 404, 'agent_not_found')
  })
})

describe('4.2 paging of the list', () => {
  /** Seven sessions, last activity first. */
  const seven = async () => {
    const made: string[] = []
    for (let day = 1; day <= 7; day++) made.push(await importAt(ago(day * DAY)))
    return made
  }

  test('with limit the body also has pagination, as in message history', async () => {
    const made = await seven()
    const body = await list('?limit=3')
    hasFields(body, 'success', 'sessions', 'pagination')
    hasFields(body.pagination, 'hasMore', 'nextCursor', 'total')
    assert.deepEqual(ids(body.sessions), made.slice(0, 3))
    assert.equal(body.pagination.hasMore, true)
    assert.equal(typeof body.pagination.nextCursor, 'string')
    assert.equal(body.pagination.total, 7)
  })

  test('a walk meets every session once, and ends with nextCursor null', async () => {
    const made = await seven()
    const met: string[] = []
    let cursor: string | null = null
    do {
      const body: { sessions: Listed[]; pagination: { nextCursor: string | null; hasMore: boolean } } = await list(
        `?limit=2${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      met.push(...ids(body.sessions))
      cursor = body.pagination.nextCursor
      assert.equal(body.pagination.hasMore, cursor !== null)
    } while (cursor !== null)
    assert.deepEqual(met, made)
  })

  test('a full last page has no next: hasMore is false and nextCursor null', async () => {
    await seven()
    assert.deepEqual((await list('?limit=7')).pagination, { hasMore: false, nextCursor: null, total: 7 })
    assert.deepEqual((await list('?limit=100')).pagination, { hasMore: false, nextCursor: null, total: 7 })
  })

  test('a cursor stays good when its session moves to the front, and when it is deleted', async () => {
    const made = await seven()
    const { pagination } = await list('?limit=3')
    const next = `?limit=2&cursor=${encodeURIComponent(pagination.nextCursor)}`
    isOk(await client.post(`${path}/${made[2]}/messages`, { message: 'I move' }))
    assert.deepEqual(ids((await list(next)).sessions), made.slice(3, 5))
    isOk(await client.delete(`${path}/${made[2]}`))
    assert.deepEqual(ids((await list(next)).sessions), made.slice(3, 5))
  })

  test('paging keeps to the filters, and total counts what passes them', async () => {
    const user = randomUUID()
    for (let day = 1; day <= 3; day++) await importAt(ago(day * DAY), `n${day}`, user)
    await seven()
    const first = await list(`?externalUserId=${user}&limit=2`)
    assert.equal(first.pagination.total, 3)
    const second = await list(`?externalUserId=${user}&limit=2&cursor=${encodeURIComponent(first.pagination.nextCursor)}`)
    assert.deepEqual(
      [...first.sessions, ...second.sessions].map((s: Listed) => s.name),
      ['n1', 'n2', 'n3'],
    )
  })

  test('400 for a cursor that the service did not give', async () => {
    for (const cursor of ['x', randomUUID(), 'AAAA', '%F0%9F%98%80']) {
      const answer = await client.get(`${path}?limit=2&cursor=${cursor}`)
      isError(answer, 400, 'invalid_cursor', 'query.cursor')
    }
  })

  test('without limit the whole list comes in one answer, thousands of sessions too, each once and in order', async () => {
    const at = Date.now() - DAY
    const count = 2_500
    for (let made = 0; made < count; made += 250) {
      await Promise.all(Array.from({ length: 250 }, (_, i) => importAt(new Date(at - made - i).toISOString(), `s${made + i}`)))
    }
    const answer = await client.get(path)
    isOk(answer)
    hasFields(answer.body, 'success', 'sessions')
    assert.deepEqual(
      answer.body.sessions.map((s: Listed) => s.name),
      Array.from({ length: count }, (_, i) => `s${i}`),
    )
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(answer.headers['content-length'], undefined, 'it is streamed')
  })
})
