// Agents as servers of the Model Context Protocol, asked by the protocol's own client, and by hand where a client would not do such a thing.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { UUID } from '../support/assert.ts'
import type { Answer, Client } from '../support/client.ts'
import { readEvents } from '../support/events.ts'
import { refuses, says, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const CURRENT = '2026-07-28'
const META = 'io.modelcontextprotocol/'
const MODES = [
  { revision: CURRENT, mode: { pin: CURRENT } },
  { revision: '2025-11-25', mode: 'legacy' },
] as const

interface Sent {
  method: string
  params?: { name?: string; [field: string]: unknown }
}

/** A request of the current revision, as it should be, unless told otherwise. */
function toRequest({ method, params }: Sent, headers: Record<string, string | undefined> = {}) {
  const _meta = { [`${META}protocolVersion`]: CURRENT, [`${META}clientCapabilities`]: {} }
  const usual = { 'mcp-protocol-version': CURRENT, 'mcp-method': method, 'mcp-name': params?.name }
  return { body: { jsonrpc: '2.0', id: 1, method, params: { _meta, ...params } }, headers: { ...usual, ...headers } }
}
function sends(client: Client, path: string, sent: Sent, headers?: Record<string, string | undefined>): Promise<Answer> {
  return client.request('POST', `^${path}`, toRequest(sent, headers))
}

function isProtocolError(answer: Answer, status: number, code: number): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(answer.body.jsonrpc, '2.0')
  assert.equal(answer.body.error.code, code, answer.text)
  assert.equal(typeof answer.body.error.message, 'string')
}

