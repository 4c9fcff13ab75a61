// Keys: POST and GET /keys, DELETE /keys/{keyId}, POST /keys/{keyId}/roll, and the key that the settings name
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, afterEach, describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { hasFields, isError, isOk, TIMESTAMP, UUID } from '../support/assert.ts'
import { openClock } from '../support/clock.ts'
import { until } from '../support/poll.ts'
import { makeKey, needsProcess, startService } from '../support/service.ts'
import { isInFiles } from '../support/store.ts'

const HOUR_MS = 3_600_000
const clock = openClock()
const service = await startService(clock.env)
const { client } = service
after(async () => {
  await service.stop()
  clock.close()
})
afterEach(() => clock.shift(0))

const FIELDS = ['id', 'name', 'prefix', 'scopes', 'agentIds', 'expiresAt', 'lastUsedAt', 'createdAt']
const create = async (more: object = {}) => {
  const answer = await client.post('/keys', { name: 'A key', scopes: ['read'], ...more })
  isOk(answer, 201)
  return answer.body
}
const find = async (id: string) => (await client.get('/keys?limit=100')).body.keys.find((key: { id: string }) => key.id === id)
const works = async (secret: string) => (await client.get('/agents', { key: secret })).status === 200

describe('keys', () => {
  test('201 { success, key: { id, name, prefix, scopes, agentIds, expiresAt, lastUsedAt, createdAt }, secret }', async () => {
    const answer = await client.post('/keys', { name: 'For the shop', scopes: ['chat', 'knowledge'] })
    isOk(answer, 201)
    hasFields(answer.body, 'success', 'key', 'secret')
    const { key, secret } = answer.body
    hasFields(key, ...FIELDS)
    assert.match(key.id, UUID)
    assert.deepEqual(
      [key.name, key.scopes, key.agentIds, key.expiresAt, key.lastUsedAt],
      ['For the shop', ['chat', 'knowledge'], null, null, null],
    )
    assert.match(key.createdAt, TIMESTAMP)
    assert.ok(secret.startsWith(key.prefix) && key.prefix.length > 4 && key.prefix.length < 16)
  })

  test('a key is rpt_ and 40 base62 characters, the last 6 a CRC-32 of the rest', async () => {
    const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
    for (let i = 0; i < 5; i++) {
      const { secret } = await create()
      assert.match(secret, /^rpt_[0-9A-Za-z]{40}$/)
      const check = [...secret.slice(-6)].reduce((n: number, digit: string) => n * 62 + DIGITS.indexOf(digit), 0)
      assert.equal(check, crc32(secret.slice(4, -6)))
    }
  })

  test('the secret appears in this answer alone, and only a hash of it is stored', async () => {
    const { key, secret } = await create()
    assert.ok(await works(secret))
    const list = await client.get('/keys?limit=100')
    assert.ok(list.text.includes(key.id) && !list.text.includes(secret))
    if (needsProcess) return
    assert.ok(!isInFiles(service.data, secret))
  })

  test('a key of any scope can be asked about itself, a token of a user cannot', async () => {
    const agentId = await service.newAgent()
    for (const scope of ['read', 'chat', 'knowledge', 'admin']) {
      const { key, secret } = await create({ scopes: [scope], agentIds: [agentId] })
      const answer = await client.get('/keys/current', { key: secret })
      isOk(answer)
      assert.deepEqual({ ...answer.body.key, lastUsedAt: null }, key)
    }
    const { token } = (await client.post(`/agents/${agentId}/tokens`, { externalUserId: randomUUID() })).body
    isError(await client.get('/keys/current', { key: token }), 403, 'forbidden')
  })

  test('the list: { success, keys, pagination }, newest first, paged as message history', async () => {
    const made = [(await create()).key.id, (await create()).key.id, (await create()).key.id].reverse()
    const first = await client.get('/keys?limit=2')
    isOk(first)
    hasFields(first.body, 'success', 'keys', 'pagination')
    for (const key of first.body.keys) hasFields(key, ...FIELDS)
    assert.equal(first.body.pagination.nextCursor, made[1])
    const second = await client.get(`/keys?limit=1&cursor=${made[1]}`)
    assert.deepEqual(
      [...first.body.keys, ...second.body.keys].map(({ id }: { id: string }) => id),
      made,
    )
    isError(await client.get(`/keys?cursor=${randomUUID()}`), 400, 'invalid_cursor', 'query.cursor')
  })

  test('lastUsedAt says that a key was used', async () => {
    const { key, secret } = await create()
    assert.equal((await find(key.id)).lastUsedAt, null)
    assert.ok(await works(secret))
    const { lastUsedAt } = await until('the use is noted', async () => {
      const found = await find(key.id)
      return found.lastUsedAt !== null && found
    })
    assert.match(lastUsedAt, TIMESTAMP)
  })

  for (const [about, body, path] of [
    ['no name', { name: undefined }, 'body.name'],
    ['no scopes', { scopes: undefined }, 'body.scopes'],
    ['an empty list of scopes', { scopes: [] }, 'body.scopes'],
    ['an unknown scope', { scopes: ['write'] }, 'body.scopes[0]'],
    ['an empty list of agents', { agentIds: [] }, 'body.agentIds'],
    ['an agent that does not exist', { agentIds: [randomUUID()] }, 'body.agentIds[0]'],
    ['an expiry in the past', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'body.expiresAt'],
    ['an expiry that is no time', { expiresAt: 'tomorrow' }, 'body.expiresAt'],
    ['a secret of its own', { secret: makeKey() }, 'body.secret'],
  ] as const) {
    test(`400 invalid_request for ${about}`, async () => {
      isError(await client.post('/keys', { name: 'x', scopes: ['read'], ...body }), 400, 'invalid_request', path)
    })
  }

  test('a key ends when it expires', { skip: needsProcess }, async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString()
    const { key, secret } = await create({ expiresAt })
    assert.equal(key.expiresAt, expiresAt)
    assert.ok(await works(secret))
    clock.shift(HOUR_MS)
    assert.ok(!(await works(secret)))
  })

  test('revoking acts at once; a second time it is 404', async () => {
    const { key, secret } = await create()
    assert.ok(await works(secret))
    const answer = await client.delete(`/keys/${key.id}`)
    isOk(answer)
    hasFields(answer.body, 'success', 'message')
    isError(await client.get('/agents', { key: secret }), 401, 'unauthorized')
    isError(await client.delete(`/keys/${key.id}`), 404, 'key_not_found')
    assert.equal(await find(key.id), undefined)
  })
})

