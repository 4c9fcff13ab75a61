import { nextSlice } from '../../core/fairness/pacer.ts'
import type { Database, Row } from '../database.ts'

/** A reply with the question before it. */
export interface ReplyRow {
  sessionId: string
  userId: string
  /** Truncated to `QUESTION_CHARS`. */
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

export interface TimeSpan {
  from: number
  /** Exclusive. */
  to: number
}

interface SessionPosition {
  id: string
  userId: string
  lastMessageAt: number
  createdAt: number
  messages: number
}

const SESSIONS_A_PAGE = 100
/** Messages that one statement reads. A reply is read whole: up to 200,000 characters, as many of sources, and a long comment. */
const MESSAGES_A_SLICE = 25
const QUESTION_CHARS = 2_000
/** Sessions active in the span or later, latest first. A condition on `created_at` would make one statement scan any number of sessions. */
const SESSIONS = `SELECT id, user_id, last_message_at, created_at, message_count FROM session WHERE agent_id = $1 AND last_message_at >= $2
  AND (last_message_at, id) < ($3, $4) ORDER BY last_message_at DESC, id DESC LIMIT ${SESSIONS_A_PAGE}`
const REPLIES = `SELECT r.session_id, substr(q.content, 1, ${QUESTION_CHARS}) AS question, q.created_at AS asked_at, r.created_at AS replied_at, r.took_ms, r.answered, r.detail, r.feedback
  FROM message r JOIN message q ON q.agent_id = r.agent_id AND q.session_id = r.session_id AND q.seq = r.seq - 1
  WHERE r.agent_id = $1 AND r.session_id IN (SELECT value FROM json_each($2)) AND r.seq > $5 AND r.seq <= $6 AND r.role = 'AI' AND q.role = 'USER' AND r.model IS NOT NULL
    AND r.created_at >= $3 AND r.created_at < $4`

/** Yields an agent's replies in a span, in slices: memory stays small and other requests do not wait long. `owner` as in `nextSlice`. */
export async function* listReplies(
  db: Database,
  agentId: string,
  { from, to }: TimeSpan,
  owner: string,
): AsyncGenerator<ReplyRow[]> {
  let last: Pick<SessionPosition, 'id' | 'lastMessageAt'> = { id: '', lastMessageAt: Number.MAX_SAFE_INTEGER }
  for (;;) {
    const page = (await db.scan(SESSIONS, [agentId, from, last.lastMessageAt, last.id])).map(toLease)
    const sessions = page.filter(({ createdAt }) => createdAt < to)
    const users = new Map(sessions.map(({ id, userId }) => [id, userId]))
    for (const { ids, after, upto } of slicesOf(sessions))
      yield (await db.scan(REPLIES, [agentId, JSON.stringify(ids), from, to, after, upto])).map((row) => toReply(row, users))
    if (page.length < SESSIONS_A_PAGE) return
    last = page.at(-1)!
    await nextSlice(owner)
  }
}

/** Yields several short sessions, or a part of a long one. */
function* slicesOf(sessions: readonly SessionPosition[]): Generator<{ ids: string[]; after: number; upto: number }> {
  let ids: string[] = []
  let messages = 0
  for (const session of sessions) {
    if (messages + session.messages > MESSAGES_A_SLICE && ids.length > 0) {
      yield { ids, after: 0, upto: MESSAGES_A_SLICE }
      ids = []
      messages = 0
    }
    if (session.messages <= MESSAGES_A_SLICE) {
      ids.push(session.id)
      messages += session.messages
      continue
    }
    for (let after = 0; after < session.messages; after += MESSAGES_A_SLICE)
      yield { ids: [session.id], after, upto: after + MESSAGES_A_SLICE }
  }
  if (ids.length > 0) yield { ids, after: 0, upto: MESSAGES_A_SLICE }
}

const toLease = (row: Row): SessionPosition => ({
  id: row.id as string,
  userId: row.user_id as string,
  lastMessageAt: row.last_message_at as number,
  createdAt: row.created_at as number,
  messages: row.message_count as number,
})

const toReply = (row: Row, users: Map<string, string>): ReplyRow => ({
  sessionId: row.session_id as string,
  userId: users.get(row.session_id as string)!,
  question: row.question as string,
  askedAt: row.asked_at as number,
  repliedAt: row.replied_at as number,
  tookMs: row.took_ms as number | null,
  answered: row.answered === null ? null : row.answered === 1,
  detail: row.detail as string | null,
  feedback: row.feedback as string | null,
})
