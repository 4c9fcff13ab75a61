import { follow, pause, toAborted } from './cancel.ts'
import type { Connection } from './connection.ts'
import { fromBody, ReparteeError } from './errors.ts'
import { readEvents, type ServerEvent } from './events.ts'
import { type Call, delayMs, type PostOptions, request } from './request.ts'
import type { Answer, UserMessage } from './types.ts'
import { uuid } from './uuid.ts'

/** What happens in a turn while it is streamed. A turn that fails throws instead. */
export type TurnEvent =
  /** The message is stored. Text that came before, if any did, is void: the reply begins anew. */
  | { type: 'turn.started'; id: string; chatSession: Answer['chatSession']; userMessage: UserMessage }
  /** A piece of the reply, in Markdown; provisional until the turn is completed. */
  | { type: 'message.delta'; id: string; text: string }
  /** The whole answer. It counts. */
  | { type: 'turn.completed'; id: string; answer: Answer }

/** A turn, event by event. `return` closes its connection at once, also while an event is waited for. */
export type TurnStream = AsyncGenerator<TurnEvent, void>

/** How the stream of a turn is asked for: at first, and behind what was seen of it already. */
export interface TurnCalls {
  first: Call
  /** Undefined where it is not known which message it is about: then the call before is made again, with the same Idempotency-Key. */
  resume(messageId: string | undefined, lastEventId: string): Call | undefined
}

const ACCEPT = { accept: 'text/event-stream' }

/** The events of a turn. A connection that breaks, or falls silent, is taken up again behind the last event, until the turn is over. */
export function streamTurn(connection: Connection, calls: TurnCalls, options: PostOptions = {}): TurnStream {
  const left = new AbortController()
  const events = turnEvents(connection, calls, options, left)
  const leave = events.return.bind(events)
  // A generator hears of `return` only when what it waits for has come: a `ReadableStream` of it would hold on to the connection.
  events.return = (value) => {
    left.abort()
    return leave(value)
  }
  return events
}

async function* turnEvents(connection: Connection, calls: TurnCalls, options: PostOptions, left: AbortController): TurnStream {
  const unfollow = follow(left, options.signal)
  const { signal } = left
  try {
    yield* eventsOf(connection, calls, { ...options, signal })
  } catch (error) {
    // Whoever has left is told nothing; whose signal was given is.
    if (!signal.aborted || options.signal?.aborted) throw error
  } finally {
    unfollow()
  }
}

async function* eventsOf(connection: Connection, calls: TurnCalls, options: PostOptions & { signal: AbortSignal }): TurnStream {
  const { silenceMs } = connection
  const { signal, maxRetries = connection.maxRetries } = options
  const same = { ...options, idempotencyKey: options.idempotencyKey ?? uuid() }
  let call = calls.first
  let messageId: string | undefined
  for (let breaks = 0; breaks <= maxRetries; breaks++) {
    if (breaks > 0) await pause(delayMs(connection, breaks), signal)
    const asked = { ...call, headers: { ...ACCEPT, ...call.headers }, silenceMs }
    const body = await request(connection, asked, same, bodyOf)
    if (body === undefined) return
    for await (const received of readEvents(body, { silenceMs, signal })) {
      // Several come in one piece.
      if (signal.aborted) break
      const event = toTurnEvent(received)
      if (event === undefined) continue
      yield event
      if (event.type === 'turn.completed') return
      if (event.type === 'turn.started') messageId = event.userMessage.id
      call = calls.resume(messageId, event.id) ?? call
      breaks = 0
    }
    if (signal.aborted) throw toAborted(signal)
  }
  throw new ReparteeError('connection_failed', 'The stream of the reply broke off, and could not be taken up again.')
}

/** The answer of a turn that is streamed, when it is complete. `onText` is told the reply as it grows: the whole text so far, and what is new of it. */
export async function answerOf(turn: AsyncIterable<TurnEvent>, onText?: (text: string, added: string) => void): Promise<Answer> {
  let text = ''
  for await (const event of turn) {
    if (event.type === 'turn.completed') return event.answer
    const added = event.type === 'message.delta' ? event.text : ''
    text = event.type === 'message.delta' ? text + added : ''
    onText?.(text, added)
  }
  throw new ReparteeError('connection_failed', 'The stream of the reply ended before the reply did.')
}

/** Undefined where the last event of the turn was seen: nothing is left to stream. */
async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array> | undefined> {
  if (response.status === 204) return undefined
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream && response.body !== null) return response.body
  response.body?.cancel().catch(() => {})
  throw new ReparteeError('connection_failed', 'The answer is not one of Repartee: it is no stream of events.')
}

/** Undefined for what a newer service may say that this client does not know. Throws what the turn failed with. */
function toTurnEvent({ type, id, data }: ServerEvent): TurnEvent | undefined {
  if (type === 'turn.started') return { type, id, ...parse(data) }
  if (type === 'message.delta') return { type, id, text: parse(data).text }
  if (type === 'turn.completed') return { type, id, answer: parse(data) }
  if (type === 'turn.failed') throw fromBody(parse(data).error)
  return undefined
}

function parse(data: string) {
  try {
    return JSON.parse(data)
  } catch (cause) {
    throw new ReparteeError('connection_failed', 'The stream of the reply holds what Repartee does not say.', { cause })
  }
}
