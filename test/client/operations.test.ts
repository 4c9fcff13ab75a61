// Every operation of the contract can be called with the client, and gets to its method and path.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Repartee } from '../../client/src/index.ts'
import { contract } from '../../src/api/contract.ts'
import type { Operation } from '../../src/api/operation.ts'
import { loadConfig } from '../../src/config/config.ts'

interface Sent {
  method: string
  url: string
  headers: Headers
}

const sent: Sent[] = []
/** Answers everything as if it were a page without items, a turn that is over, or a document that is ready. */
const fetchNothing = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers)
  sent.push({ method: init.method!, url: String(url), headers })
  const isStream = headers.get('accept') === 'text/event-stream'
  if (isStream) return new Response('event: turn.completed\ndata: {}\n\n', { headers: { 'content-type': 'text/event-stream' } })
  const list = {
    agents: [],
    sessions: [],
    messages: [],
    documents: [],
    passages: [],
    sources: [],
    keys: [],
    webhooks: [],
    deliveries: [],
    users: [],
    entries: [],
  }
  return new Response(JSON.stringify({ ...list, document: { status: 'ready' } }))
}

const operations = Object.values(contract(loadConfig({}))) as Operation[]
const client = new Repartee({ baseUrl: 'http://service/v1', key: 'the-key', fetch: fetchNothing })
const { connection, ...nouns } = client
const functions = Object.entries(nouns).flatMap(([noun, of]) =>
  Object.entries(of as Record<string, (...rest: unknown[]) => unknown>).map(([name, run]) => ({ name: `${noun}.${name}`, run })),
)
const templates = operations.map((op) => ({
  op,
  pattern: new RegExp(`^http://service/v1${op.path.replace(/\{\w+\}/g, '(id-\\d)')}(\\?.*)?$`),
}))
const operationOf = ({ method, url }: Sent) =>
  // A path that is said in full comes before one with an id in that place.
  templates.find(({ op, pattern }) => op.method === method && pattern.test(url))

/** Ids as the path takes them, and behind them what can be a file, a query, a body or options. */
async function call(run: (...rest: unknown[]) => unknown, ids: number): Promise<void> {
  const rest = new Blob(['a file'])
  const args = [...Array.from({ length: ids }, (_, i) => `id-${i + 1}`), rest, rest, rest, rest]
  const result = await run(...args)
  if (result !== null && typeof result === 'object' && Symbol.asyncIterator in result)
    for await (const _ of result as AsyncIterable<unknown>);
}

/** How many ids a function takes: with fewer a path has no id where it needs one, which is refused before anything is sent. */
async function reach(run: (...rest: unknown[]) => unknown): Promise<Sent> {
  for (let ids = 0; ids <= 3; ids++) {
    sent.length = 0
    await call(run, ids).catch((error: Error) => {
      if (!error.message.startsWith('An id is needed')) throw error
    })
    if (sent.length > 0) return sent[0]!
  }
  throw new Error('nothing was sent')
}

describe('the client', () => {
  test('has every operation of the contract, and nothing that is not in it', async () => {
    const reached = new Set<string>()
    for (const { name, run } of functions) {
      const found = operationOf(await reach(run))
      assert.ok(found, `${name} leads to ${JSON.stringify(sent)}, which is no operation`)
      const ids = found.pattern.exec(sent[0]!.url)!.slice(1, -1)
      assert.deepEqual(
        ids,
        ids.map((_, i) => `id-${i + 1}`),
        `${name} mixes up its ids`,
      )
      reached.add(found.op.id)
    }
    assert.deepEqual(
      operations.map(({ id }) => id).filter((id) => !reached.has(id)),
      [],
    )
  })

  test('sends a key with every request, and an Idempotency-Key with every POST whose answer the service keeps', async () => {
    const keys = new Set<string>()
    for (const { name, run } of functions) {
      const { headers, method } = await reach(run)
      assert.equal(headers.get('authorization'), 'Bearer the-key', name)
      const { op } = operationOf(sent[0]!)!
      const key = headers.get('idempotency-key')
      assert.equal(key !== null, method === 'POST' && op.keepsNoAnswer !== true, name)
      assert.ok(key === null || !keys.has(key), `${name} has the key of another`)
      if (key !== null) keys.add(key)
    }
    assert.ok(keys.size > 8)
  })

  test('sends nothing where an id would lead to another path', async () => {
    sent.length = 0
    for (const id of ['', '.', '..', undefined as unknown as string]) {
      await assert.rejects(client.sessions.delete('an-agent', id), { name: 'ReparteeError', code: 'invalid_request' })
    }
    assert.equal(sent.length, 0)
    await client.sessions.delete('an-agent', '../documents/x')
    assert.equal(sent[0]?.url, 'http://service/v1/agents/an-agent/sessions/..%2Fdocuments%2Fx')
  })
})
