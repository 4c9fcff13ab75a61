// Reranking: `retrieval.rerank` of an agent, by a reranking model or by the agent's own.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import { refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, type Service, startService } from '../support/service.ts'

const FACTS = ['The harbour lamp is red.', 'The harbour lamp is green.', 'The harbour lamp is blue.']

/** An agent that knows the facts, and how it orders them. */
async function taught(service: Service, settings: object) {
  const agent = `/agents/${await service.newAgent({ retrieval: { rerank: true }, ...settings })}`
  for (const text of FACTS) isOk(await service.client.post(`${agent}/documents`, { text }), 202)
  await until(
    'all are ready',
    async () => (await service.client.get(`${agent}/documents?status=ready`)).body.pagination.total === 3,
  )
  const search = async () => {
    const answer = await service.client.post(`${agent}/search`, { query: 'harbour lamp', topK: 2 })
    isOk(answer)
    return (answer.body.hits as { text: string }[]).map(({ text }) => text)
  }
  const trace = async () => {
    const session = await service.newSession(agent.slice('/agents/'.length))
    const answer = await service.client.post(`${session}/messages`, {
      message: 'Which harbour lamp is there?',
      include: ['trace'],
    })
    isOk(answer)
    return answer.body.trace
  }
  return { search, trace }
}

describe('reranking by a reranking model', { skip: needsProcess }, () => {
  let asked: { query: string; documents: string[]; model: string }[] = []
  let answer: (documents: string[]) => [number, object] = () => [200, {}]
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const body = JSON.parse(text)
    asked.push(body)
    const [status, said] = answer(body.documents)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(said))
  })
  let service: Service
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/rerank`
    service = await startService({ REPARTEE_RERANK_URL: url, REPARTEE_RERANK_MODEL: 'order-1' })
  })
  after(async () => {
    await service.stop()
    server.close()
  })
  beforeEach(() => {
    asked = []
  })
  const bluest = (documents: string[]) =>
    documents.map((text, index) => ({ index, relevance_score: text.includes('blue') ? 0.9 : 0.1 * index }))

  for (const [about, wrap] of [
    ['results', (list: object[]) => ({ results: list })],
    ['data', (list: object[]) => ({ object: 'list', data: list })],
  ] as const)
    test(`puts the passages in its order, told under ${about}`, async () => {
      answer = (documents) => [200, wrap(bluest(documents).toReversed())]
      const { search, trace } = await taught(service, { model: 'extractive' })
      assert.equal((await search())[0], FACTS[2])
      assert.deepEqual([asked[0]!.query, asked[0]!.model, asked[0]!.documents.length], ['harbour lamp', 'order-1', 3])
      const { retrieval, passages } = await trace()
      assert.deepEqual(retrieval, { mode: 'lexical', reranked: true })
      assert.equal(passages[0].scores.rerank, 0.9)
    })

  for (const [about, said] of [
    ['fails', [500, {}]],
    ['says something else', [200, { results: 'none' }]],
    ['names a score that is none', [200, { results: [{ index: 0, relevance_score: 'high' }] }]],
  ] as const)
    test(`keeps their order where it ${about}`, async () => {
      answer = () => said as [number, object]
      const { search, trace } = await taught(service, { model: 'extractive' })
      assert.equal((await search()).length, 2)
      assert.deepEqual((await trace()).retrieval, { mode: 'lexical', reranked: false })
    })

  test('is not asked by agents that do not want it', async () => {
    const { search } = await taught(service, { model: 'extractive', retrieval: {} })
    await search()
    assert.equal(asked.length, 0)
  })
})

describe("reranking by the agent's own model", { skip: needsProcess }, () => {
  let service: Service
  before(async () => {
    service = await startService()
  })
  after(() => service.stop())

  test('puts the passages that it names first, in its order', async () => {
    const { search } = await taught(service, {})
    service.model.behaviour = says(({ messages }) => {
      const blue = /n="(\d)">\n[^<]*blue/.exec(messages.at(-1)!.content)?.[1]
      return `{"order":[${blue}]}`
    })
    assert.equal((await search())[0], FACTS[2])
  })

  for (const [about, behaviour] of [
    ['fails', refuses(500)],
    ['names none of them', says('{"order":[17]}')],
    ['says something else', says('The second.')],
  ] as const)
    test(`keeps their order where it ${about}`, async () => {
      const { search } = await taught(service, {})
      service.model.behaviour = behaviour
      assert.equal((await search()).length, 2)
    })

  test('is paid for by the budget of the agent, and left out when too little is left', async () => {
    const { search } = await taught(service, { budget: { tokensPerDay: 1_000 } })
    service.model.reset()
    service.model.behaviour = says('{"order":[1]}')
    for (let i = 0; i < 60; i++) assert.equal((await search()).length, 2)
    const { length: calls } = service.model.calls
    assert.ok(calls >= 1 && calls < 60, `${calls} calls`)
  })

  test('does without a model that reads', async () => {
    const { trace } = await taught(service, { model: 'extractive' })
    assert.deepEqual((await trace()).retrieval, { mode: 'lexical', reranked: false })
  })
})
