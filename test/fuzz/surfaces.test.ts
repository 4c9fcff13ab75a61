// The protocols of others, as none of their clients would speak them
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Client } from '../support/client.ts'
import { holds, Tally, text } from '../support/fuzz.ts'
import { toJson } from '../support/made-from-schema.ts'
import { says } from '../support/model-server.ts'
import { type Frame, frame, header, ODD_IDS, SPOIL, sendOdd } from '../support/odd-requests.ts'
import { needsProcess, startService } from '../support/service.ts'
import { type Answered, checkForm, eventsOf } from '../support/surface-forms.ts'
import { REQUESTS, type SurfaceRequest, spoiltSomewhere } from '../support/surface-requests.ts'

const RUNS = 30
const SECRET = 'nobody-else-may-read-this'

const service = await startService()
const { client, model } = service
const tally = new Tally()
after(async () => {
  tally.print()
  await service.stop()
})

// What requests are about: things of the agent, of another agent and another user, and of none at all.
type Things = Record<'agent' | 'session' | 'conversation' | 'response' | 'spare', string>
let own: Things
let foreign: Things
/** Of the same agent and another user. */
let others: Things
const callers: Record<string, Client> = {}

async function newThings(agent: string, input: string): Promise<Things> {
  const { body } = await client.post('^/openai/v1/responses', { model: agent, input })
  const { id: conversation } = body.conversation
  const { metadata } = (await client.get(`^/openai/v1/conversations/${conversation}`)).body
  const things = { agent, session: metadata.session_id, conversation, response: body.id, spare: '' }
  await renewSpare(things)
  return things
}
async function renewSpare(things: Things): Promise<void> {
  things.spare = (await client.post('^/openai/v1/conversations', { metadata: { agent_id: things.agent } })).body.id
}
const packed = (...ids: string[]) => Buffer.from(ids.join('').replaceAll('-', ''), 'hex').toString('base64url')
/** Ids of the right form, of nothing; `within` is the agent that those name which name one. */
const newNothing = (agent: string, within: string): Things => ({
  agent,
  session: randomUUID(),
  conversation: `conv_${packed(within, randomUUID())}`,
  response: `resp_${packed(within, randomUUID(), randomUUID())}`,
  spare: `conv_${packed(within, randomUUID())}`,
})

before(async () => {
  model.behaviour = says(({ messages }) => String(messages.at(-1)?.content))
  own = await newThings(await service.newAgent({ instructions: 'the-secret-instructions' }), 'Hello')
  others = await newThings(own.agent, SECRET)
  foreign = await newThings(await service.newAgent({ name: SECRET, instructions: SECRET }), SECRET)
  const newKey = async (scope: string, more: object = {}) =>
    client.as((await client.post('/keys', { name: scope, scopes: [scope], ...more })).body.secret)
  const { body } = await client.post(`/agents/${own.agent}/tokens`, { externalUserId: randomUUID() })
  Object.assign(callers, { user: client.as(body.token), bound: await newKey('admin', { agentIds: [own.agent] }) })
  for (const scope of ['read', 'knowledge']) callers[scope] = await newKey(scope, { agentIds: [own.agent] })
})

/** One request, as it is made up. */
interface Made {
  kind: string
  path: Record<string, string | undefined>
  behindPath: string
  query: string
  headers: [name: string, value: string][]
  body: unknown
  spoilt: string | undefined
  at: number
  frame: Frame | undefined
}

const ownHeader: fc.Arbitrary<[string, string]> = fc.oneof(
  header,
  fc.tuple(
    fc.constantFrom(
      'x-session-id',
      'mcp-session-id',
      'mcp-protocol-version',
      'mcp-method',
      'mcp-name',
      'x-stainless-retry-count',
    ),
    fc.constantFrom(
      '',
      '0',
      '1',
      '-1',
      'x',
      '2026-07-28',
      '2025-06-18',
      '1900-01-01',
      'ask',
      '=?base64?YXNr?=',
      '=?base64??=',
      `=?base64?${'A'.repeat(5_000)}?=`,
      randomUUID(),
      '\u00ff',
    ),
  ),
)

const unless = <T>(value: T) => fc.constant(value) as fc.Arbitrary<T>

