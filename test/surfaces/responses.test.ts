// Responses and conversations, with the official client of OpenAI's API.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, test } from 'node:test'
import OpenAI from 'openai'
import type { ResponseCreateParamsNonStreaming, ResponseInput, ResponseStreamEvent } from 'openai/resources/responses/responses'
import { toConversationId } from '../../src/http/surfaces/openai-ids.ts'
import { isOk, UUID } from '../support/assert.ts'
import { fails, finishes, refuses, says, stalls, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess } from '../support/service.ts'
import { storeOf } from '../support/store.ts'
import { startForClients } from '../support/surfaces.ts'

const { client, model, proxy, service, through } = await startForClients()

const clientOf = (apiKey: string, more: object = {}) =>
  new OpenAI({ apiKey, baseURL: new URL('/openai/v1', client.address.baseUrl).href, maxRetries: 0, ...more })
const openai = clientOf(client.key)
let agent: string
let taught: string
const create = (input: string | ResponseInput, more: Partial<ResponseCreateParamsNonStreaming> = {}) =>
  openai.responses.create({ model: agent, input, ...more })
const sessionsOf = async (agentId = agent): Promise<{ id: string; totalMessages: number; userSessionId: string }[]> =>
  (await client.get(`/agents/${agentId}/sessions`)).body.sessions
const newConversation = (more: object = {}) => openai.conversations.create({ metadata: { agent_id: agent }, ...more })
const sessionIdOf = async (conversation: string) =>
  ((await openai.conversations.retrieve(conversation)).metadata as { session_id: string }).session_id

before(async () => {
  agent = await service.newAgent({ instructions: 'You sell kettles.' })
  taught = await service.newAgent()
  isOk(await client.post(`/agents/${taught}/documents`, { title: 'Warranty', text: 'The warranty lasts three years.' }), 202)
  await until('all is read', async () => {
    return (await client.get(`/agents/${taught}/documents?status=ready`)).body.pagination.total === 1
  })
})
beforeEach(() => model.reset())

