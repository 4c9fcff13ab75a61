import { checkBudgets } from '../access/budgets.ts'
import { ReparteeError } from '../core/errors.ts'
import type { Message, ReplyFormat, Role } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { toIso } from '../core/time.ts'
import { NEWEST, STEP } from '../reply/history.ts'
import type { TurnDeps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { errorOf } from './fail-turn.ts'
import { draftReply, type OpenTurn, runTurn, type TurnInput, type TurnObserver } from './run-turn.ts'
import { storeReply, type WriteReply } from './store-reply.ts'

export interface AnswerOnceInput extends Omit<TurnInput, 'sessionId' | 'session'> {
  /** The conversation before the message, oldest first. The caller stores it. */
  history: { role: Role; content: string }[]
  message: string
  /** Defaults to Markdown. */
  format?: ReplyFormat
}

/** Answers a message without storing it or the reply. Throws `quota_exceeded`, `model_failed`, `model_timeout` or `turn_cancelled`. */
export async function answerOnce(deps: TurnDeps, asked: AnswerOnceInput, observer: TurnObserver = {}): Promise<Exchange> {
  await checkBudgets(deps, asked)
  const open = openTurn(deps, asked)
  const { session, userMessage, replyId } = open
  const input = { ...asked, sessionId: session.id, session }
  return runTurn(deps, input, observer, async (turn) => {
    turn.replyId = replyId
    try {
      const draft = await draftReply(deps, turn, open, input, observer)
      const createdAt = Math.max(deps.clock(), userMessage.createdAt)
      const write: WriteReply = async (_reply, alongside) => {
        if (alongside.length > 0) await deps.db.write(alongside)
        return true
      }
      return await storeReply(deps, turn, { input, observer, open, draft, createdAt, write })
    } catch (thrown) {
      // Nothing is stored, so the error names no message.
      const { code, message, retryAfter, quota, cause } = errorOf(turn, userMessage.id, thrown)
      throw new ReparteeError(code, message, { retryAfter, quota, cause })
    }
  })
}

/** Returns a turn with a session that is not stored, so no other turn can run in it. */
function openTurn({ clock, newId }: TurnDeps, input: AnswerOnceInput): OpenTurn {
  const { agent, userId, history, message, format = 'markdown' } = input
  const now = clock()
  const times = { lastMessageAt: now, createdAt: now, updatedAt: now }
  const session: Session = { id: newId(), agentId: agent.id, name: toIso(now), userId, totalMessages: history.length, ...times }
  const userMessage: Message = { id: newId(), role: 'USER', content: message, createdAt: now }
  // A stored session has at most this many messages verbatim in the prompt.
  const messages = history
    .slice(-(NEWEST + STEP - 1))
    .map((m, i) => ({ ...m, bytes: Buffer.byteLength(m.content), seq: i + 1, isFailed: false }))
  const past = { summary: '', upto: 0, messages }
  return { session, userMessage, past, format, replyId: newId(), versions: 0, isEphemeral: true }
}
