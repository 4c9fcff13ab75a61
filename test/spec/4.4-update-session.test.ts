// Specification 4.4: PATCH /agents/{agentId}/sessions/{sessionId}
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP } from '../support/assert.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agentId: string
let session: string
beforeEach(async () => {
  agentId = await service.newAgent()
  session = await service.newSession(agentId, { name: 'Before' })
})

describe('4.4 update a session', () => {
  test('"Response: status 200. Body: { success: true, session: { id, name, updatedAt } }": these fields and no others', async () => {
    const answer = await client.patch(session, { name: 'After' })
    isOk(answer)
    hasFields(answer.body, 'success', 'session')
    hasFields(answer.body.session, 'id', 'name', 'updatedAt')
    assert.equal(answer.body.session.id, session.split('/').at(-1))
    assert.equal(answer.body.session.name, 'After')
    assert.match(answer.body.session.updatedAt, TIMESTAMP)
    assert.equal((await client.get(session)).body.session.name, 'After')
  })

  test('updatedAt moves; other times do not, and neither does the place in the list', async () => {
    const list = `/agents/${agentId}/sessions`
    await service.newSession(agentId)
    const before = (await client.get(list)).body.sessions
    const { createdAt } = (await client.get(session)).body.session
    const first = (await client.patch(session, { name: 'One' })).body.session.updatedAt
    const second = (await client.patch(session, { name: 'Two' })).body.session.updatedAt
    assert.ok(first >= createdAt && second >= first && second > createdAt)
    const after = (await client.get(list)).body.sessions
    const times = (sessions: { id: string; createdAt: string; lastMessageAt: string }[]) =>
      sessions.map(({ id, createdAt, lastMessageAt }) => ({ id, createdAt, lastMessageAt }))
    assert.deepEqual(times(after), times(before))
  })

  test('a rename touches no message', async () => {
    isOk(await client.post(`${session}/messages`, { message: 'Hello' }))
    const before = (await client.get(session)).body.messages
    isOk(await client.patch(session, { name: 'After' }))
    assert.deepEqual((await client.get(session)).body.messages, before)
  })

  test('a rename while a turn runs is done at once', {
    skip: needsProcess,
  }, async () => {
    service.model.reset()
    const release = service.model.hold()
    const sending = client.post(`${session}/messages`, { message: 'Hello' })
    await service.model.received(1)
    isOk(await client.patch(session, { name: 'Meanwhile' }))
    release()
    isOk(await sending)
    assert.equal((await client.get(session)).body.session.name, 'Meanwhile')
  })

  test('the name is returned exactly as sent', async () => {
    for (const name of [' x ', '👩‍👩‍👧‍👦', 'ﬁ ﷽', 'x'.repeat(200), '😀'.repeat(200)]) {
      assert.equal((await client.patch(session, { name })).body.session.name, name)
      assert.equal((await client.get(session)).body.session.name, name)
    }
  })

  for (const [about, body, path] of [
    ['"name: required: yes"', {}, 'body.name'],
    ['a name of null: it is not optional here', { name: null }, 'body.name'],
    ['an empty name', { name: '' }, 'body.name'],
    ['a blank name', { name: '   ' }, 'body.name'],
    ['a name of 201 characters', { name: 'x'.repeat(201) }, 'body.name'],
    ['a name that is a number', { name: 1 }, 'body.name'],
    ['a name with U+0000', { name: 'a\0' }, 'body.name'],
    ['a name with half of a surrogate pair', { name: '\udfff' }, 'body.name'],
    ['an unknown field', { name: 'x', userSessionId: randomUUID() }, 'body.userSessionId'],
  ] as const) {
    test(`400 invalid_request, and nothing changes: ${about}`, async () => {
      isError(await client.patch(session, body), 400, 'invalid_request', path)
      assert.equal((await client.get(session)).body.session.name, 'Before')
    })
  }

  test('a mistyped field is refused with the nearest known name', async () => {
    const answer = await client.patch(session, { nmae: 'After' })
    assert.match(answer.body.error.details.find((d: { path: string }) => d.path === 'body.nmae').message, /did you mean name\?/)
  })

  test('404 for a session that does not exist, that is another agent’s, or that was deleted', async () => {
    isError(await client.patch(`/agents/${agentId}/sessions/${randomUUID()}`, { name: 'x' }), 404, 'session_not_found')
    isError(await client.patch(session.replace(agentId, await service.newAgent()), { name: 'x' }), 404, 'session_not_found')
    isOk(await client.delete(session))
    isError(await client.patch(session, { name: 'x' }), 404, 'session_not_found')
  })
})
