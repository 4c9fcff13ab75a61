// Traces, as a collector gets them from a service that works.
import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, beforeEach, describe, test } from 'node:test'
import { isError, isOk } from '../support/assert.ts'
import { refuses, says, streams } from '../support/model-server.ts'
import { OtlpReceiver, type ReceivedSpan } from '../support/otlp-receiver.ts'
import { until } from '../support/poll.ts'
import { needsProcess, startService } from '../support/service.ts'

const INTERNAL = 1
const CLIENT = 3
const ERROR = 2

describe('traces', { skip: needsProcess }, async () => {
  const receiver = new OtlpReceiver()
  const endpoint = await receiver.listen()
  after(() => receiver.close())
  const service = await startService({
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=acme%20shop,x-other=1',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '30',
    // Longer than a test may take: the end of the service does not wait for a collector.
    OTEL_EXPORTER_OTLP_TIMEOUT: '3600000',
  })
  after(() => service.stop())
  const { client, model } = service
  const SECRET = `Zanzibar-${randomUUID()}`
  let agent: string
  let session: string
  before(async () => {
    agent = await service.newAgent({ name: 'Lantern', temperature: 0.5 })
    session = await service.newSession(agent)
    await client.post(`/agents/${agent}/documents`, { title: SECRET, text: `The kettle of ${SECRET} weighs 900 grams.` })
    await until(
      'it is read',
      async () => (await client.get(`/agents/${agent}/documents?status=ready`)).body.documents.length === 1,
    )
  })
  beforeEach(() => {
    receiver.spans.length = 0
    receiver.bodies.length = 0
    receiver.paths.length = 0
  })

  const newCaller = () => ({ traceId: randomBytes(16).toString('hex'), spanId: randomBytes(8).toString('hex') })
  type Caller = ReturnType<typeof newCaller>
  const headersOf = ({ traceId, spanId }: Caller, flags = '01') => ({ traceparent: `00-${traceId}-${spanId}-${flags}` })
  const send = (message: string, headers: Record<string, string> = {}) =>
    client.post(`${session}/messages`, { message }, { headers })
  const spansOf = ({ traceId }: Caller, name: string): ReceivedSpan[] =>
    receiver.spans.filter((span) => span.traceId === traceId && span.name.startsWith(name))
  const arrived = (caller: Caller, name = 'invoke_agent') => until(`${name} arrives`, () => spansOf(caller, name)[0])

  test('a turn is a tree under the span of its caller: the agent, its search, its model', async () => {
    model.behaviour = streams([`The kettle of ${SECRET} `, 'weighs 900 grams [1].'])
    const caller = newCaller()
    isOk(await send(`How heavy is the kettle of ${SECRET}?`, { ...headersOf(caller), tracestate: 'vendor=1' }))
    const root = await arrived(caller)
    assert.equal(root.name, 'invoke_agent Lantern')
    assert.deepEqual([root.parentSpanId, root.traceState, root.kind], [caller.spanId, 'vendor=1', INTERNAL])
    const { attributes } = root
    assert.equal(attributes['gen_ai.operation.name'], 'invoke_agent')
    assert.equal(attributes['gen_ai.provider.name'], 'openai')
    assert.deepEqual([attributes['gen_ai.agent.id'], attributes['gen_ai.agent.name']], [agent, 'Lantern'])
    assert.equal(attributes['gen_ai.conversation.id'], session.split('/').at(-1))
    assert.deepEqual([attributes['repartee.answered'], attributes['repartee.sources']], [true, 1])
    assert.deepEqual(root.status, {})
    // The conventions keep the provider apart from the model.
    assert.deepEqual([attributes['gen_ai.request.model'], attributes['gen_ai.response.model']], ['stub', 'stub'])

    const [retrieval] = spansOf(caller, 'retrieval')
    assert.deepEqual([retrieval!.parentSpanId, retrieval!.attributes['gen_ai.data_source.id']], [root.spanId, agent])
    assert.equal(retrieval!.attributes['repartee.passages'], 1)
    const [chat] = spansOf(caller, 'chat')
    assert.deepEqual([chat!.name, chat!.parentSpanId, chat!.kind], ['chat stub', root.spanId, CLIENT])
    assert.equal(chat!.attributes['gen_ai.request.temperature'], 0.5)
    assert.equal(chat!.attributes['gen_ai.request.stream'], true)
    assert.deepEqual(chat!.attributes['gen_ai.response.finish_reasons'], ['stop'])
    for (const { attributes } of [root, chat!])
      for (const kind of ['input', 'output']) assert.ok((attributes[`gen_ai.usage.${kind}_tokens`] as number) > 0)
  })

  test('no text, and no key, is in what is sent', async () => {
    model.behaviour = says(`It is ${SECRET}.`)
    const caller = newCaller()
    isOk(await send(`Who is ${SECRET}?`, headersOf(caller)))
    await arrived(caller)
    const sent = receiver.bodies.join('')
    for (const word of [SECRET, 'kettle', 'Who is', client.key]) assert.ok(!sent.includes(word), word)
  })

  test('goes to /v1/traces, with the headers and the name that the settings give', async () => {
    const caller = newCaller()
    isOk(await send('Who?', headersOf(caller)))
    await arrived(caller)
    assert.ok(receiver.paths.every((path) => path === '/v1/traces'))
    assert.deepEqual([receiver.headers['x-tenant'], receiver.headers['x-other']], ['acme shop', '1'])
    const { resource } = receiver
    assert.deepEqual([resource['service.name'], resource['deployment.environment.name']], ['repartee', 'test'])
    assert.match(resource['service.version'] as string, /^\d+\.\d+\.\d+/)
  })

  test('what fails says by which error', async () => {
    model.behaviour = refuses(500)
    const caller = newCaller()
    isError(await send('Why?', headersOf(caller)), 502, 'model_failed')
    const root = await arrived(caller)
    for (const span of [root, ...spansOf(caller, 'chat')]) {
      assert.equal(span.status.code, ERROR)
      assert.equal(span.attributes['error.type'], 'model_failed')
    }
    model.behaviour = says('A reply.')
  })

  test('a caller who does not trace is not traced; one who names no trace begins one', async () => {
    const silent = newCaller()
    isOk(await send('Where?', headersOf(silent, '00')))
    const broken = newCaller()
    isOk(await send('When?', { traceparent: `00-${broken.traceId}-${'0'.repeat(16)}-01` }))
    const root = await until('one arrives', () => receiver.spans.find(({ name }) => name.startsWith('invoke_agent')))
    assert.equal(root.parentSpanId, undefined)
    assert.ok(![silent.traceId, broken.traceId].includes(root.traceId))
    assert.deepEqual(spansOf(silent, ''), [])
  })

  test('a tool of MCP takes the trace that its message names', async () => {
    const caller = newCaller()
    const params = { name: 'ask', arguments: { question: 'How?' }, _meta: headersOf(caller) }
    const answer = await client.post(`^/mcp/${agent}`, { jsonrpc: '2.0', id: 1, method: 'tools/call', params })
    assert.ok(!answer.body.result.isError, answer.text)
    assert.equal((await arrived(caller)).parentSpanId, caller.spanId)
  })

  test('so does a request of the protocols of others', async () => {
    const caller = newCaller()
    const body = { model: agent, messages: [{ role: 'user', content: 'How?' }] }
    const answer = await client.post('^/openai/v1/chat/completions', body, { headers: headersOf(caller) })
    assert.equal(answer.status, 200, answer.text)
    assert.equal((await arrived(caller)).parentSpanId, caller.spanId)
  })

  test('a collector that refuses for a while gets them later, and no turn waits for it', async () => {
    receiver.refusals = [503]
    const caller = newCaller()
    isOk(await send('And now?', headersOf(caller)))
    await arrived(caller)
    assert.equal(spansOf(caller, 'invoke_agent').length, 1)
    assert.deepEqual(receiver.refusals, [])
  })

  test('a collector that never answers touches no turn, and not the end of the service', async () => {
    receiver.hangs = true
    for (const message of ['One?', 'Two?', 'Three?']) isOk(await send(message, headersOf(newCaller())))
    await until('it was asked', () => receiver.paths.length > 0)
    await service.end('SIGTERM')
    assert.equal(service.exitCode(), 0)
    receiver.hangs = false
  })

  test('what waits is sent when the service ends', async () => {
    await service.restart({ OTEL_BSP_SCHEDULE_DELAY: '600000' })
    const caller = newCaller()
    isOk(await send('Last words?', headersOf(caller)))
    assert.deepEqual(receiver.spans, [])
    await service.end('SIGTERM')
    assert.equal(spansOf(caller, 'invoke_agent').length, 1)
  })

  test('texts are told where that is asked for', async () => {
    await service.restart({ OTEL_BSP_SCHEDULE_DELAY: '30', OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true' })
    model.behaviour = says('The kettle weighs 900 grams [1].')
    const caller = newCaller()
    isOk(await send('How heavy is the kettle?', headersOf(caller)))
    const { attributes } = await arrived(caller)
    assert.deepEqual(JSON.parse(attributes['gen_ai.input.messages'] as string), [
      { role: 'user', parts: [{ type: 'text', content: 'How heavy is the kettle?' }] },
    ])
    assert.match(attributes['gen_ai.output.messages'] as string, /900 grams/)
    assert.match(spansOf(caller, 'chat').at(-1)!.attributes['gen_ai.input.messages'] as string, new RegExp(SECRET))
    assert.equal(spansOf(caller, 'retrieval')[0]!.attributes['gen_ai.retrieval.query.text'], 'How heavy is the kettle?')
    await service.end('SIGTERM')
  })

  test('with OTEL_SDK_DISABLED nothing is sent', async () => {
    await service.restart({ OTEL_SDK_DISABLED: 'true' })
    isOk(await send('Silence?', headersOf(newCaller())))
    await service.end('SIGTERM')
    assert.deepEqual(receiver.paths, [])
  })
})
