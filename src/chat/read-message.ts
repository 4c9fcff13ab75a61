import { ReparteeError } from '../core/errors.ts'
import type { TurnState } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { findMessage, findMessageAt, setFeedback, type WholeMessage } from '../store/messages.ts'
import type { Deps } from './deps.ts'
import type { Exchange, ReplyDetail } from './exchange.ts'
import { continuable, type FailureDetail } from './fail-turn.ts'

/** Throws `message_not_found`. */
export async function getMessage(deps: Deps, { agentId, id }: Session, messageId: string): Promise<WholeMessage> {
  const message = await findMessage(deps.db, agentId, id, messageId.toLowerCase())
  if (message === undefined) throw new ReparteeError('message_not_found', 'There is no such message.')
  return message
}

/** What became of the turn that a message belongs to. */
export async function turnStateOf(deps: Deps, session: Session, message: WholeMessage): Promise<TurnState> {
  const question = await questionOf(deps, session, message)
  if (question !== undefined && deps.turns.find(question.id)?.isReleased === false) return 'running'
  return question?.turn ?? 'done' // what was brought in from elsewhere is done
}

async function questionOf(deps: Deps, session: Session, message: WholeMessage): Promise<WholeMessage | undefined> {
  if (message.role === 'USER') return message
  const before = await findMessageAt(deps.db, session.agentId, session.id, message.seq - 1)
  return before?.role === 'USER' ? before : undefined
}

export interface Feedback {
  rating: 'up' | 'down'
  comment?: string | undefined
}

export async function rate(deps: Deps, session: Session, messageId: string, feedback: Feedback): Promise<void> {
  const found = await setFeedback(deps.db, session.agentId, session.id, messageId, JSON.stringify(feedback))
  if (!found) throw new ReparteeError('message_not_found', 'There is no such message.')
}

export const detailOf = ({ detail }: WholeMessage): ReplyDetail => (detail === null ? {} : (JSON.parse(detail) as ReplyDetail))

/** How a turn ended that this process no longer holds, or never did. Undefined while it runs elsewhere. */
export async function readEnd(
  deps: Deps,
  session: Session,
  question: WholeMessage,
): Promise<Exchange | ReparteeError | undefined> {
  const { turn, id, role, content, createdAt } = question
  if (turn === 'running') return undefined
  const reply = await findMessageAt(deps.db, session.agentId, session.id, question.seq + 1)
  if (reply?.role !== 'AI') return failureOf(question)
  const { sources = [], usage = null, followUps, include = [], trace } = detailOf(reply)
  const agent = await deps.agents.get(session.agentId)
  return {
    session,
    userMessage: { id, role, content, createdAt },
    aiMessage: { id: reply.id, role: 'AI', content: reply.content, model: reply.model ?? '', createdAt: reply.createdAt },
    followUps: followUps ?? (agent.followUps.enabled ? [] : undefined),
    sources,
    usage,
    trace,
    include,
  }
}

function failureOf({ id, turn, detail }: WholeMessage): ReparteeError {
  const { code, message } = detail === null ? INTERRUPTED : (JSON.parse(detail) as FailureDetail).error
  const details = [turn === 'failed' ? continuable(id) : { path: 'userMessage', message: `is stored as ${id}` }]
  return new ReparteeError(code, message, { details })
}

const INTERRUPTED: FailureDetail['error'] = { code: 'unavailable', message: 'The service stopped before the reply was complete.' }
