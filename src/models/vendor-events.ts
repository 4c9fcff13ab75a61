import { StringDecoder } from 'node:string_decoder'
import { createParser } from 'eventsource-parser'

// biome-ignore lint/suspicious/noExplicitAny: events of three protocols, as a provider sends them
type Event = any

/**
 * Returns what a vendor's package is to see of an event: the event itself, a smaller one, or undefined for nothing. The packages hold what is of no use here,
 * such as the calls of tools and citations, until a stream ends, and make a thousand times its size of some.
 */
export type Sift = (event: Event) => object | undefined

const onlyIf = (isOfUse: boolean, event: object): object | undefined => (isOfUse ? event : undefined)

const ANTHROPIC = {
  events: new Set(['message_start', 'content_block_stop', 'message_delta', 'message_stop', 'error']),
  // A tool is how some models give JSON.
  blocks: new Set(['text', 'thinking', 'tool_use']),
  deltas: new Set(['text_delta', 'thinking_delta', 'input_json_delta']),
}

export const siftAnthropic: Sift = (event) => {
  const { type, content_block: block, delta } = event
  if (type === 'content_block_start') return onlyIf(ANTHROPIC.blocks.has(block?.type), event)
  if (type === 'content_block_delta') return onlyIf(ANTHROPIC.deltas.has(delta?.type), event)
  return onlyIf(ANTHROPIC.events.has(type), event)
}

const RESPONSES = new Set([
  'response.created',
  'response.output_text.delta',
  'response.refusal.delta',
  'response.refusal.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
])

export const siftResponses: Sift = (event) => {
  const { type, item } = event
  if (type === 'response.output_item.added' || type === 'response.output_item.done')
    return onlyIf(item?.type === 'message', event)
  return onlyIf(RESPONSES.has(type), event)
}

export const siftGoogle: Sift = (event) => {
  const [candidate] = Array.isArray(event.candidates) ? event.candidates : []
  if (typeof candidate !== 'object' || candidate === null) return event
  const { groundingMetadata, urlContextMetadata, content, ...rest } = candidate
  const parts = Array.isArray(content?.parts) ? content.parts : []
  const texts = parts.filter((part: Event) => typeof part?.text === 'string')
  if (groundingMetadata === undefined && urlContextMetadata === undefined && texts.length === parts.length) return event
  return { ...event, candidates: [{ ...rest, content: { ...content, parts: texts } }] }
}

/** Takes the bytes of a stream of events as they come, and returns those of the events that are complete and that `sift` leaves. */
export function siftEvents(sift: Sift): (bytes: Uint8Array) => string {
  const decoder = new StringDecoder('utf8')
  let left = ''
  const { feed } = createParser({
    onEvent({ data }) {
      const kept = siftData(data, sift)
      if (kept !== undefined) left += `data: ${kept.replaceAll('\n', '\ndata: ')}\n\n`
    },
  })
  return (bytes) => {
    left = ''
    feed(decoder.write(bytes))
    return left
  }
}

function siftData(data: string, sift: Sift): string | undefined {
  let event: unknown
  try {
    event = JSON.parse(data)
  } catch {
    // `[DONE]`, or what the package reports as a failure.
    return data
  }
  if (typeof event !== 'object' || event === null) return data
  const kept = sift(event)
  return kept === event || kept === undefined ? kept && data : JSON.stringify(kept)
}
