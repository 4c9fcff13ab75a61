import { setTimeout as pause } from 'node:timers/promises'
import { ReparteeError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { WholeMessage } from '../../store/tables/messages.ts'
import { waitForEnd } from '../../turns/read-message.ts'
import type { Deps } from '../deps.ts'
import { checkReaders, type EventStreams } from './event-stream.ts'
import type { Presenter } from './presenter.ts'
import { endWithError, type TurnRequest } from './serve-turn.ts'

/** How long to wait for the rest of the text, because the end of a turn may be known first. */
const TEXT_WITHIN_MS = 1_000

export interface ResumeRequest<A extends object> extends Pick<TurnRequest<A>, 'request' | 'reply' | 'key' | 'toAnswer'> {
  session: Session
  question: WholeMessage
  presenter: Presenter<A>
  /** The turn is over, so there is nothing to follow. */
  hasEnded?: boolean
}

/** Sends the events of a turn that another request started, in any process. If it has ended, only its last events are sent. */
export async function resumeTurn<A extends object>(
  deps: Deps,
  streams: EventStreams,
  { request, reply, key, session, question, presenter, toAnswer, hasEnded }: ResumeRequest<A>,
): Promise<void> {
  const own = deps.turns.find(question.id)
  const isWanted = () => !reply.raw.destroyed && !reply.raw.writableEnded
  // Before anything is written, so that a failure can still be sent as an error response.
  const elsewhere = own === undefined && !hasEnded ? await deps.peers.follow(session, isWanted) : undefined
  const turn = own ?? elsewhere?.turn
  if (turn !== undefined) checkReaders(turn)
  const stream = streams.open(reply, key, presenter.head)
  try {
    stream.send(presenter.started(turn, session, question))
    if (turn !== undefined) stream.follow(turn, presenter.feed(turn))
    if (own !== undefined) {
      const end = await own.finished
      if ('error' in end) throw end.error
      stream.end(() => presenter.completed(toAnswer(end.exchange)))
      return
    }
    const exchange = await waitForEnd(deps, session, question.id, isWanted)
    if (elsewhere?.turn.text) await Promise.race([elsewhere.text, pause(TEXT_WITHIN_MS)])
    if (exchange instanceof ReparteeError) throw exchange
    if (exchange !== undefined) stream.end(() => presenter.completed(toAnswer(exchange)))
  } catch (thrown) {
    endWithError({ request, presenter, stream }, thrown)
  }
}
