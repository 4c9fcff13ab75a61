import type { Message, ReplyFormat } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { findMessageAt } from '../store/messages.ts'
import { beginTurn, completeTurn, continueTurn } from '../store/turns.ts'
import { checkBudgets } from './budgets.ts'
import type { Deps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { failTurn, refusedSession, takeBackBegin } from './fail-turn.ts'
import { type Past, readPast } from './history.ts'
import { nameAfterFirstTurn } from './name-session.ts'
import { type Asked, type Opened, runTurn, type Window } from './run-turn.ts'
import { summariseIfLong } from './summarise.ts'
import type { Turn } from './turn.ts'
import { holdOf, toPlace } from './turns.ts'

export interface SendInput extends Asked {
  message: string
  format: ReplyFormat
  /** Called when it is the turn of the message. Throws where the session, as it is then, may not have it. */
  refuse?: (session: Session) => Promise<void>
}

/**
 * Specification 4.6. The message is on the disk before anything is asked of a model; the reply is on the disk before it is answered.
 * Runs to its end whether or not the caller still listens. Throws `quota_exceeded`, `session_busy`, `session_not_found`, `turn_cancelled`, or `model_failed`
 * and `model_timeout` with the message kept: the same text, sent next, continues it.
 */
export async function sendMessage(deps: Deps, input: SendInput, window: Window = {}): Promise<Exchange> {
  await checkBudgets(deps, input)
  const open = (turn: Turn, session: Session) => openTurn(deps, turn, session, input)
  const { exchange, opened } = await runTurn(deps, input, open, window)
  nameAfterFirstTurn(deps, input, opened.session, exchange)
  summariseIfLong(deps, input, opened.session, opened.past)
  return exchange
}

/** Puts the message down; or, where it is the session's last, failed, and says the same, takes it up again. */
async function openTurn(deps: Deps, turn: Turn, session: Session, { message, format, refuse }: SendInput): Promise<Opened> {
  const { db, clock, newId } = deps
  await refuse?.(session)
  const place = toPlace(turn)
  const { userMessage, past, isContinued } = await readTurn(deps, session, message)
  const hold = holdOf(deps, turn, session)
  const begun = isContinued ? continueTurn(db, place, hold, userMessage.id) : beginTurn(db, place, hold, userMessage)
  begun.catch(() => takeBackBegin(deps, turn, userMessage.id))
  if (!(await begun)) throw await refusedSession(deps, turn)
  const replyId = newId()
  turn.replyId = replyId
  return {
    session,
    userMessage,
    past,
    format,
    versions: 0,
    reply: () => ({ id: replyId, createdAt: Math.max(clock(), userMessage.createdAt) }),
    store: (reply, alongside) => {
      const state = turn.stopped === 'cancelled' ? 'cancelled' : 'done'
      return completeTurn(db, place, isContinued ? session.totalMessages : session.totalMessages + 1, state, reply, alongside)
    },
    fail: (thrown) => failTurn(deps, turn, userMessage, thrown),
  }
}

async function readTurn(
  deps: Deps,
  session: Session,
  content: string,
): Promise<{ userMessage: Message; past: Past; isContinued: boolean }> {
  const past = await readPast(deps, session, session.totalMessages)
  const last = past.messages.at(-1)
  // The past may hold only a part of it.
  const failed = last?.isFailed ? await findMessageAt(deps.db, session.agentId, session.id, last.seq) : undefined
  if (failed?.content === content) {
    const { id, createdAt } = failed
    const before = { ...past, messages: past.messages.slice(0, -1) }
    return { userMessage: { id, role: 'USER', content, createdAt }, past: before, isContinued: true }
  }
  // Times never go back within a session, whatever the clock does.
  const createdAt = Math.max(deps.clock(), session.lastMessageAt)
  return { userMessage: { id: deps.newId(), role: 'USER', content, createdAt }, past, isContinued: false }
}
