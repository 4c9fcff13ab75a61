// The contract of Idempotency-Key: a repeated request has one effect and one answer
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, beforeEach, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { isError, isOk } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { hangs, refuses, says } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { isInFiles } from '../support/store.ts'

const service = await startService()
const { client, model } = service
after(() => service.stop())
let agent: string
let session: string
let headers: Record<string, string>
beforeEach(async () => {
  model.reset()
  agent = await service.newAgent()
  session = await service.newSession(agent)
  headers = { 'idempotency-key': randomUUID() }
})
const send = (message = 'Hello', more: object = {}) => client.post(`${session}/messages`, { message, ...more }, { headers })
const history = async () => (await client.get(session)).body.messages

describe('Idempotency-Key', () => {
  test('a send that is repeated is answered as before, byte for byte, and stored once', async () => {
    const first = await send('Hello', { include: ['trace', 'usage'] })
    isOk(first)
    assert.equal(first.headers['idempotency-replayed'], undefined)
    const again = await send('Hello', { include: ['trace', 'usage'] })
    assert.equal(again.text, first.text)
    assert.equal(again.status, 200)
    assert.equal(again.headers['idempotency-replayed'], 'true')
    assert.equal((await history()).length, 2)
  })

  test('so is every other POST: sessions, imports, agents, documents, cancel, regenerate', async () => {
    const { body } = await client.post(`${session}/messages`, { message: 'Hello' })
    const posts: [string, object][] = [
      [`/agents/${agent}/sessions`, { name: 'once' }],
      [`/agents/${agent}/sessions/import`, { messages: [{ role: 'USER', content: 'q' }] }],
      ['/agents', { name: 'once' }],
      [`/agents/${agent}/documents`, { text: 'The shop opens at nine.' }],
      [`${session}/messages/${body.userMessage.id}/cancel`, {}],
      [`${session}/messages/${body.aiMessage.id}/regenerate`, {}],
    ]
    for (const [path, sent] of posts) {
      const own = { headers: { 'idempotency-key': randomUUID() } }
      const first = await client.post(path, sent, own)
      const again = await client.post(path, sent, own)
      assert.ok(first.status >= 200 && first.status < 300, first.text)
      assert.deepEqual([again.status, again.text], [first.status, first.text], path)
      assert.equal(again.headers['idempotency-replayed'], 'true', path)
    }
    assert.equal((await client.get(`/agents/${agent}/sessions`)).body.sessions.length, 3)
    assert.equal((await client.get(`${session}/messages/${body.aiMessage.id}/versions`)).body.versions.length, 1)
  })

  test('a search changes nothing: it is made again, so that no answer outlives its document', async () => {
    const created = await client.post(`/agents/${agent}/documents`, { text: 'The shop opens at nine.' })
    const path = `/agents/${agent}/documents/${created.body.document.id}`
    await until('it is read', async () => (await client.get(path)).body.document.status === 'ready')
    const search = () => client.post(`/agents/${agent}/search`, { query: 'When does the shop open?' }, { headers })
    const ids = async () => (await search()).body.hits.map((hit: { documentId: string }) => hit.documentId)
    assert.ok((await ids()).includes(created.body.document.id))
    isOk(await client.delete(path))
    assert.ok(!(await ids()).includes(created.body.document.id))
  })

  test('a file that is repeated is one document; another file under the same key is refused', async () => {
    const upload = (text: string) => {
      const bytes = `--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\n${text}\r\n--b--\r\n`
      const type = { ...headers, 'content-type': 'multipart/form-data; boundary=b' }
      return client.request('POST', `/agents/${agent}/documents`, { bytes, headers: type })
    }
    const first = await upload('one')
    isOk(first, 202)
    assert.equal((await upload('one')).headers['idempotency-replayed'], 'true')
    isError(await upload('two'), 422, 'idempotency_mismatch')
  })

  test('422 for the same key with another body, another path, another format', async () => {
    isOk(await send('Hello'))
    isError(await send('Hello!'), 422, 'idempotency_mismatch')
    isError(await send('Hello', { format: 'html' }), 422, 'idempotency_mismatch')
    const other = await service.newSession(agent)
    isError(await client.post(`${other}/messages`, { message: 'Hello' }, { headers }), 422, 'idempotency_mismatch')
    assert.equal((await history()).length, 2)
  })

  test('409 request_in_progress with Retry-After while the first is being worked on; then its answer', {
    skip: needsProcess,
  }, async () => {
    const release = model.hold()
    const first = send()
    await model.received(1)
    const early = await send()
    isError(early, 409, 'request_in_progress')
    assert.match(early.headers['retry-after'] ?? '', /^[1-9]\d*$/)
    isError(await send('other'), 422, 'idempotency_mismatch')
    release()
    isOk(await first)
    assert.equal((await send()).text, (await first).text)
    assert.equal(model.calls.length, 1)
  })

  test('also where it takes longer than answers are kept', { skip: needsProcess }, async () => {
    const own = await startService({ REPARTEE_KEEP_ANSWERS_MS: '1000' })
    after(() => own.stop())
    const talk = await own.newSession(await own.newAgent())
    const release = own.model.hold(says('once'))
    const again = () => own.client.post(`${talk}/messages`, { message: 'Hello' }, { headers: { 'idempotency-key': 'k' } })
    const first = again()
    await own.model.received(1)
    await pause(1_200)
    isError(await again(), 409, 'request_in_progress')
    release()
    isOk(await first)
    assert.equal((await own.client.get(talk)).body.messages.length, 2)
  })

  test('ten at once are one turn', { skip: needsProcess }, async () => {
    model.behaviour = says('once')
    const answers = await Promise.all(Array.from({ length: 10 }, () => send()))
    for (const answer of answers) if (answer.status !== 200) isError(answer, 409, 'request_in_progress')
    assert.equal(answers.filter(({ status }) => status === 200).length >= 1, true)
    assert.equal((await history()).length, 2)
    assert.equal(model.calls.length, 1)
  })

  test('an answer that is no success frees the key: of a bad request, and of a model that failed', {
    skip: needsProcess,
  }, async () => {
    isError(await send(''), 400, 'invalid_request')
    model.behaviour = refuses(500)
    isError(await send(), 502, 'model_failed')
    model.reset()
    const again = await send()
    isOk(again)
    assert.equal(again.headers['idempotency-replayed'], undefined)
    assert.equal((await history()).length, 2, 'the failed message was continued')
  })

  test('keys of two API keys do not meet', async () => {
    const { body } = await client.post('/keys', { name: 'other', scopes: ['chat'] })
    const path = `/agents/${agent}/sessions`
    const mine = await client.post(path, { name: 'n' }, { headers })
    const theirs = await client.as(body.secret).post(path, { name: 'n' }, { headers })
    assert.notEqual(mine.body.session.id, theirs.body.session.id)
  })

  test('a quoted string means what is in it', async () => {
    const first = await client.post(`/agents/${agent}/sessions`, {}, { headers: { 'idempotency-key': '"abc 1"' } })
    const again = await client.post(`/agents/${agent}/sessions`, {}, { headers: { 'idempotency-key': 'abc 1' } })
    assert.equal(again.body.session.id, first.body.session.id)
  })

  for (const [about, key] of [
    ['nothing', ''],
    ['an empty string', '""'],
    ['256 characters', 'x'.repeat(256)],
  ] as const) {
    test(`400 for ${about}`, async () => {
      const answer = await client.post(`/agents/${agent}/sessions`, {}, { headers: { 'idempotency-key': key } })
      isError(answer, 400, 'invalid_request', 'header.Idempotency-Key')
    })
  }

  test('255 characters are taken', async () => {
    isOk(await client.post(`/agents/${agent}/sessions`, {}, { headers: { 'idempotency-key': 'x'.repeat(255) } }), 201)
  })

  test('400 where the answer holds a secret: keys and roll', async () => {
    isError(
      await client.post('/keys', { name: 'n', scopes: ['read'] }, { headers }),
      400,
      'invalid_request',
      'header.Idempotency-Key',
    )
    const { body } = await client.post('/keys', { name: 'n', scopes: ['read'] })
    isError(await client.post(`/keys/${body.key.id}/roll`, {}, { headers }), 400, 'invalid_request', 'header.Idempotency-Key')
  })

  test('a stream that is asked for again is the end of the turn, and one of a JSON answer too', async () => {
    const ask = () => readEvents(client, 'POST', `${session}/messages`, { body: { message: 'Hello' }, headers })
    const first = await ask()
    await first.ended
    const again = await ask()
    await again.ended
    assert.deepEqual(
      again.events.map(({ event }) => event),
      ['turn.started', 'turn.completed'],
    )
    assert.equal(again.headers['idempotency-replayed'], 'true')
    assert.deepEqual(again.events.at(-1)!.data, first.events.at(-1)!.data)
    assert.deepEqual((await send()).body, first.events.at(-1)!.data)
  })

  test('kept answers outlive a crash; a request that a crash cut off can be made again', { skip: needsProcess }, async () => {
    const first = await send()
    const cut = { headers: { 'idempotency-key': randomUUID() } }
    model.behaviour = hangs
    const lost = assert.rejects(client.post(`${session}/messages`, { message: 'cut' }, cut))
    await model.received(2)
    await service.kill()
    await lost
    await service.restart()
    model.reset()
    assert.equal((await send()).text, first.text)
    isOk(await client.post(`${session}/messages`, { message: 'cut' }, cut))
    assert.equal((await history()).length, 4)
  })

  test('a deleted session takes its kept answers along, from the files too', { skip: needsProcess }, async () => {
    const secret = `secret-${randomUUID()}`
    model.behaviour = says(`You said ${secret}`)
    isOk(await send(secret))
    isOk(await client.delete(session))
    isError(await send(secret), 404, 'session_not_found')
    await until('no trace is left', () => !isInFiles(service.data, secret))
  })
})
