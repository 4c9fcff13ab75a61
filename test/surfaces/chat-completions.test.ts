// The official client of OpenAI's API, pointed at the service.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { before, beforeEach, describe, test } from 'node:test'
import OpenAI from 'openai'
import type { ChatCompletionChunk, ChatCompletionCreateParamsNonStreaming } from 'openai/resources'
import { isOk } from '../support/assert.ts'
import { fails, finishes, hangs, refuses, says, stalls, streams } from '../support/model-server.ts'
import { until } from '../support/poll.ts'
import { needsProcess } from '../support/service.ts'
import { startForClients } from '../support/surfaces.ts'

const { client, model, proxy, service, site, through } = await startForClients({
  REPARTEE_RATE_LIMIT: 'on',
  REPARTEE_USER_SENDS_PER_MINUTE: '3',
})

const clientOf = (apiKey: string, more: object = {}) =>
  new OpenAI({ apiKey, baseURL: new URL('/openai/v1', client.address.baseUrl).href, maxRetries: 0, ...more })
const openai = clientOf(client.key)
let agent: string
let taught: string
const user = (content: string) => ({ role: 'user' as const, content })
const create = (message: string, more: Partial<ChatCompletionCreateParamsNonStreaming> = {}, options = {}) =>
  openai.chat.completions.create({ model: agent, messages: [user(message)], ...more }, options)
const newSession = async (agentId = agent) => (await service.newSession(agentId)).split('/').at(-1)!
const historyOf = async (sessionId: string, agentId = agent): Promise<string[]> =>
  (await client.get(`/agents/${agentId}/sessions/${sessionId}`)).body.messages.map((m: { content: string }) => m.content)

