// Web pages: what they may send across origins, and how /mcp tells pages of the service itself from pages that were led to it
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client } from '../support/client.ts'
import { freePort } from '../support/free-port.ts'
import { needsProcess, startService } from '../support/service.ts'

const PAGE = 'https://page.example'

describe('pages', { skip: needsProcess }, async () => {
  const service = await startService({ REPARTEE_ALLOWED_ORIGINS: PAGE })
  const proxied = await freePort()
  const behindProxy = await startService({
    REPARTEE_PORT: String(proxied),
    REPARTEE_PUBLIC_URL: 'https://chat.example.com/help/',
    REPARTEE_TRUST_PROXY: '127.0.0.1',
  })
  after(async () => {
    await service.stop()
    await behindProxy.stop()
  })
  const portOf = ({ address }: Client) => new URL(address.baseUrl).port
  const { client } = service
  /** Calls past the proxy that the public address leads to. */
  const published = new Client({ baseUrl: `http://127.0.0.1:${proxied}/v1` }, behindProxy.client.key)

  test('may send the headers of a trace on every surface, and User-Agent to the OpenAI surface', async () => {
    const preflight = { origin: PAGE, 'access-control-request-method': 'POST' }
    for (const path of ['/v1/agents', '/openai/v1/responses', '/mcp']) {
      const { status, headers } = await client.request('OPTIONS', `^${path}`, { key: null, headers: preflight })
      assert.equal(status, 204)
      const allowed = String(headers['access-control-allow-headers']).toLowerCase().split(', ')
      for (const name of ['authorization', 'traceparent', 'tracestate', 'baggage'])
        assert.ok(allowed.includes(name), `${path}: ${name}`)
      assert.equal(allowed.includes('user-agent'), path.startsWith('/openai'), path)
    }
  })

  const callMcp = async (by: Client, headers: Record<string, string>) =>
    (await by.post('^/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }, { headers })).status

  test('of the service itself may use MCP at a loopback address', async () => {
    const port = portOf(client)
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'])
      assert.equal(await callMcp(client, { host: `${name}:${port}`, origin: `http://${name.toLowerCase()}:${port}` }), 200, name)
    for (const name of ['localhost', '127.0.0.1'])
      assert.equal(await callMcp(client, { host: name, origin: `http://${name}` }), 200, `${name}, default port`)
  })

  test('of a name that was rebound to this machine may not use MCP, although Host and Origin match', async () => {
    const port = portOf(client)
    const names = ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', 'localhost@evil.example', '10.0.0.1', '']
    for (const name of names)
      assert.equal(await callMcp(client, { host: `${name}:${port}`, origin: `http://${name}:${port}` }), 403, name)
    const forwarded = { 'x-forwarded-host': `localhost:${port}` }
    const origin = `http://evil.example:${port}`
    for (const by of [client, published])
      assert.equal(await callMcp(by, { host: `evil.example:${port}`, origin, ...forwarded }), 403)
  })

  test('of another port or scheme of this machine may not use MCP', async () => {
    const port = portOf(client)
    const host = `localhost:${port}`
    for (const origin of [
      'http://localhost:1',
      'http://localhost',
      `https://localhost:${port}`,
      `http://127.0.0.1:${port}`,
      'null',
    ])
      assert.equal(await callMcp(client, { host, origin }), 403, origin)
    const https = { host, origin: `https://${host}`, 'x-forwarded-proto': 'https' }
    assert.equal(await callMcp(client, https), 403, 'nobody trusts this proxy')
    assert.equal(await callMcp(published, https), 200, 'a trusted proxy says how it was asked')
  })

  test('of the address in REPARTEE_PUBLIC_URL may use MCP, and no other page', async () => {
    for (const host of ['chat.example.com', `127.0.0.1:${portOf(published)}`])
      assert.equal(await callMcp(published, { host, origin: 'https://chat.example.com' }), 200, host)
    for (const origin of ['http://chat.example.com', 'https://chat.example.com:8443', 'https://evil.example'])
      assert.equal(await callMcp(published, { host: 'chat.example.com', origin }), 403, origin)
    assert.equal(await callMcp(client, { host: 'chat.example.com', origin: 'https://chat.example.com' }), 403)
  })
})
