import type { Database, Row, Value } from './database.ts'

/** A reply with the question before it. */
export interface ReplyRow {
  sessionId: string
  userId: string
  /** Its beginning. */
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
const REPLIES_A_SLICE = 100
const QUESTION_CHARS = 2_000
/** Those that were active in the span or later, in slices, latest first: a session's messages lie no later than that. */
const SESSIONS = `SELECT id, user_id, last_message_at FROM session WHERE agent_id = $1 AND last_message_at >= $2 AND created_at < $3
  AND (last_message_at, id) < ($4, $5) ORDER BY last_message_at DESC, id DESC LIMIT ${SESSIONS_A_PAGE}`
const REPLIES = `SELECT r.session_id, substr(q.content, 1, ${QUESTION_CHARS}), q.created_at, r.created_at, r.took_ms, r.answered, r.detail, r.feedback
  FROM message r JOIN message q ON q.agent_id = r.agent_id AND q.session_id = r.session_id AND q.seq = r.seq - 1
  WHERE r.agent_id = $1 AND r.session_id IN (SELECT value FROM json_each($2)) AND r.role = 'AI' AND q.role = 'USER' AND r.model IS NOT NULL
    AND r.created_at >= $3 AND r.created_at < $4`

/** Replies of an agent in a span, in slices, so that little is held and nobody waits long. */
export async function* listReplies(db: Database, agentId: string, { from, to }: Span): AsyncGenerator<ReplyRow[]> {
  let last: SessionPlace = { id: '', userId: '', lastMessageAt: Number.MAX_SAFE_INTEGER }
  for (;;) {
    const sessions = (await db.scan(SESSIONS, [agentId, from, to, last.lastMessageAt, last.id])).map(toPlace)
    if (sessions.length === 0) return
    const users = new Map(sessions.map(({ id, userId }) => [id, userId]))
    for await (const rows of db.stream(REPLIES, [agentId, JSON.stringify([...users.keys()]), from, to], REPLIES_A_SLICE))
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

function toReply(row: Value[], users: Map<string, string>): ReplyRow {
  const [sessionId, question, askedAt, repliedAt, tookMs, answered, detail, feedback] = row as [
    string,
    string,
    number,
    number,
    number | null,
    number | null,
    string | null,
    string | null,
  ]
  return {
    sessionId,
    userId: users.get(sessionId)!,
    question,
    askedAt,
    repliedAt,
    tookMs,
    answered: answered === null ? null : answered === 1,
    detail,
    feedback,
  }
}
