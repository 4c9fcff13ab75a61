import type { HistoryEntry, Message, Role, TurnState } from '../core/message.ts'
import type { Session } from '../core/session.ts'
import { type Database, type Row, type Statement, statement } from './database.ts'
import { insertSessionStatement } from './sessions.ts'

const toMessage = (row: Row): Message => ({
  id: row.id as string,
  role: row.role as Role,
  content: row.content as string,
  createdAt: row.created_at as number,
})

/** A message as it is put down. `markdown` where `content` is HTML; `detail` is what goes with a reply, as JSON. */
export interface StoredReply extends Message {
  markdown: string | null
  model: string
  detail: string | null
}

const RAISE_COUNTER = `UPDATE session SET message_count = message_count + 1, last_message_at = $3
  WHERE agent_id = $1 AND id = $2 RETURNING message_count`
const APPEND = `INSERT INTO message (agent_id, session_id, seq, id, role, content, markdown, model, turn, detail, created_at)
  SELECT agent_id, id, message_count, $3, $4, $5, $6, $7, $8, $9, $10 FROM session WHERE agent_id = $1 AND id = $2`

/** The counter on the session's row is raised first: two appends at once cannot take one number, on any engine. */
export function append(
  agentId: string,
  sessionId: string,
  m: Message & { turn?: TurnState; markdown?: string | null; model?: string; detail?: string | null },
): [Statement, Statement] {
  return [
    statement(RAISE_COUNTER, agentId, sessionId, m.createdAt),
    statement(
      APPEND,
      agentId,
      sessionId,
      m.id,
      m.role,
      m.content,
      m.markdown ?? null,
      m.model ?? null,
      m.turn ?? null,
      m.detail ?? null,
      m.createdAt,
    ),
  ]
}

/** Puts the user's message down as a running turn. Resolves to false where the session is gone. */
export async function beginTurn(db: Database, agentId: string, sessionId: string, message: Message): Promise<boolean> {
  return (await db.writeIf(append(agentId, sessionId, { ...message, turn: 'running' }))) !== undefined
}

const SET_TURN = 'UPDATE message SET turn = $4 WHERE agent_id = $1 AND session_id = $2 AND id = $3 AND turn = $5 RETURNING id'

/** Moves a turn from one state to the next. Resolves to false where it was not in that state, or is gone. */
export async function moveTurn(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
  from: TurnState,
  to: TurnState,
): Promise<boolean> {
  return (await db.writeIf([statement(SET_TURN, agentId, sessionId, messageId, to, from)])) !== undefined
}

/** Ends a running turn with its reply, in one transaction. Resolves to false where the session, and so the turn, is gone. */
export async function completeTurn(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
  reply: StoredReply,
): Promise<boolean> {
  // The session's row comes first, as the guard: its messages may outlive it for a moment while they are being deleted.
  const [raise, insert] = append(agentId, sessionId, reply)
  const done = statement(SET_TURN, agentId, sessionId, messageId, 'done', 'running')
  return (await db.writeIf([raise, done, insert])) !== undefined
}

/** After a crash: turns that were running are failed, and can be continued. Resolves to how many. */
export async function failRunningTurns(db: Database): Promise<number> {
  const [rows] = await db.write([statement("UPDATE message SET turn = 'failed' WHERE turn = 'running' RETURNING id")])
  return rows!.length
}

/** A new session with its history, in one transaction. */
export async function insertConversation(db: Database, session: Session, messages: Message[]): Promise<void> {
  const insert = `INSERT INTO message (agent_id, session_id, seq, id, role, content, turn, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`
  const rows = messages.map((m, i) =>
    statement(
      insert,
      session.agentId,
      session.id,
      i + 1,
      m.id,
      m.role,
      m.content,
      m.role === 'USER' ? 'done' : null,
      m.createdAt,
    ),
  )
  await db.write([insertSessionStatement(session), ...rows])
}

/** The place of a message in its session, from 1; undefined where it is not of this session. */
export async function findPlace(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
): Promise<number | undefined> {
  const [row] = await db.read('SELECT seq FROM message WHERE agent_id = $1 AND session_id = $2 AND id = $3', [
    agentId,
    sessionId,
    messageId,
  ])
  return row?.seq as number | undefined
}

/** Messages after a place, in order. */
export async function listMessages(
  db: Database,
  agentId: string,
  sessionId: string,
  after: number,
  limit: number,
): Promise<Message[]> {
  const sql = `SELECT id, role, content, created_at FROM message WHERE agent_id = $1 AND session_id = $2 AND seq > $3 ORDER BY seq LIMIT $4`
  return (await db.read(sql, [agentId, sessionId, after, limit])).map(toMessage)
}

export interface RecentMessage extends HistoryEntry {
  id: string
  createdAt: number
  turn: TurnState | null
}

/** The newest messages, oldest first. */
export async function listRecent(db: Database, agentId: string, sessionId: string, limit: number): Promise<RecentMessage[]> {
  const sql = `SELECT id, role, coalesce(markdown, content) AS content, turn, created_at FROM message
    WHERE agent_id = $1 AND session_id = $2 ORDER BY seq DESC LIMIT $3`
  const rows = await db.read(sql, [agentId, sessionId, limit])
  return rows.map((row) => ({ ...toMessage(row), turn: row.turn as TurnState | null })).reverse()
}