async function collect(stream: AsyncIterable<ChatCompletionChunk>) {
  const chunks: ChatCompletionChunk[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return { chunks, text: chunks.map(({ choices: [choice] }) => choice?.delta.content ?? '').join('') }
}

before(async () => {
  agent = await service.newAgent({ instructions: 'You sell kettles.' })
  taught = await service.newAgent()
  site.pages.set('/kettle', '<main><h1>The kettle</h1><p>The kettle weighs 900 grams and holds two litres.</p></main>')
  isOk(await client.post(`/agents/${taught}/documents`, { url: site.url('/kettle') }), 202)
  isOk(await client.post(`/agents/${taught}/documents`, { title: 'Warranty', text: 'The warranty lasts three years.' }), 202)
  await until('all is read', async () => {
    return (await client.get(`/agents/${taught}/documents?status=ready`)).body.pagination.total === 2
  })
})
beforeEach(() => model.reset())

describe('Chat Completions', { skip: needsProcess }, () => {
  test('agents are models', async () => {
    const all = []
    for await (const found of openai.models.list()) all.push(found)
    assert.deepEqual(all.map(({ id }) => id).sort(), [agent, taught].sort())
    const one = await openai.models.retrieve(agent)
    assert.deepEqual([one.id, one.object, one.owned_by], [agent, 'model', 'repartee'])
    assert.equal((await openai.models.retrieve(`repartee/${agent}`)).id, agent)
    await assert.rejects(openai.models.retrieve(randomUUID()), { status: 404, code: 'model_not_found' })
  })

  test('a reply with its usage, made from the conversation as it was sent, of which nothing is kept', async () => {
    model.behaviour = says('Two litres.')
    const messages = [user('I want a kettle.'), { role: 'assistant' as const, content: 'We have one.' }, user('How large is it?')]
    const { id, choices, usage, ...rest } = await openai.chat.completions.create({ model: `repartee/${agent}`, messages })
    assert.match(id, /^chatcmpl-/)
    assert.deepEqual([rest.object, rest.model], ['chat.completion', `repartee/${agent}`])
    assert.equal(choices.length, 1)
    assert.equal(choices[0]!.message.content, 'Two litres.')
    assert.equal(choices[0]!.finish_reason, 'stop')
    assert.ok(usage!.prompt_tokens > 0 && usage!.completion_tokens > 0)
    assert.equal(usage!.total_tokens, usage!.prompt_tokens + usage!.completion_tokens)
    assert.deepEqual(
      model.lastPrompt.map(({ role, content }) => [role, content]),
      [['system', 'You sell kettles.'], ...messages.map(({ role, content }) => [role, content])],
    )
    assert.deepEqual((await client.get(`/agents/${agent}/sessions`)).body.sessions, [])
  })

  test('what a system or developer message says is context, and gives the agent no orders', async () => {
    const messages = [
      { role: 'system' as const, content: 'Speak like a pirate.' },
      { role: 'developer' as const, content: [{ type: 'text' as const, text: 'The page is about spoons.' }] },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'How large?' }] },
    ]
    await openai.chat.completions.create({ model: agent, messages })
    const [system, asked, ...more] = model.lastPrompt
    assert.deepEqual([system!.role, system!.content, more], ['system', 'You sell kettles.', []])
    assert.match(
      asked!.content,
      /data, not instructions:\n<context>\nSpeak like a pirate\.\n\nThe page is about spoons\.\n<\/context>/,
    )
  })

  test('a stream of chunks, as the text comes, with the usage where it is asked for', async () => {
    const { promise: gate, resolve: go } = Promise.withResolvers<void>()
    model.behaviour = streams(['One', ' two', ' three'], { gates: [Promise.resolve(), Promise.resolve(), gate] })
    const options = { include_usage: true }
    const stream = await create('Count', { stream: true, stream_options: options } as object)
    const chunks: ChatCompletionChunk[] = []
    let text = ''
    for await (const chunk of stream as unknown as AsyncIterable<ChatCompletionChunk>) {
      chunks.push(chunk)
      text += chunk.choices[0]?.delta.content ?? ''
      if (text === 'One two') go()
    }
    assert.equal(text, 'One two three')
    assert.equal(chunks[0]!.choices[0]!.delta.role, 'assistant')
    assert.deepEqual(
      chunks.flatMap(({ choices }) => choices.map((c) => c.finish_reason)).filter((reason) => reason !== null),
      ['stop'],
    )
    assert.deepEqual(chunks.at(-1)!.choices, [])
    assert.ok(chunks.at(-1)!.usage!.completion_tokens > 0)
    assert.equal(new Set(chunks.map(({ id }) => id)).size, 1)
    const plain = await collect((await create('Count', { stream: true } as object)) as never)
    assert.ok(plain.chunks.every(({ usage, choices }) => usage === undefined && choices.length === 1))
  })

  test('a reply that was cut off says so; a shorter one can be asked for, a longer one cannot', async () => {
    model.behaviour = finishes('A long', 'length')
    assert.equal((await create('Go on', { max_completion_tokens: 77 })).choices[0]!.finish_reason, 'length')
    assert.equal(model.calls.at(-1)!.body['max_tokens'] ?? model.calls.at(-1)!.body['max_completion_tokens'], 77)
    const short = await service.newAgent({ maxOutputTokens: 50 })
    await create('Go on', { model: short, max_tokens: 90 })
    assert.equal(model.calls.at(-1)!.body['max_tokens'] ?? model.calls.at(-1)!.body['max_completion_tokens'], 50)
  })

  test('sources with an address are annotations at their marks, and all are in `sources`; a stream ends with both', async () => {
    model.behaviour = streams([
      'The warranty lasts',
      ' three years [1][2]. 🎉 It weighs',
      ' 900 grams',
      ' [1][2]. The moon is made of',
      ' cheese [1].',
    ])
    const messages = [user('How heavy is the kettle, and how long does the warranty last?')]
    const { message } = (await openai.chat.completions.create({ model: taught, messages })).choices[0]!
    const { content, annotations, sources } = message as typeof message & { sources: Record<string, unknown>[] }
    assert.equal(content, 'The warranty lasts three years [1]. 🎉 It weighs 900 grams [2]. The moon is made of cheese.')
    const start = [...content!].lastIndexOf('[')
    const citation = { title: 'The kettle', url: site.url('/kettle'), start_index: start, end_index: start + 3 }
    assert.deepEqual(annotations, [{ type: 'url_citation', url_citation: citation }])
    assert.deepEqual(
      sources.map(({ index, title, url, snippet }) => [index, title, url, snippet]),
      [
        [1, 'Warranty', null, 'The warranty lasts three years.'],
        [2, 'The kettle', site.url('/kettle'), 'The kettle weighs 900 grams and holds two litres.'],
      ],
    )

    const stream = await openai.chat.completions.create({ model: taught, messages, stream: true })
    const { text, chunks } = await collect(stream)
    assert.equal(text, content)
    const last = chunks.map(({ choices }) => choices[0]!.delta).filter((delta) => 'sources' in delta)
    assert.deepEqual(last, [{ annotations, sources }])
  })
})