describe('MCP', { skip: needsProcess }, async () => {
  const service = await startService()
  after(() => service.stop())
  const { client, model } = service
  let agent: string
  let own: string
  const open: McpClient[] = []
  before(async () => {
    agent = await service.newAgent({ name: 'Lantern', retrieval: { topK: 2 } })
    own = `/mcp/${agent}`
    const text = 'The lantern burns for nine hours on one filling.'
    await client.post(`/agents/${agent}/documents`, { title: 'Handbook', text })
    await until(
      'it is read',
      async () => (await client.get(`/agents/${agent}/documents?status=ready`)).body.documents.length === 1,
    )
  })
  afterEach(async () => {
    model.behaviour = says('It burns for nine hours [1].')
    await Promise.all(open.splice(0).map((one) => one.close()))
  })
  model.behaviour = says('It burns for nine hours [1].')

  async function connect(path = own, mode: (typeof MODES)[number]['mode'] = MODES[0].mode, by = client): Promise<McpClient> {
    const one = new McpClient({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
    open.push(one)
    const headers = { Authorization: `Bearer ${by.key}` }
    await one.connect(
      new StreamableHTTPClientTransport(new URL(path, service.client.address.baseUrl), { requestInit: { headers } }),
    )
    return one
  }
  async function newKey(scopes: string[], more: object = {}): Promise<Client> {
    const { body } = await client.post('/keys', { name: 'one', scopes, ...more })
    return client.as(body.secret)
  }
  const ask = (one: McpClient, question: string, more: object = {}) =>
    one.callTool({ name: 'ask', arguments: { question, ...more } }) as Promise<Told>
  type Progress = { progress: number; message?: string | undefined }
  interface Told {
    // biome-ignore lint/suspicious/noExplicitAny: a test says what it must be by asserting it
    structuredContent?: any
    content: { type: string; text: string }[]
    isError?: boolean
  }
  const sessionsOf = async (id: string) => (await client.get(`/agents/${id}/sessions`)).body.sessions.length

  for (const { revision, mode } of MODES)
    describe(`to a client of revision ${revision}`, () => {
      test('says who it is, and which tools there are', async () => {
        const one = await connect(own, mode)
        assert.equal(one.getNegotiatedProtocolVersion(), revision)
        assert.equal(one.getServerVersion()?.name, 'repartee')
        assert.match(one.getInstructions()!, /Lantern/)
        const { tools } = await one.listTools()
        assert.deepEqual(
          tools.map(({ name }) => name),
          ['ask', 'search'],
        )
        for (const { inputSchema, outputSchema } of tools) assert.ok(inputSchema.type === 'object' && outputSchema !== undefined)
      })

      test('an answer has its sources, as data and as text, and is kept in a session', async () => {
        const { structuredContent: data, content } = await ask(await connect(own, mode), 'How long does it burn?')
        assert.equal(data.reply, 'It burns for nine hours [1].')
        assert.equal(data.answered, true)
        assert.equal(data.sources[0].title, 'Handbook')
        assert.match(data.sources[0].snippet, /nine hours/)
        assert.match(content[0]!.text, /^It burns for nine hours \[1\]\.\n\nSources:\n\[1\] Handbook\n\nSession: /)
        const { body } = await client.get(`/agents/${agent}/sessions/${data.sessionId}`)
        assert.deepEqual(
          body.messages.map(({ content }: { content: string }) => content),
          ['How long does it burn?', data.reply],
        )
      })

      test('the next question goes on with the session', async () => {
        const one = await connect(own, mode)
        const { sessionId } = (await ask(one, 'What is the lantern?')).structuredContent
        const next = await ask(one, 'And how long does it burn?', { sessionId })
        assert.equal(next.structuredContent.sessionId, sessionId)
        assert.ok(model.calls.at(-1)!.messages.some(({ content }) => String(content).includes('What is the lantern?')))
        const { body } = await client.get(`/agents/${agent}/sessions/${sessionId}`)
        assert.equal(body.messages.length, 4)
      })

      test('passages are found without a reply', async () => {
        const asked = model.calls.length
        const one = await connect(own, mode)
        const found = (await one.callTool({ name: 'search', arguments: { query: 'lantern burns', topK: 1 } })) as Told
        assert.match(found.structuredContent.passages[0].text, /nine hours/)
        assert.match(found.content[0]!.text, /^\[1\] Handbook\n.*nine hours/)
        assert.equal(model.calls.length, asked)
      })

      test('what goes wrong with a question is a result', async () => {
        const one = await connect(own, mode)
        const before = await sessionsOf(agent)
        const told = async (question: string, more?: object) => {
          const { isError, content, structuredContent } = await ask(one, question, more)
          assert.ok(isError && structuredContent === undefined)
          return content[0]!.text
        }
        assert.equal(await told('  '), 'invalid_request: arguments.question must not be blank')
        assert.match(await told('Why?', { sesionId: '1' }), /arguments.sesionId is not known: did you mean sessionId/)
        assert.match(await told('Why?', { sessionId: randomUUID() }), /^session_not_found: /)
        assert.equal(await sessionsOf(agent), before)
        model.behaviour = refuses(500)
        const failed = await told('Does it float?')
        assert.match(failed, /^model_failed: /)
        // The same question, in the session that is named, goes on with what is stored.
        const sessionId = /session is (\S+)/.exec(failed)![1]!
        model.behaviour = says('It burns for nine hours [1].')
        assert.ok(!(await ask(one, 'Does it float?', { sessionId })).isError)
        assert.equal((await client.get(`/agents/${agent}/sessions/${sessionId}`)).body.messages.length, 2)
      })

      test('a tool that is not there is an error of the protocol', async () => {
        const one = await connect(own, mode)
        await assert.rejects(one.callTool({ name: 'forget', arguments: {} }), { code: -32602 })
      })

      test('whoever wants to know of progress is told of the text as it grows', async () => {
        const gate = Promise.withResolvers<void>()
        model.behaviour = streams(['It burns ', 'for nine hours [1].'], { gates: [Promise.resolve(), gate.promise] })
        const one = await connect(own, mode)
        const told: Progress[] = []
        const onprogress = (progress: Progress) => {
          told.push(progress)
          gate.resolve()
        }
        const found = (await one.callTool(
          { name: 'ask', arguments: { question: 'How long does the lantern burn?' } },
          { onprogress },
        )) as Told
        assert.equal(told[0]!.message, 'It burns ')
        assert.equal(told[0]!.progress, 9)
        assert.equal(found.structuredContent.reply, 'It burns for nine hours [1].')
      })

      test('a question can be given up', async () => {
        const gate = Promise.withResolvers<void>()
        model.behaviour = streams(['It burns ', 'for nine hours [1].'], { gates: [Promise.resolve(), gate.promise] })
        const one = await connect(own, mode)
        const sessionId = (await service.newSession(agent)).split('/').at(-1)!
        const abort = new AbortController()
        const params = { name: 'ask', arguments: { question: 'How long does the lantern burn?', sessionId } }
        const asked = one.callTool(params, { signal: abort.signal, onprogress: () => abort.abort() })
        await assert.rejects(asked)
        const { messages } = await until('a reply is kept', async () => {
          // Before the current revision, whoever leaves has not given up: there the turn goes on.
          if (revision !== CURRENT) gate.resolve()
          const { body } = await client.get(`/agents/${agent}/sessions/${sessionId}`)
          return body.messages.length === 2 && body
        })
        assert.equal(messages[1].content.trim(), revision === CURRENT ? 'It burns' : 'It burns for nine hours [1].')
        gate.resolve()
      })

      test('of all agents that a key sees, each can be asked', async () => {
        const other = await service.newAgent({ name: 'Kettle' })
        const one = await connect('/mcp', mode, await newKey(['chat', 'knowledge'], { agentIds: [agent] }))
        const { agents } = ((await one.callTool({ name: 'list_agents', arguments: {} })) as Told).structuredContent
        assert.deepEqual(agents, [{ id: agent, name: 'Lantern' }])
        assert.match((await ask(one, 'How long?', { agent })).structuredContent.sessionId, UUID)
        assert.match((await ask(one, 'How long?', { agent: other })).content[0]!.text, /^agent_not_found: /)
        assert.match((await ask(one, 'How long?')).content[0]!.text, /arguments.agent is required/)
      })
    })

  test('a key that is no good, or not for the agent, gets nothing', async () => {
    isProtocolError(await sends(client.as('nothing'), own, { method: 'tools/list' }), 401, 401)
    await assert.rejects(connect(own, MODES[0].mode, client.as('nothing')), /401|authoriz/)
    const bound = await newKey(['chat'], { agentIds: [await service.newAgent()] })
    for (const [path, by] of [
      [own, bound],
      [`/mcp/${randomUUID()}`, client],
    ] as const) {
      const answer = await sends(by, path, { method: 'tools/list' })
      isProtocolError(answer, 404, 404)
      assert.equal(answer.body.error.data.code, 'agent_not_found')
    }
    isProtocolError(await sends(client, '/mcp/lantern', { method: 'tools/list' }), 400, 400)
  })

  test('a key sees the tools of its scopes, and can use no other', async () => {
    const listed = async (by: Client, path = own) =>
      (await sends(by, path, { method: 'tools/list' })).body.result.tools.map(({ name }: { name: string }) => name)
    const chat = await newKey(['chat'])
    assert.deepEqual(await listed(chat), ['ask'])
    assert.deepEqual(await listed(await newKey(['knowledge'])), ['search'])
    assert.deepEqual(await listed(await newKey(['read']), '/mcp'), ['list_agents'])
    const params = { name: 'search', arguments: { query: 'lantern' } }
    const { body } = await sends(chat, own, { method: 'tools/call', params })
    assert.ok(body.result.isError)
    assert.match(body.result.content[0].text, /^forbidden: /)
  })

  test('with a token of a user, it is that user who asks', async () => {
    const externalUserId = randomUUID()
    const { token } = (await client.post(`/agents/${agent}/tokens`, { externalUserId })).body
    const user = client.as(token)
    const params = { name: 'ask', arguments: { question: 'How long does it burn?' } }
    const { body } = await sends(user, own, { method: 'tools/call', params })
    const { sessions } = (await user.get(`/agents/${agent}/sessions`)).body
    assert.deepEqual([sessions[0].id, sessions[0].userSessionId], [body.result.structuredContent.sessionId, externalUserId])
    const foreign = await ask(await connect(), 'How long?')
    const again = { ...params, arguments: { ...params.arguments, sessionId: foreign.structuredContent.sessionId } }
    const refused = await sends(user, own, { method: 'tools/call', params: again })
    assert.match(refused.body.result.content[0].text, /^session_not_found: /)
  })

  test('a question that no budget is left for leaves no session behind', async () => {
    const poor = await service.newAgent({ budget: { tokensPerDay: 1_000_000 } })
    const one = await connect(`/mcp/${poor}`)
    assert.ok(!(await ask(one, 'How long does it burn?')).isError)
    await client.patch(`/agents/${poor}`, { budget: { tokensPerDay: 1 } })
    const { content } = await ask(one, 'How long does it burn?')
    assert.match(content[0]!.text, /^quota_exceeded: .*\nTry again in \d+ s\.$/)
    assert.equal(await sessionsOf(poor), 1)
  })

  test('a page of a foreign origin is refused, whatever its key', async () => {
    const answer = await sends(client, own, { method: 'tools/list' }, { origin: 'https://elsewhere.example' })
    isProtocolError(answer, 403, 403)
    const allowed = await service.newAgent({ allowedOrigins: ['https://page.example'] })
    const origin = 'https://page.example'
    assert.equal((await sends(client, `/mcp/${allowed}`, { method: 'tools/list' }, { origin })).status, 200)
    const asked = { origin, 'access-control-request-method': 'POST' }
    const preflight = await client.request('OPTIONS', `^/mcp/${allowed}`, { key: null, headers: asked })
    assert.equal(preflight.status, 204)
    assert.match(preflight.headers['access-control-allow-headers']!, /Mcp-Method/)
  })

  test('headers must say what the message says', async () => {
    const call = { method: 'tools/call', params: { name: 'search', arguments: { query: 'lantern' } } }
    for (const headers of [
      { 'mcp-method': 'tools/list' },
      { 'mcp-method': undefined },
      { 'mcp-name': 'ask' },
      { 'mcp-name': undefined },
      { 'mcp-protocol-version': undefined },
      { 'mcp-protocol-version': '2025-11-25' },
    ])
      isProtocolError(await sends(client, own, call, headers), 400, -32020)
    const encoded = { 'mcp-name': `=?base64?${Buffer.from('search').toString('base64')}?=` }
    assert.equal((await sends(client, own, call, encoded)).status, 200)
  })

  test('what each message must say of itself is asked for', async () => {
    const list = { method: 'tools/list' }
    const bare = (_meta: object) => sends(client, own, { ...list, params: { _meta } })
    isProtocolError(await bare({}), 400, -32602)
    isProtocolError(await bare({ [`${META}protocolVersion`]: CURRENT }), 400, -32602)
    const old = { [`${META}protocolVersion`]: '1900-01-01', [`${META}clientCapabilities`]: {} }
    const answer = await sends(client, own, { ...list, params: { _meta: old } }, { 'mcp-protocol-version': '1900-01-01' })
    isProtocolError(answer, 400, -32022)
    assert.deepEqual(answer.body.error.data, {
      supported: [CURRENT, '2025-11-25', '2025-06-18'],
      requested: '1900-01-01',
    })
  })

  test('results of the current revision say how long they hold, and for whom', async () => {
    for (const method of ['server/discover', 'tools/list']) {
      const { result } = (await sends(client, own, { method })).body
      assert.equal(result.resultType, 'complete')
      assert.equal(result.cacheScope, 'private')
      assert.ok(result.ttlMs > 0)
      assert.equal(result._meta[`${META}serverInfo`].name, 'repartee')
    }
  })

  test('methods that are not there', async () => {
    for (const method of ['resources/list', 'initialize', 'ping', 'subscriptions/listen'])
      isProtocolError(await sends(client, own, { method }), 404, -32601)
    const legacy = { jsonrpc: '2.0', id: 'x', method: 'resources/list' }
    const answer = await client.post(`^${own}`, legacy, { headers: { 'mcp-protocol-version': '2025-06-18' } })
    isProtocolError(answer, 200, -32601)
    assert.equal(answer.body.id, 'x')
  })

  test('a handshake agrees on the version that is asked for, or else on the newest that has one', async () => {
    const hello = (protocolVersion: string) =>
      client.post(`^${own}`, { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion, capabilities: {} } })
    for (const [asked, agreed] of [
      ['2025-06-18', '2025-06-18'],
      ['2025-03-26', '2025-11-25'],
      ['2030-01-01', '2025-11-25'],
    ] as const) {
      const { headers, body } = await hello(asked)
      assert.equal(body.result.protocolVersion, agreed)
      assert.equal(headers['mcp-session-id'], undefined)
    }
    const heard = await client.post(`^${own}`, { jsonrpc: '2.0', method: 'notifications/initialized' })
    assert.deepEqual([heard.status, heard.text], [202, ''])
  })

  test('a long progress token is refused: each notification would hold it', async () => {
    const call = (progressToken: string) => {
      const _meta = { [`${META}protocolVersion`]: CURRENT, [`${META}clientCapabilities`]: {}, progressToken }
      return sends(client, own, { method: 'tools/call', params: { _meta, name: 'search', arguments: { query: 'lantern' } } })
    }
    assert.equal((await call('x'.repeat(1_000))).status, 200)
    isProtocolError(await call('x'.repeat(1_001)), 400, -32602)
  })

  test('a long id is refused: the answer would hold it', async () => {
    const ping = (id: string) => client.post(`^${own}`, { jsonrpc: '2.0', id, method: 'ping' })
    assert.equal((await ping('x'.repeat(1_000))).body.id, 'x'.repeat(1_000))
    isProtocolError(await ping('x'.repeat(1_001)), 400, -32600)
  })

  test('what is no message is refused', async () => {
    const raw = (bytes: string, headers = {}) =>
      client.request('POST', `^${own}`, { bytes, headers: { 'content-type': 'application/json', ...headers } })
    isProtocolError(await raw('{'), 400, -32700)
    const batch = await raw('[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
    isProtocolError(batch, 400, -32600)
    assert.match(batch.body.error.message, /batches/)
    isProtocolError(await raw(''), 400, -32600)
    isProtocolError(await raw('{"jsonrpc":"2.0","id":null,"method":"ping"}'), 400, -32600)
    isProtocolError(await raw('{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}'), 400, -32602)
    isProtocolError(await raw('{}', { 'content-type': 'text/plain' }), 415, 415)
    isProtocolError(await raw('{}', { 'content-encoding': 'gzip' }), 415, 415)
    for (const method of ['GET', 'DELETE']) {
      const answer = await client.request(method, `^${own}`)
      assert.deepEqual([answer.status, answer.headers.allow], [405, 'POST'])
    }
  })

  test('a caller of the current revision who goes away gives up; what was said by then is kept', async () => {
    const gate = Promise.withResolvers<void>()
    model.behaviour = streams(['It burns ', 'for nine hours [1].'], { gates: [Promise.resolve(), gate.promise] })
    const sessionId = (await service.newSession(agent)).split('/').at(-1)!
    const _meta = { [`${META}protocolVersion`]: CURRENT, [`${META}clientCapabilities`]: {}, progressToken: 7 }
    const params = { _meta, name: 'ask', arguments: { question: 'How long does the lantern burn?', sessionId } }
    const { body, headers } = toRequest({ method: 'tools/call', params })
    const reader = await readEvents(client, 'POST', `/..${own}`, { body, headers: headers as Record<string, string> })
    const { id, data } = await reader.find('message')
    assert.deepEqual(
      [id, data.method, data.params],
      ['', 'notifications/progress', { progressToken: 7, progress: 9, message: 'It burns ' }],
    )
    reader.leave()
    const kept = await until('the session is free', async () => {
      const { messages } = (await client.get(`/agents/${agent}/sessions/${sessionId}`)).body
      return messages.length === 2 && messages[1].content
    })
    assert.equal(kept.trim(), 'It burns')
    gate.resolve()
  })
})
