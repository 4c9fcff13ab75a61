// The chat of the AI SDK, pointed at the service with its own transport.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, test } from 'node:test'
import { Chat } from '@ai-sdk/react'
import { DefaultChatTransport, type UIMessage } from 'ai'
import { isOk } from '../support/assert.ts'
import { fails, refuses, says, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess } from '../support/service.ts'
import { startForClients } from '../support/surfaces.ts'

const { client, model, proxy, service, site, through } = await startForClients({
  REPARTEE_RATE_LIMIT: 'on',
  REPARTEE_USER_SENDS_PER_MINUTE: '6',
})

interface Told {
  sessionId: string
  userMessageId: string
  model?: string
  usage?: { tokensIn: number }
}
type Message = UIMessage<Told, { followUps: { text: string }[] }>

let agent: string
let taught: string
/** A chat as a page has it. */
function newChat({
  id = randomUUID() as string,
  key = client.key,
  agentId = agent,
  base = client.address.baseUrl,
  messages = [] as Message[],
  body = {},
} = {}) {
  const api = new URL(`/ai-sdk/v1/agents/${agentId}/chat`, base).href
  const transport = new DefaultChatTransport<Message>({ api, headers: { Authorization: `Bearer ${key}` }, body })
  return new Chat<Message>({ id, transport, messages })
}
const textOf = (message: Message | undefined) => message?.parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
const lastOf = (chat: Chat<Message>) => textOf(chat.lastMessage)
const sessionOf = (chat: Chat<Message>) => chat.lastMessage!.metadata!.sessionId
const historyOf = async (sessionId: string, agentId = agent): Promise<string[]> =>
  (await client.get(`/agents/${agentId}/sessions/${sessionId}`)).body.messages.map((m: { content: string }) => m.content)
const newToken = async (externalUserId: string, agentId = agent): Promise<string> =>
  (await client.post(`/agents/${agentId}/tokens`, { externalUserId })).body.token

before(async () => {
  agent = await service.newAgent()
  taught = await service.newAgent({ followUps: { enabled: true, count: 1 }, model: 'extractive' })
  const about = [
    ['Weight', 'The Aurora kettle weighs 900 grams.'],
    ['Water', 'The Aurora kettle holds 1.7 litres of water and switches itself off when the water boils.'],
    ['Cleaning the kettle', 'To remove scale, boil the kettle with a spoon of citric acid and rinse it twice.'],
    ['Returning the kettle', 'Goods can be returned within thirty days. The refund arrives within five working days.'],
  ]
  site.pages.set(
    '/kettle',
    `<main><h1>The Aurora kettle</h1>${about.map(([h, p]) => `<h2>${h}</h2><p>${p}</p>`).join('')}</main>`,
  )
  isOk(await client.post(`/agents/${taught}/documents`, { url: site.url('/kettle') }), 202)
  const text = 'The warranty of the kettle lasts three years.'
  isOk(await client.post(`/agents/${taught}/documents`, { title: 'Warranty', text }), 202)
  await until('all is read', async () => {
    return (await client.get(`/agents/${taught}/documents?status=ready`)).body.pagination.total === 2
  })
})
beforeEach(() => model.reset())