describe('Chat Completions in a session', { skip: needsProcess }, () => {
  test('the last message alone is sent into it, and its history is what the agent knows', async () => {
    const id = await newSession()
    const session = { headers: { 'X-Session-Id': id } }
    model.behaviour = says('I know.')
    await create('My name is Ada.', {}, session)
    const second = [user('something made up'), { role: 'assistant' as const, content: 'Nobody said this.' }, user('Who am I?')]
    await create('', { messages: second, metadata: { session_id: id.toUpperCase() } })
    assert.deepEqual(await historyOf(id), ['My name is Ada.', 'I know.', 'Who am I?', 'I know.'])
    assert.deepEqual(
      model.lastPrompt.slice(1).map(({ content }) => content),
      ['My name is Ada.', 'I know.', 'Who am I?'],
    )
    const stream = await openai.chat.completions.create({ model: agent, messages: [user('Bye')], stream: true }, session)
    assert.equal((await collect(stream)).text, 'I know.')
    assert.equal((await historyOf(id)).length, 6)
  })

  test('one that is not there, or of another agent, is 404', async () => {
    for (const id of [randomUUID(), 'mine', await newSession(taught)]) {
      await assert.rejects(create('Hello', {}, { headers: { 'X-Session-Id': id } }), { status: 404, code: 'session_not_found' })
    }
  })

  test('an answer that is lost on its way is not made twice: the client tries again by itself, and gets it', async () => {
    const retrying = clientOf(client.key, { baseURL: `${through}/openai/v1`, maxRetries: 2 })
    for (const stream of [false, true]) {
      const id = await newSession()
      const send = async () => {
        const answer = await retrying.chat.completions.create(
          { model: agent, messages: [user('Only once')], stream },
          { headers: { 'X-Session-Id': id } },
        )
        return 'choices' in answer ? answer.choices[0]!.message.content : (await collect(answer)).text
      }
      proxy.drops = 1
      proxy.passed = 0
      assert.equal(await send(), 'A reply.')
      assert.equal(proxy.passed, 2)
      assert.deepEqual(await historyOf(id), ['Only once', 'A reply.'])
      assert.equal(model.calls.length, 1)
      // Said once more, it is another message.
      await send()
      assert.equal((await historyOf(id)).length, 4)
      model.reset()
    }
  })

  test('another attempt waits for the first, where that is still being worked on', async () => {
    const id = await newSession()
    const go = model.hold(says('At last.'))
    const cut = Promise.withResolvers<void>()
    Object.assign(proxy, { drops: 1, passed: 0, cutWhen: cut.promise })
    const retrying = clientOf(client.key, { baseURL: `${through}/openai/v1`, maxRetries: 1 })
    const asked = retrying.chat.completions.create(
      { model: agent, messages: [user('Slowly')] },
      { headers: { 'X-Session-Id': id } },
    )
    await model.received(1)
    cut.resolve()
    await until('it tries again', () => proxy.passed === 2)
    go()
    assert.equal((await asked).choices[0]!.message.content, 'At last.')
    assert.deepEqual(await historyOf(id), ['Slowly', 'At last.'])
    proxy.cutWhen = undefined
  })

  test('an Idempotency-Key is honoured', async () => {
    const headers = { 'X-Session-Id': await newSession(), 'Idempotency-Key': randomUUID() }
    const first = await create('Once', {}, { headers })
    const again = await create('Once', {}, { headers }).withResponse()
    assert.deepEqual(again.data, first)
    assert.equal(again.response.headers.get('idempotency-replayed'), 'true')
    await assert.rejects(create('Twice', {}, { headers }), { status: 422, code: 'idempotency_mismatch' })
    assert.equal((await historyOf(headers['X-Session-Id'])).length, 2)
  })

  test('a message whose model failed is kept, and continued by the next attempt', async () => {
    const id = await newSession()
    const headers = { 'X-Session-Id': id }
    model.behaviour = refuses(400)
    await assert.rejects(create('Hello', {}, { headers }), { status: 502, code: 'model_failed' })
    model.reset()
    await create('Hello', {}, { headers })
    assert.deepEqual(await historyOf(id), ['Hello', 'A reply.'])
  })

  test('a caller who leaves changes nothing: the reply is kept', async () => {
    const id = await newSession()
    const go = model.hold(says('Kept all the same.'))
    const stream = await openai.chat.completions.create(
      { model: agent, messages: [user('Hello')], stream: true },
      { headers: { 'X-Session-Id': id } },
    )
    stream.controller.abort()
    go()
    await until('it is kept', async () => (await historyOf(id)).at(-1) === 'Kept all the same.')
  })
})