describe('Responses', { skip: needsProcess }, () => {
  test('of an agent that was deleted, no conversation is found, also while its sessions are still being deleted', async () => {
    const gone = await service.newAgent()
    const session = randomUUID()
    await storeOf(service).run(`
      INSERT INTO session (agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at)
      VALUES ('${gone}', '${session}', 'n', 'u', 0, 1, 1, 1);
      DELETE FROM agent WHERE id = '${gone}'`)
    const conversation = toConversationId({ agentId: gone, sessionId: session })
    await assert.rejects(openai.conversations.retrieve(conversation), { status: 404 })
    await assert.rejects(openai.conversations.items.list(conversation), { status: 404 })
  })

  test('a response, its usage, and the conversation that goes on behind it', async () => {
    model.behaviour = says('Two litres.')
    const first = await create('How large is it?', { instructions: 'The page is about kettles.', metadata: { a: 'b' } })
    assert.equal(first.output_text, 'Two litres.')
    assert.deepEqual([first.object, first.status, first.model, first.error], ['response', 'completed', agent, null])
    assert.deepEqual(first.metadata, { a: 'b' })
    assert.ok(first.usage!.total_tokens > 0 && first.completed_at! >= first.created_at)
    assert.equal(first.usage!.input_tokens_details.cache_write_tokens, 0)
    assert.match(model.lastPrompt[1]!.content, /data, not instructions:\n<context>\nThe page is about kettles\.\n<\/context>/)

    const second = await create('And in cups?', { previous_response_id: first.id })
    assert.equal(second.conversation!.id, first.conversation!.id)
    assert.equal(second.previous_response_id, first.id)
    assert.deepEqual(
      model.lastPrompt.slice(1).map(({ content }) => content),
      ['How large is it?', 'Two litres.', 'And in cups?'],
    )
    const items = await openai.conversations.items.list(first.conversation!.id, { order: 'asc' })
    assert.equal(items.data.length, 4)
    const read = await openai.responses.retrieve(second.id)
    assert.deepEqual([read.id, read.output, read.usage], [second.id, second.output, second.usage])
    await assert.rejects(create('And before?', { previous_response_id: first.id }), {
      status: 400,
      param: 'previous_response_id',
    })
  })

  test('behind a message that failed, a conversation goes on from its newest response alone', async () => {
    const first = await create('How large is it?')
    const second = await create('And in cups?', { previous_response_id: first.id })
    model.behaviour = refuses(400)
    for (const input of ['And in pints?', 'And in pots?'])
      await assert.rejects(create(input, { previous_response_id: second.id }), { status: 502 })
    model.reset()
    await assert.rejects(create('And before?', { previous_response_id: first.id }), { param: 'previous_response_id' })
    assert.equal((await create('And in pots?', { previous_response_id: second.id })).status, 'completed')
  })

  test('of several requests behind one response at once, one goes on with it', async () => {
    const first = await create('How large is it?')
    const release = model.hold(says('Eight cups.'))
    const next = ['And in cups?', 'And in pints?', 'And in pots?'].map((input) =>
      create(input, { previous_response_id: first.id }),
    )
    const settled = Promise.allSettled(next)
    await model.received(2)
    release()
    const outcomes = await settled
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    for (const outcome of outcomes) if (outcome.status === 'rejected') assert.equal(outcome.reason.param, 'previous_response_id')
    assert.equal((await openai.conversations.items.list(first.conversation!.id)).data.length, 4)
  })

  test('a conversation that was held elsewhere is brought along', async () => {
    const { conversation } = await create([
      { role: 'user', content: 'I am Ada.' },
      { role: 'assistant', content: 'Hello Ada.' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Who am I?' }] },
    ])
    assert.deepEqual(
      model.lastPrompt.slice(1).map(({ content }) => content),
      ['I am Ada.', 'Hello Ada.', 'Who am I?'],
    )
    const { messages } = (await client.get(`/agents/${agent}/sessions/${await sessionIdOf(conversation!.id)}`)).body
    assert.equal(messages.length, 4)
    await assert.rejects(
      create(
        [
          { role: 'assistant', content: 'x' },
          { role: 'user', content: 'y' },
        ],
        { conversation: conversation!.id },
      ),
      { status: 400, param: 'input' },
    )
  })

  test('with store false nothing is kept', async () => {
    const before = (await sessionsOf()).length
    const response = await create('Hello', { store: false })
    assert.deepEqual([response.output_text, response.conversation], ['A reply.', null])
    assert.equal((await sessionsOf()).length, before)
    const { id } = await newConversation()
    await assert.rejects(create('Hello', { store: false, conversation: id }), { status: 400, param: 'store' })
  })

  test('a stream of events, numbered, from which the client makes the same response', async () => {
    model.behaviour = streams(['The warranty lasts', ' three years [1][7].', ' Yes.'])
    const input = 'How long does the warranty last?'
    const events: ResponseStreamEvent[] = []
    const stream = openai.responses.stream({ model: taught, input })
    for await (const event of stream) events.push(event)
    const response = await stream.finalResponse()
    assert.deepEqual(
      events.map(({ sequence_number }) => sequence_number),
      [...events.keys()],
    )
    const types = events.map(({ type }) => type).filter((type) => type !== 'response.output_text.delta')
    assert.deepEqual(types, [
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.annotation.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ])
    const deltas = events.map((event) => (event.type === 'response.output_text.delta' ? event.delta : '')).join('')
    assert.equal(deltas, 'The warranty lasts three years [1]. Yes.')
    assert.equal(response.output_text, deltas)
    const { annotations } = (response.output[0] as { content: { annotations: object[] }[] }).content[0]!
    const { documents } = (await client.get(`/agents/${taught}/documents`)).body
    assert.deepEqual(annotations, [
      { type: 'file_citation', file_id: documents[0].id, filename: 'Warranty', index: deltas.indexOf('[1]') },
    ])
    const read = await openai.responses.retrieve(response.id)
    assert.deepEqual(
      read.output,
      response.output.map(({ ...item }) => JSON.parse(JSON.stringify(item, (k, v) => (k === 'parsed' ? undefined : v)))),
    )
  })

  test('a stream goes on with a conversation, and names it from its beginning', async () => {
    const first = await create('One')
    const { id: named } = await newConversation()
    for (const more of [{ previous_response_id: first.id }, { conversation: named }, { store: false }]) {
      const events: ResponseStreamEvent[] = []
      for await (const event of await openai.responses.create({ model: agent, input: 'Two', stream: true, ...more }))
        events.push(event)
      const [created, done] = [events[0]!, events.at(-1)!]
      assert.ok(created.type === 'response.created' && done.type === 'response.completed')
      assert.equal(created.response.id, done.response.id)
      const conversation = 'store' in more ? null : 'conversation' in more ? { id: named } : first.conversation
      assert.deepEqual([created.response.conversation, done.response.conversation], [conversation, conversation])
    }
    assert.equal((await openai.conversations.items.list(first.conversation!.id)).data.length, 4)
    assert.equal((await openai.conversations.items.list(named)).data.length, 2)
  })

  test('a reader who leaves in mid-stream: the reply is kept, and one that nobody will ever see is stopped', async () => {
    const { id: conversation } = await newConversation()
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    model.behaviour = streams(['One', ' two', ' three'], { gates: [Promise.resolve(), Promise.resolve(), gate] })
    const leave = async (more: object) => {
      for await (const event of await openai.responses.create({ model: agent, input: 'Count', stream: true, ...more }))
        if (event.type === 'response.output_text.delta' && event.delta !== '') break
    }
    await leave({ conversation })
    go()
    const texts = async () =>
      (await openai.conversations.items.list(conversation)).data.map((item) =>
        item.type === 'message' ? (item.content[0] as { text: string }).text : '',
      )
    await until('it is kept', async () => (await texts())[0] === 'One two three')
    model.reset()
    model.behaviour = stalls('Half of a')
    await leave({ store: false })
    await model.abandoned(1)
  })

  test('the end user of a response is the one that is named', async () => {
    const uuid = randomUUID()
    const [one, two, three] = [
      await create('Hi', { user: uuid.toUpperCase() }),
      await create('Hi', { safety_identifier: 'ada@example.com' }),
      await create('Hi', { safety_identifier: 'ada@example.com' }),
    ]
    const userOf = async ({ conversation }: { conversation?: { id: string } | null }) => {
      const id = await sessionIdOf(conversation!.id)
      return (await sessionsOf()).find((session) => session.id === id)!.userSessionId
    }
    assert.equal(await userOf(one), uuid)
    assert.match(await userOf(two), UUID)
    assert.equal(await userOf(two), await userOf(three))
  })

  test('what was cut off is incomplete; what is not supported is refused by name', async () => {
    model.behaviour = finishes('A long', 'length')
    const cut = await create('Go on', { max_output_tokens: 70 })
    for (const { status, incomplete_details } of [cut, await openai.responses.retrieve(cut.id)])
      assert.deepEqual([status, incomplete_details], ['incomplete', { reason: 'max_output_tokens' }])
    const image = { role: 'user' as const, content: [{ type: 'input_image' as const, detail: 'auto' as const, image_url: 'x' }] }
    const refused: [string, object][] = [
      ['background', { background: true }],
      ['prompt', { prompt: { id: 'p' } }],
      ['text.format.type', { text: { format: { type: 'json_object' } } }],
      ['tool_choice', { tool_choice: 'required' }],
      ['input[0].content[0].type', { input: [image] }],
      ['input[0].type', { input: [{ type: 'function_call_output', call_id: 'c', output: 'x' }] }],
      ['previous_response_id', { previous_response_id: 'resp_x', conversation: 'conv_x' }],
    ]
    for (const [param, more] of refused) await assert.rejects(create('Hi', more), { status: 400, param }, param)
    await create('Hi', {
      temperature: 0,
      tools: [],
      tool_choice: 'auto',
      truncation: 'auto',
      reasoning: { effort: 'low' },
      include: [],
    })
  })

  test('a model that fails, before the reply and in the middle of it; nothing of a conversation that never began stays', async () => {
    const before = (await sessionsOf()).length
    model.behaviour = refuses(400)
    await assert.rejects(create('Hi'), { status: 502, code: 'model_failed' })
    assert.equal((await sessionsOf()).length, before)
    const { id } = await newConversation()
    model.behaviour = fails('Half of a')
    const events: ResponseStreamEvent[] = []
    for await (const event of await openai.responses.create({ model: agent, input: 'Hi', conversation: id, stream: true }))
      events.push(event)
    const last = events.at(-1)!
    assert.ok(last.type === 'response.failed')
    assert.deepEqual([last.response.status, last.response.error!.code], ['failed', 'server_error'])
    model.reset()
    await create('Hi', { conversation: id })
    assert.equal((await openai.conversations.items.list(id)).data.length, 2)
  })

  test('an answer that is lost on its way is not made twice: no message is doubled, and no conversation', async () => {
    const retrying = clientOf(client.key, { baseURL: `${through}/openai/v1`, maxRetries: 2 })
    const before = (await sessionsOf()).length
    proxy.drops = 1
    const first = await retrying.responses.create({ model: agent, input: 'Only once', safety_identifier: 'ada' })
    assert.equal(first.output_text, 'A reply.')
    assert.equal((await sessionsOf()).length, before + 1)
    proxy.drops = 1
    const second = await retrying.responses.create({ model: agent, input: 'And this', previous_response_id: first.id })
    assert.equal(second.conversation!.id, first.conversation!.id)
    assert.equal((await openai.conversations.items.list(first.conversation!.id)).data.length, 4)
    assert.equal(model.calls.length, 2)
  })

  test('of two users whom nobody tells apart, none is answered with the conversation of the other', async () => {
    const headers = { 'X-Stainless-Retry-Count': '1' }
    const first = await create('Hello')
    const other = await openai.responses.create({ model: agent, input: 'Hello' }, { headers })
    assert.notEqual(other.conversation!.id, first.conversation!.id)
  })

  test('of many copies of a request two wait for its answer, the others are told to come back, and the model is asked once', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const ask = () => openai.responses.create({ model: agent, input: 'Once' }, { headers })
    const go = model.hold(says('Once.'))
    const first = ask()
    await model.received(1)
    let refused = 0
    const copies = Array.from({ length: 7 }, () =>
      ask().catch((error: { code?: string }) => {
        assert.equal(error.code, 'request_in_progress')
        refused++
      }),
    )
    await until('all but two are refused', () => refused === 5)
    go()
    const answers = (await Promise.all([first, ...copies])).filter((answer) => answer !== undefined)
    const id = (await first).id
    assert.deepEqual(
      answers.map((answer) => answer.id),
      [id, id, id],
    )
    assert.equal(model.calls.length, 1)
  })

  test('metadata has at most 16 fields', async () => {
    const metadata = Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`field ${i}`, 'x']))
    await assert.rejects(create('Hello', { metadata }), { status: 400, param: 'metadata' })
    const { 'field 16': _, ...fewer } = metadata
    assert.deepEqual((await create('Hello', { metadata: fewer })).metadata, fewer)
  })

  test('metadata is as short as OpenAI allows it', async () => {
    const longest = { ['n'.repeat(64)]: 'v'.repeat(512), 'two\nlines': '' }
    assert.deepEqual((await create('Hello', { metadata: longest })).metadata, longest)
    for (const metadata of [
      { ['n'.repeat(65)]: 'v' },
      { name: 'v'.repeat(513) },
      { 'two\nlines': 'v'.repeat(513) },
      { name: ['v'] },
    ])
      await assert.rejects(create('Hello', { metadata: metadata as never }), { status: 400 })
  })

  test('a stream holds long instructions once', async () => {
    const tell = async (instructions: string) => {
      const told: Record<string, unknown> = {}
      for await (const event of await openai.responses.create({ model: agent, input: 'Hi', instructions, stream: true }))
        if ('response' in event) told[event.type] = event.response.instructions
      return told
    }
    const [short, long] = ['x'.repeat(4_096), 'x'.repeat(4_097)]
    const of = (first: string | null, last: string) => ({
      'response.created': first,
      'response.in_progress': first,
      'response.completed': last,
    })
    assert.deepEqual(await tell(short), of(short, short))
    assert.deepEqual(await tell(long), of(null, long))
  })

  test('an answer that was kept for another attempt goes with its session', async () => {
    const headers = { 'Idempotency-Key': randomUUID() }
    const ask = () => openai.responses.create({ model: agent, input: 'Secret' }, { headers })
    const first = await ask()
    assert.equal((await ask()).id, first.id)
    await openai.conversations.delete(first.conversation!.id)
    assert.notEqual((await ask()).id, first.id)
  })
})

