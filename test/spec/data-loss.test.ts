// Ways in which a chat service could lose or mix up what it holds, each tried. Many are told at length elsewhere; here they stand together.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { repartee } from '../cli/repartee.ts'
import { faultsOf, send, speakSlowly } from '../support/acknowledged.ts'
import { isError, isOk } from '../support/assert.ts'
import { readEvents } from '../support/events.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'
import { Speaker } from '../support/speaker.ts'
import { storeOf } from '../support/store.ts'

const service = await startService()
const { client, model } = service
const outside = mkdtempSync(join(tmpdir(), 'repartee-outside-'))
after(async () => {
  await service.stop()
  rmSync(outside, { recursive: true })
})

let agent: string
let session: string
let documents: string
beforeEach(async () => {
  model.reset()
  agent = await service.newAgent()
  session = await service.newSession(agent)
  documents = `/agents/${agent}/documents`
})

interface Message {
  id: string
  content: string
}
const historyOf = async (path: string) => (await client.get(path)).body.messages as Message[]
const textsOf = async (path: string) => (await historyOf(path)).map(({ content }) => content)
const settled = (id: string) =>
  until('the document is settled', async () => {
    const answer = await client.get(`${documents}/${id}`)
    isOk(answer)
    const { document } = answer.body
    return ['ready', 'failed'].includes(document.status) && document
  })
const textOf = async (id: string) => {
  const { passages } = (await client.get(`${documents}/${id}/passages`)).body as { passages: { text: string }[] }
  return passages.map(({ text }) => text).join('\n')
}
const search = async (query: string) => (await client.post(`/agents/${agent}/search`, { query })).body.hits as object[]

