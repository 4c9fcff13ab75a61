import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChatModel, PromptMessage } from '../../src/core/ports/model.ts'
import { chatCompletionsModel } from '../../src/models/chat-completions.ts'
import { contextFor, ollamaModel } from '../../src/models/ollama.ts'
import type { Provider } from '../../src/models/provider.ts'
import { type Sift, siftAnthropic, siftEvents, siftGoogle, siftResponses } from '../../src/models/vendor-answers.ts'
import { vendorModel } from '../../src/models/vendor-model.ts'
import { never, request } from '../contract/model.ts'
import { ModelServer, says, sends } from '../support/model-server.ts'

const server = new ModelServer()
let host: string
before(async () => {
  host = new URL(await server.listen()).origin
})
after(() => server.close())
beforeEach(() => server.reset())

const provider = <P extends Provider['protocol']>(protocol: P, change: Partial<Provider> = {}): Provider & { protocol: P } => ({
  name: 'some',
  baseUrl: `${host}/v1`,
  apiKey: 'sk-test',
  headers: {},
  ...change,
  protocol,
})
const ask = async (model: ChatModel, change: Parameters<typeof request>[0] = {}, stream = false) => {
  const reply = await model.generate(request(change), { signal: never, ...(stream ? { onText: () => {} } : {}) })
  return { reply, call: server.calls.at(-1)! }
}