describe('rolling a key', () => {
  test('a new key with the same rights; old and new both work for the overlap, which is a day unless set', async () => {
    const agentId = await service.newAgent()
    const old = await create({ name: 'Rolled', scopes: ['chat', 'read'], agentIds: [agentId] })
    const answer = await client.post(`/keys/${old.key.id}/roll`, {})
    isOk(answer)
    hasFields(answer.body, 'success', 'key', 'secret')
    const { key, secret } = answer.body
    hasFields(key, ...FIELDS)
    assert.notEqual(key.id, old.key.id)
    assert.notEqual(secret, old.secret)
    assert.deepEqual([key.name, key.scopes, key.agentIds, key.expiresAt], ['Rolled', ['chat', 'read'], [agentId], null])
    assert.ok((await works(old.secret)) && (await works(secret)))
    const end = Date.parse((await find(old.key.id)).expiresAt) - Date.now()
    assert.ok(Math.abs(end - 86_400_000) < 60_000)
  })

  test('the old one ends when the overlap does, the new one goes on', { skip: needsProcess }, async () => {
    const old = await create()
    const { secret } = (await client.post(`/keys/${old.key.id}/roll`, { overlapSeconds: 3_600 })).body
    assert.ok(await works(old.secret))
    clock.shift(HOUR_MS)
    assert.ok(!(await works(old.secret)))
    assert.ok(await works(secret))
  })

  test('an overlap of 0 ends the old one at once', async () => {
    const old = await create()
    assert.ok(await works(old.secret))
    isOk(await client.post(`/keys/${old.key.id}/roll`, { overlapSeconds: 0 }))
    assert.ok(!(await works(old.secret)))
  })

  test('an overlap lengthens no life: a key that ends sooner still does', async () => {
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    const old = await create({ expiresAt })
    const { key } = (await client.post(`/keys/${old.key.id}/roll`)).body
    assert.equal((await find(old.key.id)).expiresAt, expiresAt)
    assert.equal(key.expiresAt, expiresAt, 'the same rights')
  })

  test('400 and 404', async () => {
    const { key } = await create()
    isError(await client.post(`/keys/${key.id}/roll`, { overlapSeconds: -1 }), 400, 'invalid_request', 'body.overlapSeconds')
    isError(await client.post(`/keys/${key.id}/roll`, { overlap: 1 }), 400, 'invalid_request', 'body.overlap')
    isError(await client.post(`/keys/${randomUUID()}/roll`, {}), 404, 'key_not_found')
    isError(await client.post('/keys/1/roll', {}), 400, 'invalid_request', 'path.keyId')
  })
})

describe('the admin key', { skip: needsProcess }, () => {
  test('REPARTEE_ADMIN_KEY cannot be revoked or rolled by a request', async () => {
    const { keys } = (await client.get('/keys?limit=100')).body
    const { id } = keys.find(
      ({ prefix, scopes }: { prefix: string; scopes: string[] }) => client.key.startsWith(prefix) && scopes.includes('admin'),
    )
    for (const answer of [await client.delete(`/keys/${id}`), await client.post(`/keys/${id}/roll`, {})]) {
      isError(answer, 403, 'forbidden')
    }
    isOk(await client.get('/keys'))
  })

  test('a changed value replaces the one before at the next start; other keys stay', async () => {
    const { secret } = await create()
    const next = makeKey()
    await service.end('SIGTERM')
    await service.restart({ REPARTEE_ADMIN_KEY: next })
    isError(await client.get('/keys'), 401, 'unauthorized')
    isOk(await client.get('/keys', { key: next }))
    assert.ok(await works(secret))
  })

  test('a value of another form stops the start with a clear message, which does not show it', async () => {
    const mistyped = makeKey().replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const start = async () => (await startService({ REPARTEE_ADMIN_KEY: mistyped })).stop()
    await assert.rejects(start, ({ message }: Error) => {
      assert.match(message, /REPARTEE_ADMIN_KEY/)
      assert.ok(!message.includes(mistyped))
      return true
    })
  })

  test('where there is no key, the first start makes one admin key and prints it once', async () => {
    const own = await startService({ REPARTEE_ADMIN_KEY: '' })
    try {
      const [key] = /rpt_[0-9A-Za-z]{40}/.exec(own.printed()) ?? []
      isOk(await own.client.post('/keys', { name: 'x', scopes: ['read'] }, { key: key! }), 201)
      await own.end('SIGTERM')
      await own.restart()
      assert.doesNotMatch(own.printed(), /rpt_/)
      isOk(await own.client.get('/keys', { key: key! }))
    } finally {
      await own.stop()
    }
  })
})
