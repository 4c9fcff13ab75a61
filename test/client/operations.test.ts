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
  body: unknown
}

const sent: Sent[] = []
/** Answers everything as if it were a page without items, a turn that is over, or a document that is ready. */
const fetchNothing = async (url: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
  const headers = new Headers(init.headers)
  sent.push({ method: init.method!, url: String(url), headers, body: init.body })
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
type Run = (...args: unknown[]) => unknown
const functions = Object.entries(nouns).flatMap(([noun, of]) =>
  Object.entries(of as Record<string, Run>).map(([name, run]) => ({ name: `${noun}.${name}`, run })),
)
/** An id has its name as the value, so that a path with the right ids is the template without braces. */
const operationsByUrl = new Map(operations.map((op) => [`${op.method} http://service/v1${op.path.replaceAll(/[{}]/g, '')}`, op]))
const idNames = new Set(operations.flatMap(({ path }) => [...path.matchAll(/\{(\w+)\}/g)].map(([, id]) => id!)))
const ids = Object.fromEntries([...idNames].map((id) => [id, id]))
const operationOf = ({ method, url }: Sent) => operationsByUrl.get(`${method} ${url.replace(/\?.*$/, '')}`)

/** Calls a function with all ids, and returns the request that it sends. */
async function reach(run: Run): Promise<Sent> {
  sent.length = 0
  const result = await run({ ...ids, file: new Blob(['a file']) })
  if (result !== null && typeof result === 'object' && Symbol.asyncIterator in result)
    for await (const _ of result as AsyncIterable<unknown>);
  return sent[0]!
}

describe('the client', () => {
  test('has every operation of the contract, and nothing that is not in it', async () => {
    const reached = new Set<string>()
    for (const { name, run } of functions) {
      const found = operationOf(await reach(run))
      assert.ok(found, `${name} leads to ${JSON.stringify(sent)}, which is no operation`)
      reached.add(found.id)
    }
    assert.deepEqual(
      operations.map(({ id }) => id).filter((id) => !reached.has(id)),
      [],
    )
  })

  test('sends an id in the path only', async () => {
    for (const { name, run } of functions) {
      const { url, body } = await reach(run)
      const fields = { ...Object.fromEntries(new URL(url).searchParams), ...(typeof body === 'string' && JSON.parse(body)) }
      const path = operationOf(sent[0]!)!.path
      assert.deepEqual(
        Object.keys(fields).filter((field) => path.includes(`{${field}}`)),
        [],
        name,
      )
    }
  })

  test('sends a key with every request, and an Idempotency-Key with every POST whose answer the service keeps', async () => {
    const keys = new Set<string>()
    for (const { name, run } of functions) {
      const { headers, method } = await reach(run)
      assert.equal(headers.get('authorization'), 'Bearer the-key', name)
      const op = operationOf(sent[0]!)!
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
      const deleted = client.sessions.delete({ agentId: 'an-agent', sessionId: id })
      await assert.rejects(deleted, { name: 'ReparteeError', code: 'invalid_request' })
    }
    assert.equal(sent.length, 0)
    await client.sessions.delete({ agentId: 'an-agent', sessionId: '../documents/x' })
    assert.equal(sent[0]?.url, 'http://service/v1/agents/an-agent/sessions/..%2Fdocuments%2Fx')
  })
})
