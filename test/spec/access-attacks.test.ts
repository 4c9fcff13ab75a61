// Ways in which a chat service could let strangers in, each tried: keys, other people's things, and addresses that lead inside. Many are told at
// length elsewhere; here they stand together.
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import type { Client, RequestOptions } from '../support/client.ts'
import { readEvents } from '../support/events.ts'
import { says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { makeKey, needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'
import { WebSite } from '../support/web-site.ts'

const site = await new WebSite().start()
const service = await startService({
  REPARTEE_FETCH_ALLOW: site.host,
  REPARTEE_CRAWL_DELAY_MS: '0',
  REPARTEE_TRUST_PROXY: '127.0.0.1, ::1',
})
const { client, model } = service
const strict = await startService({
  REPARTEE_RATE_LIMIT: 'on',
  REPARTEE_KEY_REQUESTS_PER_MINUTE: '10',
  REPARTEE_BAD_KEYS_PER_MINUTE: '5',
})
/** A neighbour in the private network, on every address of this machine, that nobody may lead the service to. */
const inside = createServer((_request, response) => response.end('The inside of the house is golden.'))
let visits = 0
inside.on('connection', () => visits++)
inside.listen(0)
await once(inside, 'listening')
const insidePort = (inside.address() as AddressInfo).port
after(async () => {
  await service.stop()
  await strict.stop()
  await site.stop()
  inside.closeAllConnections()
  inside.close()
})

let agent: string
let session: string
let stranger: Client
let strangersAgent: string
beforeEach(async () => {
  model.reset()
  agent = await service.newAgent()
  session = await service.newSession(agent)
  strangersAgent = await service.newAgent()
  stranger = (await newKey({ scopes: ['chat', 'knowledge'], agentIds: [strangersAgent] })).by
})

async function newKey(more: object = {}, name = 'a key', of = client): Promise<{ by: Client; id: string }> {
  const answer = await of.post('/keys', { name, scopes: ['chat'], ...more })
  isOk(answer, 201)
  return { by: of.as(answer.body.secret), id: answer.body.key.id }
}
async function newToken(by: Client, externalUserId: string, ofAgent = agent): Promise<Client> {
  const answer = await by.post(`/agents/${ofAgent}/tokens`, { externalUserId })
  isOk(answer, 201)
  return by.as(answer.body.token)
}
const bearer = (by: Client): RequestOptions => ({ key: null, headers: { authorization: `Bearer ${by.key}` } })
const send = async (by: Client, path = session, message = 'Hello') => {
  const answer = await by.post(`${path}/messages`, { message })
  isOk(answer)
  return answer.body as { userMessage: { id: string }; aiMessage: { id: string; content: string } }
}
const historyOf = async (path: string) => (await client.get(path)).body.messages as { id: string; content: string }[]

describe('keys', () => {
  test('a key, an id, a cursor or a filter that is a piece of SQL finds nothing and changes nothing', async () => {
    await send(client)
    const injections = ["' OR '1'='1", `' OR 1=1 --`, `x' UNION SELECT * FROM api_key --`, `"; DROP TABLE session; --`]
    for (const text of injections) {
      for (const headers of [{ 'x-api-key': text }, { authorization: `Bearer ${text.replaceAll(' ', '/**/')}` }])
        isError(await client.get('/agents', { key: null, headers }), 401, 'unauthorized')
      const piece = encodeURIComponent(text)
      isError(await client.get(`/agents/${piece}`), 400, 'invalid_request', 'path.agentId')
      isError(await client.get(`${session}/messages?cursor=${piece}`), 400, 'invalid_request', 'query.cursor')
      const found = await client.get(`/agents/${agent}/sessions?q=${piece}`)
      isOk(found)
      assert.equal(found.body.sessions.length, 0)
      isOk(await client.patch(session, { name: text }))
      assert.equal((await client.get(session)).body.session.name, text)
    }
    assert.equal((await historyOf(session)).length, 2)
  })

  test('what a key may not do it may not do as X-API-Key nor as Bearer, and both count towards one rate', {
    skip: needsProcess,
  }, async () => {
    const [own, other] = [await strict.newAgent(), await strict.newAgent()]
    const { by } = await newKey({ scopes: ['read'], agentIds: [own] }, 'reader', strict.client)
    for (const way of [{}, bearer(by)]) {
      isOk(await by.get(`/agents/${own}/sessions`, way))
      isError(await by.post(`/agents/${own}/sessions`, {}, way), 403, 'forbidden')
      isError(await by.get(`/agents/${other}/sessions`, way), 404, 'agent_not_found')
    }
    for (let i = 0; i < 4; i++) isOk(await by.get(`/agents/${own}/sessions`, i % 2 === 0 ? {} : bearer(by)))
    for (const way of [{}, bearer(by)]) isError(await by.get(`/agents/${own}/sessions`, way), 429, 'rate_limited')
  })

  test('keys cannot be tried without end: an address that sends bad ones is soon refused', { skip: needsProcess }, async () => {
    const guess = () => strict.client.get('/agents', { key: makeKey() })
    for (let i = 0; i < 5; i++) isError(await guess(), 401, 'unauthorized')
    const refused = await guess()
    isError(refused, 429, 'rate_limited')
    assert.ok(Number(refused.headers['retry-after']) >= 1)
  })

  test('an empty key, and a word for nothing, are no key, also where no admin key was set', { skip: needsProcess }, async () => {
    const unset = await startService({ REPARTEE_ADMIN_KEY: '' })
    after(unset.stop)
    for (const word of ['', ' ', 'null', 'undefined', 'NaN', 'false', '0', '[object Object]', 'Bearer', 'rpt_']) {
      for (const headers of [{ 'x-api-key': word }, { authorization: word }, { authorization: `Bearer ${word}` }])
        isError(await unset.client.get('/keys', { key: null, headers }), 401, 'unauthorized')
    }
  })

  test('a request without a key is never made with one of the service itself', async () => {
    const { paths } = (await client.get('^/openapi.json', { key: null })).body as { paths: Record<string, object> }
    const headers = { 'x-forwarded-for': '127.0.0.1', cookie: `x-api-key=${client.key}`, 'x-api-key-id': 'admin' }
    for (const [path, methods] of Object.entries(paths)) {
      const real = path.replace('{agentId}', agent).replace(/\{\w+\}/g, randomUUID())
      for (const method of Object.keys(methods).filter((name) => /^(get|post|put|patch|delete)$/.test(name)))
        isError(await client.request(method.toUpperCase(), real, { key: null, headers }), 401, 'unauthorized')
    }
    isOk(await client.get(session))
  })

  test('only an admin key makes agents, keys and users, and reads the audit log and the models; bound to an agent it makes none either', async () => {
    const requests: [string, string, object?][] = [
      ['POST', '/agents', { name: 'mine' }],
      ['POST', '/keys', { name: 'mine', scopes: ['admin'] }],
      ['GET', '/keys'],
      ['DELETE', `/keys/${randomUUID()}`],
      ['POST', `/keys/${randomUUID()}/roll`, {}],
      ['GET', '/models'],
      ['GET', '/audit'],
    ]
    const ofAgent: [string, string, object?][] = [
      ['PATCH', `/agents/${agent}`, { instructions: 'Obey me.' }],
      ['GET', `/agents/${agent}/users`],
      ['DELETE', `/agents/${agent}/users/${randomUUID()}`],
      ['DELETE', `/agents/${agent}`],
    ]
    const { by: plain } = await newKey({ scopes: ['chat', 'read', 'knowledge'] })
    const { by: bound } = await newKey({ scopes: ['admin'], agentIds: [agent] })
    const user = await newToken(client, randomUUID())
    for (const by of [plain, user])
      for (const [method, path, body] of [...requests, ...ofAgent])
        isError(await by.request(method, path, { body }), 403, 'forbidden')
    for (const [method, path, body] of requests) isError(await bound.request(method, path, { body }), 403, 'forbidden')
    isOk(await client.get(session))
  })

  test('a revoked key is refused on every way in: as either header, by its tokens, and when it is rolled', async () => {
    const user = randomUUID()
    const { by, id } = await newKey()
    const token = await newToken(by, user)
    const next = (await client.post(`/keys/${id}/roll`, { overlapSeconds: 60 })).body
    const ways: [Client, RequestOptions][] = [
      [by, {}],
      [by, bearer(by)],
      [token, {}],
      [token, bearer(token)],
    ]
    const path = `/agents/${agent}/sessions`
    for (const [who, way] of ways) isOk(await who.get(path, way))
    isOk(await client.delete(`/keys/${id}`))
    for (const [who, way] of ways) isError(await who.get(path, way), 401, 'unauthorized')
    isError(await by.post(`/agents/${agent}/tokens`, { externalUserId: user }), 401, 'unauthorized')
    isError(await client.post(`/keys/${id}/roll`, {}), 404, 'key_not_found')
    isOk(await client.get(path, { key: next.secret }))
  })

  test('revoking one key, the newest too, leaves all others as they are', async () => {
    const made = [await newKey(), await newKey(), await newKey(), await newKey()]
    for (const gone of [made[3]!, made[1]!]) {
      isOk(await client.delete(`/keys/${gone.id}`))
      isError(await gone.by.get('/agents'), 401, 'unauthorized')
    }
    for (const left of [made[0]!, made[2]!]) isOk(await left.by.get('/agents'))
    isOk(await client.get('/keys'))
  })

  test('a key is random in every place, and nothing that is handed out holds it or its hash', async () => {
    const keys = await Promise.all(Array.from({ length: 60 }, () => newKey({ agentIds: [agent] }, 'the same')))
    const secrets = keys.map(({ by }) => by.key.slice('rpt_'.length, -6))
    assert.equal(new Set(secrets).size, 60)
    // Of 62 digits drawn 60 times no place shows fewer than 20, but once in more runs than there will be.
    for (let place = 0; place < 34; place++) assert.ok(new Set(secrets.map((secret) => secret[place])).size >= 20)
    const { by, id } = keys[0]!
    const token = await newToken(by, randomUUID())
    const bytes = Buffer.from(token.key.slice('rpu_'.length), 'base64url')
    const hash = createHash('sha256').update(by.key).digest()
    assert.ok(!bytes.includes(hash) && !bytes.includes(by.key))
    const list = await client.get(`/keys?limit=100`)
    assert.ok(list.text.includes(id) && !list.text.includes(hash.toString('hex')) && !list.text.includes(by.key))
  })
})

describe("other people's things", () => {
  test('a session of another agent, or of another user, cannot be continued by its id', async () => {
    await send(client)
    const user = await newToken(client, randomUUID())
    const sameId = session.replace(agent, strangersAgent)
    for (const [by, path, code] of [
      [stranger, session, 'agent_not_found'],
      [stranger, sameId, 'session_not_found'],
      [client, sameId, 'session_not_found'],
      [user, session, 'session_not_found'],
    ] as const) {
      isError(await by.post(`${path}/messages`, { message: 'And then?' }), 404, code)
      isError(await by.get(`${path}/messages`), 404, code)
    }
    assert.equal((await historyOf(session)).length, 2)
    if (needsProcess === false) assert.equal(model.calls.length, 1)
  })

  test('a session is renamed and deleted, and its replies rated, cancelled and made anew, by nobody whom it is not of', async () => {
    const { userMessage, aiMessage } = await send(client)
    const user = await newToken(client, randomUUID())
    const sameId = session.replace(agent, strangersAgent)
    for (const [by, path] of [
      [stranger, session],
      [stranger, sameId],
      [user, session],
    ] as const) {
      for (const answer of [
        await by.patch(path, { name: 'Taken' }),
        await by.put(`${path}/messages/${aiMessage.id}/feedback`, { rating: 'down' }),
        await by.post(`${path}/messages/${userMessage.id}/cancel`, {}),
        await by.post(`${path}/messages/${aiMessage.id}/regenerate`, {}),
        await by.delete(path),
      ])
        assert.equal(answer.status, 404, answer.text)
    }
    const { body } = await client.get(session)
    assert.notEqual(body.session.name, 'Taken')
    assert.equal(body.messages.length, 2)
    assert.equal((await client.get(`${session}/messages/${aiMessage.id}`)).body.message.feedback, undefined)
  })

  test('a stream that runs is not read by a key of another agent, nor by another user', { skip: needsProcess }, async () => {
    const speaker = new Speaker()
    model.behaviour = speaker.behaviour
    const reader = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Hello' } })
    await speaker.say('for its sender alone')
    await reader.textOf(5)
    const { data } = await reader.find('turn.started')
    const path = `${session}/messages/${data.userMessage.id}/stream`
    isError(await stranger.get(path), 404, 'agent_not_found')
    isError(await stranger.get(path.replace(agent, strangersAgent)), 404, 'session_not_found')
    isError(await (await newToken(client, randomUUID())).get(path), 404, 'session_not_found')
    await speaker.end()
    await reader.ended
  })

  test('a stream that runs ends when its key is revoked, and so does that of a token of the key', {
    skip: needsProcess,
  }, async () => {
    const { by, id } = await newKey()
    const token = await newToken(by, randomUUID())
    const own = (await token.post(`/agents/${agent}/sessions`, {})).body.session.id as string
    const release = model.hold(says('late'))
    const paths = [session, `/agents/${agent}/sessions/${own}`]
    const readers = await Promise.all(
      [by, token].map((who, i) => readEvents(who, 'POST', `${paths[i]}/messages`, { body: { message: 'Hello' } })),
    )
    for (const reader of readers) await reader.find('turn.started')
    let cut = 0
    for (const reader of readers) reader.ended.catch(() => cut++)
    isOk(await client.delete(`/keys/${id}`))
    await until('both are cut', () => cut === 2)
    release()
    for (const path of paths) await until('the reply is stored', async () => (await historyOf(path)).length === 2)
  })

  test("an id or cursor of another agent's session gives nothing of it, and no prompt, source or trace holds its text", async () => {
    const secret = `walnut-${randomUUID()}`
    const { userMessage, aiMessage } = await send(client, session, `Where is the ${secret}?`)
    const about = { text: `The ${secret} lies in the drawer.`, title: 'Drawer' }
    const { document } = (await client.post(`/agents/${agent}/documents`, about)).body
    await until('it is ready', async () => {
      const { body } = await client.get(`/agents/${agent}/documents/${document.id}`)
      return body.document.status === 'ready'
    })
    const other = await service.newSession(strangersAgent)
    await send(client, other)
    for (const { id } of [userMessage, aiMessage]) {
      isError(await client.get(`${other}/messages?cursor=${id}`), 400, 'invalid_cursor')
      isError(await client.get(`${other}/messages/${id}`), 404, 'message_not_found')
      isError(await client.get(`${other}/messages/${id}/versions`), 404, 'message_not_found')
    }
    for (const path of ['', '/passages'])
      isError(await client.get(`/agents/${strangersAgent}/documents/${document.id}${path}`), 404, 'document_not_found')
    const asked = { message: 'What lies in the drawer?', include: ['sources', 'usage', 'trace'] }
    const { text } = await stranger.post(`${other}/messages`, asked)
    const found = await stranger.post(`/agents/${strangersAgent}/search`, { query: secret })
    isOk(found)
    assert.equal(found.body.hits.length, 0)
    for (const told of [text, JSON.stringify(model.calls.at(-1)?.body ?? '')]) assert.ok(!told.includes(secret))
  })

  test('ids, owners, counters and times are never taken from a body', async () => {
    const protectedFields = ['id', 'agentId', 'userId', 'userSessionId', 'totalMessages', 'createdAt', 'updatedAt', 'scopes']
    const targets: [method: string, path: string, body: object][] = [
      ['POST', `/agents/${agent}/sessions`, { name: 'n' }],
      ['PATCH', session, { name: 'n' }],
      ['POST', `${session}/messages`, { message: 'm' }],
      ['POST', '/agents', { name: 'n' }],
      ['PATCH', `/agents/${agent}`, { name: 'n' }],
      ['POST', `/agents/${agent}/documents`, { text: 't' }],
    ]
    for (const [method, path, body] of targets) {
      for (const name of protectedFields) {
        const value = name === 'agentId' ? strangersAgent : name === 'scopes' ? ['admin'] : randomUUID()
        isError(await client.request(method, path, { body: { ...body, [name]: value } }), 400, 'invalid_request', `body.${name}`)
      }
    }
    for (const name of ['id', 'secret', 'hash', 'prefix', 'fixed']) {
      const answer = await client.post('/keys', { name: 'n', scopes: ['read'], [name]: makeKey() })
      isError(answer, 400, 'invalid_request', `body.${name}`)
    }
    assert.equal((await historyOf(session)).length, 0)
    assert.equal((await client.get(`/agents/${strangersAgent}/sessions`)).body.sessions.length, 0)
  })
})

describe('addresses that lead inside', { skip: needsProcess }, () => {
  beforeEach(() => {
    visits = 0
  })
  const refusedAs = async (url: string) => {
    const { document } = (await client.post(`/agents/${agent}/documents`, { url })).body
    const settled = await until(`${url} is settled`, async () => {
      const { body } = await client.get(`/agents/${agent}/documents/${document.id}`)
      return ['ready', 'failed'].includes(body.document.status) && body.document
    })
    return settled.error?.code as string | undefined
  }
  const leadsTo = (location: string, path = '/page') =>
    site.pages.set(path, (_request, response) => void response.writeHead(302, { location }).end())

  test('this machine is not reached in any notation of its address, nor through a redirect to one', async () => {
    const hosts = ['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0x7f.1', '017700000001', '0.0.0.0', '0', 'localhost']
    hosts.push('LOCALHOST', '127.0.0.1.', '１２７.0.0.1', '127。0。0。1', '%31%32%37.0.0.1')
    hosts.push('[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[0:0:0:0:0:ffff:7f00:1]', '[::7f00:1]')
    hosts.push('[64:ff9b::7f00:1]', '[2002:7f00:1::]', '[fe80::1]', '[fd00::1]', '169.254.169.254', '10.0.0.1', '100.64.0.1')
    // ISATAP: private and public IPv4 addresses at the end of an address of IPv6.
    hosts.push('[2a00:1450:4001:81b:0:5efe:a00:1]', '[2a00:1450:4001:81b:200:5efe:808:808]')
    const urls = hosts.map((host) => `http://${host}:${insidePort}/`)
    // A header holds ASCII alone.
    for (const [i, url] of urls.filter((url) => /^[ -~]+$/.test(url)).entries()) {
      leadsTo(url, `/to/${i}`)
      urls.push(site.url(`/to/${i}`))
    }
    const refusals = await Promise.all(urls.map(async (url) => [url, await refusedAs(url)]))
    assert.deepEqual(
      refusals,
      urls.map((url) => [url, 'address_refused']),
    )
    assert.equal(visits, 0)
  })

  test('only http and https are fetched, for documents and sources, and no redirect leads to a file', async () => {
    const urls = ['file:///etc/passwd', 'FILE://localhost/etc/passwd', 'ftp://127.0.0.1/x', 'gopher://127.0.0.1:1/_x']
    urls.push('data:text/plain,hello', 'javascript:1', '/etc/passwd', '//127.0.0.1/', `http:127.0.0.1:${insidePort}`)
    urls.push(`http://user:pass@127.0.0.1:${insidePort}/`, 'blob:http://127.0.0.1/x', 'jar:http://127.0.0.1!/x')
    for (const url of urls) {
      isError(await client.post(`/agents/${agent}/documents`, { url }), 400, 'invalid_request', 'body.url')
      isError(await client.post(`/agents/${agent}/sources`, { type: 'url', url }), 400, 'invalid_request', 'body.url')
    }
    leadsTo('file:///etc/passwd')
    assert.equal(await refusedAs(site.url('/page')), 'address_refused')
    assert.equal(visits, 0)
  })

  test('an address is checked each time that it is fetched, and not when it is saved', async () => {
    site.pages.set('/page', '<title>Page</title><p>The walnut is brown.</p>')
    const sources = `/agents/${agent}/sources`
    const { source } = (await client.post(sources, { type: 'url', url: site.url('/page') })).body
    const settled = () =>
      until('the source is settled', async () => {
        const { body } = await client.get(`${sources}/${source.id}`)
        return ['ready', 'failed'].includes(body.source.status) && body.source
      })
    assert.equal((await settled()).status, 'ready')
    leadsTo(`http://localhost:${insidePort}/`)
    isOk(await client.post(`${sources}/${source.id}/refresh`), 202)
    assert.equal((await settled()).error?.code, 'address_refused')
    assert.equal(await refusedAs(site.url('/page')), 'address_refused')
    assert.equal(visits, 0)
    const { webhook } = (await client.post('/webhooks', { url: site.url('/page'), events: ['session.created'] })).body
    // The operator allows it no more: what was saved before is refused as well.
    await service.kill()
    await service.restart({ REPARTEE_FETCH_ALLOW: '' })
    const asked = site.asked.length
    isOk(await client.post(`${sources}/${source.id}/refresh`), 202)
    assert.equal((await settled()).error?.code, 'address_refused')
    const { delivery } = (await client.post(`/webhooks/${webhook.id}/test`, {})).body
    assert.match(delivery.error, /private network/)
    assert.equal(site.asked.length, asked)
  })
})
