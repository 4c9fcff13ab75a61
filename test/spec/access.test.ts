// Who may do what: every request that the service describes, with a key of every scope, on an agent of the key's own and on another.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import type { Answer, Client } from '../support/client.ts'
import { needsProcess, startService } from '../support/service.ts'

const SCOPES = ['admin', 'chat', 'read', 'knowledge']
/** The scopes that may make a request, beside admin. Written from the contract, and not taken from the code. */
const ALLOWED: Record<string, string[]> = {
  createSession: ['chat'],
  listSessions: ['chat', 'read'],
  getSession: ['chat', 'read'],
  updateSession: ['chat'],
  deleteSession: ['chat'],
  importSession: ['chat'],
  sendMessage: ['chat'],
  listMessages: ['chat', 'read'],
  getMessage: ['chat', 'read'],
  streamMessage: ['chat', 'read'],
  cancelMessage: ['chat'],
  setFeedback: ['chat'],
  deleteFeedback: ['chat'],
  regenerateMessage: ['chat'],
  listVersions: ['chat', 'read'],
  createAgent: [],
  listAgents: ['chat', 'read', 'knowledge'],
  getAgent: ['chat', 'read', 'knowledge'],
  getProfile: ['chat', 'read', 'knowledge'],
  updateAgent: [],
  previewAgent: [],
  deleteAgent: [],
  addDocument: ['knowledge'],
  uploadDocument: ['knowledge'],
  listDocuments: ['knowledge'],
  getDocument: ['knowledge'],
  replaceDocument: ['knowledge'],
  replaceDocumentWithFile: ['knowledge'],
  updateDocument: ['knowledge'],
  deleteDocument: ['knowledge'],
  listPassages: ['knowledge'],
  search: ['knowledge'],
  addSource: ['knowledge'],
  listSources: ['knowledge'],
  getSource: ['knowledge'],
  deleteSource: ['knowledge'],
  refreshSource: ['knowledge'],
  getInsights: ['knowledge'],
  createToken: ['chat'],
  listUsers: [],
  exportUser: [],
  eraseUser: [],
  createKey: [],
  listKeys: [],
  getCurrentKey: ['chat', 'read', 'knowledge'],
  deleteKey: [],
  rollKey: [],
  listModels: [],
  listAudit: [],
  getAgentUsage: [],
  getKeyUsage: [],
  createWebhook: [],
  listWebhooks: [],
  deleteWebhook: [],
  testWebhook: [],
  listDeliveries: [],
  retryDelivery: [],
}
/** What a token of a user is good for. */
const FOR_USERS = ['createSession', 'listSessions', 'getSession', 'updateSession', 'deleteSession']
FOR_USERS.push('sendMessage', 'listMessages', 'getMessage', 'streamMessage', 'cancelMessage', 'setFeedback', 'deleteFeedback')
FOR_USERS.push('regenerateMessage', 'listVersions', 'getProfile')
/** What an admin key that is bound to agents may not do either: it could make itself free. */
const UNBOUND = ['createAgent', 'createKey', 'listKeys', 'deleteKey', 'rollKey', 'listModels', 'listAudit']
UNBOUND.push('getKeyUsage', 'createWebhook', 'listWebhooks', 'deleteWebhook', 'testWebhook', 'listDeliveries', 'retryDelivery')

interface Request {
  id: string
  method: string
  path: string
}