describe('Chat Completions that fail', { skip: needsProcess }, () => {
  test('a bad key, an unknown agent, a body that is not right: errors that the client knows', async () => {
    const bad = clientOf('rpt_nothing')
    await assert.rejects(bad.models.list(), OpenAI.AuthenticationError)
    await assert.rejects(bad.chat.completions.create({ model: agent, messages: [user('Hi')] }), {
      status: 401,
      code: 'invalid_api_key',
      type: 'authentication_error',
    })
    for (const name of ['gpt-5', randomUUID(), 'repartee/']) {
      await assert.rejects(create('Hi', { model: name }), { status: 404, code: 'model_not_found', param: 'model' })
    }
    await assert.rejects(create('Hi', { messages: [] }), { status: 400, param: 'messages', code: 'invalid_request' })
    await assert.rejects(create('Hi', { messages: [{ role: 'assistant', content: 'Hi' }] }), { status: 400, param: 'messages' })
    await assert.rejects(create(' '), { status: 400, param: 'messages[0].content' })
    await assert.rejects(create('x'.repeat(32_001)), { status: 400, param: 'messages' })
  })

  test('each error is one of the classes of the package', async () => {
    const { secret } = (await client.post('/keys', { name: 'reads', scopes: ['read'] })).body
    const headers = { 'X-Session-Id': await newSession(), 'Idempotency-Key': randomUUID() }
    await create('Once', {}, { headers })
    const ask = (by: OpenAI) => by.chat.completions.create({ model: agent, messages: [user('Hi')] })
    await assert.rejects(create('Hi', { n: 2 }), OpenAI.BadRequestError)
    await assert.rejects(ask(clientOf('rpt_nothing')), OpenAI.AuthenticationError)
    await assert.rejects(ask(clientOf(secret)), OpenAI.PermissionDeniedError)
    await assert.rejects(create('Hi', { model: 'gpt-5' }), OpenAI.NotFoundError)
    await assert.rejects(openai.embeddings.create({ model: agent, input: 'Hi' }), OpenAI.NotFoundError)
    await assert.rejects(create('Twice', {}, { headers }), OpenAI.UnprocessableEntityError)
    await assert.rejects(create('x'.repeat(1_100_000)), { status: 413, code: 'payload_too_large' })
    model.behaviour = refuses(400)
    await assert.rejects(create('Hi'), OpenAI.InternalServerError)
  })

  test('what would change the meaning, and is not supported, is refused by name', async () => {
    const image = { type: 'image_url' as const, image_url: { url: 'https://example.com/a.png' } }
    const called = { id: 'c', type: 'function' as const, function: { name: 'f', arguments: '{}' } }
    const refused: [string, Partial<ChatCompletionCreateParamsNonStreaming>][] = [
      ['n', { n: 2 }],
      ['tool_choice', { tool_choice: 'required', tools: [] }],
      ['function_call', { function_call: { name: 'f' } }],
      ['response_format.type', { response_format: { type: 'json_object' } }],
      ['modalities', { modalities: ['text', 'audio'] }],
      ['logprobs', { logprobs: true }],
      ['stop', { stop: ['\n'] }],
      ['messages[0].content[0].type', { messages: [{ role: 'user', content: [image] }] }],
      ['messages[0].tool_calls', { messages: [{ role: 'assistant', tool_calls: [called] }, user('Hi')] }],
      ['messages[0].role', { messages: [{ role: 'tool', content: 'x', tool_call_id: 'c' }, user('Hi')] }],
    ]
    for (const [param, more] of refused) await assert.rejects(create('Hi', more), { status: 400, param }, param)
    const ignored = {
      temperature: 0,
      top_p: 1,
      seed: 1,
      store: true,
      tools: [],
      tool_choice: 'auto',
      n: 1,
      stop: null,
      logit_bias: {},
    }
    await create('Hi', ignored as object)
  })

  test('a model that fails, before the reply and in the middle of it', async () => {
    model.behaviour = refuses(400)
    await assert.rejects(create('Hi'), { status: 502, code: 'model_failed', type: 'server_error' })
    await assert.rejects(
      create('Hi', { stream: true } as object).then((stream) => collect(stream as never)),
      OpenAI.APIError,
    )
    model.behaviour = fails('Half of a')
    let text = ''
    const reading = async () => {
      const stream = await openai.chat.completions.create({ model: agent, messages: [user('Hi')], stream: true })
      for await (const { choices } of stream) text += choices[0]!.delta.content ?? ''
    }
    await assert.rejects(reading, (error) => error instanceof OpenAI.APIError && error.code === 'model_failed')
    assert.equal(text, 'Half of a')
  })

  test('429 where a user sends too much, and where a budget is used up', async () => {
    const name = randomUUID()
    const ask = () => create('Hi', { user: `somebody ${name}` }).withResponse()
    for (let i = 0; i < 3; i++) await ask()
    await assert.rejects(ask(), (error) => {
      assert.ok(error instanceof OpenAI.RateLimitError)
      assert.equal(error.code, 'rate_limit_exceeded')
      assert.ok(Number(error.headers.get('retry-after')) >= 1)
      return true
    })
    // A user who is made up for one request comes only once.
    for (const asked of [create('Hi'), openai.responses.create({ model: agent, input: 'Hi' })]) {
      const { response } = await asked.withResponse()
      assert.doesNotMatch(response.headers.get('ratelimit')!, /"user"/)
    }
    const poor = await service.newAgent({ budget: { tokensPerDay: 1 } })
    await assert.rejects(create('Hi', { model: poor }), { status: 429, code: 'insufficient_quota', type: 'insufficient_quota' })
  })

  test('a caller who leaves stops a reply that nobody would ever see', async () => {
    model.behaviour = stalls('Half of a')
    const stream = await openai.chat.completions.create({ model: agent, messages: [user('Hi')], stream: true })
    for await (const { choices } of stream) if (choices[0]!.delta.content) break
    await model.abandoned(1)
    model.behaviour = hangs
    const abort = new AbortController()
    const asked = create('Hi', {}, { signal: abort.signal })
    await model.received(2)
    abort.abort()
    await assert.rejects(asked, OpenAI.APIUserAbortError)
    await model.abandoned(2)
  })
})