function requestsFor({ path, query, body }: SurfaceRequest): fc.Arbitrary<Made> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
  const parts = {
    path: unless<Made['path']>({}),
    behindPath: unless(''),
    query: query ?? unless(''),
    headers: unless<Made['headers']>([]),
    body: body ?? unless<unknown>(undefined),
    spoilt: unless<string | undefined>(undefined),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    frame: unless<Frame | undefined>(undefined),
  }
  const kind = (name: string, weight: number, change: Partial<typeof parts>) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(name), ...parts, ...change }, { noNullPrototype: true }) as fc.Arbitrary<Made>,
  })
  const oddId = fc.option(fc.oneof(fc.constantFrom(...ODD_IDS), fc.uuid()), { nil: undefined })
  const oddPath = fc.record(Object.fromEntries(names.map((name) => [name, oddId])), { noNullPrototype: true })
  return fc.oneof(
    kind('valid', 8, {}),
    kind('path', 1, {
      path: oddPath,
      behindPath: fc.constantFrom('', '/', '//', '/x', '%00', '%2f', ';a=b', '?x=%ff', '?limit=%'),
    }),
    kind('headers', 4, { headers: fc.array(ownHeader, { minLength: 1, maxLength: 3 }) }),
    kind('framing', 2, { frame }),
    ...(body === undefined
      ? [kind('a body where there is none', 1, { body: fc.constantFrom({}, [], 'x', null) })]
      : [
          kind('a field', 12, { body: spoiltSomewhere(body) }),
          kind('a body', 4, { spoilt: fc.constantFrom(...Object.keys(SPOIL)) }),
        ]),
  )
}

const HEADER_TEXT = /^[\x21-\x7e]{1,1000}$/
const META = 'io.modelcontextprotocol/'

/** What a message of MCP says once more in its headers, as far as it can be said there. */
function mirrored(body: string): Made['headers'] {
  const { method, params } = JSON.parse(body) ?? {}
  const version = params?._meta?.[`${META}protocolVersion`]
  const said: [string, unknown][] = [
    ['mcp-method', method],
    ['mcp-name', params?.name],
    ['mcp-protocol-version', version],
  ]
  return said.filter((pair): pair is [string, string] => typeof pair[1] === 'string' && HEADER_TEXT.test(pair[1]))
}

async function send(op: SurfaceRequest, made: Made, things: Things, by: Client): Promise<Answered[]> {
  const filled = op.path.replace(/\{(\w+)\}/g, (_, name: keyof Things) => made.path[name] ?? things[name]) + made.behindPath
  const target = `^${filled}${made.query === '' ? '' : `?${made.query}`}`
  const whole = made.body === undefined ? undefined : toJson(made.body, things)
  const body = made.spoilt === undefined || whole === undefined ? whole : SPOIL[made.spoilt]!(whole, made.at)
  const given = new Set(made.headers.map(([name]) => name))
  const usual = op.surface === 'mcp' && whole !== undefined ? mirrored(whole) : []
  const headers = [...usual.filter(([name]) => !given.has(name)), ...made.headers]
  tally.add('requests', `kind: ${made.kind}`)
  return sendOdd(by, { method: op.method, target, headers, body, frame: made.frame })
}

describe('whatever is asked, the answer is one of the protocol', { skip: needsProcess }, () => {
  for (const op of REQUESTS)
    test(op.name, async () => {
      await holds(RUNS, requestsFor(op), async (made) => {
        for (const answer of await send(op, made, own, client)) {
          tally.add(`status: ${answer.status}`, ...(answer.status < 300 ? [`done: ${op.name}`] : []))
          checkForm(op.surface, answer, made.kind === 'path' || made.kind === 'framing')
        }
        if (op.method === 'DELETE') await renewSpare(own)
      })
      assert.ok(tally.of(`done: ${op.name}`) > 0, 'none of the requests did what it was about')
    })
})