describe('what is held', () => {
  test('of fifty messages sent to one session at once none is lost, doubled or torn from its reply', {
    skip: needsProcess,
  }, async () => {
    speakSlowly(model)
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        until('it is taken', () => send(client, session, `${i}`, i % 2 === 1).catch(() => undefined)),
      ),
    )
    const messages = await historyOf(session)
    const acknowledged = sent.toSorted((a, b) => place(a.user.id) - place(b.user.id))
    function place(id: string): number {
      return messages.findIndex((message) => message.id === id)
    }
    assert.deepEqual(await faultsOf(client, session, acknowledged), [])
    assert.equal(messages.length, 100)
  })

  test('of ten sessions that are written to in turn and at once each holds its own messages and replies', {
    skip: needsProcess,
  }, async () => {
    speakSlowly(model)
    const sessions = await Promise.all(Array.from({ length: 10 }, () => service.newSession(agent)))
    const sends = Array.from({ length: 50 }, (_, i) => send(client, sessions[i % 10]!, `${i % 10}.${i}`, i % 3 === 0))
    await Promise.all(sends)
    for (const [i, path] of sessions.entries()) {
      const texts = await textsOf(path)
      assert.equal(texts.length, 10)
      for (const text of texts) assert.match(text, new RegExp(`^(reply to )?${i}\\.`))
    }
  })

  test('who sends after others were cut off or stopped in mid-reply gets the reply to the own message', {
    skip: needsProcess,
  }, async () => {
    speakSlowly(model)
    const others = await Promise.all(Array.from({ length: 4 }, () => service.newSession(agent)))
    for (let round = 0; round < 4; round++) {
      const [left, stopped] = [await service.newSession(agent), await service.newSession(agent)]
      const leave = new AbortController()
      const body = { message: `a long one ${'and on '.repeat(400)}` }
      const leaving = client.request('POST', `${left}/messages`, { body, signal: leave.signal }).catch(() => undefined)
      const reader = await readEvents(client, 'POST', `${stopped}/messages`, { body })
      await reader.textOf(20)
      const { data } = await reader.find('turn.started')
      leave.abort()
      isOk(await client.post(`${stopped}/messages/${data.userMessage.id}/cancel`, {}))
      const sent = await Promise.all(others.map((path, i) => send(client, path, `own ${round}.${i}`, i === 0)))
      for (const [i, one] of sent.entries()) assert.equal(one?.ai.content, `reply to own ${round}.${i}`)
      await leaving
    }
  })

  test('a name that is given while a reply is made stays, and a change of something else resets no name', {
    skip: needsProcess,
  }, async () => {
    const release = model.hold()
    const sent = client.post(`${session}/messages`, { message: 'Hello' })
    await model.received(1)
    isOk(await client.patch(session, { name: 'Mine' }))
    release()
    isOk(await sent)
    isOk(await client.post(`${session}/messages`, { message: 'Again' }))
    assert.equal((await client.get(session)).body.session.name, 'Mine')
    isOk(await client.patch(`/agents/${agent}`, { name: 'Ours', instructions: 'Be brief.' }))
    isOk(await client.patch(`/agents/${agent}`, { greeting: 'Hello' }))
    const { name, instructions, model: ofAgent } = (await client.get(`/agents/${agent}`)).body.agent
    assert.deepEqual([name, instructions, ofAgent], ['Ours', 'Be brief.', 'openai/stub'])
  })

  test('a kill in the middle of a reply loses nothing that stood before it, nor the message; sent again it goes on', {
    skip: needsProcess,
  }, async () => {
    speakSlowly(model)
    const kept = [await send(client, session, 'one', false), await send(client, session, 'two', true)]
    const speaker = new Speaker()
    model.behaviour = speaker.behaviour
    const reader = await readEvents(client, 'POST', `${session}/messages`, { body: { message: 'three' } })
    await speaker.say('half of a reply')
    await reader.textOf(4)
    const broken = assert.rejects(reader.ended)
    await service.kill()
    await broken
    await service.restart()
    assert.deepEqual(await faultsOf(client, session, kept as never), [])
    const before = await historyOf(session)
    assert.deepEqual(await textsOf(session), ['one', 'reply to one', 'two', 'reply to two', 'three'])
    speakSlowly(model)
    assert.equal((await send(client, session, 'three', false))?.user.id, before.at(-1)!.id)
    assert.deepEqual((await textsOf(session)).slice(-2), ['three', 'reply to three'])
  })

  const at = '2026-01-01T00:00:00.000Z'
  const toMessages = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ role: i % 2 ? 'AI' : 'USER', content: `${i}`, createdAt: at }))

  test('a walk through a history of one and the same time meets every message once, in order, at any page size', async () => {
    const { id } = (await client.post(`/agents/${agent}/sessions/import`, { messages: toMessages(120) })).body.session
    for (const limit of [1, 7, 59, 60, 100]) {
      const walked: string[] = []
      for (let cursor = ''; ; ) {
        const page = await client.get(`/agents/${agent}/sessions/${id}/messages?limit=${limit}${cursor}`)
        isOk(page)
        walked.push(...page.body.messages.map(({ content }: Message) => content))
        const { hasMore, nextCursor, total } = page.body.pagination
        assert.equal(total, 120)
        if (!hasMore) break
        cursor = `&cursor=${nextCursor}`
      }
      assert.deepEqual(
        walked,
        Array.from({ length: 120 }, (_, i) => `${i}`),
      )
    }
  })

  test('a walk through sessions of one and the same time meets each once, at any page size', async () => {
    const sessions = `/agents/${await service.newAgent()}/sessions`
    const made = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await client.post(`${sessions}/import`, { messages: toMessages(1) })
        isOk(answer, 201)
        return answer.body.session.id as string
      }),
    )
    for (const limit of [1, 3, 19]) {
      const walked: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await client.get(`${sessions}?limit=${limit}${cursor}`)
        walked.push(...body.sessions.map(({ id }: Message) => id))
        if (!body.pagination.hasMore) break
        cursor = `&cursor=${encodeURIComponent(body.pagination.nextCursor)}`
      }
      assert.deepEqual(walked.toSorted(), made.toSorted())
    }
  })

  test('deleting a session, or all of one user, leaves every other session whole', async () => {
    const [mine, theirs] = [randomUUID(), randomUUID()]
    const of = (externalUserId: string) => service.newSession(agent, { externalUserId })
    const [gone, left, others] = [await of(mine), await of(mine), await of(theirs)]
    for (const path of [gone, left, others, left, others]) isOk(await client.post(`${path}/messages`, { message: 'Hello' }))
    isOk(await client.delete(gone))
    isError(await client.get(gone), 404, 'session_not_found')
    for (const path of [left, others]) assert.equal((await historyOf(path)).length, 4)
    isOk(await client.delete(`/agents/${agent}/users/${mine}`))
    isError(await client.get(left), 404, 'session_not_found')
    assert.equal((await historyOf(others)).length, 4)
    assert.equal((await client.get(`/agents/${agent}/sessions`)).body.sessions.length, 2)
  })

  test('a document that is deleted, or that was replaced, is found and told no more, and leaves no text behind', {
    skip: needsProcess,
  }, async () => {
    const gone = `almond-${randomUUID()}`
    const add = async (text: string) => {
      const { document } = (await client.post(documents, { text })).body
      return (await settled(document.id)).id as string
    }
    const kept = await add('The walnut is brown.')
    const [deleted, replaced] = [await add(`The ${gone} tree is green.`), await add(`The ${gone} nut is white.`)]
    assert.equal((await search(gone)).length, 2)
    isOk(await client.delete(`${documents}/${deleted}`))
    isOk(await client.put(`${documents}/${replaced}`, { text: 'The hazel is red.' }), 202)
    await settled(replaced)
    assert.equal((await search(gone)).length, 0)
    const asked = { message: 'Which tree is green, which nut is white, what is brown?', include: ['sources', 'trace'] }
    const { text } = await client.post(`${session}/messages`, asked)
    for (const told of [text, JSON.stringify(model.lastPrompt)]) assert.ok(!told.includes('almond'))
    isError(await client.get(`${documents}/${deleted}/passages`), 404, 'document_not_found')
    assert.equal(await textOf(kept), 'The walnut is brown.')
    await until('no trace is left', async () => !(await storeOf(service).holds(gone)))
  })
})

