import type { Database, Row } from './database.ts'

/** An end user of an agent, as far as their sessions tell. */
export interface User {
  id: string
  sessions: number
  messages: number
  lastMessageAt: number
}

/** By id, in order; those behind `after`. */
export async function listUsers(db: Database, agentId: string, after: string, limit: number): Promise<User[]> {
  const sql = `SELECT user_id AS id, count(*) AS sessions, sum(message_count) AS messages, max(last_message_at) AS last FROM session
    WHERE agent_id = $1 AND user_id > $2 GROUP BY user_id ORDER BY user_id LIMIT $3`
  const rows = await db.scan(sql, [agentId, after, limit])
  return rows.map((row) => ({
    id: row.id as string,
    sessions: row.sessions as number,
    messages: row.messages as number,
    lastMessageAt: row.last as number,
  }))
}

const SLICE_USERS = 2_000
const COUNT_SLICE = `SELECT count(*) AS n, max(user_id) AS last FROM
  (SELECT DISTINCT user_id FROM session WHERE agent_id = $1 AND user_id > $2 ORDER BY user_id LIMIT ${SLICE_USERS}) slice`

/** In slices: others are served between them. */
export async function countUsers(db: Database, agentId: string): Promise<number> {
  let users = 0
  for (let after = ''; ; ) {
    const [row] = await db.scan(COUNT_SLICE, [agentId, after])
    users += row!.n as number
    if ((row!.n as number) < SLICE_USERS) return users
    after = row!.last as string
    await new Promise(setImmediate)
  }
}

/** All that is kept of a message, or of an earlier version of a reply, column by column. */
export type KeptRow = Row

const MESSAGES = `SELECT seq, id, role, content, markdown, model, turn, detail, feedback, created_at FROM message
  WHERE agent_id = $1 AND session_id = $2 AND seq > $3 ORDER BY seq LIMIT $4`

export const listKeptMessages = (
  db: Database,
  agentId: string,
  sessionId: string,
  after: number,
  limit: number,
): Promise<KeptRow[]> => db.scan(MESSAGES, [agentId, sessionId, after, limit])

const VERSIONS = `SELECT message_id, version, content, markdown, model, detail, feedback, replaced_at FROM message_version
  WHERE agent_id = $1 AND session_id = $2 AND (message_id, version) > ($3, $4) ORDER BY message_id, version LIMIT $5`

export const listKeptVersions = (
  db: Database,
  agentId: string,
  sessionId: string,
  after: { messageId: string; version: number },
  limit: number,
): Promise<KeptRow[]> => db.scan(VERSIONS, [agentId, sessionId, after.messageId, after.version, limit])
