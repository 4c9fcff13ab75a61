import type { Payer } from '../access/budgets.ts'
import { ReparteeError, sessionNotFound } from '../core/errors.ts'
import type { Extra, Message, ReplyFormat } from '../core/message.ts'
import type { Outcome } from '../core/ports/meters.ts'
import type { Session } from '../core/session.ts'
import type { Past } from '../reply/history.ts'
import { type Draft, makeReply } from '../reply/make-reply.ts'
import type { Statement } from '../store/database.ts'
import { findSession } from '../store/tables/sessions.ts'
import { agentEnd, agentSpan } from '../traces/gen-ai.ts'
import type { TurnDeps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { errorOf, isGone } from './fail-turn.ts'
import type { Turn } from './turn.ts'

/** The callbacks and conditions of a caller that observes a turn. */
export interface TurnObserver {
  /** Called when the message is stored, before the reply grows. */
  onStart?: (turn: Turn, session: Session, userMessage: Message) => void
  /** Conditions for the transaction that leases the session. If one fails, the turn does nothing. */
  condition?: Statement[]
  /** Returns statements for the transaction that stores the reply. */
  alongside?: (exchange: Exchange) => Statement[]
}

export interface TurnInput extends Payer {
  sessionId: string
  /** The session as the caller just read it. Read again if it has changed since. */
  session?: Session | undefined
  additionalContext?: string | undefined
  include: Extra[]
  userId: string
}

/** A turn that has leased its session. */
export interface OpenTurn {
  session: Session
  userMessage: Message
  /** The conversation before the message. */
  past: Past
  format: ReplyFormat
  replyId: string
  /** The number of earlier versions that the reply will have. */
  versions: number
  /** If true, nothing is stored and no webhook is notified. */
  isEphemeral?: boolean
}

/**
 * Runs a turn when the session is free, and releases the session at the end. `body` stores the question, generates the reply and stores it.
 * The turn runs to its end even if the caller disconnects.
 */
export function runTurn(
  deps: TurnDeps,
  input: TurnInput,
  { condition = [] }: TurnObserver,
  body: (turn: Turn) => Promise<Exchange>,
): Promise<Exchange> {
  const { turns, peers, tracer } = deps
  const { agent, sessionId } = input
  const run = async () => {
    const wasFree = turns.isFree(sessionId)
    const turn = await turns.take(agent.id, sessionId)
    turn.wasFree = wasFree
    turn.condition = condition
    try {
      const exchange = await body(turn)
      meterTurn(deps, turn, exchange.trace?.finish === 'cancelled' ? 'cancelled' : 'ok')
      turn.finish({ exchange })
      return exchange
    } catch (thrown) {
      if (turn.messageId === undefined) throw thrown
      const error = thrown instanceof ReparteeError ? thrown : errorOf(turn, turn.messageId, thrown)
      meterTurn(deps, turn, error.code === 'turn_cancelled' ? 'cancelled' : error.code)
      turn.finish({ error })
      throw error
    } finally {
      if (turn.messageId === undefined && turn.position !== undefined) peers.leave(agent.id, sessionId, turn.position)
      if (turn.settled === undefined) turns.release(turn)
      else turn.settled.then(() => turns.release(turn))
      turns.forget(turn)
    }
  }
  return tracer.span(
    () => agentSpan(agent, sessionId),
    async (span) => {
      const exchange = await run()
      span.set(() => agentEnd(exchange, tracer.recordsText))
      return exchange
    },
  )
}

function meterTurn({ meters }: TurnDeps, { begunAt, firstTextAt }: Turn, outcome: Outcome | 'cancelled'): void {
  const firstTextMs = firstTextAt === undefined ? undefined : firstTextAt - begunAt
  meters.turnEnded(outcome, performance.now() - begunAt, firstTextMs)
}

/**
 * Yields the session for each attempt to lease it: first the caller's copy, if the session was free, then the stored one. Waits before each further attempt
 * while another process has the lease. Throws `session_busy`, and `session_not_found` if the session was deleted, even if another one has its id now.
 */
export async function* sessionsFor(
  deps: TurnDeps,
  turn: Turn,
  { agent, sessionId, session: known }: TurnInput,
): AsyncGenerator<Session> {
  if (turn.wasFree && known !== undefined) yield known
  for (;;) {
    const session = await findSession(deps.db, agent.id, sessionId)
    if (session === undefined || (known !== undefined && session.createdAt !== known.createdAt)) throw sessionNotFound()
    yield session
    if (await isGone(deps, turn)) throw sessionNotFound()
    await deps.peers.waitFor(turn)
  }
}

/** Notifies the observer that the turn has begun, and generates the reply. */
export function draftReply(deps: TurnDeps, turn: Turn, open: OpenTurn, input: TurnInput, observer: TurnObserver): Promise<Draft> {
  const { session, userMessage, past, format } = open
  deps.turns.start(turn, userMessage.id, deps.clock())
  observer.onStart?.(turn, session, userMessage)
  return makeReply(deps, { ...input, message: userMessage.content, format, past }, turn)
}