describe('Conversations', { skip: needsProcess }, () => {
  test('are sessions: made, gone on with, read page by page, deleted', async () => {
    const made = await newConversation({
      metadata: { agent_id: agent, name: 'My chat' },
      items: [
        { type: 'message', role: 'user', content: 'One' },
        { type: 'message', role: 'assistant', content: 'Two' },
      ],
    })
    assert.deepEqual([made.object, (made.metadata as { name: string }).name], ['conversation', 'My chat'])
    assert.deepEqual(await openai.conversations.retrieve(made.id), made)
    const session = await sessionIdOf(made.id)
    for (const id of [made.id, session, `conv_${session}`, `conv_${session.replaceAll('-', '')}`])
      await create('More', { conversation: id === made.id ? { id } : id })
    const texts = async (order: 'asc' | 'desc') => {
      const all: string[] = []
      for await (const item of openai.conversations.items.list(made.id, { limit: 3, order })) {
        assert.ok(item.type === 'message')
        all.push(`${item.role}: ${(item.content[0] as { text: string }).text}`)
      }
      return all
    }
    const more = ['user: More', 'assistant: A reply.']
    const expected = ['user: One', 'assistant: Two', ...more, ...more, ...more, ...more]
    assert.deepEqual(await texts('asc'), expected)
    assert.deepEqual(await texts('desc'), expected.toReversed())
    assert.equal((await openai.conversations.delete(made.id)).deleted, true)
    await assert.rejects(openai.conversations.retrieve(made.id), { status: 404, code: 'session_not_found' })
    await assert.rejects(create('More', { conversation: made.id }), { status: 404 })
  })

  test('that do not exist have a code of their own: not kept, deleted, of another message, or no id at all', async () => {
    const unkept = await openai.responses.create({ model: agent, input: 'Hello', store: false })
    const kept = await openai.responses.create({ model: agent, input: 'Hello' })
    await openai.conversations.delete(kept.conversation!.id)
    for (const id of [unkept.id, kept.id, 'resp_none', randomUUID()]) {
      await assert.rejects(openai.responses.retrieve(id), { status: 404, code: 'response_not_found' }, id)
      const input = { model: agent, input: 'More', previous_response_id: id }
      await assert.rejects(openai.responses.create(input), { status: 404, code: 'response_not_found' }, id)
    }
  })

  test('are made with an agent: the one that is named, or the only one of the key', async () => {
    await assert.rejects(openai.conversations.create(), { status: 400, param: 'metadata.agent_id' })
    const { secret } = (await client.post('/keys', { name: 'bound', scopes: ['chat'], agentIds: [agent] })).body
    const { metadata } = await clientOf(secret).conversations.create()
    assert.equal((metadata as { agent_id: string }).agent_id, agent)
    for (const id of ['conv_x', 'conv_', 'x', `conv_${randomUUID()}`])
      await assert.rejects(openai.conversations.retrieve(id), { status: 404 })
    for (const id of ['resp_x', randomUUID()]) await assert.rejects(openai.responses.retrieve(id), { status: 404 })
  })
})
