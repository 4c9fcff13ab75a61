import { type Answer, type Connection, messages, ReparteeError, type SendMessageInput, type TurnStream } from 'repartee-client'
import { firstOf } from './online.ts'

/** Retries of a broken connection while the device is online, in addition to the client's own retries. */
const ROUNDS = 3
const ROUND_MS = 4_000

/** The target of messages. */
export interface Place {
  connection: Connection
  agentId: string
  sessionId: string
}

/** A message and its reply in progress. It survives failures, so that a retry continues the same message. */
export interface Turn {
  text: string
  context?: string | undefined
  /** Idempotency key, the same for all attempts of a request. */
  key: string
  /** The id of the user's message, once the service has stored it. */
  messageId?: string | undefined
  lastEventId?: string | undefined
  /** The reply so far. */
  written: string
}

/** Callbacks while a turn runs. */
export interface TurnNews {
  started(messageId: string): void
  wrote(text: string): void
  /** The connection broke, or is back. */
  broken(isBroken: boolean): void
}

/** Runs a turn to its end, across broken connections. The service continues the turn, and the stream resumes after the last event. */
export async function runTurn(place: Place, turn: Turn, news: TurnNews, signal: AbortSignal): Promise<Answer> {
  let written = turn.lastEventId
  for (let round = 0; ; round++) {
    try {
      return await follow(place, turn, news, signal)
    } catch (error) {
      if (!isBroken(error) || signal.aborted) throw error
      if (turn.lastEventId !== written || !navigator.onLine) round = 0
      if (round >= ROUNDS) throw error
      written = turn.lastEventId
      news.broken(true)
      await firstOf(ROUND_MS, signal)
    }
  }
}

export const isBroken = (error: unknown): boolean =>
  error instanceof ReparteeError && (error.code === 'connection_failed' || error.code === 'timeout')

async function follow(place: Place, turn: Turn, news: TurnNews, signal: AbortSignal): Promise<Answer> {
  for await (const event of open(place, turn, signal)) {
    news.broken(false)
    if (event.type === 'turn.completed') return event.answer
    turn.lastEventId = event.id
    if (event.type === 'turn.started') turn.messageId = event.userMessage.id
    turn.written = event.type === 'message.delta' ? turn.written + event.text : ''
    if (event.type === 'turn.started') news.started(event.userMessage.id)
    news.wrote(turn.written)
  }
  throw new ReparteeError('connection_failed', 'The stream of the reply ended before the reply did.')
}

function open({ connection, agentId, sessionId }: Place, turn: Turn, signal: AbortSignal): TurnStream {
  const { messageId, lastEventId, text, context, key } = turn
  if (messageId !== undefined) return messages.resume(connection, { agentId, sessionId, messageId, lastEventId }, { signal })
  const input: SendMessageInput = {
    agentId,
    sessionId,
    message: text,
    format: 'html',
    include: ['sources'],
    additionalContext: context,
  }
  return messages.stream(connection, input, { idempotencyKey: key, signal })
}
