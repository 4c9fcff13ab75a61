// What came of the conversations: GET /agents/{agentId}/insights
import assert from 'node:assert/strict'
import { after, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'

const service = await startService()
const { client } = service
after(() => service.stop())
let agent: string
let kettle: string
let lamp: string
beforeEach(async () => {
  agent = `/agents/${await service.newAgent({ model: 'extractive' })}`
  const add = async (title: string, text: string) =>
    (await client.post(`${agent}/documents`, { title, text })).body.document.id as string
  kettle = await add('Kettle', 'The Aurora kettle holds 1.7 litres of water.')
  lamp = await add('Lamp', 'The Boreal lamp burns for forty hours.')
  await until('both are ready', async () => (await client.get(`${agent}/documents?status=ready`)).body.pagination.total === 2)
})
const newSession = async (body: object = {}) => (await client.post(`${agent}/sessions`, body)).body.session.id as string
async function ask(message: string, session?: string) {
  const of = session ?? (await newSession())
  const answer = await client.post(`${agent}/sessions/${of}/messages`, { message })
  isOk(answer)
  return { session: of, reply: answer.body.aiMessage.id as string }
}
const insights = async (query = '') => {
  const answer = await client.get(`${agent}/insights${query}`)
  isOk(answer)
  return answer.body
}
const QUESTION = 'How much water does the Aurora kettle hold?'

describe('insights', { skip: needsProcess }, () => {
  test('of an agent nobody has talked to name its documents, and nothing else', async () => {
    const body = await insights()
    hasFields(body, 'success', 'days', 'ratings', 'unanswered', 'documents')
    assert.deepEqual([body.days, body.ratings, body.unanswered], [[], { up: 0, down: 0 }, []])
    assert.deepEqual(body.documents, [
      { documentId: lamp, title: 'Lamp', cited: 0, up: 0, down: 0 },
      { documentId: kettle, title: 'Kettle', cited: 0, up: 0, down: 0 },
    ])
  })

  test('count turns, sessions and users of a day, and how long turns took', async () => {
    const user = '11111111-2222-4333-8444-555555555555'
    const session = await newSession({ externalUserId: user })
    await ask(QUESTION, session)
    await ask(QUESTION, session)
    await ask(QUESTION, await newSession({ externalUserId: user }))
    await ask(QUESTION)
    const [day, ...others] = (await insights()).days
    assert.deepEqual(others, [])
    hasFields(day, 'date', 'turns', 'sessions', 'users', 'tokensIn', 'tokensOut', 'cost', 'latencyMs')
    assert.equal(day.date, new Date().toISOString().slice(0, 10))
    assert.deepEqual([day.turns, day.sessions, day.users], [4, 3, 2])
    assert.ok(day.latencyMs.p50 >= 0 && day.latencyMs.p95 >= day.latencyMs.p50)
  })

  test('count every reply of long sessions and of many short ones', async () => {
    // An odd number of messages before the turns: questions and replies lie across every boundary.
    const imported = Array.from({ length: 99 }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `line ${i}` }))
    const { session } = (await client.post(`${agent}/sessions/import`, { messages: imported })).body
    for (let i = 0; i < 60; i++) await ask(QUESTION, session.id)
    for (let i = 0; i < 60; i++) await ask(QUESTION)
    const [day] = (await insights()).days
    assert.deepEqual([day.turns, day.sessions, day.users], [120, 61, 61])
    assert.equal((await insights()).documents[0].cited, 120)
  })

  test('add up the tokens of language models', async () => {
    service.model.behaviour = says('Yes.')
    isOk(await client.patch(agent, { model: 'openai/stub' }))
    await ask(QUESTION)
    const [day] = (await insights()).days
    assert.ok(day.tokensIn > 0 && day.tokensOut > 0)
  })

  test('put questions that could not be answered together, in whatever words of the same stems', async () => {
    const first = await ask('What does the moon weigh in kilograms?')
    const second = await ask('what do moons weigh in a kilogram')
    await ask('Who painted the ceiling of the chapel?')
    await ask(QUESTION)
    const { unanswered } = await insights()
    assert.deepEqual(
      unanswered.map(({ count }: { count: number }) => count),
      [2, 1],
    )
    hasFields(unanswered[0], 'question', 'count', 'lastAskedAt', 'sessionIds')
    assert.equal(unanswered[0].question, 'what do moons weigh in a kilogram')
    assert.match(unanswered[0].lastAskedAt, TIMESTAMP)
    assert.deepEqual(unanswered[0].sessionIds.sort(), [first.session, second.session].sort())
    assert.equal(unanswered[1].question, 'Who painted the ceiling of the chapel?')
  })

  test('compare long questions by their beginning', async () => {
    const words = (name: string, count: number) =>
      Array.from({ length: count }, (_, i) => `${name}${i.toString(36)}quay`).join(' ')
    const start = words('zor', 60)
    await ask(`${start} ${words('mip', 200)}`)
    await ask(`${start} ${words('vul', 1_500)}`)
    const { unanswered } = await insights()
    assert.deepEqual(
      unanswered.map(({ count }: { count: number }) => count),
      [2],
    )
    assert.equal(unanswered[0].question.length, 2_000)
  })

  test('do not take a greeting, or a reply that its reader cut off, for a question that could not be answered', async () => {
    await ask('Hello!')
    isOk(await client.patch(agent, { model: 'openai/stub' }))
    const speaker = new Speaker()
    service.model.behaviour = speaker.behaviour
    const session = `${agent}/sessions/${await newSession()}`
    const sending = client.post(`${session}/messages`, { message: 'Who painted the ceiling of the chapel?' })
    const id = await until('the message is stored', async () => (await client.get(session)).body.messages.at(-1)?.id as string)
    const reader = await readEvents(client, 'GET', `${session}/messages/${id}/stream`)
    await speaker.say('Nobody', ' knows')
    await reader.textOf(12)
    isOk(await client.post(`${session}/messages/${id}/cancel`))
    isOk(await sending)
    const { days, unanswered } = await insights()
    assert.equal(days[0].turns, 2)
    assert.deepEqual(unanswered, [])
  })

  test('tell which documents were cited, and how their replies were rated', async () => {
    const { session, reply } = await ask(QUESTION)
    await ask(QUESTION)
    isOk(await client.put(`${agent}/sessions/${session}/messages/${reply}/feedback`, { rating: 'up' }))
    const { reply: bad } = await ask('Who painted the ceiling of the chapel?', session)
    isOk(await client.put(`${agent}/sessions/${session}/messages/${bad}/feedback`, { rating: 'down' }))
    const { ratings, documents } = await insights()
    assert.deepEqual(ratings, { up: 1, down: 1 })
    assert.deepEqual(documents, [
      { documentId: kettle, title: 'Kettle', cited: 2, up: 1, down: 0 },
      { documentId: lamp, title: 'Lamp', cited: 0, up: 0, down: 0 },
    ])
  })

  test('forget what is deleted', async () => {
    const { session } = await ask('Who painted the ceiling of the chapel?')
    isOk(await client.delete(`${agent}/sessions/${session}`))
    const { days, unanswered } = await insights()
    assert.deepEqual([days, unanswered], [[], []])
  })

  test('are of the times asked for; from the beginning of the first to before the second', async () => {
    await ask(QUESTION)
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
    const yesterday = new Date(Date.now() - 86_400_000).toISOString()
    assert.equal((await insights(`?from=${yesterday}&to=${tomorrow}`)).days.length, 1)
    assert.equal((await insights(`?to=${yesterday}`)).days.length, 0)
    assert.equal((await insights(`?from=${tomorrow}&to=${new Date(Date.now() + 172_800_000).toISOString()}`)).days.length, 0)
    isError(await client.get(`${agent}/insights?from=${tomorrow}&to=${yesterday}`), 400, 'invalid_request', 'query.from')
    isError(await client.get(`${agent}/insights?from=yesterday`), 400, 'invalid_request', 'query.from')
    isError(await client.get(`${agent}/insights?since=${yesterday}`), 400, 'invalid_request', 'query.since')
  })

  test('leave out what was imported, and what was said to other agents', async () => {
    const messages = [
      { role: 'USER', content: 'Who painted the ceiling?' },
      { role: 'AI', content: 'I do not know.' },
    ]
    isOk(await client.post(`${agent}/sessions/import`, { messages }), 201)
    const other = `/agents/${await service.newAgent({ model: 'extractive' })}`
    const session = (await client.post(`${other}/sessions`, {})).body.session.id
    isOk(await client.post(`${other}/sessions/${session}/messages`, { message: 'Hello?' }))
    assert.deepEqual((await insights()).days, [])
  })

  test('need the scope knowledge', async () => {
    const { secret } = (await client.post('/keys', { name: 'x', scopes: ['chat'] })).body
    isError(await client.get(`${agent}/insights`, { key: secret }), 403, 'forbidden')
  })
})
