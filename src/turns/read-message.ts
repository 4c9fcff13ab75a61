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

/** A long message waits for a slice of its own before it is read. Throws `message_not_found`, and `unavailable` if the caller leaves. */
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

/** Returns a message without its texts. Throws `message_not_found`. */
export async function getHead(deps: TurnDeps, { agentId, id }: Session, messageId: string): Promise<MessageHead> {
  const head = await findHead(deps.db, agentId, id, messageId)
  if (head === undefined) throw messageNotFound()
  return head
}

/** The message of a user, by which a turn is named. Throws `message_not_found`, or `invalid_request` for a reply. */
export async function getQuestion(deps: TurnDeps, session: Session, messageId: string): Promise<WholeMessage> {
  const message = await getMessage(deps, session, messageId)
  checkQuestion(message)
  return message
}

/** Throws `invalid_request` for a reply. */
export function checkQuestion({ role }: Pick<MessageHead, 'role'>): void {
  if (role !== 'USER') throw invalid('path.messageId', 'must be the id of a message of the user')
}

/** A message with what shows its turn. */
type MessageInTurn = Pick<MessageHead, 'id' | 'role' | 'seq' | 'turn'>

/** What became of the turn that a message belongs to. */
export async function turnStateOf(deps: TurnDeps, session: Session, message: MessageInTurn): Promise<TurnState> {
  const question = await questionOf(deps, session, message)
  if (question === undefined) return 'done'
  if (deps.turns.find(question.id)?.isReleased === false) return 'running'
  // A reply that another replica makes anew.
  if (question.seq === session.totalMessages - 1 && (await deps.peers.isRunning(session))) return 'running'
  return question.turn ?? 'done' // what was brought in from elsewhere is done
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

/** `null` takes back what was said. Throws `message_not_found`, or `invalid_request` for a message of the user. */
export async function rate(deps: TurnDeps, session: Session, messageId: string, feedback: Feedback | null): Promise<void> {
  const { role } = await getHead(deps, session, messageId)
  if (role !== 'AI') throw invalid('path.messageId', 'must be the id of a reply')
  const isThere = await setFeedback(deps.db, session.agentId, session.id, messageId, feedback && JSON.stringify(feedback))
  if (!isThere) throw messageNotFound()
}

export const toFeedback = (json: string): Feedback => JSON.parse(json) as Feedback

export const detailOf = ({ detail }: WholeMessage): ReplyDetail => (detail === null ? {} : (JSON.parse(detail) as ReplyDetail))

/** Parses what the store keeps about a reply. A long reply waits for a slice of its own. `owner` as in `nextSlice`. */
export async function readDetail(message: WholeMessage, owner: string): Promise<ReplyDetail> {
  if (message.content.length + (message.detail?.length ?? 0) > LONG_MESSAGE_BYTES) await nextSlice(owner)
  return detailOf(message)
}

const LOOK_EVERY_MS = 500

/**
 * Resolves to the result of a turn that another process runs, as the store shows it. Resolves to undefined if no caller wants it any longer. All callers
 * share one poll of the store. Throws `session_not_found`.
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

/** Returns the reply to a message, read as `getMessage` does; undefined if there is none. */
async function replyTo(deps: TurnDeps, session: Session, { seq }: WholeMessage): Promise<WholeMessage | undefined> {
  const next = await findHeadAt(deps.db, session.agentId, session.id, seq + 1)
  return next?.role === 'AI' ? getMessage(deps, session, next.id) : undefined
}

/** How a turn ended that this process no longer holds, or never did. Undefined while it runs elsewhere. */
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

/** Names the run that ended a turn; undefined where a crash ended it. */
export async function findEndedRun(deps: TurnDeps, session: Session, question: WholeMessage): Promise<string | undefined> {
  const { detail } = (await replyTo(deps, session, question)) ?? question
  return detail === null ? undefined : (JSON.parse(detail) as ReplyDetail | FailureDetail).run
}

function failureOf({ id, turn, detail }: WholeMessage): ReparteeError {
  const { code, message } = detail === null ? INTERRUPTED : (JSON.parse(detail) as FailureDetail).error
  return new ReparteeError(code, message, { details: [storedAs(id, turn === 'failed')] })
}

const INTERRUPTED: FailureDetail['error'] = { code: 'unavailable', message: 'The service stopped before the reply was complete.' }
