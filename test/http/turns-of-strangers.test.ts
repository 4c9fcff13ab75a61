// Requests of callers without a good key begin in few turns of the event loop, and none of them goes without one.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, mock, test } from 'node:test'
import { openApp } from '../../src/app.ts'
import { loadConfig } from '../../src/config/config.ts'
import { HEALTH_CHECKS, NOBODY } from '../../src/http/route/admit.ts'
import { FairEntry } from '../../src/http/server/fair-entry.ts'
import { until } from '../support/poll.ts'

const data = mkdtempSync(join(tmpdir(), 'repartee-strangers-'))
const app = await openApp(
  loadConfig({
    REPARTEE_DATA: data,
    REPARTEE_PORT: '0',
    REPARTEE_HOST: '127.0.0.1',
    REPARTEE_LOG_LEVEL: 'silent',
    REPARTEE_ALLOWED_ORIGINS: 'https://shop.example',
  }),
)
after(async () => {
  await app.close()
  rmSync(data, { recursive: true })
})
const { port } = new URL(await app.listen())
const enter = mock.method(FairEntry.prototype, 'enter')

/** Resolves to the status, and to whose turns it took. */
async function ask(method: string, path: string, headers: Record<string, string> = {}) {
  enter.mock.resetCalls()
  const status = await new Promise<number>((resolve, reject) => {
    request({ port, method, path, headers, setHost: headers['host'] === undefined }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode!))
    })
      .on('error', reject)
      .end()
  })
  return { status, turns: enter.mock.calls.map(({ arguments: [owner] }) => owner) }
}

await until('it is ready', async () => (await ask('GET', '/readyz')).status === 200)

const shop = { origin: 'https://shop.example', 'access-control-request-method': 'POST' }
const asked: [status: number, method: string, path: string, headers?: Record<string, string>][] = [
  [200, 'GET', '/openapi.json'],
  [200, 'GET', '/docs/'],
  [200, 'GET', '/llms.txt'],
  [200, 'GET', '/console/'],
  [200, 'GET', '/widget.js'],
  [404, 'GET', '/nothing'],
  [405, 'PUT', '/v1/agents'],
  [204, 'OPTIONS', '/v1/agents', shop],
  [401, 'GET', '/v1/agents'],
  [401, 'GET', '/metrics'],
  [401, 'POST', '/openai/v1/responses'],
  [401, 'POST', '/mcp'],
  [403, 'POST', '/mcp', { origin: 'https://other.example' }],
]
for (const [status, method, path, headers] of asked)
  test(`${method} ${path} is answered with ${status} in the turns of callers without a key`, async () => {
    assert.deepEqual(await ask(method, path, headers), { status, turns: [NOBODY] })
  })

test('a page is answered in those turns', async () => {
  assert.deepEqual((await ask('GET', '/')).turns, [NOBODY])
})

test('health checks have turns of their own', async () => {
  for (const path of ['/healthz', '/readyz']) assert.deepEqual(await ask('GET', path), { status: 200, turns: [HEALTH_CHECKS] })
})

test('a request with a good key has the turns of its key', async () => {
  const key = app.newAdminKey!
  const { status, turns } = await ask('GET', '/v1/agents', { 'x-api-key': key })
  assert.equal(status, 200)
  assert.equal(turns.length, 1)
  assert.ok(turns[0] !== NOBODY && turns[0] !== HEALTH_CHECKS)
})

test('the query is read once the caller is let in, and has few parameters', async () => {
  const many = `/v1/agents?${Array.from({ length: 51 }, (_, i) => `a${i}`).join('&')}`
  assert.equal((await ask('GET', many)).status, 401)
  assert.equal((await ask('GET', many, { 'x-api-key': app.newAdminKey! })).status, 400)
  assert.equal((await ask('GET', '/v1/agents?limit=2', { 'x-api-key': app.newAdminKey! })).status, 200)
})
