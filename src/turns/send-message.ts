import { checkBudgets } from '../access/budgets.ts'
import { sessionNotFound } from '../core/errors.ts'
import type { Message, ReplyFormat } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { type Past, readPast } from '../reply/history.ts'
import { findMessageAt } from '../store/tables/messages.ts'
import { beginTurn, completeTurn, continueTurn } from '../store/tables/turns.ts'
import type { TurnDeps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { failTurn, takeBackBegin } from './fail-turn.ts'
import { nameAfterFirstTurn } from './name-session.ts'
import { draftReply, type OpenTurn, runTurn, sessionsFor, type TurnInput, type TurnObserver } from './run-turn.ts'
import { storeReply, type WriteReply } from './store-reply.ts'
import { summariseIfLong } from './summarise.ts'
import type { Turn } from './turn.ts'
import { leaseRequestOf, toLease } from './turns.ts'

export interface SendInput extends TurnInput {
  message: string
  format: ReplyFormat
  /** Called before the message leases the session. Throws if the current session must not receive it. */
  refuse?: (session: Session) => Promise<void>
}

/**
 * Answers a message (specification 4.6). The message is on disk before a model is called, and the reply is on disk before the response is sent.
 * Runs to its end even if the caller disconnects. Throws `quota_exceeded`, `session_busy`, `session_not_found`, `turn_cancelled`, `model_failed` or
 * `model_timeout`. After the last two the message is stored, and sending the same text next continues it.
 */
export async function sendMessage(deps: TurnDeps, input: SendInput, observer: TurnObserver = {}): Promise<Exchange> {
  await checkBudgets(deps, input)
  return runTurn(deps, input, observer, async (turn) => {
    const open = await storeQuestion(deps, turn, input)
    const { session, userMessage, past } = open
    let exchange: Exchange
    try {
      const draft = await draftReply(deps, turn, open, input, observer)
      const createdAt = Math.max(deps.clock(), userMessage.createdAt)
      const write: WriteReply = (reply, alongside) => {
        const state = turn.stopped === 'cancelled' ? 'cancelled' : 'done'
        return completeTurn(deps.db, toLease(turn), open.seq, state, reply, alongside)
      }
      exchange = await storeReply(deps, turn, { input, observer, open, draft, createdAt, write })
    } catch (thrown) {
      throw await failTurn(deps, turn, userMessage, thrown)
    }
    nameAfterFirstTurn(deps, input, session, exchange)
    summariseIfLong(deps, input, session, past)
    return exchange
  })
}

/** Appends the message, or continues the last one if that failed and has the same text. Resolves to the turn with the message's position. */
async function storeQuestion(deps: TurnDeps, turn: Turn, input: SendInput): Promise<OpenTurn & { seq: number }> {
  const { db, newId } = deps
  for await (const session of sessionsFor(deps, turn, input)) {
    await input.refuse?.(session)
    const { userMessage, past, isContinued } = await readQuestion(deps, session, input.message)
    const lease = toLease(turn)
    const request = leaseRequestOf(deps, turn, session)
    const begun = isContinued ? continueTurn(db, lease, request, userMessage.id) : beginTurn(db, lease, request, userMessage)
    begun.catch(() => takeBackBegin(deps, turn, userMessage.id))
    if (!(await begun)) continue
    turn.replyId = newId()
    const seq = isContinued ? session.totalMessages : session.totalMessages + 1
    return { session, userMessage, past, format: input.format, replyId: turn.replyId, versions: 0, seq }
  }
  throw sessionNotFound()
}

async function readQuestion(
  deps: TurnDeps,
  session: Session,
  content: string,
): Promise<{ userMessage: Message; past: Past; isContinued: boolean }> {
  const past = await readPast(deps, session, session.totalMessages)
  const last = past.messages.at(-1)
  // `past` may contain only a part of the text.
  const failed = last?.isFailed ? await findMessageAt(deps.db, session.agentId, session.id, last.seq) : undefined
  if (failed?.content === content) {
    const { id, createdAt } = failed
    const before = { ...past, messages: past.messages.slice(0, -1) }
    return { userMessage: { id, role: 'USER', content, createdAt }, past: before, isContinued: true }
  }
  // Times never decrease within a session, even if the clock does.
  const createdAt = Math.max(deps.clock(), session.lastMessageAt)
  return { userMessage: { id: deps.newId(), role: 'USER', content, createdAt }, past, isContinued: false }
}
