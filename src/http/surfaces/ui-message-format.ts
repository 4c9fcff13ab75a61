import type { ReparteeError } from '../../core/errors.ts'
import type { Source } from '../../reply/cite.ts'
import type { StreamHead } from '../turns/event-stream.ts'
import type { EventFormat } from '../turns/settled-presenter.ts'
import type { BegunTurn, TurnOutcome } from '../turns/turn-outcome.ts'

export const UI_STREAM: StreamHead = { headers: { 'x-vercel-ai-ui-message-stream': 'v1' }, text: '' }

const FINISH = { stop: 'stop', length: 'length', filtered: 'content-filter', cancelled: 'stop' } as const
const TEXT = 'text'
const DONE = 'data: [DONE]\n\n'
const part = (type: string, fields: object = {}): string => `data: ${JSON.stringify({ type, ...fields })}\n\n`
const metadataOf = ({ sessionId, userMessageId }: BegunTurn) => ({ sessionId, userMessageId })

/** Formats a reply as the parts of one UI message, in one step: text, sources, follow-ups. The message has the id of the reply. */
export class UiMessageFormat implements EventFormat {
  #isBegun = false

  started(begun: BegunTurn): string {
    const messageId = begun.replyId === undefined ? {} : { messageId: begun.replyId }
    return part('start', { ...messageId, messageMetadata: metadataOf(begun) }) + part('start-step')
  }

  delta(text: string): string {
    const start = this.#isBegun ? '' : part('text-start', { id: TEXT })
    this.#isBegun = true
    return start + part('text-delta', { id: TEXT, delta: text })
  }

  *completed(outcome: TurnOutcome, rest: string | undefined): Generator<string> {
    const { content, sources, followUps, model, usage } = outcome
    if (rest === undefined) {
      this.#isBegun = false
      yield part('reset-step') + this.delta(content)
    } else if (rest !== '') yield this.delta(rest)
    if (this.#isBegun) yield part('text-end', { id: TEXT })
    for (const source of sources) yield toPart(source)
    if (followUps.length > 0) yield part('data-followUps', { data: followUps })
    yield part('finish-step')
    const messageMetadata = { ...metadataOf(outcome), model, usage }
    yield part('finish', { finishReason: FINISH[outcome.finish], messageMetadata }) + DONE
  }

  failed = ({ message }: ReparteeError): string => part('error', { errorText: message }) + DONE
}

/** `sourceId` is the n of the marks `[n]` in the text. */
function toPart({ index, title, url, documentId, snippet, page, score }: Source): string {
  const more = { documentId, snippet, score, ...(page === undefined ? {} : { page }) }
  const fields = { sourceId: String(index), title, providerMetadata: { repartee: more } }
  return url === null ? part('source-document', { ...fields, mediaType: 'text/plain' }) : part('source-url', { ...fields, url })
}
