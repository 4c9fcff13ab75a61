import { setTimeout as pause } from 'node:timers/promises'
import { type ErrorDetail, ReparteeError, sessionNotFound, stopping } from '../core/errors.ts'
import type { Message } from '../core/message.ts'
import { findSession } from '../store/tables/sessions.ts'
import { abandonTurn } from '../store/tables/turns.ts'
import type { TurnDeps } from './deps.ts'
import type { Turn } from './turn.ts'
import { toLease } from './turns.ts'

/** The failure that is stored with the message of a turn, as JSON. */
export interface FailureDetail {
  /** The id of the run that failed. */
  run?: string
  error: { code: ReparteeError['code']; message: string }
}

/** Marks the turn as failed or cancelled. Resolves to the error for the sender. */
export async function failTurn(deps: TurnDeps, turn: Turn, { id }: Message, thrown: unknown): Promise<ReparteeError> {
  const error = errorOf(turn, id, thrown)
  const detail: FailureDetail = { run: turn.run, error: { code: error.code, message: error.message } }
  const state = turn.stopped === 'cancelled' ? 'cancelled' : 'failed'
  const news = state === 'failed' ? newsOf(deps, turn, id) : []
  const isMarked = await endTurn(deps, turn, () => abandonTurn(deps.db, toLease(turn), id, state, JSON.stringify(detail), news))
  return !isMarked && (await isGone(deps, turn).catch(() => false)) ? sessionNotFound() : error
}

const newsOf = ({ webhooks }: TurnDeps, { agentId, sessionId }: Turn, target: string) =>
  webhooks.queue({ event: 'turn.failed', agentId, sessionId, target })

const TRY_AGAIN_MS = 200

/** Writes the end of a failed turn. If the store fails, it retries until the lease expires; the session stays leased, and the sender does not wait. */
export async function endTurn(deps: TurnDeps, turn: Turn, write: () => Promise<boolean>): Promise<boolean> {
  try {
    return await write()
  } catch (error) {
    deps.warn('the end of a turn could not be written; it is tried again', error)
    turn.settled = settle(deps, write)
    return true
  }
}

/**
 * If the database connection breaks before the acknowledgement, the turn may have begun anyway. Ends the turn by `write` as soon as the store accepts it.
 * The session stays leased until then.
 */
export function endLostTurn(deps: TurnDeps, turn: Turn, write: () => Promise<boolean>): void {
  if (deps.db.mayLoseAnswers) turn.settled = settle(deps, write)
}

/** Marks a turn as failed whose beginning was not acknowledged. */
export function takeBackBegin(deps: TurnDeps, turn: Turn, messageId: string): void {
  const detail: FailureDetail = {
    error: { code: 'unavailable', message: 'The message was stored, but its turn could not begin.' },
  }
  const news = newsOf(deps, turn, messageId)
  endLostTurn(deps, turn, () => abandonTurn(deps.db, toLease(turn), messageId, 'failed', JSON.stringify(detail), news))
}

async function settle({ turns, clock, limits }: TurnDeps, write: () => Promise<boolean>): Promise<void> {
  const end = clock() + limits.leaseMs
  while (!turns.isClosed && clock() < end) {
    await pause(TRY_AGAIN_MS)
    const isDone = await write().then(
      () => true,
      () => false,
    )
    if (isDone) return
  }
}

export const isGone = async (deps: TurnDeps, { agentId, sessionId }: Turn): Promise<boolean> =>
  (await findSession(deps.db, agentId, sessionId)) === undefined

/** Returns the error for a running turn whose end the store refused. */
export const lostSession = async (deps: TurnDeps, turn: Turn): Promise<ReparteeError> =>
  (await isGone(deps, turn))
    ? sessionNotFound()
    : new ReparteeError('unavailable', 'The turn was held up for so long that its session was given to another.', {
        retryAfter: 1,
      })

/** Returns the error detail for a message that stays without a reply. */
export const storedAs = (messageId: string, isContinuable: boolean): ErrorDetail => ({
  path: 'userMessage',
  message: `is stored as ${messageId}${isContinuable ? '; the same text, sent as the next message, continues it' : ''}`,
})

/** Returns the error for the sender of a turn that failed. */
export function errorOf({ stopped }: Turn, messageId: string, thrown: unknown): ReparteeError {
  const details = [storedAs(messageId, stopped !== 'cancelled')]
  if (stopped === 'deleted') return sessionNotFound()
  if (stopped === 'cancelled') {
    return new ReparteeError('turn_cancelled', 'The turn was cancelled before the reply began.', { details })
  }
  if (stopped === 'stopping') return stopping(details)
  if (stopped === 'late')
    return new ReparteeError('model_timeout', 'The model did not answer in time.', { details, cause: thrown })
  if (!(thrown instanceof ReparteeError)) {
    return new ReparteeError('internal_error', 'Something went wrong on our side.', { details, cause: thrown })
  }
  const { code, message: text, retryAfter, quota, cause } = thrown
  return new ReparteeError(code, text, { details: thrown.details ?? details, retryAfter, quota, cause: cause ?? thrown })
}