describe('what a caller may not see', { skip: needsProcess }, () => {
  const historyOf = async ({ agent, session }: Things) => (await client.get(`/agents/${agent}/sessions/${session}`)).body.messages
  /** Without what is made up anew for each. */
  const blank = (answer: string) =>
    answer.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|(resp|conv|msg)_[\w-]+/gi, '…').replace(/"requestId":"[^"]*"/, '')
  const named = new Map(REQUESTS.map((op) => [op.name, op]))
  const asked = fc.constantFrom(...[...named.keys()].filter((name) => name !== 'models')).chain((name) =>
    fc.record({
      name: fc.constant(name),
      body: named.get(name)!.body ?? fc.constant(undefined),
      by: fc.constantFrom('user', 'bound', 'read', 'knowledge'),
      isOfOwn: fc.boolean(),
    }),
  )

  test('is answered as what is not there, and nothing of it gets out, or to a model, or is changed', async () => {
    const before = [await historyOf(foreign), await historyOf(others)]
    model.reset()
    model.behaviour = says(({ messages }) => String(messages.at(-1)?.content))
    await holds(150, asked, async ({ name, body, by, isOfOwn }) => {
      const op = named.get(name)!
      const made: Made = { ...PLAIN, kind: 'valid', body }
      const agent = isOfOwn ? own.agent : foreign.agent
      const things = isOfOwn && by === 'user' ? others : { ...foreign, agent }
      const [there] = await send(op, made, things, callers[by]!)
      const nothing = newNothing(isOfOwn ? agent : randomUUID(), things === others ? own.agent : randomUUID())
      const [nowhere] = await send(op, made, nothing, callers[by]!)
      tally.add(`foreign: ${there!.status}`)
      assert.ok(!there!.text.includes(SECRET), there!.text)
      // To a chat of one's own agent the id of another's session is a name like any other.
      if (op.surface === 'ai-sdk' && isOfOwn) return
      assert.equal(there!.status, nowhere!.status, `${there!.text}\n${nowhere!.text}`)
      if (there!.status >= 400) assert.equal(blank(there!.text), blank(nowhere!.text))
    })
    assert.deepEqual([await historyOf(foreign), await historyOf(others)], before)
    assert.ok(!JSON.stringify(model.calls).includes(SECRET))
  })
})

const PLAIN: Made = {
  ...{ kind: '', path: {}, behindPath: '', query: '', headers: [], body: undefined, spoilt: undefined, at: 0, frame: undefined },
}

describe('what is said is kept as it was said', { skip: needsProcess }, () => {
  interface Part {
    choices?: { delta: { content?: string } }[]
    type?: string
    delta?: string
  }
  const dataOf = (answer: string) => eventsOf(answer).flatMap((event) => (event === '[DONE]' ? [] : [JSON.parse(event) as Part]))
  const post = async (path: string, body: object) => {
    const answer = await client.post(path, body)
    assert.equal(answer.status, 200, answer.text)
    return answer
  }

  test('by every protocol, streamed or not', () =>
    holds(15, text(300), async (said) => {
      const session = (await service.newSession(own.agent)).split('/').at(-1)!
      const historyOf = async (): Promise<string[]> =>
        (await client.get(`/agents/${own.agent}/sessions/${session}`)).body.messages.map((m: { content: string }) => m.content)
      const messages = [{ role: 'user', content: said }]
      const completion = { model: own.agent, messages, metadata: { session_id: session } }
      const whole = (await post('^/openai/v1/chat/completions', completion)).body.choices[0].message.content
      const chunks = dataOf((await post('^/openai/v1/chat/completions', { ...completion, stream: true })).text)
      const deltas = chunks.map((chunk) => chunk.choices?.[0]?.delta.content ?? '').join('')
      const response = (await post('^/openai/v1/responses', { model: own.agent, input: said, conversation: session })).body
      const ui = { id: session, messages: [{ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: said }] }] }
      const parts = dataOf((await post(`^/ai-sdk/v1/agents/${own.agent}/chat`, ui)).text)
      const shown = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')
      const params = { name: 'ask', arguments: { question: said, sessionId: session } }
      const told = (await post(`^/mcp/${own.agent}`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })).body
      const history = await historyOf()
      const replies = history.filter((_, i) => i % 2 === 1)
      assert.deepEqual(
        history.filter((_, i) => i % 2 === 0),
        Array(5).fill(said),
      )
      assert.deepEqual([whole, deltas, response.output[0].content[0].text, shown, told.result.structuredContent.reply], replies)
    }))
})

