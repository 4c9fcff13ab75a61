import { userBudgetId } from '../access/budgets.ts'
import { userNotFound } from '../core/errors.ts'
import { nextSlice } from '../core/fairness/pacer.ts'
import type { Session } from '../core/session.ts'
import { toIso } from '../core/time.ts'
import { findSession, type Slicing, streamSessions } from '../store/tables/sessions.ts'
import { deleteSpendingOf } from '../store/tables/spending.ts'
import { findSummary } from '../store/tables/summaries.ts'
import { listMessageRows, listVersionRows, type UserRow } from '../store/tables/users.ts'
import { forgetAnswersOfUser } from '../turns/idempotency.ts'
import type { SessionDeps } from './deps.ts'
import { deleteIfThere } from './sessions.ts'

const IDS_AT_ONCE = 250
/** The most messages to read at once, if they are short. */
const MESSAGES_AT_ONCE = 100

/** A stored item of a user. Times are ISO 8601. */
export type ExportedRow = { type: 'session' | 'message' | 'version' | 'summary' } & Record<string, unknown>

/** Yields all stored data of one user of an agent, in slices: each session, followed by its messages. Stops when `isWanted` returns false. */
export async function* exportUser(
  { db }: Pick<SessionDeps, 'db'>,
  agentId: string,
  userId: string,
  slicing: Required<Slicing>,
): AsyncGenerator<ExportedRow[]> {
  for (const id of await sessionIdsOf(db, agentId, userId, slicing)) {
    const session = await findSession(db, agentId, id)
    if (session !== undefined) yield* exportSession(db, session)
  }
}

/** Reads all ids first, in one view of the store. An open list occupies a database connection, and the work on each session may take long. */
async function sessionIdsOf(
  db: SessionDeps['db'],
  agentId: string,
  userId: string,
  { owner, isWanted }: Required<Slicing>,
): Promise<string[]> {
  const ids: string[] = []
  for await (const sessions of streamSessions(db, { agentId, userId }, IDS_AT_ONCE)) {
    for (const { id } of sessions) ids.push(id)
    await nextSlice(owner)
    if (!isWanted()) return []
  }
  return ids
}

async function* exportSession(db: SessionDeps['db'], session: Session): AsyncGenerator<ExportedRow[]> {
  const { agentId, id, name, userId, totalMessages, createdAt, updatedAt, lastMessageAt } = session
  const times = { createdAt: toIso(createdAt), updatedAt: toIso(updatedAt), lastMessageAt: toIso(lastMessageAt) }
  yield [{ type: 'session', id, name, externalUserId: userId, ...times }]
  for (let after = 0; after < totalMessages; ) {
    const rows = await listMessageRows(db, agentId, id, after, MESSAGES_AT_ONCE)
    if (rows.length === 0) break
    yield rows.map((row) => toMessage(id, row))
    after = rows.at(-1)!.seq as number
  }
  for (let after = { messageId: '', version: 0 }; ; ) {
    const rows = await listVersionRows(db, agentId, id, after, MESSAGES_AT_ONCE)
    if (rows.length === 0) break
    yield rows.map((row) => toVersion(id, row))
    const last = rows.at(-1)!
    after = { messageId: last.message_id as string, version: last.version as number }
  }
  const summary = await findSummary(db, agentId, id)
  if (summary !== undefined) yield [{ type: 'summary', sessionId: id, text: summary.text }]
}

const toMessage = (sessionId: string, row: UserRow): ExportedRow => ({
  type: 'message',
  sessionId,
  id: row.id,
  role: row.role,
  ...toText(row),
  ...(row.turn === null ? {} : { turn: row.turn }),
  createdAt: toIso(row.created_at as number),
})

const toVersion = (sessionId: string, row: UserRow): ExportedRow => ({
  type: 'version',
  sessionId,
  messageId: row.message_id,
  version: row.version,
  ...toText(row),
  replacedAt: toIso(row.replaced_at as number),
})

const toText = ({ content, markdown, model, detail, feedback }: UserRow) => ({
  content,
  ...(markdown === null ? {} : { markdown }),
  ...(model === null ? {} : { model }),
  ...(feedback === null ? {} : { feedback: JSON.parse(feedback as string) as unknown }),
  ...(detail === null ? {} : { detail: JSON.parse(detail as string) as unknown }),
})

/**
 * Deletes all sessions of a user as `deleteSession` does, and all responses that are stored only for idempotency. Resolves to the number of sessions.
 * Throws `user_not_found` if there is nothing.
 */
export async function eraseUser(deps: SessionDeps, agentId: string, userId: string): Promise<number> {
  // Sessions created later stay. Otherwise a user who continues to create them would keep this from ending.
  const ids = await sessionIdsOf(deps.db, agentId, userId, { owner: agentId, isWanted: () => true })
  for (const id of ids) {
    const session = await findSession(deps.db, agentId, id)
    if (session !== undefined) await deleteIfThere(deps, session)
  }
  const hadAnswers = await forgetAnswersOfUser(deps, agentId, userId)
  if (ids.length === 0 && !hadAnswers) throw userNotFound()
  await deleteSpendingOf(deps.db, userBudgetId(agentId, userId))
  return ids.length
}
