// Specification 4.5: DELETE /agents/{agentId}/sessions/{sessionId}
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk } from '../support/assert.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { storeOf } from '../support/store.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())
let agentId: string
let session: string
beforeEach(async () => {
  model.reset()
  agentId = await service.newAgent()
  session = await service.newSession(agentId)
})

const store = storeOf(service)

describe('4.5 delete a session', () => {
  test('"status 200. Body: { success: true, message: <text> }, where the text states that the session was deleted"', async () => {
    const answer = await client.delete(session)
    isOk(answer)
    hasFields(answer.body, 'success', 'message')
    assert.match(answer.body.message, /session.*deleted/i)
  })

  test('"The session and all its messages are permanently deleted": every way to it is 404, a second delete too', async () => {
    isOk(await client.post(`${session}/messages`, { message: 'Hello' }))
    isOk(await client.delete(session))
    isError(await client.get(session), 404, 'session_not_found')
    isError(await client.get(`${session}/messages`), 404, 'session_not_found')
    isError(await client.post(`${session}/messages`, { message: 'x' }), 404, 'session_not_found')
    isError(await client.patch(session, { name: 'x' }), 404, 'session_not_found')
    isError(await client.delete(session), 404, 'session_not_found')
    assert.deepEqual((await client.get(`/agents/${agentId}/sessions`)).body.sessions, [])
  })

  test('other sessions stay as they were', async () => {
    const other = await service.newSession(agentId)
    isOk(await client.post(`${other}/messages`, { message: 'Hello' }))
    const before = (await client.get(other)).body
    isOk(await client.delete(session))
    assert.deepEqual((await client.get(other)).body, before)
  })

  test('404 for a session that does not exist, or that is another agent’s, which then stays', async () => {
    isError(await client.delete(`/agents/${agentId}/sessions/${randomUUID()}`), 404, 'session_not_found')
    isError(await client.delete(session.replace(agentId, await service.newAgent())), 404, 'session_not_found')
    isOk(await client.get(session))
  })

  test('a request without a body may still say Content-Type: application/json', async () => {
    isOk(await client.delete(session, { headers: { 'content-type': 'application/json' } }))
  })

  test('of two deletes at once one is done and the other is 404', async () => {
    const statuses = (await Promise.all([client.delete(session), client.delete(session)])).map((a) => a.status)
    assert.deepEqual(statuses.sort(), [200, 404])
  })
})

describe('4.5 delete, at once and for good', { skip: needsProcess }, () => {
  test('no trace of the text is left in the data files, or in the tables, within seconds', async () => {
    const words = Array.from({ length: 3 }, () => `secret${randomUUID()}`)
    model.behaviour = says(`# ${words[1]}`)
    const named = await service.newSession(agentId, { name: words[2] })
    isOk(await client.post(`${named}/messages`, { message: words[0], format: 'html' }))
    for (const word of words) assert.ok(await store.holds(word), 'it was there before')
    isOk(await client.delete(named))
    for (const word of words) await until('no trace', async () => !(await store.holds(word)))
  })

  test('nor of a history of thousands of messages', async () => {
    const word = `secret${randomUUID()}`
    const messages = Array.from({ length: 3_000 }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `${word} ${i}` }))
    const { id } = (await client.post(`/agents/${agentId}/sessions/import`, { messages })).body.session
    isOk(await client.delete(`/agents/${agentId}/sessions/${id}`))
    isError(await client.get(`/agents/${agentId}/sessions/${id}`), 404, 'session_not_found')
    assert.equal((await client.get(`/agents/${agentId}`)).body.agent.stats.messages, 0)
    await until('no trace', async () => !(await store.holds(word)))
  })

  test('nor of the name that a session had before it was renamed', async () => {
    const word = `secret${randomUUID()}`
    const named = await service.newSession(agentId, { name: word })
    isOk(await client.patch(named, { name: 'harmless' }))
    isOk(await client.delete(named))
    await until('no trace', async () => !(await store.holds(word)))
  })

  test('a turn still running is aborted: its sender gets 404 at once, those who wait behind it too, and the model is let go', async () => {
    let letGo = false
    model.behaviour = (_call, response) => void response.on('close', () => (letGo = true))
    const sends = ['one', 'two', 'three'].map((message) => client.post(`${session}/messages`, { message }))
    await model.received(1)
    isOk(await client.delete(session))
    for (const answer of await Promise.all(sends)) isError(answer, 404, 'session_not_found')
    await until('the model is let go', () => letGo)
    assert.equal(model.calls.length, 1)
  })

  test('what was deleted stays deleted after a crash', async () => {
    isOk(await client.delete(session))
    await service.kill()
    await service.restart()
    isError(await client.get(session), 404, 'session_not_found')
  })
})
