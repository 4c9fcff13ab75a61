import { setTimeout as pause } from 'node:timers/promises'
import type { Contract } from '../../api/contract.ts'
import type { ApiKey } from '../../core/api-key.ts'
import { ReparteeError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import type { Exchange } from '../../turns/exchange.ts'
import type { Kept } from '../../turns/idempotency.ts'
import { findEndedRun, getQuestion, turnStateOf, waitForEnd } from '../../turns/read-message.ts'
import type { TurnObserver } from '../../turns/run-turn.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Deps } from '../deps.ts'
import { wantsEvents } from '../route/accept.ts'
import { toErrorBody, toReparteeError } from '../route/errors.ts'
import { isKept, keepNothing } from '../route/idempotency.ts'
import type { Call } from '../route/route.ts'
import { type Answer, toAnswer, toMessage } from './answer.ts'
import {
  checkReaders,
  deltasOf,
  type EventStream,
  type EventStreams,
  eventId,
  eventIdOf,
  positionAfter,
  toEvent,
} from './event-stream.ts'

type TurnCall = Call<Contract['sendMessage']> | Call<Contract['regenerateMessage']> | Call<Contract['previewAgent']>

/** The answer to a send: whole, or as events where the caller asks for them. Nothing is written before the turn has started. */
export async function answerTurn(
  deps: Deps,
  streams: EventStreams,
  call: TurnCall,
  run: (observer: TurnObserver) => Promise<Exchange>,
): Promise<Answer | Kept | undefined> {
  const asEvents = wantsEvents(call.request.headers.accept)
  let open: { stream: EventStream; turn: Turn } | undefined
  const onStart = (turn: Turn, session: Session, message: Message) => {
    const stream = streams.open(call.reply, call.key)
    open = { stream, turn }
    stream.send(toEvent('turn.started', eventId(turn, 0), toStarted(session, message)))
    stream.follow(turn, deltasOf(turn, 0))
  }
  try {
    const answer = await call.once([JSON.stringify(call.body)], async (keep) => {
      const alongside =
        keep === keepNothing ? {} : { condition: keep.condition, alongside: (e: Exchange) => keep(toAnswer(e, call.key)) }
      const exchange = await run({ ...(asEvents ? { onStart } : {}), ...alongside })
      const answer = toAnswer(exchange, call.key)
      // Follow-ups and the last timings were not known when the answer was kept with its reply.
      const again = exchange.followUps?.length || exchange.include.includes('trace') ? keep(answer) : []
      if (again.length > 0)
        await deps.db.write(again).catch((e: unknown) => deps.warn('a kept answer stays without follow-ups', e))
      return answer
    })
    if (!asEvents) return answer
    if (isKept(answer)) replay(streams, call, answer)
    else if (open !== undefined) {
      const id = eventId(open.turn, 'end')
      open.stream.end(() => toEvent('turn.completed', id, { success: true, ...answer }))
    }
  } catch (thrown) {
    if (open === undefined) throw thrown
    fail(open.stream, eventId(open.turn, 'end'), call, thrown)
  }
  return undefined
}

const toStarted = (session: Session, message: Message) => ({
  chatSession: { id: session.id, name: session.name },
  userMessage: toMessage(message),
})

function fail(stream: EventStream, id: string, { request }: Pick<TurnCall, 'request'>, thrown: unknown): void {
  const error = toReparteeError(thrown)
  request.server.logFailure(request, error)
  stream.end(() => toEvent('turn.failed', id, { error: toErrorBody(error, request.id).error }))
}

/** An answer that was kept, as the events of a turn that took no time. */
function replay(streams: EventStreams, { reply, key }: TurnCall, { answer }: Kept): void {
  reply.raw.setHeader('Idempotency-Replayed', 'true')
  const stream = streams.open(reply, key)
  const exchange = JSON.parse(answer) as Answer
  const { chatSession, userMessage } = exchange
  stream.send(toEvent('turn.started', eventIdOf(userMessage.id, 0), { chatSession, userMessage }))
  stream.end(() => toEvent('turn.completed', eventIdOf(userMessage.id, 'end'), exchange))
}

/** The end of a turn may be known before the end of its text. */
const TEXT_WITHIN_MS = 1_000

/**
 * Continues a stream after `Last-Event-ID`. Of a turn that has ended there is the last event only; 204 where that was seen, which stops an
 * `EventSource` from connecting again.
 */
export async function resumeTurn(deps: Deps, streams: EventStreams, call: Call<Contract['streamMessage']>): Promise<undefined> {
  const { session, params, request, reply, key } = call
  const message = await getQuestion(deps, session, params.messageId)
  const turn = deps.turns.find(message.id)
  const lastEventId = request.headers['last-event-id'] as string | undefined
  const isElsewhere = turn === undefined && (await turnStateOf(deps, session, message)) === 'running'
  const hasEnded = turn === undefined && !isElsewhere
  const endId = eventIdOf((hasEnded ? await findEndedRun(deps, session, message) : undefined) ?? message.id, 'end')
  if (hasEnded && lastEventId === endId) {
    reply.code(204).send()
    return
  }
  const isWanted = () => !reply.raw.destroyed && !reply.raw.writableEnded
  const elsewhere = isElsewhere ? await deps.peers.follow(session, isWanted) : undefined
  const running = turn ?? elsewhere?.turn
  if (running !== undefined) checkReaders(running)
  const stream = streams.open(reply, key)
  const id = running === undefined ? endId : eventId(running, 'end')
  try {
    if (running !== undefined) {
      const seen = positionAfter(running, lastEventId)
      if (seen === undefined) stream.send(toEvent('turn.started', eventId(running, 0), toStarted(session, message)))
      stream.follow(running, deltasOf(running, seen ?? 0))
    }
    if (turn !== undefined) {
      const end = await turn.finished
      if ('error' in end) throw end.error
      stream.end(() => completedEvent(id, end.exchange, key))
      return
    }
    const exchange = await waitForEnd(deps, session, message.id, isWanted)
    if (elsewhere?.turn.text) await Promise.race([elsewhere.text, pause(TEXT_WITHIN_MS)])
    if (exchange instanceof ReparteeError) throw exchange
    if (exchange !== undefined) stream.end(() => completedEvent(id, exchange, key))
  } catch (thrown) {
    fail(stream, id, call, thrown)
  }
}

const completedEvents = { forKeys: new WeakMap<Exchange, Buffer>(), forUsers: new WeakMap<Exchange, Buffer>() }

/** Returns the last event of a turn. Readers who may see the same share its bytes. */
function completedEvent(id: string, exchange: Exchange, reader: ApiKey): Buffer {
  const events = reader.userId === undefined ? completedEvents.forKeys : completedEvents.forUsers
  const made = events.get(exchange)
  if (made !== undefined) return made
  const event = Buffer.from(toEvent('turn.completed', id, { success: true, ...toAnswer(exchange, reader) }))
  events.set(exchange, event)
  return event
}
