// Every request of the contract, as no client would make it
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { isOk } from '../support/assert.ts'
import { contractChecks, type Described, type OpenApi } from '../support/contract-checks.ts'
import { holds, Tally, text } from '../support/fuzz.ts'
import { type Hints, isKey, nearlyValid, odd, Ref, time, toJson, valid } from '../support/made-from-schema.ts'
import { type Frame, frame, header, ODD_IDS, SPOIL, sendOdd } from '../support/odd-requests.ts'
import { needsProcess, startService } from '../support/service.ts'

const RUNS = 24

// How many requests are refused because others take all the time is another question.
const service = await startService()
const { client } = service
const document = (await client.get('^/openapi.json', { key: null })).body as OpenApi
const check = contractChecks(document)
const tally = new Tally()
after(async () => {
  tally.print()
  await service.stop()
})

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
interface Operation extends Described {
  method: Method
  path: string
}
const operations = Object.entries(document.paths).flatMap(([path, of]) =>
  Object.entries(of).map(([method, op]): Operation => ({ ...op, path, method: method.toUpperCase() as Method })),
)

// Things that requests are about. What a request has deleted is made again.
const ids: Record<string, string> = {}
const make: Record<string, () => Promise<void>> = {
  agent: async () => {
    ids.agent = await service.newAgent({ instructions: 'the-secret-instructions', followUps: { enabled: true } })
  },
  spare: async () => {
    ids.spare = await service.newAgent()
  },
  room: async () => {
    const { body } = await client.post(`/agents/${ids.agent}/sessions`, {})
    ids.room = body.session.id
  },
  talk: async () => {
    const { body } = await client.post(`/agents/${ids.agent}/sessions`, {})
    ids.talk = body.session.id
    const sent = await client.post(`/agents/${ids.agent}/sessions/${ids.talk}/messages`, { message: 'Hello' })
    isOk(sent)
    ids.question = sent.body.userMessage.id
    ids.reply = sent.body.aiMessage.id
  },
  document: async () => {
    const { body } = await client.post(`/agents/${ids.agent}/documents`, { title: randomUUID(), text: 'A lantern gives light.' })
    ids.document = body.document.id
  },
  source: async () => {
    const { body } = await client.post(`/agents/${ids.agent}/sources`, { type: 'url', url: `http://127.0.0.1:9/${randomUUID()}` })
    ids.source = body.source.id
  },
  key: async () => {
    ids.key = (await client.post('/keys', { name: 'A key', scopes: ['read'] })).body.key.id
  },
  webhook: async () => {
    const { body } = await client.post('/webhooks', { url: 'http://127.0.0.1:9/', events: ['document.failed'] })
    ids.webhook = body.webhook.id
    ids.delivery = (await client.post(`/webhooks/${ids.webhook}/test`, {})).body.delivery.id
  },
  user: async () => {
    ids.user ??= randomUUID()
    isOk(await client.post(`/agents/${ids.agent}/sessions`, { externalUserId: ids.user }), 201)
  },
}
before(async () => {
  for (const one of Object.values(make)) await one()
})

/** Which of these things a parameter of a path names. */
function thingOf({ operationId, path }: Operation, parameter: string): string {
  switch (parameter) {
    case 'agentId':
      return ['updateAgent', 'deleteAgent'].includes(operationId) ? 'spare' : 'agent'
    case 'sessionId':
      return path.includes('{messageId}') || operationId === 'listMessages' ? 'talk' : 'room'
    case 'messageId':
      return ['streamMessage', 'cancelMessage'].includes(operationId) ? 'question' : 'reply'
    case 'externalUserId':
      return 'user'
    default:
      return parameter.slice(0, -2)
  }
}

