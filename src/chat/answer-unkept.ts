import { ReparteeError } from '../core/errors.ts'
import type { Message, ReplyFormat, Role } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { toIso } from '../core/time.ts'
import { checkBudgets } from './budgets.ts'
import type { Deps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { toldOf } from './fail-turn.ts'
import { NEWEST, STEP } from './history.ts'
import { type Asked, type Opened, runTurn, type Window } from './run-turn.ts'
import type { Turn } from './turn.ts'

export interface UnkeptInput extends Omit<Asked, 'sessionId' | 'session'> {
  /** The conversation before the message, oldest first; held by the caller. */
  history: { role: Role; content: string }[]
  message: string
  /** Markdown unless told otherwise. */
  format?: ReplyFormat
}

/**
 * A turn as any other, of a conversation that the caller keeps: neither the message nor the reply is written down. Throws `quota_exceeded`,
 * `model_failed`, `model_timeout` or `turn_cancelled`.
 */
export async function answerUnkept(deps: Deps, input: UnkeptInput, window: Window = {}): Promise<Exchange> {
  await checkBudgets(deps, input)
  const session = toPassing(deps, input)
  const open = async (turn: Turn) => openTurn(deps, turn, session, input)
  return (await runTurn(deps, { ...input, sessionId: session.id, session }, open, window)).exchange
}

/** Nothing else runs in a session that is nowhere. */
function toPassing({ clock, newId }: Deps, { agent, userId, history }: UnkeptInput): Session {
  const now = clock()
  const times = { lastMessageAt: now, createdAt: now, updatedAt: now }
  return { id: newId(), agentId: agent.id, name: toIso(now), userId, totalMessages: history.length, ...times }
}

function openTurn(deps: Deps, turn: Turn, session: Session, { history, message, format = 'markdown' }: UnkeptInput): Opened {
  const { db, clock, newId } = deps
  const createdAt = session.createdAt
  const userMessage: Message = { id: newId(), role: 'USER', content: message, createdAt }
  const replyId = newId()
  turn.replyId = replyId
  // As many as stay word by word in a session.
  const messages = history
    .slice(-(NEWEST + STEP - 1))
    .map((m, i) => ({ ...m, bytes: Buffer.byteLength(m.content), seq: i + 1, isFailed: false }))
  return {
    session,
    userMessage,
    past: { summary: '', upto: 0, messages },
    format,
    isPassing: true,
    versions: 0,
    reply: () => ({ id: replyId, createdAt: Math.max(clock(), createdAt) }),
    store: async (_reply, alongside) => {
      if (alongside.length > 0) await db.write(alongside)
      return true
    },
    fail: async (thrown) => withoutMessage(toldOf(turn, userMessage.id, thrown)),
  }
}

/** What the sender is told names no message as stored. */
const withoutMessage = ({ code, message, retryAfter, quota, cause }: ReparteeError): ReparteeError =>
  new ReparteeError(code, message, { retryAfter, quota, cause })
