// Specification 4.3: GET /agents/{agentId}/sessions/{sessionId}
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agentId: string
before(async () => {
  agentId = await service.newAgent()
})

describe('4.3 get session details', () => {
  test('"{ success: true, session: { id, name, createdAt }, messages: [ { id, role, content, createdAt } ] }": these fields and no others', async () => {
    const session = await service.newSession(agentId, { name: 'Read me' })
    const sent = (await client.post(`${session}/messages`, { message: 'Hello' })).body
    const answer = await client.get(session)
    isOk(answer)
    hasFields(answer.body, 'success', 'session', 'messages')
    hasFields(answer.body.session, 'id', 'name', 'createdAt')
    assert.equal(answer.body.session.id, session.split('/').at(-1))
    assert.equal(answer.body.session.name, 'Read me')
    assert.match(answer.body.session.createdAt, TIMESTAMP)
    for (const message of answer.body.messages) {
      hasFields(message, 'id', 'role', 'content', 'createdAt')
      assert.match(message.id, UUID)
      assert.match(message.createdAt, TIMESTAMP)
    }
    const { model, ...reply } = sent.aiMessage
    assert.deepEqual(answer.body.messages, [sent.userMessage, reply])
  })

  test('an empty session has an empty history', async () => {
    assert.deepEqual((await client.get(await service.newSession(agentId))).body.messages, [])
  })

  test('"messages is the full message history, not paged … in ascending creation order"', async () => {
    const messages = Array.from({ length: 1_201 }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `m${i}` }))
    const { session } = (await client.post(`/agents/${agentId}/sessions/import`, { messages })).body
    const answer = await client.get(`/agents/${agentId}/sessions/${session.id}`)
    assert.deepEqual(
      answer.body.messages.map(({ role, content }: { role: string; content: string }) => ({ role, content })),
      messages,
    )
    assert.equal(answer.headers['content-length'], undefined, 'it is streamed')
  })

  test('ids are taken in either case and printed in lower case', async () => {
    const session = await service.newSession(agentId)
    const id = session.split('/').at(-1)!
    const answer = await client.get(`/agents/${agentId.toUpperCase()}/sessions/${id.toUpperCase()}`)
    isOk(answer)
    assert.equal(answer.body.session.id, id)
  })

  test('404 session_not_found for a session that does not exist, and for one of another agent: one and the same answer', async () => {
    const other = await service.newSession(await service.newAgent())
    const foreign = await client.get(`/agents/${agentId}/sessions/${other.split('/').at(-1)}`)
    const unknown = await client.get(`/agents/${agentId}/sessions/${randomUUID()}`)
    for (const answer of [foreign, unknown]) isError(answer, 404, 'session_not_found')
    assert.equal(foreign.body.error.message, unknown.body.error.message)
    assert.deepEqual(foreign.body.error.details, unknown.body.error.details)
  })

  test('404 agent_not_found for an agent that does not exist, though the session does', async () => {
    const session = await service.newSession(agentId)
    isError(await client.get(session.replace(agentId, randomUUID())), 404, 'agent_not_found')
  })

  for (const bad of ['7', 'null', '11111111-1111-4111-8111-111111111111x', '%20', '..%2f..%2fetc']) {
    test(`400 invalid_request for a session id that is no UUID: ${bad}`, async () => {
      isError(await client.get(`/agents/${agentId}/sessions/${bad}`), 400, 'invalid_request', 'path.sessionId')
    })
  }

  test('a query parameter is refused: the history is not paged here', async () => {
    isError(await client.get(`${await service.newSession(agentId)}?limit=2`), 400, 'invalid_request', 'query.limit')
  })
})
