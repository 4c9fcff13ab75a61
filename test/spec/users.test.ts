// What is kept of an end user can be seen, handed over and erased.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { storeOf } from '../support/store.ts'

const begun = Date.now()
const service = await startService()
after(() => service.stop())
const { client, model } = service

let agentId: string
let path: string
beforeEach(async () => {
  model.reset()
  agentId = await service.newAgent()
  path = `/agents/${agentId}/users`
})
async function talk(user: string, ...messages: string[]): Promise<string> {
  const session = await service.newSession(agentId, { externalUserId: user })
  for (const message of messages) isOk(await client.post(`${session}/messages`, { message }))
  return session
}
const exported = async (user: string) => {
  const answer = await client.get(`${path}/${user}/export`)
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8')
  return answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('end users', () => {
  test('are listed by their ids, page by page, with what they have', async () => {
    const users = Array.from({ length: 5 }, () => randomUUID()).sort()
    for (const user of users) await talk(user, 'Hello')
    await talk(users[2]!.toUpperCase(), 'One', 'Two')
    const seen: { externalUserId: string; sessions: number; messages: number; lastMessageAt: string }[] = []
    let cursor: string | null = null
    do {
      const answer = await client.get(`${path}?limit=2${cursor === null ? '' : `&cursor=${cursor}`}`)
      isOk(answer)
      seen.push(...answer.body.users)
      assert.equal(answer.body.pagination.total, 5)
      cursor = answer.body.pagination.nextCursor
      assert.equal(answer.body.pagination.hasMore, cursor !== null)
    } while (cursor !== null)
    assert.deepEqual(
      seen.map(({ externalUserId }) => externalUserId),
      users,
    )
    assert.deepEqual(
      seen.map(({ sessions, messages }) => [sessions, messages]),
      [1, 1, 2, 1, 1].map((n) => [n, n === 2 ? 6 : 2]),
    )
    assert.ok(seen.every(({ lastMessageAt }) => Date.parse(lastMessageAt) > begun - 60_000))
    isError(await client.get(`${path}?limit=0`), 400, 'invalid_request')
  })

  test('all that is kept of one is handed over, line by line, and nothing of another', async () => {
    const [user, other] = [randomUUID(), randomUUID()]
    model.behaviour = says('first')
    const session = await talk(user, 'What is it?')
    await talk(other, 'Nobody else may read this')
    const [, reply] = (await client.get(`${session}/messages`)).body.messages
    isOk(await client.put(`${session}/messages/${reply.id}/feedback`, { rating: 'down', comment: 'no' }))
    model.behaviour = says('second')
    isOk(await client.post(`${session}/messages/${reply.id}/regenerate`, {}))
    await talk(user)
    const lines = await exported(user)
    assert.deepEqual(lines.map(({ type }) => type).sort(), ['message', 'message', 'session', 'session', 'version'])
    const of = (type: string) => lines.filter((line) => line.type === type)
    assert.deepEqual(
      of('message').map(({ role, content }) => [role, content]),
      [
        ['USER', 'What is it?'],
        ['AI', 'second'],
      ],
    )
    const [version] = of('version')
    assert.deepEqual(
      [version.content, version.messageId, version.feedback],
      ['first', reply.id, { rating: 'down', comment: 'no' }],
    )
    assert.ok(of('session').every(({ externalUserId }) => externalUserId === user))
    assert.ok(!JSON.stringify(lines).includes('Nobody else'))
    assert.ok(lines.every((line) => line.agent_id === undefined && line.lease === undefined))
  })

  test('a long history is handed over whole', async () => {
    const user = randomUUID()
    const messages = Array.from({ length: 600 }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `line ${i}` }))
    isOk(await client.post(`/agents/${agentId}/sessions/import`, { externalUserId: user, messages }), 201)
    const lines = await exported(user)
    assert.deepEqual(
      lines.slice(1).map(({ content }) => content),
      messages.map(({ content }) => content),
    )
  })

  test('one is erased at once and for good, from every file or table; others stay; a turn that runs is stopped', {
    skip: needsProcess,
  }, async () => {
    const [user, other] = [randomUUID(), randomUUID()]
    model.behaviour = says('the quokka sleeps')
    await talk(user, 'What does the xenolith say?')
    model.behaviour = says('hello')
    const kept = await talk(other, 'Hello')
    const running = await service.newSession(agentId, { externalUserId: user })
    const store = storeOf(service)
    assert.ok(await store.holds('xenolith'))
    const release = model.hold(says('late'))
    const stream = await readEvents(client, 'POST', `${running}/messages`, { body: { message: 'And the zeolite?' } })
    await stream.find('turn.started')
    const answer = await client.delete(`${path}/${user}`)
    isOk(answer)
    assert.equal(answer.body.sessions, 2)
    assert.equal((await stream.find('turn.failed')).data.error.code, 'session_not_found')
    release()
    isError(await client.get(running), 404, 'session_not_found')
    isOk(await client.get(kept))
    assert.deepEqual(
      (await client.get(path)).body.users.map((u: { externalUserId: string }) => u.externalUserId),
      [other],
    )
    if (!store.isPostgres)
      await until('no file holds a word of it', async () => {
        for (const word of ['xenolith', 'quokka', 'zeolite']) if (await store.holds(word)) return false
        return true
      })
    isError(await client.delete(`${path}/${user}`), 404, 'user_not_found')
    isError(await client.get(`${path}/${user}/export`), 404, 'user_not_found')
  })

  test('erasing one takes the answers along that are kept for replays alone', { skip: needsProcess }, async () => {
    const user = randomUUID()
    const store = storeOf(service)
    model.behaviour = says('the wombat digs')
    const messages = [{ role: 'user', content: 'What does it do?' }]
    const keyed = () => ({ headers: { 'Idempotency-Key': randomUUID() } })
    const answers = [
      await client.post('^/openai/v1/chat/completions', { model: agentId, user, messages }, keyed()),
      await client.post('^/openai/v1/responses', { model: agentId, user, input: messages, store: false }, keyed()),
    ]
    for (const answer of answers) assert.equal(answer.status, 200, answer.text)
    assert.ok(await store.holds('wombat'))
    const answer = await client.delete(`${path}/${user}`)
    isOk(answer)
    assert.equal(answer.body.sessions, 0)
    await until('no file or table holds a word of it', async () => !(await store.holds('wombat')))
    isError(await client.delete(`${path}/${user}`), 404, 'user_not_found')
  })

  test('of another agent they are not there', async () => {
    const user = randomUUID()
    await talk(user, 'Hello')
    const other = `/agents/${await service.newAgent()}/users`
    isError(await client.delete(`${other}/${user}`), 404, 'user_not_found')
    isError(await client.get(`${other}/${user}/export`), 404, 'user_not_found')
    assert.equal((await exported(user)).length, 3)
  })
})
