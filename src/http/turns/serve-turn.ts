import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey } from '../../core/api-key.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import { stopInTurn } from '../../turns/cancel.ts'
import type { Exchange } from '../../turns/exchange.ts'
import type { StoredAnswer } from '../../turns/idempotency.ts'
import type { TurnObserver } from '../../turns/run-turn.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Deps } from '../deps.ts'
import { toReparteeError } from '../route/errors.ts'
import { isStored, type StoreAnswer, storeNothing } from '../route/idempotency.ts'
import type { EventStream, EventStreams } from './event-stream.ts'
import type { Presenter } from './presenter.ts'

/** Runs the work once for each Idempotency-Key. Resolves to the stored answer if it ran before. */
export type WorkOnce<A extends object> = (work: (keep: StoreAnswer) => Promise<A>) => Promise<A | StoredAnswer>

/** One request for a reply. */
export interface TurnRequest<A extends object> {
  request: FastifyRequest
  reply: FastifyReply
  key: ApiKey
  /** Undefined if the caller wants the reply as a whole. */
  presenter: Presenter<A> | undefined
  once: WorkOnce<A>
  run(observer: TurnObserver, keep: StoreAnswer): Promise<Exchange>
  toAnswer(exchange: Exchange): A
  /** Returns the owner with which the stored answer is deleted. Default: the session of the path. */
  ownerOf?(exchange: Exchange): { sessionId: string; userId?: string | undefined }
  /** Whether the turn stops when the caller disconnects, because nobody else will ever see the reply. */
  stopsWithCaller?: boolean
}

/**
 * Runs a turn and serves it as a whole, or as events if there is a presenter. Resolves to the answer; undefined if it was sent as events. Nothing is written
 * before the turn has started, so an earlier error is an ordinary response.
 */
export async function serveTurn<A extends object>(
  deps: Deps,
  streams: EventStreams,
  turnRequest: TurnRequest<A>,
): Promise<A | StoredAnswer | undefined> {
  const { request, reply, key, presenter, once, toAnswer, ownerOf } = turnRequest
  let stream: EventStream | undefined
  const onStart = (turn: Turn, session: Session, question: Message) => {
    if (turnRequest.stopsWithCaller) stopWithCaller(reply, turn)
    if (presenter === undefined) return
    stream = streams.open(reply, key, presenter.head)
    stream.send(presenter.started(turn, session, question))
    stream.follow(turn, presenter.feed(turn))
  }
  const work = async (keep: StoreAnswer): Promise<A> => {
    const alongside = (exchange: Exchange) => {
      if (keep === storeNothing) return []
      const owner = ownerOf?.(exchange)
      return keep(toAnswer(exchange), owner?.sessionId, owner?.userId)
    }
    const exchange = await turnRequest.run({ onStart, condition: keep.condition, alongside }, keep)
    // Follow-ups and the last timings were unknown when the answer was stored with its reply.
    const again = exchange.followUps?.length || exchange.include.includes('trace') ? alongside(exchange) : []
    if (again.length > 0)
      await deps.db.write(again).catch((e: unknown) => deps.warn('a stored answer stays without follow-ups', e))
    return toAnswer(exchange)
  }
  try {
    const answer = await once(work)
    if (presenter === undefined) return answer
    if (isStored(answer)) {
      reply.raw.setHeader('Idempotency-Replayed', 'true')
      const stored = JSON.parse(answer.answer) as A
      streams.open(reply, key, presenter.head).end(() => presenter.replayed(stored))
    } else stream?.end(() => presenter.completed(answer))
  } catch (thrown) {
    if (stream === undefined || presenter === undefined) throw thrown
    endWithError({ request, presenter, stream }, thrown)
  }
  return undefined
}

/** Ends a stream with the event of a failure, and logs it. */
export function endWithError<A>(
  { request, presenter, stream }: { request: FastifyRequest; presenter: Presenter<A>; stream: EventStream },
  thrown: unknown,
): void {
  const error = toReparteeError(thrown)
  request.server.logFailure(request, error)
  stream.end(() => presenter.failed(error))
}

function stopWithCaller({ raw }: FastifyReply, turn: Turn): void {
  const stop = () => {
    if (!raw.writableFinished) stopInTurn(turn)
  }
  if (raw.destroyed) stop()
  else raw.once('close', stop)
}
