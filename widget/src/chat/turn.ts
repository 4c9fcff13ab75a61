import { type Answer, type Connection, messages, ReparteeError, type SendMessageBody, type TurnStream } from 'repartee-client'
import { firstOf } from './online.ts'

/** How often a line that broke is tried again, beyond what the client does by itself, while the device says that it has a network. */
const ROUNDS = 3
const ROUND_MS = 4_000

/** Where messages go. */
export interface Place {
  connection: Connection
  agentId: string
  sessionId: string
}

/** A message on its way to a reply. It is kept over failures, so that trying again goes on with the same message. */
export interface Turn {
  text: string
  context?: string | undefined
  /** The same for every try of one request. */
  key: string
  /** Of the user's message, when the service has it. */
  messageId?: string | undefined
  lastEventId?: string | undefined
  /** The reply so far. */
  written: string
}

/** What is told while a turn runs. */
export interface TurnNews {
  started(messageId: string): void
  wrote(text: string): void
  /** The line is broken, or is there again. */
  broken(isBroken: boolean): void
}

/** Runs a turn to its end, over lines that break: the service goes on meanwhile, and the stream is taken up behind what was seen. */
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
  if (messageId !== undefined) return messages.resume(connection, agentId, sessionId, messageId, { lastEventId, signal })
  const body: SendMessageBody = { message: text, format: 'html', include: ['sources'], additionalContext: context }
  return messages.stream(connection, agentId, sessionId, body, { idempotencyKey: key, signal })
}
