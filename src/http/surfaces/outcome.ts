import { type ApiKey, callerIdOf } from '../../core/api-key.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import type { Source } from '../../reply/cite.ts'
import type { FollowUp, Trace, Usage } from '../../reply/trace.ts'
import { findMessageAt, type WholeMessage } from '../../store/tables/messages.ts'
import type { Exchange } from '../../turns/exchange.ts'
import { readDetail } from '../../turns/read-message.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Deps } from '../deps.ts'

/** A turn as every protocol tells of it when it begins. */
export interface Begun {
  agentId: string
  sessionId: string
  userMessageId: string
  /** Undefined where another process runs the turn. */
  replyId: string | undefined
  /** In milliseconds since 1970. */
  createdAt: number
}

/** And when it is done. */
export interface Outcome extends Begun {
  replyId: string
  content: string
  model: string
  finish: Trace['finish']
  sources: Source[]
  usage: Usage | null
  followUps: FollowUp[]
}

export const toBegun = ({ agentId, replyId }: Turn, { id: sessionId }: Session, { id, createdAt }: Message): Begun => ({
  agentId,
  sessionId,
  userMessageId: id,
  replyId,
  createdAt,
})

export const toOutcome = (agentId: string, e: Exchange): Outcome => ({
  agentId,
  sessionId: e.session.id,
  userMessageId: e.userMessage.id,
  replyId: e.aiMessage.id,
  createdAt: e.userMessage.createdAt,
  content: e.aiMessage.content,
  model: e.aiMessage.model,
  finish: e.trace?.finish ?? 'stop',
  sources: e.sources,
  usage: e.usage,
  followUps: e.followUps ?? [],
})

/** A user's token is not told what a reply cost. */
export const toldTo = ({ userId }: ApiKey, outcome: Outcome): Outcome =>
  userId === undefined ? outcome : { ...outcome, usage: null }

/** Of a reply that was kept. `key`: of the caller who reads it. */
export async function readOutcome({ db }: Deps, key: ApiKey, session: Session, reply: WholeMessage): Promise<Outcome> {
  const { agentId, id: sessionId } = session
  const question = await findMessageAt(db, agentId, sessionId, reply.seq - 1)
  const { sources = [], usage = null, followUps = [], trace } = await readDetail(reply, callerIdOf(key))
  return {
    agentId,
    sessionId,
    userMessageId: question?.id ?? '',
    replyId: reply.id,
    createdAt: question?.createdAt ?? reply.createdAt,
    content: reply.content,
    model: reply.model ?? '',
    finish: question?.turn === 'cancelled' ? 'cancelled' : (trace?.finish ?? 'stop'),
    sources,
    usage,
    followUps,
  }
}
