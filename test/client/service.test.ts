// The client and a real service: what goes in one way comes out the other.
import assert from 'node:assert/strict'
import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { Repartee } from '../../client/src/index.ts'
import { says } from '../support/model-server.ts'
import { startService } from '../support/service.ts'

const service = await startService()
after(() => service.stop())
service.model.behaviour = says('The kettle weighs 900 grams.')
const client = new Repartee({ baseUrl: service.client.address.baseUrl, key: service.client.key })
const agentId = await service.newAgent()

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

describe('the client with a real service', () => {
  test('agents and models', async () => {
    const { agent } = await client.agents.create({ name: 'Made by the client', followUps: { enabled: true } })
    assert.equal(
      (await client.agents.update({ agentId: agent.id, name: 'Renamed', model: undefined })).agent.followUps.enabled,
      true,
    )
    assert.equal((await client.agents.get({ agentId: agent.id })).agent.stats.sessions, 0)
    assert.ok((await all(client.agents.iterate({ limit: 1 }))).some(({ id, name }) => id === agent.id && name === 'Renamed'))
    await client.agents.delete({ agentId: agent.id })
    await assert.rejects(client.agents.get({ agentId: agent.id }), { code: 'agent_not_found', status: 404 })
    assert.ok((await client.models.list()).models.length > 0)
  })

  test('sessions, page by page, with filters', async () => {
    const externalUserId = crypto.randomUUID()
    await client.sessions.create({ agentId, name: 'Of somebody else' })
    for (const name of ['One', 'Two', 'Three']) await client.sessions.create({ agentId, name, externalUserId })
    const found = await all(client.sessions.iterate({ agentId, externalUserId, limit: 2 }))
    assert.deepEqual(found.map(({ name }) => name).sort(), ['One', 'Three', 'Two'])
    assert.equal((await client.sessions.list({ agentId, externalUserId, q: 'Three' })).sessions.length, 1)
    const { id } = found[0]!
    await client.sessions.update({ agentId, sessionId: id, name: 'Four' })
    assert.equal((await client.sessions.get({ agentId, sessionId: id })).session.name, 'Four')
    await client.sessions.delete({ agentId, sessionId: id })
    const messages = [{ role: 'USER' as const, content: 'Hello' }]
    const { session } = await client.sessions.import({ agentId, messages })
    assert.equal((await client.sessions.get({ agentId, sessionId: session.id })).messages[0]?.content, 'Hello')
  })

  test('messages, once for each key, page by page', async () => {
    const { session } = await client.sessions.create({ agentId })
    const send = (message: string, idempotencyKey?: string) =>
      client.messages.send({ agentId, sessionId: session.id, message, include: ['usage'] }, { idempotencyKey })
    const first = await send('How heavy is it?', 'the-first')
    assert.equal(first.aiMessage.content, 'The kettle weighs 900 grams.')
    assert.ok(first.usage!.tokensIn >= 0)
    assert.deepEqual(await send('How heavy is it?', 'the-first'), first)
    await assert.rejects(send('Something else', 'the-first'), { code: 'idempotency_mismatch' })
    await send('How heavy is it?')
    assert.equal((await all(client.messages.iterate({ agentId, sessionId: session.id, limit: 3 }))).length, 4)
    const newestFirst = await all(client.messages.iterate({ agentId, sessionId: session.id, order: 'desc', limit: 3 }))
    assert.deepEqual(
      newestFirst.map(({ role }) => role),
      ['AI', 'USER', 'AI', 'USER'],
    )
    const last = (await client.messages.list({ agentId, sessionId: session.id })).messages.at(-1)!
    await client.messages.rate({ agentId, sessionId: session.id, messageId: last.id, rating: 'up' })
    await client.messages.regenerate({ agentId, sessionId: session.id, messageId: last.id })
    assert.equal(
      (await client.messages.versions({ agentId, sessionId: session.id, messageId: last.id })).versions[0]?.feedback?.rating,
      'up',
    )
    assert.equal((await client.messages.get({ agentId, sessionId: session.id, messageId: last.id })).message.turn, 'done')
  })

  test('documents, of text and of files', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'repartee-client-'))
    const path = join(folder, 'kettle.md')
    await writeFile(path, '# Kettle\n\nThe kettle weighs 900 grams.\n')
    const bytes = new TextEncoder().encode('The pot is blue.')
    const stream = new Blob(['The cup is green.']).stream()
    const added = await Promise.all([
      client.documents.add({ agentId, title: 'Lid', text: 'The lid is red.' }),
      client.documents.upload({ agentId, file: await openAsBlob(path), filename: 'kettle.md', metadata: { kind: 'kettle' } }),
      client.documents.upload({ agentId, file: bytes, filename: 'pot.txt', title: 'Pot' }),
      client.documents.upload({ agentId, file: stream, filename: 'cup.txt' }),
      client.documents.upload({ agentId, file: new File(['The tap drips.'], 'tap.txt') }),
    ])
    const done = await Promise.all(added.map(({ document }) => client.documents.whenDone({ agentId, documentId: document.id })))
    assert.deepEqual(
      done.map(({ status, title }) => `${title} ${status}`),
      ['Lid ready', 'Kettle ready', 'Pot ready', 'cup.txt ready', 'tap.txt ready'],
    )
    assert.equal(done[3]?.bytes, 'The cup is green.'.length)
    assert.deepEqual(done[1]?.metadata, { kind: 'kettle' })
    const [lid, kettle] = done
    await client.documents.replaceFile({
      agentId,
      documentId: kettle!.id,
      file: new Blob(['The kettle is tiny.']),
      filename: 'kettle.txt',
    })
    await client.documents.replace({ agentId, documentId: lid!.id, text: 'The lid is lost.' })
    await client.documents.update({ agentId, documentId: lid!.id, title: 'The lid' })
    await Promise.all([lid!, kettle!].map(({ id }) => client.documents.whenDone({ agentId, documentId: id })))
    assert.match((await all(client.documents.iteratePassages({ agentId, documentId: kettle!.id })))[0]!.text, /tiny/)
    assert.equal((await client.documents.search({ agentId, query: 'lost lid' })).hits[0]?.title, 'The lid')
    await client.documents.delete({ agentId, documentId: kettle!.id })
    assert.equal((await all(client.documents.iterate({ agentId, status: 'ready', limit: 2 }))).length, 4)
    await rm(folder, { recursive: true })
  })

  test('sources, insights, keys and the audit log', async () => {
    const { source } = await client.sources.add({ agentId, type: 'url', url: 'http://127.0.0.1:9/' })
    await client.sources.refresh({ agentId, sourceId: source.id })
    assert.deepEqual(
      (await all(client.sources.iterate({ agentId }))).map(({ id }) => id),
      [source.id],
    )
    assert.equal((await client.sources.get({ agentId, sourceId: source.id })).source.type, 'url')
    await client.sources.delete({ agentId, sourceId: source.id })
    assert.ok((await client.insights.get({ agentId, from: '2020-01-01T00:00:00Z' })).days.length > 0)
    const { key } = await client.keys.create({ name: 'A key', scopes: ['chat'], agentIds: [agentId] })
    const { secret } = await client.keys.roll({ keyId: key.id, overlapSeconds: 0 })
    const other = new Repartee({ baseUrl: service.client.address.baseUrl, key: secret })
    assert.deepEqual(
      (await all(other.agents.iterate())).map(({ id }) => id),
      [agentId],
    )
    const made = (await all(client.keys.iterate({ limit: 1 }))).find(({ name, id }) => name === 'A key' && id !== key.id)!
    await client.keys.delete({ keyId: made.id })
    await assert.rejects(other.agents.list(), { code: 'unauthorized', status: 401 })
    const actions = (await all(client.audit.iterate({ limit: 2 }))).map(({ action }) => action)
    assert.ok(actions.includes('rollKey') && actions.includes('addSource'))
  })

  test('what is kept of a user, with a token of that user', async () => {
    const externalUserId = crypto.randomUUID()
    const token = async () => (await client.tokens.create({ agentId, externalUserId })).token
    const page = new Repartee({ baseUrl: service.client.address.baseUrl, token })
    const { session } = await page.sessions.create({ agentId })
    await page.messages.send({ agentId, sessionId: session.id, message: 'Hello' })
    await assert.rejects(page.agents.create({ name: 'Mine' }), { code: 'forbidden', status: 403 })
    assert.ok((await all(client.users.iterate({ agentId, limit: 1 }))).some((user) => user.externalUserId === externalUserId))
    const lines = await all(client.users.export({ agentId, externalUserId }))
    assert.deepEqual(
      lines.map(({ type }) => type),
      ['session', 'message', 'message'],
    )
    assert.equal(lines[1]?.['content'], 'Hello')
    assert.equal((await client.users.erase({ agentId, externalUserId })).sessions, 1)
    await assert.rejects(all(client.users.export({ agentId, externalUserId })), { code: 'user_not_found' })
  })
})
