import fc from 'fast-check'
import { text } from './fuzz.ts'
import { odd, put, Ref } from './made-from-schema.ts'

/** The protocol that determines the format of a response. */
export type Surface = 'openai' | 'ai-sdk' | 'mcp'

/** A request of a third-party protocol. */
export interface SurfaceRequest {
  name: string
  surface: Surface
  method: 'GET' | 'POST' | 'DELETE'
  /** Relative to the host, with resource names in braces. */
  path: string
  query?: fc.Arbitrary<string>
  /** As clients send it. */
  body?: fc.Arbitrary<unknown>
}

const ref = (of: string) => fc.constant(new Ref(of))
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 })
type Fields = Record<string, fc.Arbitrary<unknown>>
/** Adds a few of the optional fields. */
const record = (required: Fields, more: Fields = {}): fc.Arbitrary<object> =>
  fc
    .tuple(
      fc.record(required),
      fc.record(more),
      fc.shuffledSubarray(Object.keys(more)).map((names) => names.slice(0, MAX_OPTIONAL)),
    )
    .map(([fields, others, chosen]) => ({ ...fields, ...Object.fromEntries(chosen.map((name) => [name, others[name]])) }))
const MAX_OPTIONAL = 3

const part = fc.oneof(
  { arbitrary: record({ type: fc.constantFrom('text', 'input_text', 'output_text'), text: text() }), weight: 6 },
  fc.constantFrom<object>(
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 'auto' } },
    { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
    { type: 'input_file', file_id: 'file-1' },
    { type: 'refusal', refusal: 'No.' },
    { type: 'thinking', thinking: 'Hm.' },
  ),
)
const content = fc.oneof({ arbitrary: text(), weight: 3 }, fc.array(part, { minLength: 1, maxLength: 3 }))
const said = fc.oneof(
  { arbitrary: record({ role: fc.constantFrom('system', 'developer', 'user', 'assistant'), content }), weight: 6 },
  fc.constantFrom<object>(
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'x' },
    { role: 'function', name: 'f', content: 'x' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    { type: 'reasoning', id: 'rs_1', summary: [] },
    { type: 'item_reference', id: 'msg_1' },
  ),
)
const asked = record({ role: fc.constant('user'), content: text() })
const conversation = fc
  .tuple(fc.oneof({ arbitrary: fc.constant([]), weight: 3 }, fc.array(said, { maxLength: 3 })), asked)
  .map(([before, last]) => [...before, last])
const user = fc.oneof(text(), fc.uuid())
const tokens = fc.integer({ min: 1, max: 5_000 })
const ignored = {
  temperature: fc.constantFrom(0, 2),
  tools: fc.constantFrom([], [{ type: 'function', function: { name: 'f' } }]),
  tool_choice: fc.constantFrom('auto', 'none', 'required'),
  parallel_tool_calls: fc.boolean(),
}