describe('bodies that are made to break whoever reads them', { skip: needsProcess }, () => {
  const nested = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const post = async (path: string, bytes: string) => {
    const answer = await client.request('POST', path, { bytes })
    const surface = path.startsWith('^/openai') ? 'openai' : path.startsWith('^/mcp') ? 'mcp' : 'ai-sdk'
    checkForm(surface, answer, false)
    return answer
  }

  test('what nests deeper than can be written again is refused, also where nobody looks at it', async () => {
    const bodies = [
      ['chat/completions', `"messages":[{"role":"user","content":"Hello"}],"tools":[${nested(20_000)}]`],
      ['responses', `"input":"Hello","metadata":${nested(20_000)}`],
    ]
    for (const [path, fields] of bodies) {
      const answer = await post(`^/openai/v1/${path}`, `{"model":"${own.agent}",${fields}}`)
      assert.equal(answer.status, 400)
      assert.match(answer.body.error.message, /nest deeper/)
    }
    const deep = await post('^/openai/v1/responses', `{"model":"${own.agent}","input":"Hello","tools":[${nested(200)}]}`)
    assert.equal(deep.status, 200)
  })

  test('of many things that are wrong one is told', async () => {
    const ones = `[${Array(40_000).fill(1).join()}]`
    const chat = await post(`^/ai-sdk/v1/agents/${own.agent}/chat`, `{"id":"x","messages":${ones}}`)
    assert.deepEqual(chat.body.error.details, [{ path: 'body.messages[0]', message: 'must be object' }])
    assert.equal((await post('^/openai/v1/responses', `{"model":"${own.agent}","input":${ones}}`)).status, 400)
  })

  test('a kind of message or part is not said back at its full length', async () => {
    const kind = 'x'.repeat(100_000)
    const parts = [{ type: kind }]
    for (const [path, body] of [
      ['^/openai/v1/chat/completions', { model: own.agent, messages: [{ role: 'user', content: parts }] }],
      ['^/openai/v1/responses', { model: own.agent, input: [{ type: kind }] }],
      ['^/openai/v1/responses', { model: own.agent, input: 'Hello', text: { format: { type: kind } } }],
      [`^/ai-sdk/v1/agents/${own.agent}/chat`, { id: 'x', messages: [{ role: 'user', parts }] }],
      [`^/mcp/${own.agent}`, { jsonrpc: '2.0', id: 1, method: kind }],
      [`^/mcp/${own.agent}`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: kind } }],
    ] as const) {
      const { text } = await post(path, JSON.stringify(body))
      assert.ok(text.includes('xxx') && text.length < 1_000, text.slice(0, 1_000))
    }
  })

  test('a tool whose name is none', async () => {
    for (const name of [{ toString: 1, valueOf: 1 }, null, ['ask'], 1]) {
      const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { question: 'Hello' } } }
      assert.equal((await post(`^/mcp/${own.agent}`, JSON.stringify(call))).body.error.code, -32602)
    }
  })

  test('requests of MCP with one id, at once, are each answered with their own', async () => {
    const questions = Array.from({ length: 8 }, (_, i) => `Question ${i}`)
    const asked = questions.map((question) => {
      const params = { name: 'ask', arguments: { question }, _meta: { progressToken: 1 } }
      return client.post(`^/mcp/${own.agent}`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    })
    const replies = (await Promise.all(asked)).map(({ text }) => {
      const { id, result } = JSON.parse(eventsOf(text).at(-1)!)
      assert.equal(id, 1)
      return result.structuredContent.reply
    })
    assert.deepEqual(replies, questions)
  })

  test('what is no request of the protocol is refused in its form', async () => {
    for (const [method, path, status] of [
      ['GET', '^/openai/v1/files', 404],
      ['POST', '^/openai/v1/embeddings', 404],
      ['PUT', '^/openai/v1/models', 405],
      ['GET', '^/openai/v1/chat/completions', 405],
    ] as const) {
      const answer = await client.request(method, path)
      assert.equal(answer.status, status)
      checkForm('openai', answer, false)
    }
  })
})
