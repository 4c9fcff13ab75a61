import { setTimeout as pause } from 'node:timers/promises'
import { ReparteeError } from '../../core/errors.ts'
import type { Session } from '../../core/session.ts'
import type { WholeMessage } from '../../store/tables/messages.ts'
import { waitForEnd } from '../../turns/read-message.ts'
import { Turn } from '../../turns/turn.ts'
import type { Deps } from '../deps.ts'
import { toReparteeError } from '../route/errors.ts'
import { checkReaders, type EventStreams } from '../turns/event-stream.ts'
import { toBegun, toldTo, toOutcome } from './outcome.ts'
import { OpenTelling, type Teller, type Telling } from './tell-turn.ts'

/** The end of a turn may be known before the end of its text. */
const TEXT_WITHIN_MS = 1_000

/** Tells of a turn that is running already, from its beginning, wherever it runs. */
export async function resumeTelling(
  deps: Deps,
  streams: EventStreams,
  session: Session,
  question: WholeMessage,
  { request, reply, key, teller, head }: Required<Pick<Telling, 'request' | 'reply' | 'key' | 'head'>> & { teller: Teller },
): Promise<void> {
  const own = deps.turns.find(question.id)
  const isWanted = () => !reply.raw.destroyed && !reply.raw.writableEnded
  // Before anything is written: where it fails, the answer can still say so.
  const elsewhere = own === undefined ? await deps.peers.follow(session, isWanted) : undefined
  const running = own ?? elsewhere?.turn
  if (running !== undefined) checkReaders(running)
  const stream = streams.open(reply, key, head)
  const turn = running ?? new Turn(session.agentId, session.id, '')
  const telling = new OpenTelling(stream, teller, turn, toBegun(turn, session, question))
  try {
    if (own !== undefined) {
      const end = await own.finished
      if ('error' in end) throw end.error
      return telling.complete(toldTo(key, toOutcome(session.agentId, end.exchange)))
    }
    const exchange = await waitForEnd(deps, session, question.id, isWanted)
    if (elsewhere?.turn.text) await Promise.race([elsewhere.text, pause(TEXT_WITHIN_MS)])
    if (exchange instanceof ReparteeError) throw exchange
    if (exchange !== undefined) telling.complete(toldTo(key, toOutcome(session.agentId, exchange)))
  } catch (thrown) {
    const error = toReparteeError(thrown)
    request.server.logFailure(request, error)
    telling.fail(error)
  }
}
