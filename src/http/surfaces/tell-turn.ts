import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiKey } from '../../core/api-key.ts'
import type { ReparteeError } from '../../core/errors.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import { SettledText } from '../../reply/settled-text.ts'
import { stopInTurn } from '../../turns/cancel.ts'
import type { Exchange } from '../../turns/exchange.ts'
import type { TurnObserver } from '../../turns/run-turn.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Deps } from '../deps.ts'
import { toReparteeError } from '../route/errors.ts'
import { isKept, type Keep, keepNothing } from '../route/idempotency.ts'
import { type EventStream, type EventStreams, joined, type StreamHead } from '../turns/event-stream.ts'
import type { WorkOnce } from './once.ts'
import { type Begun, type Outcome, toBegun, toldTo, toOutcome } from './outcome.ts'

/** Turns one turn into the events of a protocol. Each method returns the text of events, in one piece or in several. */
export interface Teller {
  started(begun: Begun): string
  delta(text: string): string
  /** `rest`: what is still to be told of the content; undefined where it does not begin with what was told. */
  completed(outcome: Outcome, rest: string | undefined): Iterable<string>
  failed(error: ReparteeError, begun: Begun): string
}

/** One request for a reply. */
export interface Telling {
  request: FastifyRequest
  reply: FastifyReply
  key: ApiKey
  agentId: string
  /** Undefined where the answer is to be whole. */
  teller: Teller | undefined
  head?: StreamHead
  once?: WorkOnce
  /** Where the turn is none of a session: its end user. */
  unkeptFor?: string | undefined
  /** Nobody else will ever see the reply: where the caller leaves, it need not be made. */
  isPassing?: boolean
  run(observer: TurnObserver, keep: Keep): Promise<Exchange>
}

const NO_HEAD: StreamHead = { headers: {}, text: '' }

/** Runs a turn and tells of it in another protocol. Resolves to what it came to where the answer is to be whole. Nothing is written before the turn has started. */
export async function tellTurn(deps: Deps, streams: EventStreams, telling: Telling): Promise<Outcome | undefined> {
  const { request, reply, teller, agentId, once = (work) => work(keepNothing) } = telling
  let open: OpenTelling | undefined
  const onStart = (turn: Turn, session: Session, message: Message) => {
    if (telling.isPassing) stopWithReader(reply, turn)
    if (teller !== undefined)
      open = new OpenTelling(
        streams.open(reply, telling.key, telling.head ?? NO_HEAD),
        teller,
        turn,
        toBegun(turn, session, message),
      )
  }
  try {
    const done = await once(async (keep) => {
      const alongside = (e: Exchange) => {
        const { unkeptFor } = telling
        return keep(toOutcome(agentId, e), unkeptFor === undefined ? e.session.id : '', unkeptFor)
      }
      const exchange = await telling.run({ onStart, condition: keep.condition, alongside }, keep)
      const outcome = toOutcome(agentId, exchange)
      // Follow-ups were not known when the answer was kept with its reply.
      const again = outcome.followUps.length > 0 ? alongside(exchange) : []
      if (again.length > 0)
        await deps.db.write(again).catch((e: unknown) => deps.warn('a kept answer stays without follow-ups', e))
      return outcome
    })
    if (isKept(done)) reply.raw.setHeader('Idempotency-Replayed', 'true')
    const outcome = toldTo(telling.key, isKept(done) ? (JSON.parse(done.answer) as Outcome) : done)
    if (teller === undefined) return outcome
    if (open !== undefined) open.complete(outcome)
    else streams.open(reply, telling.key, telling.head ?? NO_HEAD).end(() => joined(eventsOf(teller, outcome)))
  } catch (thrown) {
    if (open === undefined) throw thrown
    const error = toReparteeError(thrown)
    request.server.logFailure(request, error)
    open.fail(error)
  }
  return undefined
}

/** The events of a turn that is over. */
function* eventsOf(teller: Teller, outcome: Outcome): Generator<string> {
  yield teller.started(outcome)
  yield* teller.completed(outcome, outcome.content)
}

function stopWithReader({ raw }: FastifyReply, turn: Turn): void {
  const stop = () => {
    if (!raw.writableFinished) stopInTurn(turn)
  }
  if (raw.destroyed) stop()
  else raw.once('close', stop)
}

/** A turn that somebody reads along. */
export class OpenTelling {
  readonly #stream: EventStream
  readonly #teller: Teller
  readonly #begun: Begun
  readonly #text: SettledText
  #isOver = false

  constructor(stream: EventStream, teller: Teller, turn: Turn, begun: Begun) {
    this.#stream = stream
    this.#teller = teller
    this.#begun = begun
    this.#text = new SettledText(turn)
    stream.send(teller.started(begun))
    stream.follow(turn, () => {
      const text = this.#isOver ? '' : this.#text.next()
      return text === '' ? undefined : teller.delta(text)
    })
  }

  complete(outcome: Outcome): void {
    this.#isOver = true
    this.#stream.end(() => joined(this.#teller.completed(outcome, this.#text.rest(outcome.content))))
  }

  fail(error: ReparteeError): void {
    this.#isOver = true
    this.#stream.end(() => this.#teller.failed(error, this.#begun))
  }
}