const CURSORS: Record<string, string> = {
  listMessages: 'question',
  listDocuments: 'document',
  listSources: 'source',
  listKeys: 'key',
  listWebhooks: 'webhook',
  listDeliveries: 'delivery',
}
/** Nothing outside of this machine is asked for. */
const url = fc.constantFrom(
  'http://127.0.0.1:9/a',
  'http://[::1]:9/',
  'http://localhost:9/x?y=%20#z',
  'file:///etc/passwd',
  'x',
  'http://',
  'http://127.1:99999/',
)
const model = fc.constantFrom(
  'openai/stub',
  'extractive',
  'nowhere/x',
  'openai/',
  '/',
  'constructor/x',
  '__proto__/x',
  'local/x',
  '😀',
)
const hintsOf = ({ operationId }: Operation): Hints => ({
  url,
  model: fc.oneof({ arbitrary: fc.constant('openai/stub'), weight: 3 }, model),
  fallbackModels: fc.array(model, { maxLength: 2 }),
  embeddingModel: fc.constantFrom(null, 'openai/stub', 'local/x', '__proto__/x'),
  agentIds: fc.constant([new Ref('agent')]),
  cursor: fc.oneof(fc.constant(new Ref(CURSORS[operationId] ?? 'agent')), fc.uuid(), text()),
  expiresAt: fc.constantFrom(
    '2099-01-01T00:00:00Z',
    '9999-12-31T23:59:59-12:00',
    '9999-12-31T23:59:59.999999999Z',
    '2020-01-01T00:00:00Z',
  ),
})

/** One request, as it is made up. */
interface Made {
  kind: string
  /** In the place of the ids of the path, by the name of the parameter; `undefined`: the id itself. */
  path: Record<string, string | undefined>
  behindPath: string
  query: [name: string, value: unknown][] | string
  headers: [name: string, value: string][]
  body: unknown
  /** What is done to the text of the body, and to how much of it. */
  spoilt: keyof typeof SPOIL | undefined
  at: number
  frame: Frame | undefined
}

const ODD_QUERIES = [
  ...[
    '',
    '&',
    '&&&',
    '=',
    '==',
    'nope=1',
    'limit',
    'limit=',
    'limit=0',
    'limit=101',
    'limit=1e1',
    'limit=+5',
    'limit=%205',
    'limit=5%00',
    'limit=0x5',
  ],
  ...[
    'limit=5.0',
    'limit=5&limit=6',
    'limit[]=5',
    'limit[a]=5',
    'limit=-0',
    'limit=NaN',
    'limit=99999999999999999999',
    'Limit=5',
    'limit=%35',
    'limit=٥',
  ],
  ...[
    'cursor=',
    'cursor=x',
    'cursor=%00',
    'cursor=%ED%A0%80',
    'cursor=%ff',
    'cursor=%',
    'cursor=%zz',
    '__proto__=1',
    'constructor=1',
    '__proto__[x]=1',
  ],
  ...[
    'from=0',
    'from=2026-02-30T00:00:00Z',
    'from=2026-01-01T00:00:00+00:00',
    'from=0000-01-01T00:00:00%2B14:00&to=9999-12-31T23:59:59-12:00',
    'to=x',
  ],
  ...[
    'q=',
    'q=%20',
    'q=%00',
    'q=%F0%9F%98%80',
    `q=${'x'.repeat(3_000)}`,
    'q=%25_%27"*',
    'q=a%20OR%20b*%20NEAR(c)',
    'q=-',
    'status=ready',
    'status=x',
    'status=queued&status=ready',
  ],
  ...[
    'cursor=MTc2 IDAw',
    `cursor=${Buffer.from('9999999999999999 00000000-0000-0000-0000-000000000000').toString('base64url')}&limit=1`,
  ],
  ...[
    `cursor=${Buffer.from('-9999999999999999 ------------------------------------').toString('base64url')}&limit=1&q=x`,
    'agentId=x',
    'externalUserId=X',
    ';',
    '?',
    '#',
    'a'.repeat(6_000),
  ],
]
const behind = fc.constantFrom('', '', '', '', '/', '//', '/.', '/..', '/x', '.json', '%20', '%00', '%2f', ';a=b')

