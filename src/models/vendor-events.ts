import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { tooMuch } from './http.ts'

/** A string of any length. */
const TEXT = 'text'
/** A number, a truth value, null, or a string of up to `MOST_CHARS`. */
const VALUE = 'value'
const MOST_CHARS = 1_000
/** The fields that a vendor's package needs. An object among them has a shape of its own, and a list has the shape of its items. */
interface Shape {
  [field: string]: typeof TEXT | typeof VALUE | Shape | [Shape]
}

/** Returns what a vendor's package is to see of an event, undefined for nothing. */
export type Sift = (event: object) => object | undefined

const tokens = { input_tokens: VALUE, output_tokens: VALUE } as const

const ANTHROPIC: Record<string, Shape> = {
  message_start: {
    message: {
      ...{ id: VALUE, model: VALUE, role: VALUE, stop_reason: VALUE },
      usage: { ...tokens, cache_read_input_tokens: VALUE, cache_creation_input_tokens: VALUE },
    },
  },
  content_block_start: { index: VALUE, content_block: { type: VALUE, text: TEXT, id: VALUE, name: VALUE, input: {} } },
  content_block_delta: { index: VALUE, delta: { type: VALUE, text: TEXT, partial_json: TEXT } },
  content_block_stop: { index: VALUE },
  message_delta: {
    delta: { stop_reason: VALUE },
    usage: { ...tokens, cache_read_input_tokens: VALUE, cache_creation_input_tokens: VALUE },
  },
  message_stop: {},
  error: { error: { type: VALUE, message: TEXT } },
}
/** A tool is how some models give JSON. */
const ANTHROPIC_PARTS = new Set<unknown>(['text', 'text_delta', 'tool_use', 'input_json_delta'])

export const siftAnthropic: Sift = (event: { type?: unknown; content_block?: Typed; delta?: Typed }) => {
  const { type } = event
  const partType = type === 'content_block_start' ? event.content_block?.type : event.delta?.type
  const isPart = type === 'content_block_start' || type === 'content_block_delta'
  return isPart && !ANTHROPIC_PARTS.has(partType) ? undefined : siftTyped(ANTHROPIC, event)
}

const responseItem = { output_index: VALUE, item: { type: VALUE, id: VALUE, phase: VALUE } } as const
const responseEnd = {
  sequence_number: VALUE,
  response: {
    incomplete_details: { reason: VALUE },
    error: { code: VALUE, message: TEXT },
    usage: { ...tokens, input_tokens_details: { cached_tokens: VALUE }, output_tokens_details: { reasoning_tokens: VALUE } },
  },
} as const
const responsePlace = { item_id: VALUE, output_index: VALUE, content_index: VALUE } as const

const RESPONSES: Record<string, Shape> = {
  'response.created': { response: { id: VALUE, created_at: VALUE, model: VALUE } },
  'response.output_item.added': responseItem,
  'response.output_item.done': responseItem,
  'response.output_text.delta': { ...responsePlace, delta: TEXT },
  'response.refusal.delta': { ...responsePlace, delta: TEXT },
  'response.refusal.done': { ...responsePlace, refusal: TEXT },
  'response.completed': responseEnd,
  'response.incomplete': responseEnd,
  'response.failed': responseEnd,
  error: {
    ...{ sequence_number: VALUE, code: VALUE, message: TEXT, param: VALUE },
    error: { type: VALUE, code: VALUE, message: TEXT, param: VALUE },
  },
}

export const siftResponses: Sift = (event: { type?: unknown; item?: Typed }) =>
  'item' in event && event.item?.type !== 'message' ? undefined : siftTyped(RESPONSES, event)

const GOOGLE: Shape = {
  candidates: [{ content: { role: VALUE, parts: [{ text: TEXT, thought: VALUE }] }, finishReason: VALUE }],
  usageMetadata: {
    ...{ promptTokenCount: VALUE, candidatesTokenCount: VALUE, totalTokenCount: VALUE },
    ...{ cachedContentTokenCount: VALUE, thoughtsTokenCount: VALUE },
  },
  promptFeedback: { blockReason: VALUE },
  error: { code: VALUE, message: TEXT, status: VALUE },
}

export const siftGoogle: Sift = (event) => {
  const sifted = copy(GOOGLE, event) as { candidates?: { content?: { parts?: { text?: string }[] } }[] }
  for (const { content } of sifted.candidates ?? [])
    if (content?.parts) content.parts = content.parts.filter(({ text }) => text !== undefined)
  return sifted
}

type Typed = { type?: unknown } | null

function siftTyped(shapes: Record<string, Shape>, event: { type?: unknown }): object | undefined {
  const { type } = event
  // The package reports it as a failure.
  if (typeof type !== 'string') return {}
  return Object.hasOwn(shapes, type) ? { type, ...copy(shapes[type]!, event) } : undefined
}

function copy(shape: Shape, given: object): object {
  const copied: Record<string, unknown> = {}
  for (const [field, as] of Object.entries(shape)) {
    const value = copyAs(as, (given as Record<string, unknown>)[field])
    if (value !== undefined) copied[field] = value
  }
  return copied
}

function copyAs(as: Shape[string], value: unknown): unknown {
  if (typeof value === 'string') return as === TEXT || (as === VALUE && value.length <= MOST_CHARS) ? value : undefined
  if (typeof value !== 'object' || value === null) return as === VALUE || value === null ? value : undefined
  if (Array.isArray(as)) return Array.isArray(value) ? value.filter(isObject).map((item) => copy(as[0], item)) : undefined
  return typeof as === 'object' ? copy(as, value) : undefined
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** An answer has a few. The packages may hold each until the stream ends. */
const MOST_WITHOUT_TEXT = 1_000

/**
 * Returns a reader of a stream of events. It takes bytes as they come, and returns those of the complete events, as `sift` leaves them. A package may hold what
 * no reply needs, such as citations and calls of tools, until the stream ends, and may make a thousand times its size of it. Throws `model_failed`.
 */
export function siftEvents(sift: Sift): (bytes: Uint8Array) => string {
  const decoder = new StringDecoder('utf8')
  let left = ''
  let withoutText = 0
  const { feed } = createParser({
    onEvent({ data }) {
      const event = parse(data)
      const sifted = event === undefined ? data : sift(event)
      if (sifted === undefined) return
      if (typeof sifted === 'object' && !('delta' in sifted || 'candidates' in sifted) && ++withoutText > MOST_WITHOUT_TEXT)
        throw tooMuch()
      const words = typeof sifted === 'string' ? sifted.replaceAll('\n', '\ndata: ') : JSON.stringify(sifted)
      left += `data: ${words}\n\n`
    },
  })
  return (bytes) => {
    left = ''
    feed(decoder.write(bytes))
    return left
  }
}

/** Returns undefined for `[DONE]`, and for what the package reports as a failure. */
function parse(data: string): object | undefined {
  try {
    const event: unknown = JSON.parse(data)
    return isObject(event) ? event : undefined
  } catch {
    return undefined
  }
}
