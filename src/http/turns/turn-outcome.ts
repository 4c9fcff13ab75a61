import type { FastifyReply } from 'fastify'
import { type ApiKey, callerIdOf } from '../../core/api-key.ts'
import type { Message } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import type { Source } from '../../reply/cite.ts'
import type { FollowUp, Trace, Usage } from '../../reply/trace.ts'
import { findMessageAt, type WholeMessage } from '../../store/tables/messages.ts'
import type { Exchange } from '../../turns/exchange.ts'
import type { StoredAnswer } from '../../turns/idempotency.ts'
import { readDetail } from '../../turns/read-message.ts'
import type { Turn } from '../../turns/turn.ts'
import type { Deps } from '../deps.ts'
import { isStored } from '../route/idempotency.ts'

/** A turn that has begun, as every protocol shows it. */
export interface BegunTurn {
  agentId: string
  sessionId: string
  userMessageId: string
  /** Undefined if another process runs the turn. */
  replyId: string | undefined
  /** In milliseconds since 1970. */
  createdAt: number
}

/** A turn that has ended. */
export interface TurnOutcome extends BegunTurn {
  replyId: string
  content: string
  model: string
  finish: Trace['finish']
  sources: Source[]
  usage: Usage | null
  followUps: FollowUp[]
}

export const toBegun = (turn: Turn | undefined, { agentId, id: sessionId }: Session, { id, createdAt }: Message): BegunTurn => ({
  agentId,
  sessionId,
  userMessageId: id,
  replyId: turn?.replyId,
  createdAt,
})

export const toOutcome = (agentId: string, e: Exchange): TurnOutcome => ({
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

/** Returns what the holder of a key may see: a user's token does not show what a reply cost. */
export const visibleOutcome = ({ userId }: ApiKey, outcome: TurnOutcome): TurnOutcome =>
  userId === undefined ? outcome : { ...outcome, usage: null }

/** Returns the outcome for a caller who wants the whole reply, also if it was stored for an Idempotency-Key. */
export function readAnswer(answer: TurnOutcome | StoredAnswer, reply: FastifyReply, key: ApiKey): TurnOutcome {
  if (!isStored(answer)) return visibleOutcome(key, answer)
  reply.raw.setHeader('Idempotency-Replayed', 'true')
  return visibleOutcome(key, JSON.parse(answer.answer) as TurnOutcome)
}

/** Reads the outcome of a stored reply. `key`: the reader's key. */
export async function readOutcome({ db }: Deps, key: ApiKey, session: Session, reply: WholeMessage): Promise<TurnOutcome> {
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