/** Requests for an operation, of every kind. */
function requestsFor(op: Operation): fc.Arbitrary<Made> {
  const hints = hintsOf(op)
  const names = op.parameters.filter((p) => p.in === 'path').map(({ name }) => name)
  const schema = (op.requestBody?.content['application/json'] ?? op.requestBody?.content[MULTIPART])?.schema
  const usual = schema === undefined ? fc.constant(undefined) : usualBody(op, valid(schema, hints))
  const filters = fc
    .record(
      Object.fromEntries(
        op.parameters
          .filter((p) => p.in === 'query')
          .map((p) => [p.name, valid(p.schema, p.name.endsWith('r') ? hints : {}, p.name)]),
      ),
      { requiredKeys: [], noNullPrototype: true },
    )
    .map((fields): Made['query'] => Object.entries(fields))
  // Most filters let nothing through, and then there is little to be wrong.
  const query = fc.oneof(fc.constant<Made['query']>([]), filters)
  const own = fc.constant(Object.fromEntries(names.map((name) => [name, undefined])))
  const parts = {
    path: own as fc.Arbitrary<Made['path']>,
    behindPath: fc.constant('') as fc.Arbitrary<string>,
    query,
    headers: fc.constant([]) as fc.Arbitrary<Made['headers']>,
    body: usual,
    spoilt: fc.constant(undefined) as fc.Arbitrary<Made['spoilt']>,
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    frame: fc.constant(undefined) as fc.Arbitrary<Frame | undefined>,
  }
  const kind = (name: string, weight: number, change: Partial<typeof parts>) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(name), ...parts, ...change }, { noNullPrototype: true }) as fc.Arbitrary<Made>,
  })
  const oddPath = fc.record(
    Object.fromEntries(
      names.map((name) => [name, fc.option(fc.oneof(fc.constantFrom(...ODD_IDS), fc.uuid()), { nil: undefined })]),
    ),
    { noNullPrototype: true },
  ) as fc.Arbitrary<Made['path']>
  const oddQuery = fc.oneof(
    fc.constantFrom(...ODD_QUERIES),
    fc.array(fc.constantFrom(...ODD_QUERIES), { minLength: 2, maxLength: 3 }).map((all) => all.join('&')),
    fc
      .tuple(
        fc.constantFrom('limit', 'cursor', 'q', 'from', 'to', 'status', 'externalUserId', 'agentId'),
        fc.oneof(time, text(), fc.uuid(), odd),
      )
      .map((pair): Made['query'] => [pair]),
  )
  return fc.oneof(
    kind('valid', 8, {}),
    kind('path', 2, { path: oddPath, behindPath: behind }),
    kind('query', 2, { query: oddQuery }),
    kind('headers', 3, { headers: fc.array(header, { minLength: 1, maxLength: 3 }) }),
    kind('framing', 2, { frame }),
    ...(schema === undefined
      ? [kind('a body where there is none', 1, { body: odd })]
      : [
          kind('a field', 8, { body: nearlyValid(schema, hints) }),
          kind('a body', 4, { spoilt: fc.constantFrom(...(Object.keys(SPOIL) as (keyof typeof SPOIL)[])) }),
        ]),
  )
}

const MULTIPART = 'multipart/form-data'
const BOUNDARY = 'a-boundary'
const isUpload = (op: Operation) => op.requestBody?.content[MULTIPART] !== undefined

/** The fields of a form as they are sent; what is no object is sent as it is. */
function toForm(body: unknown): string {
  if (typeof body !== 'object' || body === null) return textOf(body)
  const parts = Object.entries(body).map(([name, value]) => {
    const file = name === 'file' ? '; filename="file.txt"' : ''
    return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${encodeURIComponent(name)}"${file}\r\n\r\n${textOf(value)}\r\n`
  })
  return `${parts.join('')}--${BOUNDARY}--\r\n`
}

