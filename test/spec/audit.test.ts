// What those who run the service do is written down: who, what, when, and what it came to.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { until } from '../support/poll.ts'
import { makeKey, needsProcess, startService } from '../support/service.ts'

const service = await startService()
after(() => service.stop())
const { client } = service

interface Entry {
  id: string
  at: string
  action: string
  keyId: string | null
  agentId: string | null
  target: string | null
  requestId: string | null
  address: string | null
  status: number | null
}
const read = async (query = ''): Promise<Entry[]> => {
  const answer = await client.get(`/audit?limit=100${query}`)
  isOk(answer)
  return answer.body.entries
}

describe('the audit log', { skip: needsProcess }, () => {
  let adminId: string
  before(async () => {
    adminId = (await client.get('/keys')).body.keys[0].id
  })

  test('holds every act, with its key, its thing and its outcome, newest first; and the key that came with the start', async () => {
    const from = new Date().toISOString()
    const agent = await service.newAgent()
    isOk(await client.patch(`/agents/${agent}`, { name: 'Renamed' }, { headers: { 'X-Request-Id': 'mine' } }))
    const made = await client.post('/keys', { name: 'k', scopes: ['knowledge'] })
    const key = made.body.key.id
    const documents = `/agents/${agent}/documents`
    const added = await client.as(made.body.secret).post(documents, { title: 'A', text: 'Secret words.' })
    const document = added.body.document.id
    isOk(await client.delete(`${documents}/${document}`))
    isOk(await client.delete(`/keys/${key}`))
    isError(await client.delete(`/keys/${key}`), 404, 'key_not_found')
    const entries = await read(`&from=${from}`)
    const facts = entries.map(({ action, keyId, agentId, target, status }) => [action, keyId, agentId, target, status])
    assert.deepEqual(facts, [
      ['deleteKey', adminId, null, key, 404],
      ['deleteKey', adminId, null, key, 200],
      ['deleteDocument', adminId, agent, document, 200],
      ['addDocument', key, agent, document, 202],
      ['createKey', adminId, null, key, 201],
      ['updateAgent', adminId, agent, agent, 200],
      ['createAgent', adminId, null, agent, 201],
    ])
    const renamed = entries.find(({ action }) => action === 'updateAgent')!
    assert.equal(renamed.requestId, 'mine')
    assert.match(renamed.address!, /127\.0\.0\.1/)
    const first = (await read()).at(-1)!
    assert.deepEqual([first.action, first.keyId, first.target, first.status], ['createKey', null, adminId, 201])
    for (const word of ['Secret words', 'Renamed', made.body.secret]) assert.ok(!JSON.stringify(await read()).includes(word))
  })

  test('does not hold what users do, what is only read, and what was refused', async () => {
    const agent = await service.newAgent()
    const before = (await read()).length
    const session = await service.newSession(agent)
    isOk(await client.post(`${session}/messages`, { message: 'Hello' }))
    isOk(await client.get('/agents'))
    isOk(await client.post(`/agents/${agent}/search`, { query: 'x' }))
    isError(await client.post('/agents', {}), 400, 'invalid_request')
    isError(await client.as(makeKey()).post('/agents', { name: 'x' }), 401, 'unauthorized')
    assert.equal((await read()).length, before)
  })

  test('names an end user so that it can be found again, and not read', async () => {
    const agent = await service.newAgent()
    const user = randomUUID()
    await service.newSession(agent, { externalUserId: user })
    assert.equal((await client.get(`/agents/${agent}/users/${user}/export`)).status, 200)
    isOk(await client.delete(`/agents/${agent}/users/${user}`))
    isError(await client.delete(`/agents/${agent}/users/${user}`), 404, 'user_not_found')
    // An answer may arrive before its status is noted.
    const entries = await until('all have a status', async () => {
      const found = (await read(`&agentId=${agent}`)).filter(({ action }) => /User$/.test(action))
      return found.every(({ status }) => status !== null) && found
    })
    assert.deepEqual(
      entries.map(({ action, status }) => [action, status]),
      [
        ['eraseUser', 404],
        ['eraseUser', 200],
        ['exportUser', 200],
      ],
    )
    assert.match(entries[0]!.target!, /^sha256:[0-9a-f]{64}$/)
    assert.equal(entries[0]!.target, entries[2]!.target)
    assert.ok(!JSON.stringify(entries).includes(user))
  })

  test('is read page by page, by those alone who may do everything', async () => {
    const all = await read()
    let cursor = ''
    const walked: Entry[] = []
    for (;;) {
      const { entries, pagination } = (await client.get(`/audit?limit=3${cursor}`)).body
      walked.push(...entries)
      assert.equal(pagination.total, all.length)
      if (!pagination.hasMore) break
      cursor = `&cursor=${pagination.nextCursor}`
    }
    assert.deepEqual(walked, all)
    const agent = await service.newAgent()
    const bound = await client.post('/keys', { name: 'b', scopes: ['admin'], agentIds: [agent] })
    isError(await client.as(bound.body.secret).get('/audit'), 403, 'forbidden')
  })
})
