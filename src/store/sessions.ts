import type { Session } from '../core/session.ts'
import { type Database, type Row, type Statement, statement } from './database.ts'

const COLUMNS = 'agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at'

export const toSession = (row: Row): Session => ({
  id: row.id as string,
  agentId: row.agent_id as string,
  name: row.name as string,
  userId: row.user_id as string,
  totalMessages: row.message_count as number,
  lastMessageAt: row.last_message_at as number,
  createdAt: row.created_at as number,
  updatedAt: row.updated_at as number,
})

/** Returns a row where the agent is still there; its deletion waits until this is written, or comes first. */
export const insertSessionStatement = (s: Session) =>
  statement(
    `INSERT INTO session (${COLUMNS}) SELECT id, $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT),
      CAST($7 AS BIGINT), CAST($8 AS BIGINT) FROM agent WHERE id = $1 FOR SHARE RETURNING id`,
    s.agentId,
    s.id,
    s.name,
    s.userId,
    s.totalMessages,
    s.lastMessageAt,
    s.createdAt,
    s.updatedAt,
  )

/** Resolves to false where the agent is gone. */
export async function insertSession(db: Database, session: Session, alongside: Statement[] = []): Promise<boolean> {
  return (await db.writeIf([insertSessionStatement(session), ...alongside])) !== undefined
}

export async function findSession(db: Database, agentId: string, sessionId: string): Promise<Session | undefined> {
  const [row] = await db.read(`SELECT ${COLUMNS} FROM session WHERE agent_id = $1 AND id = $2`, [agentId, sessionId])
  return row && toSession(row)
}

/** Resolves to false where the session is gone. */
export async function renameSession(db: Database, session: Session, name: string, updatedAt: number): Promise<boolean> {
  const rename = 'UPDATE session SET name = $3, updated_at = $4 WHERE agent_id = $1 AND id = $2 RETURNING id'
  const done = await db.writeIf([statement(rename, session.agentId, session.id, name, updatedAt)])
  return done !== undefined
}

/** A name that nobody gave: it takes the place of the one that the session was made with, and of no other. */
export async function nameSession(db: Database, session: Session, name: string, updatedAt: number): Promise<void> {
  const sql = 'UPDATE session SET name = $4, updated_at = $5 WHERE agent_id = $1 AND id = $2 AND name = $3'
  await db.write([statement(sql, session.agentId, session.id, session.name, name, updatedAt)])
}

export interface SessionFilter {
  agentId: string
  userId?: string
  /** Last active at this time or later. */
  from?: number
  /** Last active before this time. */
  to?: number
}

/** The place of a session in the list: last activity first, then id, both descending. */
export interface SessionPlace {
  lastMessageAt: number
  id: string
}

const WHERE = 'agent_id = $1 AND CAST($2 AS TEXT) IS NULL AND last_message_at >= $3 AND last_message_at < $4'
const WHERE_USER = 'agent_id = $1 AND user_id = $2 AND last_message_at >= $3 AND last_message_at < $4'
const ORDER = 'ORDER BY last_message_at DESC, id DESC'
const where = (filter: SessionFilter) => (filter.userId === undefined ? WHERE : WHERE_USER)
// Beyond all times that a date can name.
const EARLIEST = Number.MIN_SAFE_INTEGER
const LATEST = Number.MAX_SAFE_INTEGER
const filterParams = (f: SessionFilter) => [f.agentId, f.userId ?? null, f.from ?? EARLIEST, f.to ?? LATEST]

/** All sessions that pass, last activity first, in slices over one consistent view. */
export async function* streamSessions(db: Database, filter: SessionFilter, sliceRows: number): AsyncGenerator<Session[]> {
  const sql = `SELECT ${COLUMNS} FROM session WHERE ${where(filter)} ${ORDER}`
  for await (const rows of db.stream(sql, filterParams(filter), sliceRows)) yield rows.map(toSession)
}

export async function listSessions(
  db: Database,
  filter: SessionFilter,
  after: SessionPlace | undefined,
  limit: number,
): Promise<Session[]> {
  const place = after ?? { lastMessageAt: LATEST, id: '' }
  const sql = `SELECT ${COLUMNS} FROM session WHERE ${where(filter)} AND (last_message_at, id) < ($5, $6) ${ORDER} LIMIT $7`
  return (await db.read(sql, [...filterParams(filter), place.lastMessageAt, place.id, limit])).map(toSession)
}

export async function countSessions(db: Database, filter: SessionFilter): Promise<{ sessions: number; messages: number }> {
  const sql = `SELECT count(*) AS sessions, coalesce(sum(message_count), 0) AS messages FROM session WHERE ${where(filter)}`
  const [row] = await db.read(sql, filterParams(filter))
  return { sessions: row!.sessions as number, messages: row!.messages as number }
}
