import type { FastifyRequest } from 'fastify'
import type { Contract } from '../../api/contract.ts'
import type { ApiKey } from '../../core/api-key.ts'
import type { ReparteeError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import type { Exchange } from '../../turns/exchange.ts'
import type { StoredAnswer } from '../../turns/idempotency.ts'
import { findEndedRun, getQuestion, turnStateOf } from '../../turns/read-message.ts'
import type { TurnObserver } from '../../turns/run-turn.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Deps } from '../deps.ts'
import { wantsEvents } from '../route/accept.ts'
import { toErrorBody } from '../route/errors.ts'
import type { Call } from '../route/route.ts'
import { type Answer, toAnswer, toMessage } from './answer.ts'
import { EVENT_SOURCE, type EventStreams, type Feed, PIECE_CHARS, toEvent } from './event-stream.ts'
import type { Presenter } from './presenter.ts'
import { resumeTurn } from './resume-turn.ts'
import { serveTurn } from './serve-turn.ts'

type TurnCall = Call<Contract['sendMessage']> | Call<Contract['regenerateMessage']> | Call<Contract['previewAgent']>

/** Answers a request for a reply, as a whole or as events if the caller asks for them. */
export function answerTurn(
  deps: Deps,
  streams: EventStreams,
  { request, reply, key, body, once }: TurnCall,
  run: (observer: TurnObserver) => Promise<Exchange>,
): Promise<Answer | StoredAnswer | undefined> {
  return serveTurn<Answer>(deps, streams, {
    ...{ request, reply, key, run },
    presenter: wantsEvents(request.headers.accept) ? new ReparteePresenter(request) : undefined,
    once: (work) => once([JSON.stringify(body)], work),
    toAnswer: (exchange) => toAnswer(exchange, key),
  })
}

/** Resumes a stream after `Last-Event-ID`. For a turn that has ended, sends the last event; 204 if it was seen, so that an `EventSource` does not reconnect. */
export async function streamTurn(deps: Deps, streams: EventStreams, call: Call<Contract['streamMessage']>): Promise<undefined> {
  const { session, params, request, reply, key } = call
  const question = await getQuestion(deps, session, params.messageId)
  const hasEnded = deps.turns.find(question.id) === undefined && (await turnStateOf(deps, session, question)) !== 'running'
  const run = (hasEnded ? await findEndedRun(deps, session, question) : undefined) ?? question.id
  const lastEventId = request.headers['last-event-id'] as string | undefined
  if (hasEnded && lastEventId === eventId(run, 'end')) {
    reply.code(204).send()
    return
  }
  const presenter = new ReparteePresenter(request, { run, lastEventId })
  await resumeTurn<Answer>(deps, streams, {
    ...{ session, question, request, reply, key, presenter, hasEnded },
    toAnswer: (exchange) => sharedAnswer(exchange, key),
  })
}

/** Events of our own protocol. Each has an id, so that a reader can continue after the last one it saw. */
class ReparteePresenter implements Presenter<Answer> {
  readonly head = EVENT_SOURCE
  readonly #request: FastifyRequest
  readonly #lastEventId: string | undefined
  #run: string

  /** `run` names a turn that has ended. */
  constructor(request: FastifyRequest, { run = '', lastEventId }: { run?: string; lastEventId?: string | undefined } = {}) {
    this.#request = request
    this.#run = run
    this.#lastEventId = lastEventId
  }

  started(turn: Turn | undefined, session: Session, question: Message): string {
    if (turn === undefined) return ''
    this.#run = turn.run
    const started = { chatSession: { id: session.id, name: session.name }, userMessage: toMessage(question) }
    return this.#positionIn(turn) === undefined ? toEvent('turn.started', eventId(turn.run, 0), started) : ''
  }

  feed(turn: Turn): Feed {
    let sent = this.#positionIn(turn) ?? 0
    return () => {
      if (sent >= turn.length) return undefined
      const text = turn.read(sent, PIECE_CHARS)
      sent += text.length
      return toEvent('message.delta', eventId(turn.run, sent), { text })
    }
  }

  completed(answer: Answer): Buffer {
    let event = completedEvents.get(answer)
    if (event === undefined) {
      event = Buffer.from(toEvent('turn.completed', eventId(this.#run, 'end'), { success: true, ...answer }))
      completedEvents.set(answer, event)
    }
    return event
  }

  failed(error: ReparteeError): string {
    return toEvent('turn.failed', eventId(this.#run, 'end'), { error: toErrorBody(error, this.#request.id).error })
  }

  replayed(answer: Answer): string {
    const { chatSession, userMessage } = answer
    this.#run = userMessage.id
    return toEvent('turn.started', eventId(this.#run, 0), { chatSession, userMessage }) + this.completed(answer).toString()
  }

  /** Returns how many characters of the text the reader has; undefined if it has seen nothing of this run. */
  #positionIn(turn: Turn): number | undefined {
    const [, run, at] = EVENT_ID.exec(this.#lastEventId ?? '') ?? []
    if (run !== turn.run || at === undefined) return undefined
    return at === 'end' ? turn.length : Number(at)
  }
}

/** `run`: of the turn, or the id of its message if the run is unknown. `at`: how many characters of the text were sent up to this event. */
const eventId = (run: string, at: number | 'end'): string => `${run}-${at}`

const EVENT_ID = /^([0-9a-f]{12})-(\d{1,9}|end)$/

/** Many readers of one turn share its answer and the bytes of its last event. */
const completedEvents = new WeakMap<Answer, Buffer>()
const sharedAnswers = { forKeys: new WeakMap<Exchange, Answer>(), forUsers: new WeakMap<Exchange, Answer>() }

/** Returns the answer for a reader. Readers with the same permissions share it. */
function sharedAnswer(exchange: Exchange, reader: ApiKey): Answer {
  const answers = reader.userId === undefined ? sharedAnswers.forKeys : sharedAnswers.forUsers
  const answer = answers.get(exchange) ?? toAnswer(exchange, reader)
  answers.set(exchange, answer)
  return answer
}