describe('chat completions', () => {
  const gpt = (change?: Partial<Provider>) => chatCompletionsModel('gpt', provider('chat', { name: 'openai', ...change }))

  test('name, messages and key are sent, and settings only where they are set', async () => {
    const { call } = await ask(gpt({ baseUrl: `${host}/v1/` }))
    assert.equal(call.path, '/v1/chat/completions')
    assert.equal(call.headers.authorization, 'Bearer sk-test')
    assert.deepEqual(call.body, { model: 'gpt', messages: request().prompt })
    const { call: set } = await ask(gpt(), { temperature: 0.2, maxOutputTokens: 50 }, true)
    const { messages: _, ...rest } = set.body
    assert.deepEqual(rest, {
      model: 'gpt',
      temperature: 0.2,
      max_completion_tokens: 50,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test('without a key none is sent, headers of the configuration are, and the query of the address stays', async () => {
    const azure = { apiKey: undefined, headers: { 'api-key': 'abc' }, baseUrl: `${host}/deployments/x?api-version=1` }
    const { call } = await ask(gpt(azure))
    assert.equal(call.path, '/deployments/x/chat/completions?api-version=1')
    assert.deepEqual([call.headers.authorization, call.headers['api-key']], [undefined, 'abc'])
  })

  const pickyAbout =
    (field: string): typeof server.behaviour =>
    (call, response) =>
      field in call.body
        ? response.writeHead(400).end(JSON.stringify({ error: { message: `Unsupported parameter: ${field}` } }))
        : says('Yes.')(call, response)

  test('a server that does not take a field is asked again without it, and never again with it', async () => {
    for (const field of ['stream_options', 'response_format']) {
      server.reset()
      server.behaviour = pickyAbout(field)
      const model = gpt()
      const json = { name: 'x', schema: { type: 'object' } }
      assert.equal((await ask(model, { json }, true)).reply.text, 'Yes.')
      await ask(model, { json }, true)
      assert.deepEqual(
        server.calls.map(({ body }) => field in body),
        [true, false, false],
      )
    }
  })

  test('the longest reply goes by the name that the server knows', async () => {
    server.behaviour = pickyAbout('max_completion_tokens')
    const { call } = await ask(gpt(), { maxOutputTokens: 9 })
    assert.equal(call.body['max_tokens'], 9)
    server.behaviour = pickyAbout('max_tokens')
    const { call: custom } = await ask(gpt({ name: 'mine' }), { maxOutputTokens: 9 })
    assert.equal(custom.body['max_completion_tokens'], 9)
  })

  test('a call whose longest reply is too long for the provider changes nothing for other calls', async () => {
    const [field, other] = ['max_completion_tokens', 'max_tokens']
    const tooLong = [
      `${field} is too large: 900000. This model supports at most 8192 completion tokens.`,
      `Unsupported value of ${field}: 900000`,
    ]
    for (const message of tooLong) {
      server.behaviour = (call, response) => {
        const said = call.body[other] ? `Unsupported parameter: '${other}'. Use '${field}' instead.` : message
        if (call.body[other] || Number(call.body[field]) > 8_192)
          response.writeHead(400).end(JSON.stringify({ error: { message: said, param: field } }))
        else says('Yes.')(call, response)
      }
      const model = gpt()
      await assert.rejects(ask(model, { maxOutputTokens: 900_000 }), { code: 'model_failed' })
      assert.equal((await ask(model, { maxOutputTokens: 9 })).reply.text, 'Yes.')
      assert.equal(server.calls.at(-1)!.body[field], 9)
    }
  })

  test('a field stays if the call fails without it, too', async () => {
    server.behaviour = (_call, response) =>
      response.writeHead(400).end('{"error":{"message":"the prompt speaks of stream_options"}}')
    const model = gpt()
    await assert.rejects(ask(model, {}, true), { code: 'model_failed' })
    server.behaviour = says('Yes.')
    assert.ok('stream_options' in (await ask(model, {}, true)).call.body)
  })

  test('a refusal for another reason is not asked again', async () => {
    server.behaviour = pickyAbout('messages')
    await assert.rejects(ask(gpt(), { maxOutputTokens: 9 }, true), { code: 'model_failed' })
    assert.equal(server.calls.length, 1)
  })

  test('a server that answers whole where a stream was asked for is understood', async () => {
    server.behaviour = sends('{"choices":[{"message":{"content":"Whole."}}]}')
    const pieces: string[] = []
    const { text } = await gpt().generate(request(), { signal: never, onText: (piece) => pieces.push(piece) })
    assert.deepEqual([text, pieces], ['Whole.', ['Whole.']])
  })

  const stream = (...events: string[]) => sends(events.join(''), 'text/event-stream; charset=utf-8')
  const delta = (content: unknown, rest: object) => JSON.stringify({ choices: [{ index: 0, delta: { content }, ...rest }] })

  test('an event of very many lines is a failure long before it is large', async () => {
    for (const line of ['data:\n', 'data\r', ':\n', 'event: a\r\n']) {
      let sent = 0
      server.behaviour = async (_call, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        for (; !response.destroyed && sent < 1_000_000; sent += 10_000) {
          response.write(line.repeat(10_000 / line.length))
          await nextTurn()
        }
        response.end()
      }
      await assert.rejects(gpt().generate(request(), { signal: never, onText: () => {} }), { code: 'model_failed' })
      assert.ok(sent < 500_000, `${sent} bytes of ${JSON.stringify(line)}`)
    }
  })

  test('events may have any line end, comments, names, several lines of data, and no blank line at the end', async () => {
    const [begin, end] = ['{"choices":[{"index":0,', '"delta":{"content":"two"}}]}']
    server.behaviour = stream(
      '\ufeff: hello\r\n\r\nevent: x\r\nid: 1\r\ndata:{"choices":[{"index":0,"delta":{"content":"one "}}]}\r\n\r\n',
      `data: ${begin}\ndata: ${end}\n\n`,
      'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\r\r',
      'data: [DONE]',
    )
    assert.equal((await ask(gpt(), {}, true)).reply.text, 'one two')
  })

  test('a choice that is null says nothing', async () => {
    const yes = 'data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\n'
    server.behaviour = stream('data: {"choices":[null]}\n\n', yes)
    assert.equal((await ask(gpt(), {}, true)).reply.text, 'Yes.')
    server.behaviour = sends('{"choices":[null]}')
    await assert.rejects(ask(gpt()), { code: 'model_failed' })
  })

  test('a clean end behind a finish_reason is an end without [DONE], and [DONE] is one without a finish_reason', async () => {
    server.behaviour = stream('data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\n')
    assert.equal((await ask(gpt(), {}, true)).reply.text, 'Yes.')
    server.behaviour = stream('data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n')
    assert.equal((await ask(gpt(), {}, true)).reply.text, 'Yes.')
    server.behaviour = stream('data: {"choices":[{"index":0,"delta":{"content":"Yes."}}]}\n\n', 'data: [DONE]\n\n')
    assert.equal((await ask(gpt(), {}, true)).reply.text, 'Yes.')
  })

  test('a server that keeps the line open behind [DONE] holds nobody up, and is hung up on', async () => {
    server.behaviour = (_call, response) =>
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('data: {"choices":[{"index":0,"delta":{"content":"Yes."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')
    assert.equal((await ask(gpt(), {}, true)).reply.text, 'Yes.')
    await server.abandoned(1)
  })

  test('text in parts is put together, without the thoughts among them', async () => {
    const parts = [
      { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
      { type: 'text', text: 'Yes.' },
    ]
    server.behaviour = sends(JSON.stringify({ choices: [{ message: { content: parts } }] }))
    assert.equal((await ask(gpt())).reply.text, 'Yes.')
    server.behaviour = stream(`data: ${delta(parts, { finish_reason: 'stop' })}\n\n`)
    assert.equal((await ask(gpt(), {}, true)).reply.text, 'Yes.')
  })

  test('a refusal of the model is shown as its reply, and counts as filtered', async () => {
    server.behaviour = sends('{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]}')
    const { text, finish } = (await ask(gpt())).reply
    assert.deepEqual([text, finish], ['I will not.', 'filtered'])
    server.behaviour = stream(
      'data: {"choices":[{"index":0,"delta":{"refusal":"No."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    )
    assert.equal((await ask(gpt(), {}, true)).reply.finish, 'filtered')
  })

  const talk: PromptMessage[] = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'One.' },
    { role: 'assistant', content: 'Two.' },
    { role: 'user', content: 'Three.' },
    { role: 'assistant', content: 'Four.' },
    { role: 'user', content: 'Five.' },
    { role: 'assistant', content: 'Six.' },
    { role: 'user', content: 'Seven, with passages.' },
  ]
  const marksOf = (body: { messages: unknown }) =>
    (body.messages as { content: unknown }[]).flatMap(({ content }, i) =>
      Array.isArray(content) && content[0].prompt_cache_breakpoint?.mode === 'explicit' ? [i] : [],
    )

  test('models of OpenAI that cache at marks alone are told what comes again; no other is', async () => {
    for (const name of ['gpt-5.6', 'gpt-5.12-luna', 'gpt-6.1-sol', 'gpt-10']) {
      const { call } = await ask(chatCompletionsModel(name, provider('chat', { name: 'openai' })), { prompt: talk })
      assert.deepEqual([marksOf(call.body), call.body['prompt_cache_options']], [[0, 3, 5], { mode: 'explicit' }], name)
      assert.deepEqual(call.body.messages[5], {
        role: 'user',
        content: [{ type: 'text', text: 'Five.', prompt_cache_breakpoint: { mode: 'explicit' } }],
      })
    }
    for (const [name, by] of [
      ['gpt-5.5', 'openai'],
      ['gpt-4o', 'openai'],
      ['gpt-5', 'openai'],
      ['gpt-5.6', 'gateway'],
    ] as const) {
      const { call } = await ask(chatCompletionsModel(name, provider('chat', { name: by })), { prompt: talk })
      assert.deepEqual([call.body.messages, call.body['prompt_cache_options']], [talk, undefined], name)
    }
  })

  test('a server that does not know the marks is asked again without them, and from then on', async () => {
    server.behaviour = pickyAbout('prompt_cache_options')
    const model = chatCompletionsModel('gpt-5.6', provider('chat', { name: 'openai' }))
    const { call } = await ask(model, { prompt: talk })
    assert.deepEqual([server.calls.length, call.body.messages], [2, talk])
    await ask(model, { prompt: talk })
    assert.equal(server.calls.length, 3)
  })

  test('a finish_reason that is no text is none', async () => {
    const odd = { toString: 1, valueOf: 1 }
    server.behaviour = sends(JSON.stringify({ choices: [{ message: { content: 'Yes.' }, finish_reason: odd }] }))
    assert.equal((await ask(gpt())).reply.finish, 'stop')
    server.behaviour = sends('{"choices":[{"message":{"content":"Yes."},"finish_reason":"constructor"}]}')
    assert.equal((await ask(gpt())).reply.finish, 'stop')
  })

  test('a finish_reason of error is a failure, with or without text', async () => {
    server.behaviour = sends('{"choices":[{"message":{"content":"Half of"},"finish_reason":"error"}]}')
    await assert.rejects(ask(gpt()), { code: 'model_failed', transient: true })
    server.behaviour = stream(
      'data: {"choices":[{"index":0,"delta":{"content":"Half of"},"finish_reason":"error"}]}\n\ndata: [DONE]\n\n',
    )
    await assert.rejects(ask(gpt(), {}, true), { code: 'model_failed', transient: true })
  })

  test('a failure that is told in a thousand levels is one', async () => {
    server.behaviour = sends(`{"error":${'['.repeat(9_900)}${']'.repeat(9_900)}}`)
    await assert.rejects(ask(gpt()), { code: 'model_failed', transient: true })
  })

  test('a limit that was met before there was any text is a failure that stays', async () => {
    server.behaviour = sends('{"choices":[{"message":{"content":""},"finish_reason":"length"}]}')
    await assert.rejects(ask(gpt()), { code: 'model_failed', transient: false })
  })
})

describe('the packages of the vendors', () => {
  test('Anthropic is found with and without /v1 in its address, and is told to keep the instructions in its cache', async () => {
    for (const path of ['', '/', '/v1', '/v1/']) {
      const { call } = await ask(vendorModel('claude-sonnet-4-5', provider('anthropic', { baseUrl: `${host}${path}` })))
      assert.equal(call.path, '/v1/messages')
      assert.equal(call.headers['x-api-key'], 'sk-test')
      assert.deepEqual(call.body['system'], [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }])
    }
  })

  test('Anthropic is told to keep the conversation in its cache, up to the newest message', async () => {
    const prompt: PromptMessage[] = [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'How are you?' },
      { role: 'assistant', content: 'Well.' },
      { role: 'user', content: 'And yesterday?' },
    ]
    const { call } = await ask(vendorModel('claude-sonnet-4-5', provider('anthropic')), { prompt })
    const marked = (call.body.messages as unknown as { content: { cache_control?: object }[] }[]).map(
      ({ content }) => content[0]!.cache_control,
    )
    assert.deepEqual(marked, [undefined, { type: 'ephemeral' }, undefined])
  })

  test('a model of Anthropic that nobody knows is asked for JSON too', async () => {
    server.behaviour = says('{"a":1}')
    const schema = { type: 'object', properties: { a: { type: 'number' } }, required: ['a'] }
    for (const stream of [false, true]) {
      const { reply } = await ask(vendorModel('stub', provider('anthropic')), { json: { name: 'x', schema } }, stream)
      assert.deepEqual([JSON.parse(reply.text), reply.finish], [{ a: 1 }, 'stop'])
    }
  })

  test('OpenAI responses are not to be kept by the provider', async () => {
    const { call } = await ask(vendorModel('gpt-4.1', provider('responses')))
    assert.equal(call.body['store'], false)
    assert.equal(call.headers.authorization, 'Bearer sk-test')
  })

  test('Google is given the key in a header, not in the address', async () => {
    const { call } = await ask(vendorModel('gemini-2.5-flash', provider('google', { baseUrl: `${host}/v1beta/` })))
    assert.equal(call.path, '/v1beta/models/gemini-2.5-flash:generateContent')
    assert.equal(call.headers['x-goog-api-key'], 'sk-test')
  })

  test('thousands of pieces in one event are told as few', async () => {
    const parts = Array.from({ length: 3_000 }, (_, i) => ({ text: `lamp ${i} ` }))
    const event = { candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }] }
    server.behaviour = sends(`data: ${JSON.stringify(event)}\n\n`, 'text/event-stream')
    const pieces: string[] = []
    const onText = (text: string) => text !== '' && pieces.push(text)
    const model = vendorModel('gemini-2.5-flash', provider('google', { baseUrl: `${host}/v1beta/` }))
    const { text } = await model.generate(request(), { signal: never, onText })
    assert.equal(text, parts.map((part) => part.text).join(''))
    assert.equal(pieces.join(''), text)
    assert.ok(pieces.length < 100, `${pieces.length} pieces`)
  })

  describe('a tool that nobody offered', () => {
    const said = { model: 'some', text: 'Yes.', reason: 'stop' } as const
    /** Answers "Yes." behind other events. */
    const saysAfter =
      (events: string): typeof server.behaviour =>
      ({ format }, response) =>
        response
          .writeHead(200, { 'content-type': format.mediaType })
          .end(format.begin(said) + events + format.piece(said, said.text) + format.end(said))
    const named = (type: string, rest: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
    const parts = (...parts: object[]) => `data: ${JSON.stringify({ candidates: [{ content: { parts } }] })}\n\n`
    const cases = {
      anthropic: {
        begin: named('content_block_start', { index: 1, content_block: { type: 'tool_use', id: 't', name: 'f', input: {} } }),
        piece: (text: string) =>
          named('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: text } }),
      },
      google: {
        begin: parts({ functionCall: { name: 'f', willContinue: true } }),
        piece: (text: string) =>
          parts({
            functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: text, willContinue: true }], willContinue: true },
          }),
      },
      responses: {
        begin: named('response.output_item.added', {
          output_index: 1,
          item: { type: 'function_call', id: 'fc', call_id: 'c', name: 'f', arguments: '' },
        }),
        piece: (text: string) => named('response.function_call_arguments.delta', { item_id: 'fc', output_index: 1, delta: text }),
      },
    }
    for (const protocol of ['anthropic', 'google', 'responses'] as const) {
      const { begin, piece } = cases[protocol]
      const askIt = () => ask(vendorModel('some', provider(protocol)), {}, true)
      const calls = (pieces: number) => saysAfter(begin + piece('x'.repeat(1_000)).repeat(pieces))

      test(`is of no use in an answer of ${protocol}`, async () => {
        server.behaviour = calls(10)
        assert.equal((await askIt()).reply.text, 'Yes.')
      })
    }

    test('ends an answer of anthropic that says much of it: some tools are asked for', async () => {
      const { begin, piece } = cases.anthropic
      server.behaviour = saysAfter(begin + piece('x'.repeat(1_000)).repeat(100))
      await assert.rejects(ask(vendorModel('some', provider('anthropic')), {}, true), {
        code: 'model_failed',
        message: /more than a reply can hold/,
      })
    })
  })

  describe('what is of no use in a stream is not passed on to the package of', () => {
    const event = (data: object | string) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
    const pass = (sift: Sift, events: string) => {
      const take = siftEvents(sift, 20_000)
      const bytes = Buffer.from(events)
      let passed = ''
      for (let at = 0; at < bytes.length; at += 7) passed += take(bytes.subarray(at, at + 7))
      return passed
    }

    test('Anthropic', () => {
      const useful = [
        event({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } }),
        event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ä字😀\n' } }),
      ]
      const useless = [
        event({ type: 'content_block_start', index: 1, content_block: { type: 'web_search_tool_result', content: [] } }),
        event({ type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: {} } }),
        event({ type: 'content_block_delta', index: 0, delta: null }),
        event({ type: 'content_block_delta', index: 0, delta: { type: { toString: 1 } } }),
        event({ type: 'ping' }),
      ]
      const usage = event({ type: 'message_delta', delta: {}, usage: { output_tokens: 7, more: 7, input_tokens: {} } })
      assert.equal(
        pass(siftAnthropic, [...useless, ...useful, ...useless, usage].join('')),
        [...useful, event({ type: 'message_delta', delta: {}, usage: { output_tokens: 7 } })].join(''),
      )
    })

    test('OpenAI responses', () => {
      const useful = [
        event({ type: 'response.output_text.delta', item_id: 'a', delta: 'x'.repeat(2_000) }),
        event('[DONE]'),
        event('7'),
      ]
      const useless = [
        event({ type: 'response.output_text.annotation.added', annotation: {} }),
        event({ type: 'response.output_item.added', item: { type: 'function_call' } }),
        event({ type: 'response.output_item.added', item: null }),
        event({ type: 'response.output_text.delta', delta: 'x' }),
        event({ type: 'response.output_text.delta', item_id: 'a', delta: 7 }),
      ]
      const created = event({ type: 'response.created', response: { id: 'a', model: 'x'.repeat(2_000), tools: [{}] } })
      assert.equal(
        pass(siftResponses, [...useless, ...useful, ...useless, created].join('')),
        [...useful, event({ type: 'response.created', response: { id: 'a' } })].join(''),
      )
    })

    test('Google', () => {
      const candidate = { content: { parts: [{ text: 'Yes.' }] }, finishReason: 'STOP' }
      const useful = event({ candidates: [candidate] })
      const functionCall = { name: 'f', partialArgs: [{ jsonPath: '$..', stringValue: 'x' }] }
      const mixed = event({
        candidates: [{ content: { parts: [{ functionCall }, { text: 'No.', functionCall }, null] }, groundingMetadata: {} }],
        usageMetadata: { promptTokenCount: 1, more: {} },
      })
      const left = event({ candidates: [{ content: { parts: [{ text: 'No.' }] } }], usageMetadata: { promptTokenCount: 1 } })
      const odd = event({ candidates: 7 }) + event('null')
      assert.equal(
        pass(siftGoogle, event({ candidates: [candidate, candidate] }) + mixed + odd),
        useful + left + event({}) + event('null'),
      )
    })

    test('any vendor, where it is many values behind a comment with a quote', () => {
      const many = event({ candidates: Array.from({ length: 20_000 }, () => ({})) })
      assert.throws(() => pass(siftGoogle, `: "\n${many}`), { code: 'model_failed', message: /more than a reply can hold/ })
    })

    test('any vendor, however many events without text there are', () => {
      const created = event({ type: 'response.created', response: { id: 'a' } })
      assert.equal(pass(siftResponses, created.repeat(200)).length, created.length * 200)
      assert.throws(() => pass(siftResponses, created.repeat(201)), { code: 'model_failed' })
    })
  })

  test('what is of no use in a whole answer is not passed on to the package', async () => {
    const odd = { type: 'thinking', thinking: 1, signature: [] }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const message = {
      type: 'message',
      role: 'assistant',
      id: 'i',
      content: [{ type: 'output_text', text: 'Yes.', annotations: [odd] }],
    }
    const answers = {
      anthropic: {
        ...{ type: 'message', stop_reason: 'end_turn', usage, container: odd },
        content: [odd, { type: 'text', text: 'Yes.', citations: [odd] }],
      },
      responses: { output: [{ type: 'reasoning', summary: odd }, message], usage },
      google: {
        candidates: [
          { content: { parts: [{ functionCall: 1 }, { text: 'Yes.' }] }, finishReason: 'STOP', groundingMetadata: 1 },
          2,
        ],
      },
    }
    for (const [protocol, answer] of Object.entries(answers)) {
      server.behaviour = sends(JSON.stringify(answer))
      const { reply } = await ask(vendorModel('some', provider(protocol as 'google')))
      assert.equal(reply.text, 'Yes.', protocol)
    }
  })

  test('a whole answer with a part that is not whole is not understood', async () => {
    const usage = { input_tokens: 1, output_tokens: 1 }
    const content = [{ type: 'text', text: 'Yes.' }, { type: 'text' }]
    const message = { type: 'message', role: 'assistant', id: 'i', content: [{ type: 'output_text' }] }
    for (const [protocol, answer] of Object.entries({
      anthropic: { type: 'message', stop_reason: 'end_turn', usage, content },
      responses: { output: [message], usage },
    })) {
      server.behaviour = sends(JSON.stringify(answer))
      await assert.rejects(ask(vendorModel('some', provider(protocol as 'google'))), { code: 'model_failed' }, protocol)
    }
  })

  test('an answer that is to be continued is asked for once', async () => {
    const parts = [{ text: 'Half.' }]
    const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'CONTINUATION', continuationToken: 'x' }] }
    const model = () => vendorModel('some', provider('google'))
    server.behaviour = sends(JSON.stringify(answer))
    for (const isStreamed of [false, true]) {
      server.reset()
      if (isStreamed) server.behaviour = sends(`data: ${JSON.stringify(answer)}\n\n`, 'text/event-stream')
      else server.behaviour = sends(JSON.stringify(answer))
      const { reply } = await ask(model(), {}, isStreamed)
      assert.deepEqual([reply.text, reply.finish], ['Half.', 'length'])
      assert.equal(server.calls.length, 1)
    }
  })

  test('a provider without a key is sent none, also where the environment has one for another', async () => {
    const names = ['OPENAI_API_KEY', 'ANTHROPIC_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY']
    for (const name of names) process.env[name] = 'sk-of-another'
    try {
      for (const protocol of ['responses', 'anthropic', 'google'] as const) {
        const { call } = await ask(vendorModel('m', provider(protocol, { apiKey: undefined, headers: { 'x-mine': 'yes' } })))
        assert.doesNotMatch(JSON.stringify(call.headers), /sk-of-another|no-key/)
        assert.deepEqual(
          [call.headers.authorization, call.headers['x-api-key'], call.headers['x-goog-api-key'], call.headers['x-mine']],
          [undefined, undefined, undefined, 'yes'],
        )
      }
    } finally {
      for (const name of names) delete process.env[name]
    }
  })
})

