// POST /agents/{agentId}/preview: an agent as changes would make it, in a conversation that is kept nowhere.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { hasFields, isError, isOk } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { keepsFiles, needsProcess, startService } from '../support/service.ts'

describe('preview of an agent', { skip: needsProcess }, async () => {
  const service = await startService()
  const { client, model } = service
  after(() => service.stop())
  let agent: string
  let preview: string
  before(async () => {
    agent = `/agents/${await service.newAgent({ name: 'As saved', instructions: 'Be brief.' })}`
    preview = `${agent}/preview`
    isOk(
      await client.post(`${agent}/documents`, { title: 'Kettle', markdown: 'The Aurora kettle holds 1.7 litres of water.' }),
      202,
    )
    await until('the document is indexed', async () => (await client.get(agent)).body.agent.stats.passages > 0)
  })
  beforeEach(() => model.reset())
  const said = () => JSON.stringify(model.calls.at(-1)!.messages)

  test('answers as a send does, with the changes; what is saved stays as it is', async () => {
    const before = (await client.get(agent)).body
    const answer = await client.post(preview, {
      message: 'How much does the kettle hold?',
      changes: { instructions: 'Speak like a pirate.', temperature: 0.3 },
      include: ['sources', 'usage', 'trace'],
    })
    isOk(answer)
    hasFields(answer.body, 'success', 'chatSession', 'userMessage', 'aiMessage', 'sources', 'usage', 'trace')
    hasFields(answer.body.aiMessage, 'id', 'role', 'content', 'model', 'createdAt')
    assert.match(said(), /Speak like a pirate\./)
    assert.doesNotMatch(said(), /Be brief\./)
    assert.equal(model.calls.at(-1)!.body['temperature'], 0.3)
    assert.deepEqual((await client.get(agent)).body, before)
  })

  test('of what is changed within an object, the rest is as saved', async () => {
    const changes = { model: 'extractive', followUps: { enabled: true } }
    const answer = await client.post(preview, { message: 'How much does the kettle hold?', changes, include: ['sources'] })
    isOk(answer)
    assert.match(answer.body.aiMessage.content, /1\.7 litres/)
    assert.equal(answer.body.sources[0].title, 'Kettle')
    assert.ok(Array.isArray(answer.body.followUps))
    const none = await client.post(preview, {
      message: 'How much?',
      changes: { ...changes, retrieval: { filter: { lang: 'none' } } },
    })
    isOk(none)
    assert.doesNotMatch(none.body.aiMessage.content, /litres/)
  })

  test('the conversation before is what the caller says it was', async () => {
    const history = [
      { role: 'USER', content: 'Do you know the Aurora?' },
      { role: 'AI', content: 'I do, it is a kettle.' },
    ]
    isOk(await client.post(preview, { message: 'And?', history, additionalContext: 'A page about tea.', format: 'html' }))
    for (const text of ['Do you know the Aurora?', 'I do, it is a kettle.', 'A page about tea.']) assert.ok(said().includes(text))
  })

  test('comes as events where they are asked for', async () => {
    model.behaviour = says('Aye, 1.7 litres.')
    const stream = await readEvents(client, 'POST', preview, { body: { message: 'How much?' } })
    const { data } = await stream.find('turn.completed')
    assert.equal(stream.events[0]!.event, 'turn.started')
    assert.equal(stream.text(), 'Aye, 1.7 litres.')
    assert.equal(data.aiMessage.content, 'Aye, 1.7 litres.')
  })

  test('nothing of it is kept', async () => {
    isOk(await client.post(preview, { message: 'A word like zyzzyva.', changes: { model: 'extractive' } }))
    const { stats } = (await client.get(agent)).body.agent
    assert.deepEqual([stats.sessions, stats.messages], [0, 0])
    assert.deepEqual((await client.get(`${agent}/sessions`)).body.sessions, [])
    assert.deepEqual((await client.get(`${agent}/insights`)).body.unanswered, [])
    if (!keepsFiles) return
    for (const name of readdirSync(service.data, { recursive: true, encoding: 'utf8' }).filter((name) =>
      /\.db(-wal)?$/.test(name),
    ))
      assert.ok(!readFileSync(join(service.data, name)).includes('zyzzyva'), name)
  })

  test('bad input names its field, as the change itself would', async () => {
    for (const [body, path] of [
      [{}, 'body.message'],
      [{ message: ' ' }, 'body.message'],
      [{ message: 'x', changes: { model: 'nobody/knows' } }, 'body.changes.model'],
      [{ message: 'x', changes: { temperature: 3 } }, 'body.changes.temperature'],
      [{ message: 'x', changes: { greting: '' } }, 'body.changes.greting'],
      [{ message: 'x', history: [{ role: 'BOT', content: 'x' }] }, 'body.history[0].role'],
    ] as const)
      isError(await client.post(preview, body), 400, 'invalid_request', path)
  })

  test('a model that fails is told of as in a send', async () => {
    model.behaviour = (_call, response) => response.writeHead(500).end()
    isError(await client.post(preview, { message: 'x' }), 502, 'model_failed')
  })
})