const completion = record(
  { model: ref('agent'), messages: conversation },
  {
    ...{ stream: fc.boolean(), stream_options: record({ include_usage: fc.boolean() }), user, max_tokens: tokens, ...ignored },
    ...{ n: fc.constantFrom(1, 2), stop: fc.constantFrom(null, [], ['x']), logprobs: fc.boolean(), safety_identifier: user },
    response_format: fc.constantFrom<object>({ type: 'text' }, { type: 'json_object' }),
    metadata: record({ session_id: ref('session') }),
  },
)
const response = record(
  { model: ref('agent'), input: fc.oneof(text(), conversation) },
  {
    ...{ stream: fc.boolean(), store: fc.boolean(), instructions: text(), user, max_output_tokens: tokens, ...ignored },
    conversation: fc.oneof(ref('conversation'), ref('session'), record({ id: ref('conversation') })),
    previous_response_id: ref('response'),
    metadata: fc.dictionary(text(10), text(10), { maxKeys: 3, noNullPrototype: true }),
    background: fc.boolean(),
  },
)
const newConversation = record(
  { metadata: record({ agent_id: ref('agent') }, { user, name: text() }) },
  { items: fc.array(fc.oneof(said, asked), { maxLength: 4 }) },
)
const shown = record({
  id: fc.oneof(text(20), fc.uuid()),
  role: fc.constant('user'),
  parts: fc.array(
    fc.oneof(
      { arbitrary: record({ type: fc.constant('text'), text: text() }), weight: 6 },
      fc.constantFrom<object>(
        { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AA==' },
        { type: 'tool-f', toolCallId: 'c', state: 'output-available', input: {}, output: {} },
        { type: 'data-x', data: { a: 1 } },
        { type: 'step-start' },
        { type: 'reasoning', text: 'Hm.' },
      ),
    ),
    { minLength: 1, maxLength: 3 },
  ),
})
const uiMessage = record(
  { id: fc.oneof(ref('session'), text(20)), messages: fc.array(shown, { minLength: 1, maxLength: 3 }) },
  {
    trigger: fc.constantFrom('submit-message', 'regenerate-message'),
    messageId: fc.oneof(text(20), fc.uuid()),
    externalUserId: fc.uuid(),
    additionalContext: text(),
    cancelOnDisconnect: fc.boolean(),
  },
)

const CURRENT = '2026-07-28'
const META = 'io.modelcontextprotocol/'
const meta = fc.constantFrom<object | undefined>(
  undefined,
  { progressToken: 1 },
  { [`${META}protocolVersion`]: CURRENT, [`${META}clientCapabilities`]: {} },
  { [`${META}protocolVersion`]: CURRENT, [`${META}clientCapabilities`]: {}, progressToken: 'p' },
)
const call = (name: string, input: fc.Arbitrary<unknown>) =>
  record({ method: fc.constant('tools/call'), params: record({ name: fc.constant(name), arguments: input }) })
const mcpCalls = (more: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .tuple(
      fc.oneof(
        { arbitrary: call('ask', record({ question: text(), ...more }, { sessionId: ref('session') })), weight: 4 },
        call('search', record({ query: text(), ...more }, { topK: fc.integer({ min: 1, max: 100 }) })),
        call('list_agents', record({}, { cursor: ref('agent') })),
        call('forget', fc.constant({})),
        ...['tools/list', 'server/discover', 'initialize', 'ping', 'resources/list', 'notifications/cancelled', 'x'].map(
          (method) => fc.constant({ method, params: { protocolVersion: '2025-06-18', requestId: 1, cursor: 'x' } }),
        ),
      ),
      fc.oneof(fc.integer(), text(20), fc.constantFrom(2 ** 53, -0, 'x'.repeat(2_000))),
      meta,
    )
    .map(([message, id, _meta]) => {
      const { method, params } = message as { method: string; params: object }
      const isNotification = method.startsWith('notifications/')
      return { jsonrpc: '2.0', ...(isNotification ? {} : { id }), method, params: { ...params, ...(_meta && { _meta }) } }
    })

const queryOf = (fields: Record<string, fc.Arbitrary<string>>) =>
  fc.record(Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, maybe(value)]))).map((made) =>
    Object.entries(made)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${value}`)
      .join('&'),
  )

export const REQUESTS: SurfaceRequest[] = [
  { name: 'models', surface: 'openai', method: 'GET', path: '/openai/v1/models' },
  { name: 'a model', surface: 'openai', method: 'GET', path: '/openai/v1/models/{agent}' },
  { name: 'chat completions', surface: 'openai', method: 'POST', path: '/openai/v1/chat/completions', body: completion },
  { name: 'responses', surface: 'openai', method: 'POST', path: '/openai/v1/responses', body: response },
  {
    ...{ name: 'a response', surface: 'openai', method: 'GET', path: '/openai/v1/responses/{response}' },
    query: queryOf({ stream: fc.constantFrom('true', 'false'), 'include[]': fc.constant('x') }),
  },
  { name: 'conversations', surface: 'openai', method: 'POST', path: '/openai/v1/conversations', body: newConversation },
  { name: 'a conversation', surface: 'openai', method: 'GET', path: '/openai/v1/conversations/{conversation}' },
  {
    ...{ name: 'its items', surface: 'openai', method: 'GET', path: '/openai/v1/conversations/{conversation}/items' },
    query: queryOf({
      limit: fc.constantFrom('1', '100', '0', '101', 'x', '1e1', '5%00'),
      order: fc.constantFrom('asc', 'desc', 'x'),
      after: fc.constantFrom('msg_x', `msg_${'0'.repeat(32)}`, '', '%ff', '%00', 'msg_'.repeat(500)),
    }),
  },
  { name: 'its end', surface: 'openai', method: 'DELETE', path: '/openai/v1/conversations/{spare}' },
  { name: 'a UI message', surface: 'ai-sdk', method: 'POST', path: '/ai-sdk/v1/agents/{agent}/chat', body: uiMessage },
  {
    ...{ name: 'its stream', surface: 'ai-sdk', method: 'GET', path: '/ai-sdk/v1/agents/{agent}/chat/{session}/stream' },
    query: queryOf({ externalUserId: fc.constantFrom('x', '', '00000000-0000-0000-0000-000000000000') }),
  },
  { name: 'MCP of one agent', surface: 'mcp', method: 'POST', path: '/mcp/{agent}', body: mcpCalls({}) },
  { name: 'MCP of all agents', surface: 'mcp', method: 'POST', path: '/mcp', body: mcpCalls({ agent: ref('agent') }) },
]

type Path = (string | number)[]

/** Returns every position of a value of any shape. */
function placesOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null || value instanceof Ref) return [path]
  const below = Object.entries(value).flatMap(([key, inner]) =>
    placesOf(inner, [...path, Array.isArray(value) ? Number(key) : key]),
  )
  return [path, ...below]
}

const large = fc.constantFrom<() => unknown>(
  () => Array(300_000).fill(1),
  () => Array(100_000).fill({}),
  () => Array(100_000).fill(null),
  () => Array(20_000).fill([[[]]]),
  () => Array(10_000).fill(Array(20).fill(1)),
  () => Array(10_000).fill({ role: 'user', content: Array(20).fill(1), parts: Array(20).fill(1) }),
  () => 'x'.repeat(500_000),
  () => '😀'.repeat(100_000),
)

/** Generates bodies as clients send them, with one position replaced. */
export const spoiltSomewhere = (whole: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc
    .tuple(
      whole,
      fc.nat(),
      fc.oneof(
        { arbitrary: odd, weight: 10 },
        { arbitrary: large.map((make) => make()), weight: 2 },
        { arbitrary: fc.constant(undefined), weight: 2 },
      ),
    )
    .map(([value, at, instead]) => {
      const places = placesOf(value)
      return put(value, places[at % places.length]!, instead)
    })
