import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'
import { notUnderstood } from './transport/failure.ts'
import { parseJson, tooMuch } from './transport/http.ts'

/** A string of any length. */
const TEXT = 'text'
/** A string of up to `MOST_CHARS`. */
const NAME = 'name'
const NUMBER = 'number'
const TRUTH = 'boolean'
/** Any JSON. */
const JSON_VALUE = 'json'
const MOST_CHARS = 1_000
/** The fields that a vendor's package needs. A nested object has its own shape, and a list has the shape of its items. */
interface Shape {
  [field: string]: typeof TEXT | typeof NAME | typeof NUMBER | typeof TRUTH | typeof JSON_VALUE | Shape | [Shape]
}

/** Returns the part of an event or complete answer that a vendor's package needs, undefined for none. Throws `model_failed`. */
export type Sift = (given: object) => object | undefined

const tokens = { input_tokens: NUMBER, output_tokens: NUMBER } as const

const anthropicMessage = { id: NAME, model: NAME, role: NAME, stop_reason: NAME } as const
const anthropicUsage = { ...tokens, cache_read_input_tokens: NUMBER, cache_creation_input_tokens: NUMBER } as const
const ANTHROPIC: Record<string, Shape> = {
  message_start: { message: { ...anthropicMessage, usage: anthropicUsage } },
  content_block_start: { index: NUMBER, content_block: { type: NAME, text: TEXT, id: NAME, name: NAME, input: {} } },
  content_block_delta: { index: NUMBER, delta: { type: NAME, text: TEXT, partial_json: TEXT } },
  content_block_stop: { index: NUMBER },
  message_delta: { delta: { stop_reason: NAME }, usage: anthropicUsage },
  message_stop: {},
  error: { error: { type: NAME, message: TEXT } },
}
/** Some models return JSON as a tool call. */
const ANTHROPIC_PARTS = new Set<unknown>(['text', 'text_delta', 'tool_use', 'input_json_delta'])

export const siftAnthropic: Sift = (event: { type?: unknown; content_block?: Typed; delta?: Typed }) => {
  const { type } = event
  const partType = type === 'content_block_start' ? event.content_block?.type : event.delta?.type
  const isPart = type === 'content_block_start' || type === 'content_block_delta'
  return isPart && !ANTHROPIC_PARTS.has(partType) ? undefined : siftTyped(ANTHROPIC, event)
}

const ANTHROPIC_WHOLE: Shape = {
  type: NAME,
  ...anthropicMessage,
  content: [{ type: NAME, text: TEXT, id: NAME, name: NAME, input: JSON_VALUE }],
  usage: anthropicUsage,
}

export const siftWholeAnthropic: Sift = (answer) => {
  const { content = [], ...sifted } = copy(ANTHROPIC_WHOLE, answer) as { content?: Part[] }
  const parts = content.filter(({ type }) => ANTHROPIC_PARTS.has(type))
  const isWhole = ({ type, text, id, name }: Part) => (type === 'text' ? isText(text) : isText(id) && isText(name))
  return { ...sifted, content: joined(allOf(parts, isWhole), (part, next) => part.type === 'text' && next.type === 'text') }
}

const responseItem = { output_index: NUMBER, item: { type: NAME, id: NAME, phase: NAME } } as const
const responseOutcome = {
  incomplete_details: { reason: NAME },
  error: { type: NAME, code: NAME, message: TEXT },
  usage: { ...tokens, input_tokens_details: { cached_tokens: NUMBER }, output_tokens_details: { reasoning_tokens: NUMBER } },
} as const
const responseEnd = { sequence_number: NUMBER, response: responseOutcome } as const
const responsePlace = { item_id: NAME, output_index: NUMBER, content_index: NUMBER } as const

const RESPONSES: Record<string, Shape> = {
  'response.created': { response: { id: NAME, created_at: NUMBER, model: NAME } },
  'response.output_item.added': responseItem,
  'response.output_item.done': responseItem,
  'response.output_text.delta': { ...responsePlace, delta: TEXT },
  'response.refusal.delta': { ...responsePlace, delta: TEXT },
  'response.refusal.done': { ...responsePlace, refusal: TEXT },
  'response.completed': responseEnd,
  'response.incomplete': responseEnd,
  'response.failed': responseEnd,
  error: {
    ...{ sequence_number: NUMBER, code: NAME, message: TEXT, param: NAME },
    error: { type: NAME, code: NAME, message: TEXT, param: NAME },
  },
}

export const siftResponses: Sift = (event: { type?: unknown; item?: Typed }) => {
  if ('item' in event && event.item?.type !== 'message') return undefined
  const sifted = siftTyped(RESPONSES, event) as { delta?: string; item_id?: string } | undefined
  // The package buffers unknown events until the first text.
  const isUnknown =
    typeof event.type === 'string' &&
    event.type.endsWith('.delta') &&
    (sifted?.delta === undefined || sifted.item_id === undefined)
  return isUnknown ? undefined : sifted
}

const RESPONSES_WHOLE: Shape = {
  ...{ id: NAME, created_at: NUMBER, model: NAME },
  output: [{ type: NAME, role: NAME, id: NAME, phase: NAME, content: [{ type: NAME, text: TEXT, refusal: TEXT }] }],
  ...responseOutcome,
}

