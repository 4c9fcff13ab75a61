// Where the names of pages and webhooks lead, by a DNS server that answers as it likes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { FETCH_RULES, guardedFetch } from '../../src/net/guarded-fetch.ts'
import { guardedPost } from '../../src/net/guarded-post.ts'
import { dnsResolver } from '../../src/net/resolve.ts'
import { never } from '../contract/model.ts'
import { endsBy } from '../support/cleanup.ts'
import { NO_SUCH_NAME, SERVER_FAILURE, startDnsServer } from '../support/dns-server.ts'

const PUBLIC = '93.184.216.34'
const dns = await startDnsServer({
  'private.test': ['10.0.0.7'],
  'mixed.test': [PUBLIC, '192.168.1.1'],
  'mixed-kinds.test': [PUBLIC, '0:0:0:0:0:0:0:1'],
  'metadata.test': ['0:0:0:0:0:ffff:a9fe:a9fe'],
  'gone.test': NO_SUCH_NAME,
  'empty.test': [],
  'failing.test': SERVER_FAILURE,
  'silent.test': 'silent',
  'pages.test': ['127.0.0.1'],
  'ipv4.test': { onlyIpv4: ['127.0.0.1'] },
})
const resolve = dnsResolver({ servers: [dns.address] })
/** For names without an answer. */
const impatient = dnsResolver({ servers: [dns.address], timeoutMs: 2_000 })

const server = createServer((_request, response) => response.end('here')).listen(0, '127.0.0.1')
await once(server, 'listening')
endsBy('a web server', () => server.close())
const { port } = server.address() as AddressInfo

describe('a page or webhook on a host whose name leads', () => {
  for (const [name, where] of [
    ['private.test', 'to a private address'],
    ['mixed.test', 'to a public and a private address'],
    ['mixed-kinds.test', 'to a public IPv4 address and a private IPv6 address'],
    ['metadata.test', 'to a private IPv4 address in IPv6'],
  ])
    test(`${where} is refused`, async () => {
      const rules = { ...FETCH_RULES, resolve }
      await assert.rejects(guardedFetch(rules, { url: `http://${name}/` }), { code: 'address_refused' })
      const post = { url: `http://${name}/`, headers: {}, body: '{}', signal: never }
      await assert.rejects(guardedPost(rules, post), { code: 'address_refused' })
    })

  for (const [name, where, transient] of [
    ['gone.test', 'nowhere', false],
    ['empty.test', 'to no address', false],
    ['failing.test', 'to a failure of its server', true],
    ['silent.test', 'to no answer', true],
  ] as const)
    test(`${where} is unreachable${transient ? ' for now' : ''}`, async () => {
      const rules = { ...FETCH_RULES, resolve: name === 'silent.test' ? impatient : resolve }
      await assert.rejects(guardedFetch(rules, { url: `http://${name}/` }), { code: 'unreachable', transient })
    })

  for (const [name, where] of [
    ['pages.test', 'to an allowed address'],
    ['ipv4.test', 'to an allowed IPv4 address, and has no answer for IPv6'],
  ])
    test(`${where} is fetched`, async () => {
      const rules = { ...FETCH_RULES, allow: new Set([`${name}:${port}`]), resolve: name === 'ipv4.test' ? impatient : resolve }
      const { body } = await guardedFetch(rules, { url: `http://${name}:${port}/` })
      assert.equal(Buffer.from(body).toString(), 'here')
    })
})

test('a name without an answer keeps no thread busy that others need', async () => {
  const stop = new AbortController()
  const fetching = guardedFetch(FETCH_RULES, { url: 'http://nobody.invalid/', signal: stop.signal })
  assert.ok(!process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap'))
  stop.abort(new Error('enough'))
  await assert.rejects(fetching)
})

test('a name is not asked for any more once its page is given up', async () => {
  const stop = new AbortController()
  const fetching = resolve('silent.test', stop.signal)
  stop.abort()
  await assert.rejects(fetching, { code: 'ECANCELLED' })
})

test('a name of the hosts file is found if REPARTEE_FETCH_ALLOW has it', async () => {
  const url = `http://localhost:${port}/`
  await assert.rejects(guardedFetch(FETCH_RULES, { url }), { code: 'address_refused' })
  await assert.rejects(guardedFetch(FETCH_RULES, { url: 'http://any.localhost./' }), { code: 'address_refused' })
  const { body } = await guardedFetch({ ...FETCH_RULES, allow: new Set([`localhost:${port}`]) }, { url })
  assert.equal(Buffer.from(body).toString(), 'here')
})