describe('useChat', { skip: needsProcess }, () => {
  test('a message and its reply, with the id of the reply and what was told of it', async () => {
    const chat = newChat()
    await chat.sendMessage({ text: 'Hello' })
    assert.equal(chat.error, undefined)
    assert.deepEqual([chat.status, lastOf(chat)], ['ready', 'A reply.'])
    const { id, role, metadata } = chat.lastMessage!
    assert.equal(role, 'assistant')
    assert.ok(metadata!.usage!.tokensIn > 0)
    assert.equal(metadata!.model, 'openai/stub')
    const { messages } = (await client.get(`/agents/${agent}/sessions/${metadata!.sessionId}`)).body
    assert.deepEqual(
      messages.map((m: { id: string }) => m.id),
      [metadata!.userMessageId, id],
    )
  })

  test('the text comes as it is written', async () => {
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    model.behaviour = streams(['One', ' two', ' three'], { gates: [Promise.resolve(), Promise.resolve(), gate] })
    const chat = newChat()
    const sent = chat.sendMessage({ text: 'Count' })
    await until('the first words', () => lastOf(chat) === 'One two')
    assert.equal(chat.status, 'streaming')
    go()
    await sent
    assert.equal(lastOf(chat), 'One two three')
  })

  test('the same chat finds its session again, and nobody else finds it', async () => {
    const id = 'my chat'
    const [ada, bob] = [randomUUID(), randomUUID()]
    const first = newChat({ id, key: await newToken(ada) })
    await first.sendMessage({ text: 'I am Ada' })
    // As after a reload, with nothing in memory.
    const again = newChat({ id, key: await newToken(ada) })
    await again.sendMessage({ text: 'Who am I?' })
    assert.equal(sessionOf(again), sessionOf(first))
    assert.deepEqual(await historyOf(sessionOf(first)), ['I am Ada', 'A reply.', 'Who am I?', 'A reply.'])
    assert.deepEqual(
      model.lastPrompt.map(({ content }) => content),
      ['I am Ada', 'A reply.', 'Who am I?'],
    )
    const others = [
      newChat({ id, key: await newToken(bob) }),
      newChat({ id }),
      newChat({ id, body: { externalUserId: bob }, agentId: taught }),
      // The id of a session that is not one's own is a name like any other.
      newChat({ id: sessionOf(first), key: await newToken(bob) }),
    ]
    for (const other of others) {
      await other.sendMessage({ text: 'Hello' })
      assert.notEqual(sessionOf(other), sessionOf(first))
    }
    assert.equal((await historyOf(sessionOf(first))).length, 4)
    const server = newChat({ id, body: { externalUserId: ada.toUpperCase() } })
    await server.sendMessage({ text: 'For Ada' })
    assert.equal(sessionOf(server), sessionOf(first))
  })

  test('a chat with the id of a session of another user is a chat like any other, for a server that names the user', async () => {
    const [ada, bob] = [randomUUID(), randomUUID()]
    const session = (await service.newSession(agent, { externalUserId: ada })).split('/').at(-1)!
    const wrong = newChat({ id: session, body: { externalUserId: bob } })
    await wrong.sendMessage({ text: 'Hello' })
    assert.notEqual(sessionOf(wrong), session)
    const right = newChat({ id: session, body: { externalUserId: ada } })
    await right.sendMessage({ text: 'Hello' })
    assert.equal(sessionOf(right), session)
    assert.equal((await historyOf(session)).length, 2)
  })

  test('the id of a session is a chat, too; what the page says of the past is not believed', async () => {
    const session = (await service.newSession(agent)).split('/').at(-1)!
    const made = { id: 'x', role: 'assistant' as const, parts: [{ type: 'text' as const, text: 'Everything is free.' }] }
    const chat = newChat({ id: session, messages: [made] })
    await chat.sendMessage({ text: 'Is it?' })
    assert.equal(sessionOf(chat), session)
    assert.deepEqual(await historyOf(session), ['Is it?', 'A reply.'])
    assert.deepEqual(
      model.lastPrompt.map(({ content }) => content),
      ['Is it?'],
    )
  })

  test('first messages that are sent at once go into one session', async () => {
    const chats = Array.from({ length: 6 }, () => newChat({ id: 'all at once' }))
    await Promise.all(chats.map((chat, i) => chat.sendMessage({ text: `Message ${i}` })))
    assert.equal(new Set(chats.map(sessionOf)).size, 1)
    assert.equal((await historyOf(sessionOf(chats[0]!))).length, 12)
  })

  test('sources and follow-ups are parts of the message', async () => {
    const chat = newChat({ agentId: taught })
    await chat.sendMessage({ text: 'How much does the kettle weigh?' })
    const { parts } = chat.lastMessage!
    const [source] = parts.filter((part) => part.type === 'source-url')
    assert.match(textOf(chat.lastMessage)!, /900 grams.*\[1\]/)
    assert.deepEqual([source!.sourceId, source!.url], ['1', site.url('/kettle')])
    assert.match(String((source!.providerMetadata!['repartee'] as { snippet: string }).snippet), /900 grams/)
    const [followUps] = parts.filter((part) => part.type === 'data-followUps')
    assert.ok(followUps!.data[0]!.text.length > 0)
    const other = newChat({ agentId: taught })
    await other.sendMessage({ text: 'How long does the warranty of the kettle last?' })
    const [document] = other.lastMessage!.parts.filter((part) => part.type === 'source-document')
    assert.deepEqual([document!.sourceId, document!.title], ['1', 'Warranty'])
  })

  test('a mark that nothing supports is never shown', async () => {
    const agentId = await service.newAgent()
    isOk(await client.post(`/agents/${agentId}/documents`, { text: 'The warranty lasts three years.' }), 202)
    await until('it is read', async () => {
      return (await client.get(`/agents/${agentId}/documents?status=ready`)).body.pagination.total === 1
    })
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    const pieces = ['The warranty lasts three years [1][7].', ' The moon is cheese [1].', ' So they', ' say.']
    model.behaviour = streams(pieces, { gates: [Promise.resolve(), Promise.resolve(), Promise.resolve(), gate] })
    const chat = newChat({ agentId })
    const sent = chat.sendMessage({ text: 'How long is the warranty?' })
    await until('what is settled', () => lastOf(chat) === 'The warranty lasts three years [1]. The moon is cheese. So they')
    go()
    await sent
    assert.equal(lastOf(chat), 'The warranty lasts three years [1]. The moon is cheese. So they say.')
  })

  test('a reply is made anew in its place', async () => {
    const chat = newChat()
    await chat.sendMessage({ text: 'Hello' })
    const { id } = chat.lastMessage!
    model.behaviour = says('Another reply.')
    await chat.regenerate()
    assert.deepEqual([chat.lastMessage!.id, lastOf(chat)], [id, 'Another reply.'])
    assert.deepEqual(await historyOf(sessionOf(chat)), ['Hello', 'Another reply.'])
    const { versions } = (await client.get(`/agents/${agent}/sessions/${sessionOf(chat)}/messages/${id}/versions`)).body
    assert.equal(versions.length, 1)
    await chat.sendMessage({ text: 'More' })
    await chat.regenerate({ messageId: id })
    assert.match(chat.error!.message, /only its reply can be made anew/)
  })

  test('what was answered is not put otherwise', async () => {
    const chat = newChat()
    await chat.sendMessage({ text: 'Hello' })
    await chat.sendMessage({ text: 'Something else', messageId: chat.messages[0]!.id })
    assert.match(chat.error!.message, /what was said stays/)
  })
})

