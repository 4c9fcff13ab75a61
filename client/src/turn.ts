import { follow, pause, toAborted } from './cancel.ts'
import type { Connection } from './connection.ts'
import { fromBody, ReparteeError } from './errors.ts'
import { readEvents, type ServerEvent } from './events.ts'
import { type Call, delayMs, type PostOptions, request } from './request.ts'
import type { Answer, UserMessage } from './types.ts'
import { uuid } from './uuid.ts'

/** An event of a streamed turn. A failed turn throws instead. */
export type TurnEvent =
  /** The message is stored. Discard earlier text: the reply starts again. */
  | { type: 'turn.started'; id: string; chatSession: Answer['chatSession']; userMessage: UserMessage }
  /** A piece of the reply, in Markdown. It is provisional until the turn is completed. */
  | { type: 'message.delta'; id: string; text: string }
  /** The complete answer. It is authoritative. */
  | { type: 'turn.completed'; id: string; answer: Answer }

/** A turn as a stream of events. `return` closes the connection immediately, even while an event is pending. */
export type TurnStream = AsyncGenerator<TurnEvent, void>

/** The requests for the stream of a turn: the first one, and the one that resumes it. */
export interface TurnCalls {
  first: Call
  /** Returns undefined if the message is unknown. The previous request is then repeated with the same Idempotency-Key. */
  resume(messageId: string | undefined, lastEventId: string): Call | undefined
}

const ACCEPT = { accept: 'text/event-stream' }

/** Yields the events of a turn until it ends. Resumes a broken or silent connection after the last event. */
export function streamTurn(connection: Connection, calls: TurnCalls, options: PostOptions = {}): TurnStream {
  const left = new AbortController()
  const events = turnEvents(connection, calls, options, left)
  const leave = events.return.bind(events)
  // A generator handles `return` only after its pending await. Without this, a cancelled `ReadableStream` would keep the connection open.
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
    // A consumer that left the loop gets no error. A caller whose signal aborted does.
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
      // One chunk can contain several events.
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

/** Resolves to the complete answer of a streamed turn. `onText` receives the whole text so far, and the part that is new. */
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

/** Returns undefined if the client has already seen the last event of the turn. */
async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array> | undefined> {
  if (response.status === 204) return undefined
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isStream && response.body !== null) return response.body
  response.body?.cancel().catch(() => {})
  throw new ReparteeError('connection_failed', 'The answer is not one of Repartee: it is no stream of events.')
}

/** Returns undefined for event types that this client does not know. Throws the error of a failed turn. */
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