describe('Ollama', () => {
  const words = (bytes: number) => ({ prompt: [{ role: 'user' as const, content: 'x'.repeat(bytes) }], maxOutputTokens: 1_000 })

  test('the context window holds the prompt and the reply, in steps that double up to a limit', () => {
    assert.equal(contextFor(words(0), 100_000), 8_192)
    assert.equal(contextFor(words(25_000), 100_000), 8_192)
    assert.equal(contextFor(words(26_000), 100_000), 16_384)
    assert.equal(contextFor(words(200_000), 100_000), 65_536)
    assert.equal(contextFor({ prompt: [{ role: 'user', content: '漢'.repeat(10_000) }], maxOutputTokens: null }, 100_000), 16_384)
    assert.equal(contextFor(words(300_000), 100_000), 100_000)
    assert.equal(
      contextFor({ ...words(0), maxOutputTokens: 200_000 }, 100_000),
      100_000,
      'a long reply gets the room that is left',
    )
    assert.throws(() => contextFor(words(350_000), 100_000), { code: 'model_failed', transient: false })
  })

  test('is given the window with each call, the largest of the last 10 minutes: a change loads the model again', async () => {
    let now = 0
    const model = ollamaModel('llama', provider('ollama', { baseUrl: host }), () => now)
    const windows = []
    for (const [minute, bytes] of [
      [0, 10],
      [1, 40_000],
      [2, 10],
      [10.9, 10],
      [11, 10],
    ] as const) {
      now = minute * 60_000
      windows.push((await ask(model, words(bytes))).call.body['options'])
    }
    assert.deepEqual(
      windows,
      [8_192, 16_384, 16_384, 16_384, 8_192].map((num_ctx) => ({ num_ctx, num_predict: 1_000 })),
    )
    assert.equal(server.calls[0]!.path, '/api/chat')
  })

  test('is not asked where the prompt does not fit into the largest window of its provider', async () => {
    const model = ollamaModel('llama', provider('ollama', { baseUrl: host, maxContextTokens: 10_000 }))
    await assert.rejects(ask(model, words(40_000)), { message: /does not fit into its context window/ })
    assert.deepEqual((await ask(model, words(30_000))).call.body['options'], { num_ctx: 10_000, num_predict: 1_000 })
  })
})