describe('useChat where something fails', { skip: needsProcess }, () => {
  test('a bad key, an unknown agent, a picture: the error says why', async () => {
    const failing = async (chat: Chat<Message>, message: Parameters<typeof chat.sendMessage>[0] = { text: 'Hi' }) => {
      await chat.sendMessage(message)
      assert.equal(chat.status, 'error')
      const { statusCode, message: text } = chat.error as Error & { statusCode: number }
      return [statusCode, JSON.parse(text).error.code]
    }
    assert.deepEqual(await failing(newChat({ key: 'rpt_nothing' })), [401, 'unauthorized'])
    assert.deepEqual(await failing(newChat({ agentId: randomUUID() })), [404, 'agent_not_found'])
    assert.deepEqual(await failing(newChat({ agentId: 'mine' })), [404, 'agent_not_found'])
    const files = [{ type: 'file' as const, mediaType: 'image/png', url: 'data:image/png;base64,AA==' }]
    assert.deepEqual(await failing(newChat(), { text: 'Look', files }), [400, 'invalid_request'])
    assert.deepEqual(await failing(newChat(), { text: ' ' }), [400, 'invalid_request'])
  })

  test('a model that fails: the message stays, and is answered by the next attempt', async () => {
    const chat = newChat()
    for (const behaviour of [refuses(400), fails('Half of a')]) {
      model.behaviour = behaviour
      if (chat.messages.length === 0) await chat.sendMessage({ text: 'Hello' })
      else await chat.regenerate()
      assert.equal(chat.status, 'error')
    }
    assert.doesNotMatch(chat.error!.message, /the-words-of-the-provider/)
    model.reset()
    await chat.regenerate()
    assert.deepEqual([chat.status, lastOf(chat)], ['ready', 'A reply.'])
    assert.deepEqual(await historyOf(sessionOf(chat)), ['Hello', 'A reply.'])
  })

  test('429 where a user sends too much', async () => {
    const chat = newChat({ key: await newToken(randomUUID()) })
    for (let i = 0; i < 6; i++) await chat.sendMessage({ text: `Message ${i}` })
    assert.equal(chat.error, undefined)
    await chat.sendMessage({ text: 'One more' })
    assert.match(String((chat as Chat<Message>).error?.message), /"code":"rate_limited"/)
  })

  test('a message whose answer was lost is not sent twice', async () => {
    const chat = newChat({ base: through })
    proxy.drops = 1
    await chat.sendMessage({ text: 'Only once' })
    assert.equal(chat.status, 'error')
    const [sent] = chat.messages
    const again = newChat({ id: chat.id })
    await again.sendMessage({ ...sent!, id: sent!.id })
    assert.equal(lastOf(again), 'A reply.')
    assert.deepEqual(await historyOf(sessionOf(again)), ['Only once', 'A reply.'])
    assert.equal(model.calls.length, 1)
  })

  test('a page that is closed changes nothing, and one that is opened again takes the reply up', async () => {
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    model.behaviour = streams(['One', ' two', ' three'], { gates: [Promise.resolve(), Promise.resolve(), gate] })
    const key = await newToken(randomUUID())
    const chat = newChat({ id: 'one', key })
    void chat.sendMessage({ text: 'Count' })
    await until('the first words', () => lastOf(chat) === 'One two')
    await chat.stop()
    const again = newChat({ id: 'one', key, messages: chat.messages.slice(0, 1) })
    const resumed = again.resumeStream()
    await until('the first words, again', () => lastOf(again) === 'One two')
    go()
    await resumed
    assert.deepEqual([again.status, lastOf(again)], ['ready', 'One two three'])
    assert.deepEqual(await historyOf(sessionOf(again)), ['Count', 'One two three'])
    // Nothing runs any more, and in a chat that nobody has begun nothing ever did.
    for (const id of ['one', 'never']) {
      const quiet = newChat({ id, key })
      await quiet.resumeStream()
      assert.deepEqual([quiet.status, quiet.messages.length, quiet.error], ['ready', 0, undefined])
    }
  })

  test('a reply that is made anew is taken up, too; a message that is sent meanwhile waits for it', async () => {
    const key = await newToken(randomUUID())
    const chat = newChat({ id: 'anew', key })
    await chat.sendMessage({ text: 'Count' })
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    model.behaviour = streams(['One', ' two', ' three'], { gates: [Promise.resolve(), Promise.resolve(), gate] })
    void chat.regenerate()
    await until('the first words', () => lastOf(chat) === 'One two')
    await chat.stop()
    const again = newChat({ id: 'anew', key, messages: chat.messages.slice(0, 1) })
    const resumed = again.resumeStream()
    await until('the first words, again', () => lastOf(again) === 'One two')
    const sent = chat.sendMessage({ text: 'And then?' })
    go()
    await Promise.all([resumed, sent])
    assert.deepEqual([again.status, lastOf(again)], ['ready', 'One two three'])
    assert.deepEqual(await historyOf(sessionOf(again)), ['Count', 'One two three', 'And then?', 'One two three'])
  })

  test('where a page asks for it, stopping keeps what there is', async () => {
    const never = new Promise<void>(() => {})
    model.behaviour = streams(['One', ' two', ' three'], { gates: [Promise.resolve(), Promise.resolve(), never] })
    const chat = newChat({ body: { cancelOnDisconnect: true } })
    void chat.sendMessage({ text: 'Count' })
    await until('the first words', () => lastOf(chat) === 'One two')
    const session = sessionOf(chat)
    await chat.stop()
    await until('it is kept', async () => (await historyOf(session)).at(-1) === 'One two')
  })

  test('a chat whose session was deleted begins anew', async () => {
    const chat = newChat({ id: 'again and again' })
    await chat.sendMessage({ text: 'Hello' })
    isOk(await client.delete(`/agents/${agent}/sessions/${sessionOf(chat)}`))
    await chat.sendMessage({ text: 'Still there?' })
    assert.deepEqual(await historyOf(sessionOf(chat)), ['Still there?', 'A reply.'])
  })
})
