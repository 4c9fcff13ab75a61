// Agents: POST and GET /agents, GET, PATCH and DELETE /agents/{agentId}, GET /models
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { after, describe, test } from 'node:test'
import { hasFields, isError, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())

const FIELDS = [
  ...['id', 'name', 'instructions', 'greeting', 'starters', 'model', 'fallbackModels', 'temperature', 'maxOutputTokens'],
  ...['followUps', 'autoName', 'retrieval', 'embeddingModel', 'budget', 'retentionDays', 'allowedOrigins', 'imageHosts'],
  ...['createdAt', 'updatedAt'],
]
const create = async (settings: object = {}) => {
  const answer = await client.post('/agents', { name: 'An agent', ...settings })
  isOk(answer, 201)
  return answer.body.agent
}

/** Sends the head of a request now, and its body when that is called; resolves to the status. */
async function inTwo(method: string, path: string, body: object) {
  const text = JSON.stringify(body)
  const request = httpRequest(client.address.baseUrl + path, {
    ...{ method, agent: false },
    headers: {
      'x-api-key': client.key,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
      expect: '100-continue',
    },
  })
  // The answer may come before the body is sent.
  const answered = once(request, 'response')
  request.flushHeaders()
  await once(request, 'continue')
  return async (): Promise<number> => {
    request.end(text)
    const [response] = (await answered) as [IncomingMessage]
    response.resume()
    return response.statusCode!
  }
}

test('of two changes at once none is lost', async () => {
  const id = await service.newAgent()
  const send = await inTwo('PATCH', `/agents/${id}`, { name: 'new' })
  isOk(await client.patch(`/agents/${id}`, { instructions: 'Be brief.' }))
  assert.equal(await send(), 200)
  const { agent } = (await client.get(`/agents/${id}`)).body
  assert.deepEqual([agent.name, agent.instructions], ['new', 'Be brief.'])
})

test('nothing is made under an agent that is deleted before the body has come', async () => {
  for (const [path, body] of [
    ['sessions', { name: 'x' }],
    ['sessions/import', { messages: [{ role: 'USER', content: 'x' }] }],
    ['documents', { text: 'x' }],
  ] as const) {
    const id = await service.newAgent()
    const send = await inTwo('POST', `/agents/${id}/${path}`, body)
    isOk(await client.delete(`/agents/${id}`))
    assert.equal(await send(), 404, path)
  }
})

test('what an agent shows to its users is read with a token of one, and nothing else of it', async () => {
  const shown = { name: 'Desk', greeting: 'Hello', starters: ['Why?'] }
  const { id } = await create({ ...shown, instructions: 'Be kind.' })
  const { token } = (await client.post(`/agents/${id}/tokens`, { externalUserId: randomUUID() })).body
  const answer = await client.as(token).get(`/agents/${id}/profile`)
  isOk(answer)
  assert.deepEqual(answer.body, { success: true, profile: { id, ...shown } })
})

