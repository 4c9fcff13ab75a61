// The OpenAPI document describes what the service does: clients are generated from it, and gateways apply its defaults.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isOk } from '../support/assert.ts'
import type { Client } from '../support/client.ts'
import { makeKey, startService } from '../support/service.ts'

interface Parameter {
  name: string
  in: string
  schema: { default?: unknown }
}
interface Described {
  operationId: string
  parameters: Parameter[]
  requestBody?: { required?: boolean }
}
interface Request extends Described {
  method: string
  path: string
}

const service = await startService()
const { client } = service
after(() => service.stop())

let requests: Request[]
before(async () => {
  const { paths } = (await client.get('^/openapi.json', { key: null })).body as {
    paths: Record<string, Record<string, Described>>
  }
  requests = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ method: method.toUpperCase(), path, ...described })),
  )
})

const fill = (path: string, ids: Record<string, string>) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => {
    assert.ok(ids[name], `${path}: the test has no ${name}`)
    return ids[name]
  })

/** Creates one of everything that a path can name. */
async function createResources(by: Client): Promise<Record<string, string>> {
  const agentId = await service.newAgent({ model: 'extractive' })
  const session = await service.newSession(agentId)
  const sent = await by.post(`${session}/messages`, { message: 'Hello' })
  const document = await by.post(`/agents/${agentId}/documents`, { text: 'The shop opens at nine.' })
  const key = await by.post('/keys', { name: 'A key', scopes: ['chat'] })
  const webhook = await by.post('/webhooks', { url: 'https://example.org/', events: ['session.created'] })
  const delivery = await by.post(`/webhooks/${webhook.body.webhook.id}/test`)
  const source = await by.post(`/agents/${agentId}/sources`, { type: 'url', url: 'https://example.org/' })
  return {
    agentId,
    sessionId: session.split('/').at(-1)!,
    userMessageId: sent.body.userMessage.id,
    messageId: sent.body.aiMessage.id,
    documentId: document.body.document.id,
    keyId: key.body.key.id,
    webhookId: webhook.body.webhook.id,
    deliveryId: delivery.body.delivery.id,
    sourceId: source.body.source.id,
  }
}

describe('the OpenAPI document', () => {
  let ids: Record<string, string>
  before(async () => {
    ids = await createResources(client)
  })

  test('`limit` has a default exactly where a list without `limit` is returned as a page', async () => {
    const lists = requests.filter(({ parameters }) => parameters.some(({ name }) => name === 'limit'))
    assert.ok(lists.length > 8)
    for (const { path, parameters, operationId } of lists) {
      const { schema } = parameters.find(({ name }) => name === 'limit')!
      const { status, body, text } = await client.get(fill(path, ids))
      assert.equal(status, 200, text)
      assert.equal('default' in schema, 'pagination' in body, operationId)
    }
  })

  test('a body is required exactly where a request without one is refused', async () => {
    const withBody = requests.filter(({ requestBody }) => requestBody !== undefined)
    assert.ok(withBody.length > 15)
    for (const { method, path, operationId, requestBody } of withBody) {
      const messageId = operationId === 'cancelMessage' ? ids['userMessageId']! : ids['messageId']!
      const { status, text } = await client.request(method, fill(path, { ...ids, messageId }))
      assert.ok(status < 300 || status === 400 || status === 415, `${operationId}: ${text}`)
      assert.equal(requestBody!.required ?? false, status >= 400, `${operationId}: ${text}`)
    }
  })
})

describe('a cursor that no page gave', () => {
  test('is invalid_cursor in the list of sessions, as in every other list', async () => {
    const path = `/agents/${await service.newAgent()}/sessions`
    for (const query of ['cursor=x', `limit=2&cursor=${makeKey()}`, 'q=a&cursor=AAAA']) {
      const { status, body } = await client.get(`${path}?${query}`)
      assert.deepEqual([status, body.error.code, body.error.details[0].path], [400, 'invalid_cursor', 'query.cursor'])
    }
  })

  test('`cursor` without `limit` is a page of 50 sessions', async () => {
    const path = `/agents/${await service.newAgent()}/sessions`
    for (let i = 0; i < 53; i++) isOk(await client.post(path, {}), 201)
    const cursor = (await client.get(`${path}?limit=1`)).body.pagination.nextCursor
    const { sessions, pagination } = (await client.get(`${path}?cursor=${cursor}`)).body
    assert.deepEqual([sessions.length, pagination.hasMore, pagination.total], [50, true, 53])
  })
})