describe('a database', { skip: needsProcess }, () => {
  test('that is damaged, empty or gone is named at the start, what lies beside it is kept, and a backup brings back all that it held', async () => {
    const own = await startService({ REPARTEE_DATABASE_URL: '' })
    after(own.stop)
    const ownAgent = await own.newAgent()
    const path = await own.newSession(ownAgent)
    isOk(await own.client.post(`${path}/messages`, { message: 'Keep this' }))
    isOk(await own.client.post(`/agents/${ownAgent}/documents`, { text: 'The walnut is brown.' }), 202)
    const history = (await own.client.get(path)).body
    const target = join(outside, 'backup')
    assert.equal((await repartee(['backup', target], { REPARTEE_DATA: own.data })).code, 0)
    await own.end('SIGTERM')
    const file = join(own.data, 'repartee.db')
    const bytes = readFileSync(file)
    for (const damaged of [bytes.subarray(0, bytes.length / 2), Buffer.from(bytes).fill(0x41, 0, 200)]) {
      writeFileSync(file, damaged)
      await assert.rejects(own.restart(), /repartee\.db is damaged[\s\S]*restore/)
      const check = await repartee(['check'], { REPARTEE_DATA: own.data })
      assert.equal(check.code, 1)
      assert.match(check.stdout, /repartee\.db/)
    }
    for (const lose of [() => writeFileSync(file, ''), () => rmSync(file)]) {
      lose()
      await assert.rejects(own.restart(), /repartee\.db is missing or empty[\s\S]*restore/)
    }
    assert.ok(readdirSync(join(own.data, 'knowledge')).includes(`${ownAgent}.db`))
    const data = join(outside, 'restored')
    assert.equal((await repartee(['restore', target], { REPARTEE_DATA: data })).code, 0)
    await own.restart({ REPARTEE_DATA: data })
    assert.deepEqual((await own.client.get(path)).body, history)
  })
})
