import { setTimeout as pause } from 'node:timers/promises'
import { invalid, messageNotFound, ReparteeError, sessionNotFound } from '../core/errors.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import type { TurnState } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import type { ReplyDetail } from '../reply/trace.ts'
import {
  findHead,
  findHeadAt,
  findMessage,
  findShortMessage,
  LONG_MESSAGE_BYTES,
  type MessageHead,
  setFeedback,
  type WholeMessage,
} from '../store/tables/messages.ts'
import { findSession, type Slicing } from '../store/tables/sessions.ts'
import type { TurnDeps } from './deps.ts'
import type { Exchange } from './exchange.ts'
import { type FailureDetail, storedAs } from './fail-turn.ts'

/** Resolves to a message. A long one is read in its own slice. Throws `message_not_found`, and `unavailable` if the caller leaves. */
export async function getMessage(
  { db }: TurnDeps,
  { agentId, id }: Session,
  messageId: string,
  { owner, isWanted }: Slicing = { owner: agentId },
): Promise<WholeMessage> {
  const short = await findShortMessage(db, agentId, id, messageId)
  if (short !== undefined) return short
  await nextSlice(owner)
  if (isWanted?.() === false) throw new ReparteeError('unavailable', 'The caller has left.')
  const message = await findMessage(db, agentId, id, messageId, { id: owner })
  if (message === undefined) throw messageNotFound()
  return message
}

/** Resolves to a message without its texts. Throws `message_not_found`. */
export async function getHead(deps: TurnDeps, { agentId, id }: Session, messageId: string): Promise<MessageHead> {
  const head = await findHead(deps.db, agentId, id, messageId)
  if (head === undefined) throw messageNotFound()
  return head
}

/** Resolves to a user message, whose id identifies a turn. Throws `message_not_found`, or `invalid_request` for a reply. */
export async function getQuestion(deps: TurnDeps, session: Session, messageId: string): Promise<WholeMessage> {
  const message = await getMessage(deps, session, messageId)
  checkQuestion(message)
  return message
}

/** Throws `invalid_request` for a reply. */
export function checkQuestion({ role }: Pick<MessageHead, 'role'>): void {
  if (role !== 'USER') throw invalid('path.messageId', 'must be the id of a message of the user')
}

/** The fields of a message that show its turn. */
type MessageInTurn = Pick<MessageHead, 'id' | 'role' | 'seq' | 'turn'>

/** Resolves to the state of the turn that a message belongs to. */
export async function turnStateOf(deps: TurnDeps, session: Session, message: MessageInTurn): Promise<TurnState> {
  const question = await questionOf(deps, session, message)
  if (question === undefined) return 'done'
  if (deps.turns.find(question.id)?.isReleased === false) return 'running'
  // Another replica regenerates the reply.
  if (question.seq === session.totalMessages - 1 && (await deps.peers.isRunning(session))) return 'running'
  return question.turn ?? 'done' // imported messages are done
}

async function questionOf(deps: TurnDeps, session: Session, message: MessageInTurn): Promise<MessageInTurn | undefined> {
  if (message.role === 'USER') return message
  const before = await findHeadAt(deps.db, session.agentId, session.id, message.seq - 1)
  return before?.role === 'USER' ? before : undefined
}

export interface Feedback {
  rating: 'up' | 'down'
  comment?: string
}

/** Stores feedback, or removes it if `null`. Throws `message_not_found`, or `invalid_request` for a user message. */
export async function rate(deps: TurnDeps, session: Session, messageId: string, feedback: Feedback | null): Promise<void> {
  const { role } = await getHead(deps, session, messageId)
  if (role !== 'AI') throw invalid('path.messageId', 'must be the id of a reply')
  const isThere = await setFeedback(deps.db, session.agentId, session.id, messageId, feedback && JSON.stringify(feedback))
  if (!isThere) throw messageNotFound()
}

export const toFeedback = (json: string): Feedback => JSON.parse(json) as Feedback

export const detailOf = ({ detail }: WholeMessage): ReplyDetail => (detail === null ? {} : (JSON.parse(detail) as ReplyDetail))

/** Parses the stored detail of a reply. A long reply is parsed in its own slice. `owner` as in `nextSlice`. */
export async function readDetail(message: WholeMessage, owner: string): Promise<ReplyDetail> {
  if (message.content.length + (message.detail?.length ?? 0) > LONG_MESSAGE_BYTES) await nextSlice(owner)
  return detailOf(message)
}

const LOOK_EVERY_MS = 500

/**
 * Resolves to the result of a turn that another process runs, as stored, or to undefined when no caller wants it.
 * All callers share one poll of the store. Throws `session_not_found`.
 */
export function waitForEnd(
  deps: TurnDeps,
  session: Session,
  messageId: string,
  isWanted: () => boolean,
): Promise<Exchange | ReparteeError | undefined> {
  return deps.turns.ends.join(messageId, isWanted, (isAnyWanted) => {
    const result = lookForEnd(deps, session, messageId, isAnyWanted)
    return { result, done: result }
  })
}

async function lookForEnd(
  deps: TurnDeps,
  { agentId, id }: Session,
  messageId: string,
  isWanted: () => boolean,
): Promise<Exchange | ReparteeError | undefined> {
  while (isWanted()) {
    const session = await findSession(deps.db, agentId, id)
    if (session === undefined) throw sessionNotFound()
    if ((await turnStateOf(deps, session, await getHead(deps, session, messageId))) !== 'running') {
      const end = await readEnd(deps, session, await getMessage(deps, session, messageId))
      if (end !== undefined) return end
    }
    await pause(LOOK_EVERY_MS)
  }
  return undefined
}

/** Resolves to the reply to a message, read as in `getMessage`, or to undefined if there is none. */
async function replyTo(deps: TurnDeps, session: Session, { seq }: WholeMessage): Promise<WholeMessage | undefined> {
  const next = await findHeadAt(deps.db, session.agentId, session.id, seq + 1)
  return next?.role === 'AI' ? getMessage(deps, session, next.id) : undefined
}

/** Resolves to the result of a turn that is not in the memory of this process. Undefined while the turn runs in another process. */
async function readEnd(deps: TurnDeps, session: Session, question: WholeMessage): Promise<Exchange | ReparteeError | undefined> {
  const { id, role, content, createdAt } = question
  if ((await turnStateOf(deps, session, question)) === 'running') return undefined
  const reply = await replyTo(deps, session, question)
  if (reply === undefined) return failureOf(question)
  const { sources = [], usage = null, followUps, include = [], trace } = await readDetail(reply, session.agentId)
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

/** Resolves to the id of the run that ended a turn. Undefined if a crash ended it. */
export async function findEndedRun(deps: TurnDeps, session: Session, question: WholeMessage): Promise<string | undefined> {
  const { detail } = (await replyTo(deps, session, question)) ?? question
  return detail === null ? undefined : (JSON.parse(detail) as ReplyDetail | FailureDetail).run
}

function failureOf({ id, turn, detail }: WholeMessage): ReparteeError {
  const { code, message } = detail === null ? INTERRUPTED : (JSON.parse(detail) as FailureDetail).error
  return new ReparteeError(code, message, { details: [storedAs(id, turn === 'failed')] })
}

const INTERRUPTED: FailureDetail['error'] = { code: 'unavailable', message: 'The service stopped before the reply was complete.' }
