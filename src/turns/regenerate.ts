import { checkBudgets } from '../access/budgets.ts'
import { invalid, ReparteeError, sessionNotFound } from '../core/errors.ts'
import type { ReplyFormat } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { readPast } from '../reply/history.ts'
import { countVersions, findMessageAt } from '../store/tables/messages.ts'
import { leaseSession, releaseSession, replaceReply } from '../store/tables/turns.ts'
import type { TurnDeps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { endLostTurn, endTurn, errorOf, isGone } from './fail-turn.ts'
import { getHead } from './read-message.ts'
import { draftReply, type OpenTurn, runTurn, sessionsFor, type TurnInput, type TurnObserver } from './run-turn.ts'
import { storeReply, type WriteReply } from './store-reply.ts'
import type { Turn } from './turn.ts'
import { leaseRequestOf, toLease } from './turns.ts'

export interface RegenerateInput extends TurnInput {
  /** The reply to regenerate. */
  messageId: string
  /** Undefined leaves the format unchanged. */
  format: ReplyFormat | undefined
}

/**
 * Regenerates the last reply of a session. The reply's id and position stay, and the old text becomes a version. The history contains the old text until
 * the new reply is complete, and also if the new one fails or is cancelled. Throws as `sendMessage` does.
 */
export async function regenerate(deps: TurnDeps, input: RegenerateInput, observer: TurnObserver = {}): Promise<Exchange> {
  await checkBudgets(deps, input)
  return runTurn(deps, input, observer, async (turn) => {
    const open = await takeSession(deps, turn, input)
    const { userMessage, createdAt } = open
    try {
      const draft = await draftReply(deps, turn, open, input, observer)
      const write: WriteReply = async (reply, alongside) => {
        if (turn.stopped === 'cancelled') throw errorOf(turn, userMessage.id, undefined)
        const replacedAt = Math.max(deps.clock(), userMessage.createdAt)
        return replaceReply(deps.db, toLease(turn), userMessage.id, reply, replacedAt, alongside)
      }
      return await storeReply(deps, turn, { input, observer, open, draft, createdAt, write })
    } catch (thrown) {
      throw await giveBack(deps, turn, open.replyId, thrown)
    }
  })
}

/** Leases the session. Resolves to the turn with the time at which the reply was created. */
async function takeSession(deps: TurnDeps, turn: Turn, input: RegenerateInput): Promise<OpenTurn & { createdAt: number }> {
  const { db } = deps
  for await (const session of sessionsFor(deps, turn, input)) {
    const { question, reply } = await findLastTurn(deps, session, input.messageId)
    const past = await readPast(deps, session, question.seq - 1)
    const versions = 1 + (await countVersions(db, session.agentId, session.id, reply.id))
    const leased = leaseSession(db, toLease(turn), leaseRequestOf(deps, turn, session))
    leased.catch(() => endLostTurn(deps, turn, () => releaseSession(db, toLease(turn))))
    if (!(await leased)) continue
    turn.replyId = reply.id
    const { id, content, createdAt } = question
    return {
      session,
      userMessage: { id, role: 'USER', content, createdAt },
      past,
      format: input.format ?? (reply.isHtml ? 'html' : 'markdown'),
      replyId: reply.id,
      versions,
      createdAt: reply.createdAt,
    }
  }
  throw sessionNotFound()
}

/** Resolves to the reply, which must be the last of its session, and the message that it answers. */
async function findLastTurn(deps: TurnDeps, session: Session, messageId: string) {
  const reply = await getHead(deps, session, messageId)
  if (reply.role !== 'AI' || reply.seq !== session.totalMessages) {
    throw invalid('path.messageId', "must be the session's last message, and a reply")
  }
  const question = await findMessageAt(deps.db, session.agentId, session.id, reply.seq - 1)
  if (question?.role !== 'USER') throw invalid('path.messageId', 'must be a reply to a message')
  return { question, reply }
}

/** Releases the session with its history unchanged. Resolves to the error for the sender. */
async function giveBack(deps: TurnDeps, turn: Turn, replyId: string, thrown: unknown): Promise<ReparteeError> {
  const { code, message, retryAfter, quota, cause } = errorOf(turn, replyId, thrown)
  const isCancelled = code === 'turn_cancelled'
  const error = new ReparteeError(code, isCancelled ? 'The turn was cancelled before the new reply was complete.' : message, {
    details: [{ path: 'aiMessage', message: `${replyId} stays as it was` }],
    retryAfter,
    quota,
    cause,
  })
  const isReleased = await endTurn(deps, turn, () => releaseSession(deps.db, toLease(turn)))
  return !isReleased && (await isGone(deps, turn).catch(() => false)) ? sessionNotFound() : error
}
