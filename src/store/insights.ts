import type { Database, Row } from './database.ts'

/** A reply with the question before it. */
export interface ReplyRow {
  sessionId: string
  userId: string
  question: string
  askedAt: number
  repliedAt: number
  tookMs: number | null
  answered: boolean | null
  /** JSON. */
  detail: string | null
  /** JSON. */
  feedback: string | null
}

export interface Span {
  from: number
  /** Not itself. */
  to: number
}

interface SessionPlace {
  id: string
  userId: string
  lastMessageAt: number
}

const SESSIONS_A_PAGE = 100
/** Those that were active in the span or later, in slices, latest first: a session's messages lie no later than that. */
const SESSIONS = `SELECT id, user_id, last_message_at FROM session WHERE agent_id = $1 AND last_message_at >= $2 AND created_at < $3
  AND (last_message_at, id) < ($4, $5) ORDER BY last_message_at DESC, id DESC LIMIT ${SESSIONS_A_PAGE}`
const REPLIES = `SELECT r.session_id, q.content AS question, q.created_at AS asked_at, r.created_at, r.took_ms, r.answered, r.detail, r.feedback
  FROM message r JOIN message q ON q.agent_id = r.agent_id AND q.session_id = r.session_id AND q.seq = r.seq - 1
  WHERE r.agent_id = $1 AND r.session_id IN (SELECT value FROM json_each($2)) AND r.role = 'AI' AND q.role = 'USER' AND r.model IS NOT NULL
    AND r.created_at >= $3 AND r.created_at < $4`

/** Replies of an agent in a span, a slice of sessions at a time: none of them is held longer than the caller wants. */
export async function* listReplies(db: Database, agentId: string, { from, to }: Span): AsyncGenerator<ReplyRow[]> {
  let last: SessionPlace = { id: '', userId: '', lastMessageAt: Number.MAX_SAFE_INTEGER }
  for (;;) {
    const sessions = (await db.scan(SESSIONS, [agentId, from, to, last.lastMessageAt, last.id])).map(toPlace)
    if (sessions.length === 0) return
    const users = new Map(sessions.map(({ id, userId }) => [id, userId]))
    const rows = await db.scan(REPLIES, [agentId, JSON.stringify([...users.keys()]), from, to])
    yield rows.map((row) => toReply(row, users))
    if (sessions.length < SESSIONS_A_PAGE) return
    last = sessions.at(-1)!
  }
}

const toPlace = (row: Row): SessionPlace => ({
  id: row.id as string,
  userId: row.user_id as string,
  lastMessageAt: row.last_message_at as number,
})

const toReply = (row: Row, users: Map<string, string>): ReplyRow => ({
  sessionId: row.session_id as string,
  userId: users.get(row.session_id as string)!,
  question: row.question as string,
  askedAt: row.asked_at as number,
  repliedAt: row.created_at as number,
  tookMs: row.took_ms as number | null,
  answered: row.answered === null ? null : row.answered === 1,
  detail: row.detail as string | null,
  feedback: row.feedback as string | null,
})