/** What a schema cannot say: a document comes in one form, and metadata of an upload is JSON. */
function usualBody(op: Operation, body: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const { operationId } = op
  if (isUpload(op))
    return body.map((fields) => ({ ...(fields as object), file: 'A file about lamps.', metadata: '{"lang":"en"}' }))
  if (operationId !== 'addDocument' && operationId !== 'replaceDocument') return body
  const forms = ['text', 'markdown', 'html', 'url']
  return fc.tuple(body, fc.constantFrom(...forms)).map(([value, form]) => {
    const fields = value as Record<string, unknown>
    const content = fields[form] ?? (form === 'url' ? 'http://127.0.0.1:9/' : 'x')
    return Object.fromEntries([...Object.entries(fields).filter(([name]) => !forms.includes(name)), [form, content]])
  })
}

function targetOf(op: Operation, { path, behindPath, query }: Made): string {
  const filled = op.path.replace(/\{(\w+)\}/g, (_, name: string) => path[name] ?? ids[thingOf(op, name)]!) + behindPath
  if (typeof query === 'string') return query === '' ? filled : `${filled}?${query}`
  const pairs = query.map(([name, value]) => `${name}=${encodeURIComponent(textOf(value).toWellFormed())}`)
  return pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`
}

const textOf = (value: unknown): string =>
  value instanceof Ref ? ids[value.of]! : typeof value === 'string' ? value : toJson(value, ids)

async function send(op: Operation, made: Made): Promise<void> {
  const target = targetOf(op, made)
  const whole = made.body === undefined ? undefined : isUpload(op) ? toForm(made.body) : toJson(made.body, ids)
  const body = made.spoilt === undefined || whole === undefined ? whole : SPOIL[made.spoilt]!(whole, made.at)
  tally.add('requests', `kind: ${made.kind}`, ...(made.spoilt === undefined ? [] : [`a body: ${made.spoilt}`]))
  const { frame } = made
  const isNamed = made.headers.some(([name]) => name === 'content-type')
  const type: [string, string] = ['content-type', `${MULTIPART}; boundary=${BOUNDARY}`]
  const headers = isUpload(op) && !isNamed ? [type, ...made.headers] : made.headers
  const answers = await sendOdd(client, { method: op.method, target, headers, body, frame })
  const named = /\{(\w+)\}$/.exec(op.path)?.[1]
  if (op.method === 'DELETE' && named !== undefined && (answers.length === 0 || answers.some(({ status }) => status === 200))) {
    await make[thingOf(op, named)]!()
  }
  for (const answer of answers) {
    tally.add(`status: ${answer.status}`, ...(answer.status < 300 ? [`done: ${op.operationId}`] : []))
    // A path that is made up may be that of another request.
    check(made.kind === 'path' && answer.status < 300 ? described(op, target) : op, answer)
    if (['valid', 'a field'].includes(made.kind) && answer.status < 300 && whole !== undefined && !isUpload(op))
      isAsSent(whole, answer.text)
  }
  const given = made.headers.filter(([name]) => name === 'x-request-id').map(([, value]) => value.trim())
  if (answers.length > 0 && given.length === 1 && /^[\x21-\x7e][\x20-\x7e]{0,127}$/.test(given[0]!)) {
    assert.equal(answers[0]!.headers['x-request-id'], given[0])
  }
}

const AS_SENT = ['name', 'title', 'metadata', 'instructions', 'greeting', 'starters', 'comment']
const isEmpty = (value: unknown) => typeof value === 'object' && Object.keys(value!).length === 0

/** What a caller has set is what the answer says, to the letter: nothing that was taken is lost without a word. */
function isAsSent(sent: string, answer: string): void {
  const { success: _, ...things } = JSON.parse(answer) as Record<string, Record<string, unknown>>
  const [answered = {}] = Object.values(things)
  for (const [name, value] of Object.entries(JSON.parse(sent) as Record<string, unknown>)) {
    // Metadata that is empty leaves that of the same document as it was.
    if (!AS_SENT.includes(name) || !(name in answered) || value === null || isEmpty(value)) continue
    assert.deepEqual(answered[name], value, name)
  }
}

/** The operation that a path leads to. */
function described(op: Operation, target: string): Described {
  const path = decodeURIComponent(target.split('?', 1)[0]!)
  const found = operations.find(
    ({ method, path: known }) =>
      method === op.method && new RegExp(`^${known.replace(/\{\w+\}/g, '[0-9a-fA-F-]{36}')}$`).test(path),
  )
  return found ?? op
}

describe('whatever is asked, the answer is one of the contract', { skip: needsProcess }, () => {
  for (const op of operations) {
    test(op.operationId, async () => {
      await holds(RUNS, requestsFor(op), (made) => send(op, made))
      assert.ok(tally.of(`done: ${op.operationId}`) > 0, 'none of the requests did what it was about')
    })
  }
})

describe('text comes back exactly as it was sent', { skip: needsProcess }, () => {
  const agent = () => `/agents/${ids.agent}`
  const get = async (path: string) => {
    const answer = await client.get(path)
    isOk(answer)
    return answer.body
  }
  const comesBack = (about: string, runs: number, made: fc.Arbitrary<string>, roundTrip: (sent: string) => Promise<void>) =>
    test(about, () =>
      holds(runs, made, async (sent) => {
        tally.add('round trips')
        await roundTrip(sent)
      }),
    )

  comesBack('names of sessions', 15, text(200), async (name) => {
    const made = await client.post(`${agent()}/sessions`, { name, externalUserId: randomUUID() })
    isOk(made, 201)
    const { id, userSessionId } = made.body.session
    assert.equal(made.body.session.name, name)
    assert.equal((await get(`${agent()}/sessions/${id}`)).session.name, name)
    assert.equal((await get(`${agent()}/sessions?externalUserId=${userSessionId}`)).sessions[0].name, name)
    assert.equal((await client.patch(`${agent()}/sessions/${id}`, { name })).body.session.name, name)
  })

  comesBack('messages, sent and brought in', 15, text(300), async (content) => {
    const path = await service.newSession(ids.agent!)
    const sent = await client.post(`${path}/messages`, { message: content, additionalContext: content })
    isOk(sent)
    assert.equal(sent.body.userMessage.content, content)
    assert.equal((await get(path)).messages[0].content, content)
    assert.equal((await get(`${path}/messages?limit=1`)).messages[0].content, content)
    const feedback = await client.put(`${path}/messages/${sent.body.aiMessage.id}/feedback`, { rating: 'up', comment: content })
    isOk(feedback)
    const { message } = await get(`${path}/messages/${sent.body.aiMessage.id}`)
    assert.equal(message.feedback.comment, content)
    const imported = await client.post(`${agent()}/sessions/import`, { messages: [{ role: 'AI', content }] })
    isOk(imported, 201)
    assert.equal((await get(`${agent()}/sessions/${imported.body.session.id}/messages`)).messages[0].content, content)
  })

  comesBack('titles and metadata of documents', 15, text(100), async (title) => {
    const metadata = { lang: title, [isKey(title) ? title : 'x']: [title, 1, true] }
    const added = await client.post(`${agent()}/documents`, { title, text: `${title} x`, metadata })
    isOk(added, 202)
    assert.equal(added.body.document.title, title)
    const { document } = await get(`${agent()}/documents/${added.body.document.id}`)
    assert.equal(document.title, title)
    assert.deepEqual(document.metadata, metadata)
  })

  comesBack('settings of agents', 15, text(200), async (sent) => {
    const settings = { name: sent, instructions: sent, greeting: sent, starters: [sent, sent] }
    isOk(await client.patch(`/agents/${ids.spare}`, settings))
    const { name, instructions, greeting, starters } = (await get(`/agents/${ids.spare}`)).agent
    assert.deepEqual({ name, instructions, greeting, starters }, settings)
  })
})