describe('access', { skip: needsProcess }, async () => {
  const service = await startService()
  after(() => service.stop())
  const { client } = service
  const requests = await describedBy(client)
  let own: Record<string, string>
  let foreign: Record<string, string>
  const keys: Record<string, { free: Client; bound: Client }> = {}
  before(async () => {
    own = await makeThings()
    foreign = await makeThings()
    const newKey = async (scope: string, more: object) => {
      const answer = await client.post('/keys', { name: scope, scopes: [scope], ...more })
      isOk(answer, 201)
      return client.as(answer.body.secret)
    }
    for (const scope of SCOPES)
      keys[scope] = { free: await newKey(scope, {}), bound: await newKey(scope, { agentIds: [own['agentId']] }) }
  })

  /** An agent with one of everything. */
  async function makeThings(): Promise<Record<string, string>> {
    const agentId = await service.newAgent()
    const session = await service.newSession(agentId)
    const sent = await client.post(`${session}/messages`, { message: 'Hello' })
    isOk(sent)
    const document = await client.post(`/agents/${agentId}/documents`, { text: 'The kettle weighs 900 grams.' })
    isOk(document, 202)
    const source = await client.post(`/agents/${agentId}/sources`, { type: 'url', url: 'https://example.com/' })
    const key = await client.post('/keys', { name: 'thing', scopes: ['read'] })
    const webhook = await client.post('/webhooks', { url: 'https://example.com/', events: ['document.failed'] })
    return {
      agentId,
      sessionId: session.split('/').at(-1)!,
      messageId: sent.body.userMessage.id,
      documentId: document.body.document.id,
      sourceId: source.body.source?.id ?? randomUUID(),
      keyId: key.body.key.id,
      webhookId: webhook.body.webhook.id,
      deliveryId: randomUUID(),
      externalUserId: (await client.get(`/agents/${agentId}/sessions`)).body.sessions[0].userSessionId,
    }
  }
  const make = (by: Client, { method, path }: Request, things: Record<string, string>): Promise<Answer> => {
    const named = path.replace(/\{(\w+)\}/g, (_, name: string) => things[name]!)
    if (named.endsWith('/upload'))
      return by.request(method, named, { bytes: '', headers: { 'content-type': 'multipart/form-data; boundary=b' } })
    return by.request(method, named, ['GET', 'DELETE'].includes(method) ? {} : { body: {} })
  }
  /** Of things that are not there, so that nothing is lost by asking. */
  const missing = () => Object.fromEntries(Object.keys(own).map((name) => [name, name === 'agentId' ? own[name]! : randomUUID()]))

  test('every request is in the table of this test, and no other', () =>
    assert.deepEqual(requests.map(({ id }) => id).sort(), Object.keys(ALLOWED).sort()))

  for (const request of requests) {
    const allowed = ['admin', ...(ALLOWED[request.id] ?? [])]
    const isOfAgent = request.path.includes('{agentId}')

    test(`${request.id}: 401 without a key; with one, for ${allowed.join(', ')} alone`, async () => {
      isError(await make(client.as('nothing'), request, own), 401, 'unauthorized')
      for (const scope of SCOPES) {
        // What would delete or end something is asked for where there is nothing.
        const isHarmless = request.method === 'GET' || request.id === 'search'
        if (request.id === 'deleteAgent' && allowed.includes(scope)) continue
        const answer = await make(keys[scope]!.free, request, isHarmless ? own : missing())
        if (!allowed.includes(scope)) isError(answer, 403, 'forbidden')
        else assert.ok(answer.status < 500 && ![401, 403].includes(answer.status), `${scope}: ${answer.status} ${answer.text}`)
      }
    })

    if (isOfAgent)
      test(`${request.id}: on an agent that a key is not bound to, as on one that does not exist`, async () => {
        for (const scope of SCOPES) {
          const { bound } = keys[scope]!
          const there = await make(bound, request, foreign)
          const nowhere = await make(bound, request, { ...foreign, agentId: randomUUID() })
          if (allowed.includes(scope)) isError(there, 404, 'agent_not_found')
          else isError(there, 403, 'forbidden')
          assert.deepEqual(withoutId(there), withoutId(nowhere))
        }
      })
    else
      test(`${request.id}: with a key that is bound to an agent`, async () => {
        for (const scope of SCOPES) {
          const isAllowed = allowed.includes(scope) && !UNBOUND.includes(request.id)
          const answer = await make(keys[scope]!.bound, request, missing())
          if (isAllowed) isOk(answer)
          else isError(answer, 403, 'forbidden')
        }
      })

    test(`${request.id}: with a token of a user, ${FOR_USERS.includes(request.id) ? 'on sessions of that user' : 'never'}`, async () => {
      const { token } = (await client.post(`/agents/${own['agentId']}/tokens`, { externalUserId: randomUUID() })).body
      const user = client.as(token)
      if (!FOR_USERS.includes(request.id)) return isError(await make(user, request, own), 403, 'forbidden')
      isError(await make(user, request, foreign), 404, 'agent_not_found')
      const answer = await make(user, request, own)
      if (request.path.includes('{sessionId}')) isError(answer, 404, 'session_not_found')
      else isOk(answer, request.method === 'POST' ? 201 : 200)
    })

    if (isOfAgent && /\{(session|message|document|source|externalUser)Id\}/.test(request.path))
      test(`${request.id}: things of another agent are not there, under one's own`, async () => {
        for (const scope of allowed) {
          const answer = await make(keys[scope]!.bound, request, { ...foreign, agentId: own['agentId']! })
          assert.equal(answer.status, 404, answer.text)
        }
      })
  }

  test('after all of that, nothing of the other agent has changed', async () => {
    const path = `/agents/${foreign['agentId']}`
    const session = await client.get(`${path}/sessions/${foreign['sessionId']}`)
    isOk(session)
    assert.equal(session.body.messages.length, 2)
    assert.equal((await client.get(`${path}/sessions`)).body.sessions.length, 1)
    isOk(await client.get(`${path}/documents/${foreign['documentId']}`))
    assert.equal((await client.get(`${path}/documents`)).body.pagination.total, 1)
  })
})

const withoutId = ({ status, body }: Answer) => ({ status, ...body, error: { ...body.error, requestId: '' } })

async function describedBy(client: Client): Promise<Request[]> {
  const { paths } = (await client.get('^/openapi.json', { key: null })).body as {
    paths: Record<string, Record<string, { operationId?: string }>>
  }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId }]) =>
      operationId === undefined ? [] : [{ id: operationId, method: method.toUpperCase(), path }],
    ),
  )
}