const PHASES = new Set([undefined, 'commentary', 'final_answer'])

export const siftWholeResponses: Sift = (answer) => {
  const { output = [], ...sifted } = copy(RESPONSES_WHOLE, answer) as { output?: Message[] }
  const messages = allOf(
    output.filter(({ type }) => type === 'message'),
    ({ role, id, phase }) => role === 'assistant' && isText(id) && PHASES.has(phase),
  )
  const isWhole = ({ type, text, refusal }: Part) =>
    type === 'refusal' ? isText(refusal) : type === 'output_text' && isText(text)
  const areTexts = (part: Part, next: Part) => part.type === 'output_text' && next.type === 'output_text'
  return {
    ...sifted,
    // The package requires citations.
    output: messages.map(({ content = [], ...message }) => ({
      ...message,
      content: joined(allOf(content, isWhole), areTexts).map((part) => ({ ...part, annotations: [] })),
    })),
  }
}

const GOOGLE: Shape = {
  candidates: [{ content: { role: NAME, parts: [{ text: TEXT, thought: TRUTH }] }, finishReason: NAME }],
  usageMetadata: {
    ...{ promptTokenCount: NUMBER, candidatesTokenCount: NUMBER, totalTokenCount: NUMBER },
    ...{ cachedContentTokenCount: NUMBER, thoughtsTokenCount: NUMBER },
  },
  promptFeedback: { blockReason: NAME },
  error: { code: NUMBER, message: TEXT, status: NAME },
}

/** For both: events and complete answers have the same fields. */
export const siftGoogle: Sift = (given) => {
  const sifted = copy(GOOGLE, given) as { candidates?: { content?: { parts?: Piece[] } }[] }
  // The package reads only the first.
  const [candidate] = sifted.candidates ?? []
  if (candidate === undefined) return sifted
  const { content } = candidate
  if (content?.parts) {
    const texts = content.parts.filter(({ text }) => text !== undefined)
    content.parts = joined(texts, (part, next) => part.thought === next.thought)
  }
  return { ...sifted, candidates: [candidate] }
}

type Typed = { type?: unknown } | null
/** A part in Google's protocol. */
interface Piece {
  text?: string
  thought?: boolean
}
/** A part of a complete answer. */
type Part = Partial<Record<'type' | 'text' | 'refusal' | 'id' | 'name', string>>
type Message = Partial<Record<'type' | 'role' | 'id' | 'phase', string>> & { content?: Part[] }

const isText = (value: unknown): boolean => typeof value === 'string'

/** Returns the items. Throws if one is incomplete: for thousands of them, a package takes tens of milliseconds to report each error. */
function allOf<T>(items: T[], isWhole: (item: T) => boolean): T[] {
  if (!items.every(isWhole)) throw notUnderstood()
  return items
}

/** Joins the texts of neighbouring parts for which `mayJoin` is true: a package takes time for each part. */
function joined<T extends { text?: string }>(parts: readonly T[], mayJoin: (part: T, next: T) => boolean): T[] {
  const wholes: T[] = []
  for (const part of parts) {
    const last = wholes.at(-1)
    if (last !== undefined && mayJoin(last, part)) last.text = `${last.text}${part.text}`
    else wholes.push(part)
  }
  return wholes
}

function siftTyped(shapes: Record<string, Shape>, event: { type?: unknown }): object | undefined {
  const { type } = event
  // The package reports this as a failure.
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

/** Returns undefined for a value of another type. */
function copyAs(as: Shape[string], value: unknown): unknown {
  if (as === TEXT || as === NAME)
    return typeof value === 'string' && (as === TEXT || value.length <= MOST_CHARS) ? value : undefined
  if (as === NUMBER || as === TRUTH) return typeof value === as ? value : undefined
  if (as === JSON_VALUE) return value
  if (Array.isArray(as)) return Array.isArray(value) ? value.filter(isObject).map((item) => copy(as[0], item)) : undefined
  return isObject(value) ? copy(as, value) : undefined
}

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

/** Maximum events without text. An answer has a few. The packages may buffer each until the stream ends. */
const MOST_WITHOUT_TEXT = 200

/**
 * Returns a reader of a stream. For each chunk it returns the complete events after `sift`. `mostValues` limits the JSON values of an event.
 * Without `sift`, a package buffers citations and tool calls until the stream ends. Throws `model_failed`.
 */
export function siftEvents(sift: Sift, mostValues: number): (bytes: Uint8Array) => string {
  const decoder = new StringDecoder('utf8')
  let left = ''
  let withoutText = 0
  const { feed } = createParser({
    onEvent({ data }) {
      const event = data === '[DONE]' ? undefined : parseJson(data, mostValues)
      const sifted = isObject(event) ? sift(event) : data
      if (sifted === undefined) return
      if (isObject(sifted) && !('delta' in sifted || 'candidates' in sifted) && ++withoutText > MOST_WITHOUT_TEXT) throw tooMuch()
      left += `data: ${isObject(sifted) ? JSON.stringify(sifted) : sifted}\n\n`
    },
  })
  return (bytes) => {
    left = ''
    feed(decoder.write(bytes))
    return left
  }
}
