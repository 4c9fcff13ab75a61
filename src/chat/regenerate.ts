import { invalid, ReparteeError, sessionNotFound } from '../core/errors.ts'
import type { ReplyFormat } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { countVersions, findMessageAt, type MessageHead } from '../store/messages.ts'
import { leaseSession, releaseSession, replaceReply } from '../store/turns.ts'
import { checkBudgets } from './budgets.ts'
import type { Deps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { endTurn, isGone, refusedSession, toldOf } from './fail-turn.ts'
import { readPast } from './history.ts'
import { getHead } from './read-message.ts'
import { type Asked, type Opened, runTurn, type Window } from './run-turn.ts'
import type { Turn } from './turn.ts'
import { holdOf, toPlace } from './turns.ts'

export interface RegenerateInput extends Asked {
  /** The reply that is to be made anew. */
  messageId: string
  /** Undefined: as it was. */
  format: ReplyFormat | undefined
}

/**
 * Makes the session's last reply anew: its id and place stay, what it said becomes a version. Until the new one is complete, and where it
 * fails or is cancelled, the history holds the old one. Throws as a send does.
 */
export async function regenerate(deps: Deps, input: RegenerateInput, window: Window = {}): Promise<Exchange> {
  await checkBudgets(deps, input)
  const open = (turn: Turn, session: Session) => openTurn(deps, turn, session, input)
  return (await runTurn(deps, input, open, window)).exchange
}

async function openTurn(deps: Deps, turn: Turn, session: Session, { messageId, format }: RegenerateInput): Promise<Opened> {
  const { db, clock } = deps
  const place = toPlace(turn)
  const { question, reply } = await findLastTurn(deps, session, messageId)
  const past = await readPast(deps, session, question.seq - 1)
  const versions = 1 + (await countVersions(db, session.agentId, session.id, reply.id))
  const hold = holdOf(deps, turn, session)
  if (!(await leaseSession(db, place, hold))) throw await refusedSession(deps, turn)
  turn.replyId = reply.id
  const { id, content, createdAt } = question
  return {
    session,
    userMessage: { id, role: 'USER', content, createdAt },
    past,
    format: format ?? (reply.isHtml ? 'html' : 'markdown'),
    versions,
    reply: () => ({ id: reply.id, createdAt: reply.createdAt }),
    store: (anew, alongside) => {
      if (turn.stopped === 'cancelled') throw toldOf(turn, question.id, undefined)
      return replaceReply(db, place, question.id, anew, Math.max(clock(), createdAt), alongside)
    },
    fail: (thrown) => giveBack(deps, turn, reply, thrown),
  }
}

/** The reply, which must be the last of its session, and the message that it answers. */
async function findLastTurn(deps: Deps, session: Session, messageId: string) {
  const reply = await getHead(deps, session, messageId)
  if (reply.role !== 'AI' || reply.seq !== session.totalMessages) {
    throw invalid('path.messageId', "must be the session's last message, and a reply")
  }
  const question = await findMessageAt(deps.db, session.agentId, session.id, reply.seq - 1)
  if (question?.role !== 'USER') throw invalid('path.messageId', 'must be a reply to a message')
  return { question, reply }
}

/** The history is as it was; the session is free again. */
async function giveBack(deps: Deps, turn: Turn, { id }: MessageHead, thrown: unknown): Promise<ReparteeError> {
  const isReleased = await endTurn(deps, turn, () => releaseSession(deps.db, toPlace(turn)))
  if (!isReleased && (await isGone(deps, turn))) return sessionNotFound()
  const { code, message, retryAfter, quota, cause } = toldOf(turn, id, thrown)
  const isCancelled = code === 'turn_cancelled'
  return new ReparteeError(code, isCancelled ? 'The turn was cancelled before the new reply was complete.' : message, {
    details: [{ path: 'aiMessage', message: `${id} stays as it was` }],
    retryAfter,
    quota,
    cause,
  })
}
