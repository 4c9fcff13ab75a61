import type { ReparteeError } from '../../core/errors.ts'
import { withItems } from '../turns/event-stream.ts'
import type { EventFormat } from '../turns/settled-presenter.ts'
import type { BegunTurn, TurnOutcome } from '../turns/turn-outcome.ts'
import { citationsIn } from './citations.ts'
import { toOpenAiError } from './openai-errors.ts'
import { tokensOf, toSeconds } from './openai-fields.ts'
import { toConversationId, toItemId, toResponseId } from './openai-ids.ts'

/** Fields of a response that repeat its request. */
export interface ResponseRequest {
  model: string
  instructions: string | null
  previousResponseId: string | null
  maxOutputTokens: number | null
  metadata: object
  isStored: boolean
}

const REASONS = { length: 'max_output_tokens', filtered: 'content_filter', stop: undefined, cancelled: undefined }

function toAnnotations({ content, sources }: TurnOutcome) {
  return citationsIn(content, sources).map(({ start, end, source: { documentId, title, url } }) =>
    url === null
      ? { type: 'file_citation', file_id: documentId, filename: title, index: start }
      : { type: 'url_citation', url, title, start_index: start, end_index: end },
  )
}

/** Longer instructions are sent only with the complete response, because three events contain the response. */
const MAX_REPEATED_CHARS = 4_096

const textPart = (text: string, annotations: object[]) => ({ type: 'output_text', text, annotations, logprobs: [] })
const toItem = (replyId: string | undefined, status: string, content: object[]) => ({
  id: toItemId(replyId ?? ''),
  type: 'message',
  status,
  role: 'assistant',
  content,
})

/** Returns a reply as an item of a conversation. */
export const toOutputItem = (outcome: TurnOutcome, annotations: object[] = toAnnotations(outcome)) =>
  toItem(outcome.replyId, REASONS[outcome.finish] === undefined ? 'completed' : 'incomplete', [
    textPart(outcome.content, annotations),
  ])

/** Returns a response. It has no output if the turn is not done or has failed. */
export function toResponse(begun: BegunTurn, asked: ResponseRequest, more: object = {}) {
  return {
    id: toResponseId({ ...begun, replyId: begun.replyId ?? '' }),
    object: 'response',
    created_at: toSeconds(begun.createdAt),
    status: 'in_progress',
    background: false,
    completed_at: null,
    conversation: asked.isStored ? { id: toConversationId(begun) } : null,
    error: null,
    incomplete_details: null,
    instructions: asked.instructions,
    max_output_tokens: asked.maxOutputTokens,
    metadata: asked.metadata,
    model: asked.model,
    output: [] as object[],
    parallel_tool_calls: false,
    previous_response_id: asked.previousResponseId,
    reasoning: { effort: null, summary: null },
    store: asked.isStored,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: null,
    ...more,
  }
}

export function toDoneResponse(outcome: TurnOutcome, asked: ResponseRequest, now: number, item: object = toOutputItem(outcome)) {
  const { tokensIn, tokensOut, tokensCached, total } = tokensOf(outcome.usage)
  const reason = REASONS[outcome.finish]
  return toResponse(outcome, asked, {
    status: reason === undefined ? 'completed' : 'incomplete',
    completed_at: toSeconds(now),
    incomplete_details: reason === undefined ? null : { reason },
    output: [item],
    usage: {
      input_tokens: tokensIn,
      // Writes to a provider's cache are not counted.
      input_tokens_details: { cached_tokens: tokensCached, cache_write_tokens: 0 },
      output_tokens: tokensOut,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: total,
    },
  })
}

/** Formats a response as events, numbered in order: one message with one text. */
export class ResponseFormat implements EventFormat {
  readonly #asked: ResponseRequest
  readonly #clock: () => number
  #at = 0
  #place: object = {}

  constructor(asked: ResponseRequest, clock: () => number) {
    this.#asked = asked
    this.#clock = clock
  }

  started(begun: BegunTurn): string {
    const { instructions } = this.#asked
    const isLong = instructions !== null && instructions.length > MAX_REPEATED_CHARS
    const response = toResponse(begun, isLong ? { ...this.#asked, instructions: null } : this.#asked)
    const item = toItem(begun.replyId, 'in_progress', [])
    this.#place = { item_id: item.id, output_index: 0, content_index: 0 }
    return [
      this.#event('response.created', { response }),
      this.#event('response.in_progress', { response }),
      this.#event('response.output_item.added', { output_index: 0, item }),
      this.#event('response.content_part.added', { ...this.#place, part: textPart('', []) }),
    ].join('')
  }

  delta(delta: string): string {
    return this.#event('response.output_text.delta', { ...this.#place, delta, logprobs: [] })
  }

  *completed(outcome: TurnOutcome, rest: string | undefined): Generator<string> {
    const annotations = toAnnotations(outcome)
    const item = toOutputItem(outcome, [])
    const response = toDoneResponse(outcome, this.#asked, this.#clock(), item)
    const { content: text } = outcome
    const eventWith = (type: string, fields: object) => withItems(this.#event(type, fields), 'annotations', annotations)
    if (rest) yield this.delta(rest)
    for (const [i, annotation] of annotations.entries())
      yield this.#event('response.output_text.annotation.added', { ...this.#place, annotation_index: i, annotation })
    yield this.#event('response.output_text.done', { ...this.#place, text, logprobs: [] })
    yield* eventWith('response.content_part.done', { ...this.#place, part: textPart(text, []) })
    yield* eventWith('response.output_item.done', { output_index: 0, item })
    yield* eventWith(`response.${response.status}`, { response })
  }

  failed(error: ReparteeError, begun: BegunTurn): string {
    const { message, code } = toOpenAiError(error)
    // The protocol has a closed list of codes.
    const told = { code: code === 'rate_limit_exceeded' ? code : 'server_error', message }
    return this.#event('response.failed', { response: toResponse(begun, this.#asked, { status: 'failed', error: told }) })
  }

  #event(type: string, fields: object): string {
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.#at++, ...fields })}\n\n`
  }
}
