import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { freePort } from '../support/free-port.ts'
import { needsProcess, startService } from '../support/service.ts'
import { repartee } from './repartee.ts'
import { oneAgent, stubService } from './stub-service.ts'

const folder = mkdtempSync(join(tmpdir(), 'repartee-cli-'))
after(() => rmSync(folder, { recursive: true }))

const refusal = (code: string, message: string, details?: object[]) => ({
  success: false,
  error: { code, message, requestId: 'the-request', ...(details ? { details } : {}) },
})

test('where no service was ever started the exit code is 4, and the message says what to do', async () => {
  const { code, stdout, stderr } = await repartee(['agents'], { REPARTEE_DATA: folder })
  assert.equal(code, 4)
  assert.match(stderr, /No running service found.*repartee serve.*REPARTEE_URL and REPARTEE_KEY/s)
  assert.equal(stdout, '')
})

test('a file left by a service that crashed leads nowhere: exit code 4', async () => {
  const data = mkdtempSync(join(folder, 'crashed-'))
  writeFileSync(join(data, 'local.json'), JSON.stringify({ url: `http://127.0.0.1:${await freePort()}/v1`, key: 'rpt_x' }))
  const { code, stderr } = await repartee(['agents'], { REPARTEE_DATA: data })
  assert.equal(code, 4)
  assert.match(stderr, /No running service found: .*local\.json names .*ECONNREFUSED/)
})

test('a service that leads elsewhere gets no key there: exit code 4, and the message names the place', async () => {
  const other = await stubService(() => [200, oneAgent])
  const stub = await stubService(({ path }) => [302, '', { location: `${other.env['REPARTEE_URL']}/v1${path}` }])
  const { code, stderr } = await repartee(['agents'], stub.env)
  stub.close()
  other.close()
  assert.deepEqual([code, other.requests.length], [4, 0])
  assert.ok(stderr.includes(`which leads to ${other.env['REPARTEE_URL']}`), stderr)
})

test('a refusal of a stranger does not steer the terminal', async () => {
  const error = { code: 'forbidden', message: 'no\u001b[2Jway', requestId: '1' }
  const stub = await stubService(() => [403, { success: false, error }])
  const { stderr } = await repartee(['agents'], stub.env)
  stub.close()
  assert.ok(stderr.includes('no\ufffd[2Jway'), stderr)
})

test('a list whose pages have no end is left', async () => {
  const pagination = { ...oneAgent.pagination, hasMore: true, nextCursor: 'again' }
  const stub = await stubService(() => [200, { ...oneAgent, pagination }])
  const { code, stderr } = await repartee(['agents'], stub.env)
  stub.close()
  assert.deepEqual([code, stub.requests.length], [1, 2])
  assert.match(stderr, /the same page again and again/)
})

test('REPARTEE_URL that leads nowhere is exit code 4', async () => {
  const env = { REPARTEE_URL: `http://127.0.0.1:${await freePort()}`, REPARTEE_KEY: 'rpt_x' }
  const { code, stderr } = await repartee(['agents'], env)
  assert.equal(code, 4)
  assert.match(stderr, /REPARTEE_URL names/)
})

test('REPARTEE_URL without a key, or that is no URL, is wrong configuration: exit code 3', async () => {
  const noKey = await repartee(['agents'], { REPARTEE_URL: 'http://127.0.0.1:1' })
  assert.equal(noKey.code, 3)
  assert.match(noKey.stderr, /REPARTEE_KEY/)
  const noUrl = await repartee(['agents'], { REPARTEE_URL: 'localhost:8080', REPARTEE_KEY: 'rpt_x' })
  assert.equal(noUrl.code, 3)
  assert.match(noUrl.stderr, /REPARTEE_URL must be/)
})

test('something else that answers at the address is told from a service', async (t) => {
  const stub = await stubService(() => [200, '<html>Welcome to nginx</html>'])
  t.after(stub.close)
  const { code, stderr } = await repartee(['agents'], stub.env)
  assert.equal(code, 4)
  assert.match(stderr, /is not Repartee/)
})

test('a refusal is shown with its details and the id of the request', async (t) => {
  const details = [
    { path: 'body.name', message: 'must not be blank' },
    { path: 'body.model', message: 'is unknown' },
  ]
  const stub = await stubService(() => [400, refusal('invalid_request', 'body.name must not be blank', details)])
  t.after(stub.close)
  const { code, stdout, stderr } = await repartee(['agents', '--json'], stub.env)
  assert.equal(code, 1)
  assert.match(
    stderr,
    /^body\.name must not be blank\n {2}- body\.model is unknown\n\(400 invalid_request, request the-request\)\n$/,
  )
  assert.equal(stdout, '')
})

test('a key that is not known is blamed on where it comes from', async (t) => {
  const stub = await stubService(() => [401, refusal('unauthorized', 'A valid API key is needed.')])
  t.after(stub.close)
  const { code, stderr } = await repartee(['agents'], stub.env)
  assert.equal(code, 1)
  assert.match(stderr, /The key comes from REPARTEE_KEY/)
})

test('a call that came too soon is made again after the wait that the service asks for', async (t) => {
  let calls = 0
  const stub = await stubService(() =>
    ++calls === 1 ? [429, refusal('rate_limited', 'Too many.'), { 'retry-after': '1' }] : [200, oneAgent],
  )
  t.after(stub.close)
  const { code, stdout } = await repartee(['agents'], stub.env)
  assert.equal(code, 0)
  assert.match(stdout, /Support/)
  assert.equal(calls, 2)
})

test('text of strangers cannot steer the terminal', async (t) => {
  const agents = [{ ...oneAgent.agents[0], name: 'A\x1b]0;pwned\x07\x9b2J\nB' }]
  const stub = await stubService(() => [200, { ...oneAgent, agents }])
  t.after(stub.close)
  const { stdout } = await repartee(['agents'], stub.env)
  assert.doesNotMatch(stdout, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
  assert.match(stdout, /A\ufffd\]0;pwned/)
})

test('every page of a list is read', async (t) => {
  const [agent] = oneAgent.agents
  const stub = await stubService(({ path }) =>
    path.includes('cursor=next')
      ? [200, { ...oneAgent, agents: [{ ...agent, name: 'Second' }] }]
      : [200, { ...oneAgent, agents: [agent], pagination: { hasMore: true, nextCursor: 'next', total: 2 } }],
  )
  t.after(stub.close)
  const { stdout } = await repartee(['agents', '--json'], stub.env)
  assert.deepEqual(
    JSON.parse(stdout).agents.map(({ name }: { name: string }) => name),
    ['Support', 'Second'],
  )
})

test('a service is found by the data folder, and by its address with a key', { skip: needsProcess }, async (t) => {
  const service = await startService()
  t.after(service.stop)
  const byFolder = await repartee(['agents'], { REPARTEE_DATA: service.data })
  assert.equal(byFolder.code, 0, byFolder.stderr)
  const { secret } = JSON.parse((await repartee(['keys', 'create', '--admin', '--json'], { REPARTEE_DATA: service.data })).stdout)
  const { origin } = new URL(service.client.address.baseUrl)
  for (const url of [origin, `${origin}/`, `${origin}/v1`, `${origin}/v1/`]) {
    const byUrl = await repartee(['agents'], { REPARTEE_URL: url, REPARTEE_KEY: secret })
    assert.equal(byUrl.code, 0, byUrl.stderr)
  }
})
