import { agentNotFound, invalid, ReparteeError, sessionNotFound } from '../core/errors.ts'
import type { Role } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { toIso } from '../core/time.ts'
import type { Statement } from '../store/database.ts'
import { deleteSession as deleteRows, type IfUnused, isPurged } from '../store/tables/deletion.ts'
import { insertConversation } from '../store/tables/messages.ts'
import { findSession, insertSession, renameSession as rename } from '../store/tables/sessions.ts'
import type { SessionDeps } from './deps.ts'

export interface NewSession {
  name?: string | undefined
  externalUserId?: string | undefined
}

/** Creates a session (specification 4.1). The name defaults to the creation time, the user to a new UUID. */
export async function createSession(
  deps: SessionDeps,
  agentId: string,
  input: NewSession,
  alongside?: (session: Session) => Statement[],
): Promise<Session> {
  const session = toSession(deps, agentId, input)
  if (!(await insertSession(deps.db, session, withEvents(deps, session, alongside)))) throw agentNotFound()
  return session
}

function withEvents({ webhooks }: SessionDeps, made: Session, alongside?: (session: Session) => Statement[]): Statement[] {
  const { id, agentId } = made
  const news = webhooks.queue({ event: 'session.created', agentId, sessionId: id, target: id })
  return [...(alongside?.(made) ?? []), ...news]
}

/** Resolves to the session with an id derived from a caller's name, or creates it. Throws `unavailable` while an earlier one is still being deleted. */
export async function getOrCreateSession(deps: SessionDeps, agentId: string, id: string, input: NewSession): Promise<Session> {
  const found = await findSession(deps.db, agentId, id)
  if (found !== undefined) return found
  if (await isPurged(deps.db, agentId, id))
    throw new ReparteeError('unavailable', 'The session before this one is still being deleted.', { retryAfter: 1 })
  const session = { ...toSession(deps, agentId, input), id }
  try {
    if (!(await insertSession(deps.db, session, withEvents(deps, session)))) throw agentNotFound()
    return session
  } catch (error) {
    // Another request created the session at the same time.
    const made = await findSession(deps.db, agentId, id)
    if (made === undefined) throw error
    return made
  }
}

function toSession({ clock, newId }: SessionDeps, agentId: string, { name, externalUserId }: NewSession): Session {
  const now = clock()
  return {
    id: newId(),
    agentId,
    name: name ?? toIso(now),
    userId: externalUserId?.toLowerCase() ?? newId(),
    totalMessages: 0,
    lastMessageAt: now,
    createdAt: now,
    updatedAt: now,
  }
}

export interface ImportedMessage {
  role: Role
  content: string
  createdAt?: string | undefined
}

/** Imports a conversation as a session. A missing time defaults to that of the previous message, or to now. */
export async function importSession(
  deps: SessionDeps,
  agentId: string,
  input: NewSession,
  messages: ImportedMessage[],
  alongside?: (session: Session) => Statement[],
): Promise<Session> {
  const session = toSession(deps, agentId, input)
  let last = Number.NEGATIVE_INFINITY
  const stored = messages.map(({ role, content, createdAt }, i) => {
    const at = createdAt === undefined ? (last === Number.NEGATIVE_INFINITY ? session.createdAt : last) : Date.parse(createdAt)
    if (at < last) throw invalid(`body.messages[${i}].createdAt`, 'must not be before that of the message above it')
    if (at > session.createdAt) throw invalid(`body.messages[${i}].createdAt`, 'must not be in the future')
    last = at
    return { id: deps.newId(), role, content, createdAt: at }
  })
  session.totalMessages = stored.length
  if (stored.length > 0) session.lastMessageAt = last
  if (!(await insertConversation(deps.db, session, stored, withEvents(deps, session, alongside)))) throw agentNotFound()
  return session
}

/** Renames a session (specification 4.4). Only `updatedAt` changes. */
export async function renameSession(
  deps: SessionDeps,
  session: Session,
  name: string,
): Promise<{ id: string; name: string; updatedAt: number }> {
  const updatedAt = Math.max(deps.clock(), session.updatedAt)
  if (!(await rename(deps.db, session, name, updatedAt))) throw sessionNotFound()
  return { id: session.id, name, updatedAt }
}

/** Deletes a session at once (specification 4.5). A running turn is stopped, and its sender gets `session_not_found`. */
export async function deleteSession(deps: SessionDeps, session: Session, condition?: IfUnused): Promise<void> {
  const { id: target, agentId } = session
  const news = deps.webhooks.queue({ event: 'session.deleted', agentId, sessionId: '', target })
  const deleted = await deleteRows(deps.db, session, news, condition)
  if (deleted === undefined) throw sessionNotFound()
  deps.turns.stop(session.id, 'deleted')
  if (deleted.lease === null) return
  // The session is deleted anyway: the turn fails at its end.
  await deps.peers
    .stopDeleted(session.agentId, deleted.lease)
    .catch((error: unknown) => deps.warn('a turn could not be stopped', error))
}

/** Deletes a session that others may delete or use at the same time. */
export async function deleteIfThere(deps: SessionDeps, session: Session, condition?: IfUnused): Promise<void> {
  await deleteSession(deps, session, condition).catch((error: unknown) => {
    if (!(error instanceof ReparteeError && error.code === 'session_not_found')) throw error
  })
}
