// Specification 2: the fields of each resource, and the conventions that all of them share
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { hasFields, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agentId: string
let session: string
before(async () => {
  agentId = await service.newAgent()
  session = await service.newSession(agentId)
})

describe('2.1 session', () => {
  test('"Which fields appear depends on the operation that returns it": each field is one value wherever it appears', async () => {
    const list = `/agents/${agentId}/sessions`
    const created = (await client.post(list, { name: 'One', externalUserId: randomUUID() })).body.session
    const path = `${list}/${created.id}`
    const got = (await client.get(path)).body.session
    const listed = (await client.get(`${list}?externalUserId=${created.userSessionId}`)).body.sessions[0]
    const updated = (await client.patch(path, { name: 'One' })).body.session
    for (const name of ['id', 'name', 'userSessionId', 'createdAt']) assert.equal(listed[name], created[name])
    for (const name of ['id', 'name', 'createdAt']) assert.equal(got[name], created[name])
    for (const name of ['id', 'name']) assert.equal(updated[name], created[name])
    assert.equal(typeof listed.totalMessages, 'number')
    assert.ok(Number.isInteger(listed.totalMessages))
  })

  test('"createdAt: ISO 8601 timestamp (UTC, millisecond precision)", and so are lastMessageAt and updatedAt', async () => {
    const [listed] = (await client.get(`/agents/${agentId}/sessions`)).body.sessions
    const { updatedAt } = (await client.patch(session, { name: 'x' })).body.session
    for (const time of [listed.createdAt, listed.lastMessageAt, updatedAt]) assert.match(time, TIMESTAMP)
  })
})

describe('2.2 message', () => {
  test('a message is the same in the send answer, in the session details and in the history', async () => {
    const { userMessage, aiMessage } = (await client.post(`${session}/messages`, { message: 'Hello' })).body
    const details = (await client.get(session)).body.messages
    const history = (await client.get(`${session}/messages`)).body.messages
    const { model, ...reply } = aiMessage
    assert.deepEqual(details, [userMessage, reply])
    assert.deepEqual(history, [
      { ...userMessage, type: 'TEXT' },
      { ...reply, type: 'TEXT' },
    ])
  })

  test('"role: enum USER | AI", "type: message history only", "model: AI message in the send-message response only"', async () => {
    const sent = (await client.post(`${session}/messages`, { message: 'Hello' })).body
    hasFields(sent.userMessage, 'id', 'role', 'content', 'createdAt')
    hasFields(sent.aiMessage, 'id', 'role', 'content', 'createdAt', 'model')
    for (const message of (await client.get(session)).body.messages) {
      assert.match(message.role, /^(USER|AI)$/)
      hasFields(message, 'id', 'role', 'content', 'createdAt')
    }
  })
})

describe('2.4 pagination object', () => {
  test('hasMore is a boolean, nextCursor a message ID or null, total an integer', async () => {
    const { messages, pagination } = (await client.get(`${session}/messages?limit=1`)).body
    assert.deepEqual(pagination, { hasMore: true, nextCursor: messages[0].id, total: 4 })
  })
})

describe('ids', () => {
  test('are UUIDs of version 7, in lower case, and all different', async () => {
    const { session: made } = (await client.post(`/agents/${agentId}/sessions`, {})).body
    const { userMessage, aiMessage } = (await client.post(`${session}/messages`, { message: 'x' })).body
    const ids = [agentId, made.id, made.userSessionId, userMessage.id, aiMessage.id]
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) {
      assert.match(id, UUID)
      assert.equal(id[14], '7')
    }
  })
})

describe('success', () => {
  test('"Every success response body is a JSON object with success: true", whichever the request', async () => {
    const answers = [
      await client.post(`/agents/${agentId}/sessions`, {}),
      await client.get(`/agents/${agentId}/sessions`),
      await client.get(`/agents/${agentId}/sessions?limit=1`),
      await client.get(session),
      await client.patch(session, { name: 'x' }),
      await client.post(`${session}/messages`, { message: 'x' }),
      await client.get(`${session}/messages`),
      await client.get('/agents'),
      await client.get(`/agents/${agentId}`),
      await client.get('/keys'),
      await client.get('/models'),
      await client.get(`/agents/${agentId}/documents`),
      await client.post(`/agents/${agentId}/search`, { query: 'x' }),
      await client.delete(session),
    ]
    for (const answer of answers) {
      isOk(answer, answer === answers[0] ? 201 : 200)
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8')
    }
  })
})