describe('agents', () => {
  test('only name is required; everything else has its default', async () => {
    const answer = await client.post('/agents', { name: 'Plain' })
    isOk(answer, 201)
    hasFields(answer.body, 'success', 'agent')
    const { agent } = answer.body
    hasFields(agent, ...FIELDS)
    assert.match(agent.id, UUID)
    assert.match(agent.createdAt, TIMESTAMP)
    assert.equal(agent.updatedAt, agent.createdAt)
    assert.deepEqual(agent.followUps, { enabled: false, count: 3 })
    assert.equal(agent.retrieval.topK, 6)
    assert.equal(agent.autoName, false)
    assert.deepEqual([agent.starters, agent.fallbackModels, agent.imageHosts], [[], [], []])
    if (!needsProcess) assert.equal(agent.model, 'extractive')
  })

  test('what was set is read back, and reading adds stats', async () => {
    const settings = {
      name: '  Ünïque 🐧 ',
      instructions: 'Be kind.\nBe brief.',
      greeting: 'Hello',
      starters: Array.from({ length: 8 }, (_, i) => `Question ${i}?`),
      temperature: 0.25,
      maxOutputTokens: 500,
      followUps: { enabled: true, count: 5 },
      retrieval: { topK: 3, minScore: 0.5, mode: 'lexical', rerank: false, filter: { lang: ['en', 'de'] } },
      budget: { tokensPerDay: 1000, costPerDay: 1.5, tokensPerUserPerDay: 10 },
      retentionDays: 30,
      imageHosts: ['img.example'],
    }
    const { id } = await create(settings)
    const answer = await client.get(`/agents/${id}`)
    isOk(answer)
    const { agent } = answer.body
    hasFields(agent, ...FIELDS, 'stats')
    for (const [name, value] of Object.entries(settings)) assert.deepEqual(agent[name], value, name)
    assert.deepEqual(agent.stats, { sessions: 0, messages: 0, documents: 0, passages: 0 })
  })

  test('stats count sessions and messages', async () => {
    const id = await service.newAgent()
    const session = await service.newSession(id)
    await service.newSession(id)
    isOk(await client.post(`${session}/messages`, { message: 'x' }))
    const { stats } = (await client.get(`/agents/${id}`)).body.agent
    assert.deepEqual(stats, { sessions: 2, messages: 2, documents: 0, passages: 0 })
  })

  test('PATCH changes what it names, merges nested objects field by field, and moves updatedAt', async () => {
    const before = await create({
      greeting: 'Hello',
      followUps: { enabled: true, count: 5 },
      retrieval: { topK: 3, minScore: 0.4 },
    })
    const answer = await client.patch(`/agents/${before.id}`, { followUps: { count: 2 }, retrieval: { topK: 9 }, temperature: 1 })
    isOk(answer)
    const { agent } = answer.body
    hasFields(agent, ...FIELDS)
    const { updatedAt, ...rest } = agent
    const { updatedAt: then, ...expected } = {
      ...before,
      followUps: { enabled: true, count: 2 },
      retrieval: { ...before.retrieval, topK: 9 },
      temperature: 1,
    }
    assert.deepEqual(rest, expected)
    assert.ok(updatedAt >= then)
    const { stats, ...read } = (await client.get(`/agents/${before.id}`)).body.agent
    assert.deepEqual(read, agent)
  })

  test('null is a value where a setting may be empty, and leaves out every other', async () => {
    const { id } = await create({ temperature: 1, greeting: 'Hello' })
    const { agent } = (await client.patch(`/agents/${id}`, { temperature: null, greeting: null, name: null })).body
    assert.deepEqual([agent.temperature, agent.greeting, agent.name], [null, 'Hello', 'An agent'])
  })

  test('a change is in force for the next message', { skip: needsProcess }, async () => {
    const id = await service.newAgent({ instructions: 'Old orders.' })
    const session = await service.newSession(id)
    isOk(await client.post(`${session}/messages`, { message: 'x' }))
    isOk(await client.patch(`/agents/${id}`, { instructions: 'New orders.' }))
    isOk(await client.post(`${session}/messages`, { message: 'x' }))
    assert.equal(model.lastPrompt[0]!.content, 'New orders.')
  })

  for (const [about, body, path] of [
    ['no name', { name: undefined }, 'body.name'],
    ['a blank name', { name: ' ' }, 'body.name'],
    ['nine starters', { starters: Array(9).fill('Why?') }, 'body.starters'],
    ['a model of an unknown provider', { model: 'nowhere/model' }, 'body.model'],
    ['a fallback that is not known', { fallbackModels: ['gpt'] }, undefined],
    ['a minScore above 1', { retrieval: { minScore: 1.1 } }, 'body.retrieval.minScore'],
    ['an unknown retrieval mode', { retrieval: { mode: 'magic' } }, 'body.retrieval.mode'],
    ['a topK of 0', { retrieval: { topK: 0 } }, 'body.retrieval.topK'],
    ['an id of its own', { id: randomUUID() }, 'body.id'],
    ['an unknown field', { nmae: 'x' }, 'body.nmae'],
    ['an unknown nested field', { followUps: { enable: true } }, 'body.followUps.enable'],
    ['an image host that is a URL', { imageHosts: ['https://img.example/'] }, 'body.imageHosts[0]'],
  ] as const) {
    test(`400 invalid_request for ${about}, on create and on change`, async () => {
      isError(await client.post('/agents', { name: 'An agent', ...body }), 400, 'invalid_request', path)
      if ('name' in body && body.name === undefined) return
      const { id } = await create()
      isError(await client.patch(`/agents/${id}`, body), 400, 'invalid_request', path)
    })
  }

  test('a mistyped field is refused with the nearest known name, nested ones too', async () => {
    const answer = await client.post('/agents', { name: 'x', greating: 'x', followUps: { enable: true } })
    const messages = answer.body.error.details.map(({ message }: { message: string }) => message).join(' ')
    assert.match(messages, /did you mean greeting\?/)
    assert.match(messages, /did you mean enabled\?/)
  })

  test('the list: newest first, paged as message history', async () => {
    const made = [(await create()).id, (await create()).id, (await create()).id].reverse()
    const first = await client.get('/agents?limit=2')
    isOk(first)
    hasFields(first.body, 'success', 'agents', 'pagination')
    for (const agent of first.body.agents) hasFields(agent, ...FIELDS)
    const { nextCursor, total } = first.body.pagination
    assert.equal(nextCursor, made[1])
    const second = await client.get(`/agents?limit=1&cursor=${nextCursor}`)
    const ids = [...first.body.agents, ...second.body.agents].map(({ id }: { id: string }) => id)
    assert.deepEqual(ids, made)
    assert.ok(total >= 3)
    isError(await client.get(`/agents?cursor=${randomUUID()}`), 400, 'invalid_cursor', 'query.cursor')
    isError(await client.get('/agents?limit=101'), 400, 'invalid_request', 'query.limit')
  })

  test('404 agent_not_found for an agent that does not exist', async () => {
    const path = `/agents/${randomUUID()}`
    for (const answer of [await client.get(path), await client.patch(path, { name: 'x' }), await client.delete(path)]) {
      isError(answer, 404, 'agent_not_found')
    }
  })

  test('a deleted agent is gone, with its sessions; a second delete is 404', async () => {
    const id = await service.newAgent()
    const session = await service.newSession(id)
    isOk(await client.post(`${session}/messages`, { message: 'x' }))
    const answer = await client.delete(`/agents/${id}`)
    isOk(answer)
    hasFields(answer.body, 'success', 'message')
    isError(await client.get(`/agents/${id}`), 404, 'agent_not_found')
    isError(await client.get(session), 404, 'agent_not_found')
    isError(await client.post(`${session}/messages`, { message: 'x' }), 404, 'agent_not_found')
    isError(await client.delete(`/agents/${id}`), 404, 'agent_not_found')
    const listed = (await client.get('/agents?limit=100')).body.agents.map((agent: { id: string }) => agent.id)
    assert.ok(!listed.includes(id))
  })

  test('a turn that runs in a deleted agent is aborted, and its sender gets 404', { skip: needsProcess }, async () => {
    model.reset()
    let letGo = false
    let cut = () => {}
    model.behaviour = (_call, response) => {
      cut = () => response.destroy()
      response.on('close', () => {
        letGo = true
      })
    }
    const id = await service.newAgent()
    const sending = client.post(`${await service.newSession(id)}/messages`, { message: 'x' })
    await model.received(1)
    isOk(await client.delete(`/agents/${id}`))
    await until('the model is let go', () => letGo).finally(cut)
    assert.equal((await sending).status, 404)
  })

  test('GET /models: { success, models: [{ id, provider, kind }] }', async () => {
    const answer = await client.get('/models')
    isOk(answer)
    hasFields(answer.body, 'success', 'models')
    for (const listed of answer.body.models) {
      hasFields(listed, 'id', 'provider', 'kind')
      assert.match(listed.kind, /^(chat|embedding)$/)
    }
    assert.ok(answer.body.models.some(({ id }: { id: string }) => id === 'extractive'))
  })
})

describe('settings of the deployment', { skip: needsProcess }, () => {
  test('model: default REPARTEE_MODEL', async () => {
    await service.end('SIGTERM')
    await service.restart({ REPARTEE_MODEL: 'openai/of-the-house' })
    assert.equal((await create()).model, 'openai/of-the-house')
  })
})
