import type { IncomingMessage } from 'node:http'

/** A reply as defined by tests. Each format encodes it in its own way. */
export interface Said {
  model: string
  text: string
  reason: 'stop' | 'length' | 'filtered'
  /** The text is sent as the input of this tool, because the caller requested JSON that way. */
  tool?: string
}

export interface Message {
  role: string
  content: string
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of five formats
type Body = any

/** The wire format of a provider. Every string is a piece of a stream. */
export interface Format {
  mediaType: string
  /** Returns all messages of a request, in the form of chat completions. */
  messages(body: Body): Message[]
  isStream(body: Body, path: string): boolean
  whole(said: Said): object
  begin(said: Said): string
  piece(said: Said, text: string): string
  thought(said: Said): string
  alive: string
  failure(words: string): string
  end(said: Said): string
  /** A piece that no parser of this format can read. */
  garbage: string
}

/** Usage in every format: 21 input tokens, 5 of them cached, and 7 output tokens. */
const chatUsage = { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28, prompt_tokens_details: { cached_tokens: 5 } }
const event = (data: object | string): string => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`
const named = (type: string, data: object): string => `event: ${type}\n${event({ type, ...data })}`
const textOf = (content: Body): string =>
  typeof content === 'string' ? content : (content ?? []).map((part: Body) => part.text ?? '').join('')
const isJsonLike = { alive: ': still here\n\n', garbage: 'data: }{ no JSON\n\n' }

const chatReasons = { stop: 'stop', length: 'length', filtered: 'content_filter' }
const chunk = ({ model }: Said, delta: object, finish_reason: string | null = null) =>
  event({ id: 'c', object: 'chat.completion.chunk', created: 1, model, choices: [{ index: 0, delta, finish_reason }] })

const chat: Format = {
  ...isJsonLike,
  mediaType: 'text/event-stream',
  messages: ({ messages }) => messages,
  isStream: ({ stream }) => stream === true,
  whole({ model, text, reason }) {
    const choices = [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: chatReasons[reason] }]
    return { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model, choices, usage: chatUsage }
  },
  begin: (said) => chunk(said, { role: 'assistant', content: '' }),
  piece: (said, content) => chunk(said, { content }),
  thought: (said) => chunk(said, { reasoning_content: 'Hm.' }),
  failure: (message) => event({ error: { message, code: 500 } }),
  end: (said) =>
    chunk(said, {}, chatReasons[said.reason]) +
    event({ id: 'c', model: said.model, choices: [], usage: chatUsage }) +
    event('[DONE]'),
}

const responsesUsage = {
  input_tokens: 21,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 28,
}
const responseReasons = { stop: null, length: 'max_output_tokens', filtered: 'content_filter' }
const part = (text: string) => ({ type: 'output_text', text, annotations: [] })
const toResponse = ({ model, text, reason }: Said) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: reason === 'stop' ? 'completed' : 'incomplete',
  error: null,
  incomplete_details: reason === 'stop' ? null : { reason: responseReasons[reason] },
  model,
  output: [{ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [part(text)] }],
  usage: responsesUsage,
})
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 }

const responses: Format = {
  ...isJsonLike,
  mediaType: 'text/event-stream',
  messages: ({ input }) =>
    input.map(({ role, content }: Body) => ({ role: role === 'developer' ? 'system' : role, content: textOf(content) })),
  isStream: ({ stream }) => stream === true,
  whole: toResponse,
  begin: (said) =>
    named('response.created', { response: { ...toResponse(said), status: 'in_progress', output: [], usage: null } }) +
    named('response.output_item.added', {
      output_index: 0,
      item: { type: 'message', id: 'msg_1', status: 'in_progress', role: 'assistant', content: [] },
    }) +
    named('response.content_part.added', { ...at, part: part('') }),
  piece: (_said, delta) => named('response.output_text.delta', { ...at, delta }),
  thought: () =>
    named('response.reasoning_summary_text.delta', { item_id: 'rs_1', output_index: 0, summary_index: 0, delta: 'Hm.' }),
  failure: (message) => named('error', { code: 'server_error', message, param: null, sequence_number: 9 }),
  end: (said) =>
    named('response.output_text.done', { ...at, text: said.text }) +
    named('response.output_item.done', { output_index: 0, item: toResponse(said).output[0] }) +
    named(said.reason === 'stop' ? 'response.completed' : 'response.incomplete', { response: toResponse(said) }),
}

const anthropicUsage = { input_tokens: 16, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 7 }
const anthropicReasons = { stop: 'end_turn', length: 'max_tokens', filtered: 'refusal' }
const stopReason = ({ tool, reason }: Said) => (tool === undefined ? anthropicReasons[reason] : 'tool_use')
const toAnthropic = (said: Said) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: said.model,
  content: [
    said.tool === undefined
      ? { type: 'text', text: said.text }
      : { type: 'tool_use', id: 'tool_1', name: said.tool, input: JSON.parse(said.text) },
  ],
  stop_reason: stopReason(said),
  stop_sequence: null,
  usage: anthropicUsage,
})

const anthropic: Format = {
  ...isJsonLike,
  alive: named('ping', {}),
  mediaType: 'text/event-stream',
  messages: ({ system, messages }) => [
    ...(system === undefined ? [] : [{ role: 'system', content: textOf(system) }]),
    ...messages.map(({ role, content }: Body) => ({ role, content: textOf(content) })),
  ],
  isStream: ({ stream }) => stream === true,
  whole: toAnthropic,
  begin: (said) =>
    named('message_start', {
      message: { ...toAnthropic(said), content: [], stop_reason: null, usage: { ...anthropicUsage, output_tokens: 1 } },
    }) +
    named('content_block_start', {
      index: 0,
      content_block:
        said.tool === undefined ? { type: 'text', text: '' } : { type: 'tool_use', id: 'tool_1', name: said.tool, input: {} },
    }),
  piece: ({ tool }, text) =>
    named('content_block_delta', {
      index: 0,
      delta: tool === undefined ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: text },
    }),
  thought: () => named('ping', {}),
  failure: (message) => named('error', { error: { type: 'overloaded_error', message } }),
  end: (said) =>
    named('content_block_stop', { index: 0 }) +
    named('message_delta', { delta: { stop_reason: stopReason(said), stop_sequence: null }, usage: { output_tokens: 7 } }) +
    named('message_stop', {}),
}

const googleReasons = { stop: 'STOP', length: 'MAX_TOKENS', filtered: 'SAFETY' }
const googleUsage = { promptTokenCount: 21, cachedContentTokenCount: 5, candidatesTokenCount: 7, totalTokenCount: 28 }
const candidate = (parts: object[], finishReason?: string) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason === undefined ? {} : { finishReason }) }],
  usageMetadata: googleUsage,
  modelVersion: 'm',
  responseId: 'r',
})

const google: Format = {
  ...isJsonLike,
  mediaType: 'text/event-stream',
  messages: ({ systemInstruction, contents }) => [
    ...(systemInstruction === undefined ? [] : [{ role: 'system', content: textOf(systemInstruction.parts) }]),
    ...contents.map(({ role, parts }: Body) => ({ role: role === 'model' ? 'assistant' : role, content: textOf(parts) })),
  ],
  isStream: (_body, path) => path.includes(':streamGenerateContent'),
  whole: ({ text, reason }) => candidate([{ text }], googleReasons[reason]),
  begin: () => '',
  piece: (_said, text) => event(candidate([{ text }])),
  thought: () => event(candidate([{ text: 'Hm.', thought: true }])),
  failure: (message) => event({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
  end: ({ reason }) => event(candidate([{ text: '' }], googleReasons[reason])),
}

const line = (data: object): string => `${JSON.stringify(data)}\n`
const ollamaEnd = ({ model, reason }: Said, content: string) => ({
  model,
  created_at: '2026-01-01T00:00:00Z',
  message: { role: 'assistant', content },
  done: true,
  done_reason: reason === 'length' ? 'length' : 'stop',
  prompt_eval_count: 21,
  eval_count: 7,
})

const ollama: Format = {
  mediaType: 'application/x-ndjson',
  alive: '\n',
  garbage: '}{ no JSON\n',
  messages: ({ messages }) => messages,
  isStream: ({ stream }) => stream !== false,
  whole: (said) => ollamaEnd(said, said.text),
  begin: () => '',
  piece: ({ model }, content) => line({ model, message: { role: 'assistant', content }, done: false }),
  thought: ({ model }) => line({ model, message: { role: 'assistant', content: '', thinking: 'Hm.' }, done: false }),
  failure: (error) => line({ error }),
  end: (said) => line(ollamaEnd(said, '')),
}

/** Returns the format of a request, which its path determines. */
export function formatOf({ url = '' }: IncomingMessage): Format {
  const path = url.split('?', 1)[0]!
  if (path.endsWith('/chat/completions')) return chat
  if (path.endsWith('/responses')) return responses
  if (path.endsWith('/messages')) return anthropic
  if (path.endsWith('/api/chat')) return ollama
  if (/:(generate|streamGenerate)Content$/.test(path)) return google
  throw new Error(`no format of a provider has the path ${url}`)
}
