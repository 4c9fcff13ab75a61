import { nextSlice } from '../../core/fairness/pacer.ts'
import type { Sharer } from '../../core/fairness/shares.ts'
import type { HistoryEntry, Message, Role, TurnState } from '../../core/message.ts'
import type { Session } from '../../core/session.ts'
import { type Database, type Row, type Statement, statement, type Value } from '../database.ts'
import { insertSessionStatements } from './sessions.ts'
import type { Summary } from './summaries.ts'

const toMessage = (row: Row): Message => ({
  id: row.id as string,
  role: row.role as Role,
  content: row.content as string,
  createdAt: row.created_at as number,
})

/** Inserts a session with its history and `alongside` in one transaction. Resolves to false if the agent is gone. */
export async function insertConversation(
  db: Database,
  session: Session,
  messages: Message[],
  alongside: Statement[] = [],
): Promise<boolean> {
  const rows: Statement[] = []
  for (let at = 0; at < messages.length; ) {
    const slice = messages.slice(at, at + (messages.length - at < INSERTED_ROWS ? 1 : INSERTED_ROWS))
    rows.push(insertMessages(session, slice, at + 1))
    at += slice.length
  }
  return (await db.writeIf([...insertSessionStatements(session), ...rows, ...alongside])) !== undefined
}

/** Rows of one statement: half the time of a statement for each row. */
const INSERTED_ROWS = 50

function insertMessages({ agentId, id: sessionId }: Session, messages: Message[], firstSeq: number): Statement {
  const params: Value[] = [agentId, sessionId]
  const rows = messages.map((m, i) => {
    const place = params.push(firstSeq + i, m.id, m.role, m.content, m.role === 'USER' ? 'done' : null, m.createdAt) - 5
    return `($1, $2, $${place}, $${place + 1}, $${place + 2}, $${place + 3}, $${place + 4}, $${place + 5})`
  })
  const sql = `INSERT INTO message (agent_id, session_id, seq, id, role, content, turn, created_at) VALUES ${rows.join(', ')}`
  return statement(sql, ...params)
}

/** Resolves to the position of a message in its session, from 1; undefined if it is not in this session. */
export async function findSeq(db: Database, agentId: string, sessionId: string, messageId: string): Promise<number | undefined> {
  const [row] = await db.read('SELECT seq FROM message WHERE agent_id = $1 AND session_id = $2 AND id = $3', [
    agentId,
    sessionId,
    messageId,
  ])
  return row?.seq as number | undefined
}

/** A message of a list. */
export interface ListedMessage extends Omit<Message, 'content'> {
  /** Null if it is long: `readSizes` and `readContents` read it. */
  content: string | null
}

/** Small enough that one statement reads a page of 100 texts. */
const SHORT_BYTES = 3_000
// A separate column for the size would make a page of short texts 10 % slower.
const LISTED = `id, role, created_at, CASE WHEN octet_length(content) <= ${SHORT_BYTES} THEN content END`
/** From the values of `LISTED`. */
const toListed = ([id, role, createdAt, content]: Value[]) => ({ id, role, content, createdAt }) as ListedMessage

/** Returns messages after a position, oldest first, without long texts. */
export async function listMessagesAfter(
  db: Database,
  agentId: string,
  sessionId: string,
  after: number,
  limit: number,
): Promise<ListedMessage[]> {
  const sql = `SELECT ${LISTED} FROM message WHERE agent_id = $1 AND session_id = $2 AND seq > $3 ORDER BY seq LIMIT $4`
  return (await db.readValues(sql, [agentId, sessionId, after, limit])).map(toListed)
}

/** Returns messages before a position, newest first, without long texts. */
export async function listMessagesBefore(
  db: Database,
  agentId: string,
  sessionId: string,
  before: number,
  limit: number,
): Promise<ListedMessage[]> {
  const sql = `SELECT ${LISTED} FROM message WHERE agent_id = $1 AND session_id = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4`
  return (await db.readValues(sql, [agentId, sessionId, before, limit])).map(toListed)
}

/** Returns the bytes of texts by the ids of their messages, without messages that were deleted. Reads no text. */
export async function readSizes(
  db: Database,
  { agentId, id: sessionId }: Session,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const sql = `SELECT id, octet_length(content) FROM message
    WHERE agent_id = $1 AND session_id = $2 AND id IN (SELECT value FROM json_each($3))`
  const rows = await db.readValues(sql, [agentId, sessionId, JSON.stringify(ids)])
  return new Map(rows as [string, number][])
}

/** Returns the texts of messages by their ids, without messages that were deleted. Other reads do not wait for it. */
export async function readContents(
  db: Database,
  { agentId, id: sessionId }: Session,
  ids: readonly string[],
  sharer: Sharer,
): Promise<Map<string, string>> {
  const sql = `SELECT id, content FROM message
    WHERE agent_id = $1 AND session_id = $2 AND id IN (SELECT value FROM json_each($3))`
  const rows = await db.scan(sql, [agentId, sessionId, JSON.stringify(ids)], sharer)
  return new Map(rows.map(({ id, content }) => [id as string, content as string]))
}

/** A message with all its columns. */
export interface WholeMessage extends Message {
  /** Position in the session, from 1. */
  seq: number
  /** The model's Markdown, if `content` is HTML. */
  markdown: string | null
  model: string | null
  turn: TurnState | null
  /** JSON. */
  detail: string | null
  /** JSON. */
  feedback: string | null
}

const WHOLE = 'id, role, content, created_at, seq, markdown, model, turn, detail, feedback'
const toWhole = (row: Row): WholeMessage => ({
  ...toMessage(row),
  seq: row.seq as number,
  markdown: row.markdown as string | null,
  model: row.model as string | null,
  turn: row.turn as TurnState | null,
  detail: row.detail as string | null,
  feedback: row.feedback as string | null,
})

const FIND = `SELECT ${WHOLE} FROM message WHERE agent_id = $1 AND session_id = $2 AND id = $3`
/** Longer messages take milliseconds to read, parse and send. */
export const LONG_MESSAGE_BYTES = 16_384
const SHORT = `octet_length(content) + coalesce(octet_length(markdown), 0) + coalesce(octet_length(detail), 0) <= ${LONG_MESSAGE_BYTES}`

/** With `sharer`, other reads do not wait for it. */
export async function findMessage(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
  sharer?: Sharer,
): Promise<WholeMessage | undefined> {
  const params = [agentId, sessionId, messageId]
  const [row] = sharer === undefined ? await db.read(FIND, params) : await db.scan(FIND, params, sharer)
  return row && toWhole(row)
}

/** Returns undefined for a long message and for an unknown one. */
export async function findShortMessage(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
): Promise<WholeMessage | undefined> {
  const [row] = await db.read(`${FIND} AND ${SHORT}`, [agentId, sessionId, messageId])
  return row && toWhole(row)
}

/** Resolves to undefined if the session ends before this position. */
export async function findMessageAt(
  db: Database,
  agentId: string,
  sessionId: string,
  seq: number,
): Promise<WholeMessage | undefined> {
  const [row] = await db.read(`SELECT ${WHOLE} FROM message WHERE agent_id = $1 AND session_id = $2 AND seq = $3`, [
    agentId,
    sessionId,
    seq,
  ])
  return row && toWhole(row)
}

/** A message without its texts, which may have megabytes. */
export interface MessageHead extends Omit<Message, 'content'>, Pick<WholeMessage, 'seq' | 'turn'> {
  isHtml: boolean
}

// `octet_length` does not read the text. `IS NULL` reads it.
const HEAD = 'id, role, created_at, seq, turn, octet_length(markdown)'
/** From the values of `HEAD`. */
const toHead = ([id, role, createdAt, seq, turn, markdownBytes]: Value[]) =>
  ({ id, role, createdAt, seq, turn, isHtml: markdownBytes !== null }) as MessageHead

/** Returns a message without its texts, undefined if there is no such message. */
export async function findHead(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
): Promise<MessageHead | undefined> {
  const sql = `SELECT ${HEAD} FROM message WHERE agent_id = $1 AND session_id = $2 AND id = $3`
  const [values] = await db.readValues(sql, [agentId, sessionId, messageId])
  return values && toHead(values)
}

/** Returns the message at a position without its texts, undefined if the session ends before this position. */
export async function findHeadAt(
  db: Database,
  agentId: string,
  sessionId: string,
  seq: number,
): Promise<MessageHead | undefined> {
  const sql = `SELECT ${HEAD} FROM message WHERE agent_id = $1 AND session_id = $2 AND seq = $3`
  const [values] = await db.readValues(sql, [agentId, sessionId, seq])
  return values && toHead(values)
}

/** Messages that one statement looks at for a reply. An imported session may have thousands without one. */
const REPLY_ROWS = 200
const LAST_SEQ = 'SELECT max(seq) FROM message WHERE agent_id = $1 AND session_id = $2'
const LAST_REPLY = `SELECT id FROM message WHERE agent_id = $1 AND session_id = $2 AND seq > $3 AND seq <= $4 AND role = 'AI'
  ORDER BY seq DESC LIMIT 1`

/** Returns the id of the newest reply of a session. Reads messages in slices: other requests are answered in between. */
export async function findLastReply(db: Database, agentId: string, sessionId: string): Promise<string | undefined> {
  const [newest] = await db.readValues(LAST_SEQ, [agentId, sessionId])
  for (let last = newest![0] as number | null; last !== null && last > 0; last -= REPLY_ROWS) {
    const [values] = await db.readValues(LAST_REPLY, [agentId, sessionId, last - REPLY_ROWS, last])
    if (values !== undefined) return values[0] as string
    await nextSlice(agentId)
  }
  return undefined
}

/** The number of the newest earlier version of message $3, 0 if there is none. Counting them would read them all. */
export const NEWEST_VERSION = `coalesce((SELECT version FROM message_version
  WHERE agent_id = $1 AND session_id = $2 AND message_id = $3 ORDER BY version DESC LIMIT 1), 0)`

/** Resolves to the number of times that a reply was regenerated. */
export async function countVersions(db: Database, agentId: string, sessionId: string, messageId: string): Promise<number> {
  const [row] = await db.read(`SELECT ${NEWEST_VERSION} AS n`, [agentId, sessionId, messageId])
  return row!.n as number
}

/** Stores a reply's detail as JSON, unless the reply was regenerated since: it must have `versions` earlier versions. */
export async function setDetail(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
  versions: number,
  detail: string,
): Promise<void> {
  const sql = `UPDATE message SET detail = $5 WHERE agent_id = $1 AND session_id = $2 AND id = $3 AND $4 = ${NEWEST_VERSION}`
  await db.write([statement(sql, agentId, sessionId, messageId, versions, detail)])
}

/** Resolves to false if the message is gone. */
export async function setFeedback(
  db: Database,
  agentId: string,
  sessionId: string,
  messageId: string,
  feedback: string | null,
): Promise<boolean> {
  const sql = 'UPDATE message SET feedback = $4 WHERE agent_id = $1 AND session_id = $2 AND id = $3 RETURNING id'
  return (await db.writeIf([statement(sql, agentId, sessionId, messageId, feedback)])) !== undefined
}

/** An earlier version of a reply, and when it was replaced. */
export interface MessageVersion {
  /** From 1. */
  version: number
  content: string
  model: string | null
  feedback: string | null
  replacedAt: number
}

/** Returns the versions after one, oldest first. */
export async function listVersions(
  db: Database,
  { agentId, id: sessionId }: Pick<Session, 'agentId' | 'id'>,
  messageId: string,
  after: number,
  limit: number,
): Promise<MessageVersion[]> {
  const sql = `SELECT version, content, model, feedback, replaced_at FROM message_version
    WHERE agent_id = $1 AND session_id = $2 AND message_id = $3 AND version > $4 ORDER BY version LIMIT $5`
  const rows = await db.read(sql, [agentId, sessionId, messageId, after, limit])
  return rows.map((row) => ({
    version: row.version as number,
    content: row.content as string,
    model: row.model as string | null,
    feedback: row.feedback as string | null,
    replacedAt: row.replaced_at as number,
  }))
}

export interface RecentMessage extends HistoryEntry {
  seq: number
  bytes: number
  /** Whether its turn has failed. */
  isFailed: boolean
}

/** Role of the row with the summary. Its `seq` is the last position that the summary covers. */
const SUMMARY = 'SUMMARY'
/** Characters read from the beginning and from the end of a longer message. */
const BEGINNING = 3_000
const END = 1_000
/** A message of this size is longer than both together. */
const LONGER_BYTES = 16_384
// Until the table has statistics, PostgreSQL without the inner ORDER BY may scan the whole session by the id index.
// Each size is read from its own column, because then neither engine reads the text.
const RECENT = `SELECT * FROM (SELECT role, CASE WHEN coalesce(octet_length(markdown), octet_length(content)) <= $4
        THEN coalesce(markdown, content)
        ELSE substr(coalesce(markdown, content), 1, ${BEGINNING}) || ' … ' || substr(coalesce(markdown, content), length(coalesce(markdown, content)) - ${END - 1})
      END AS content, seq,
      coalesce(octet_length(markdown), octet_length(content)) AS bytes, turn
    FROM message WHERE agent_id = $1 AND session_id = $2 AND seq >= $3 AND seq <= $5 ORDER BY seq) AS recent
  UNION ALL SELECT '${SUMMARY}', text, upto, 0, NULL FROM summary WHERE agent_id = $1 AND session_id = $2 ORDER BY seq`

/**
 * Resolves to the messages from `from` to `last`, oldest first, as prompts need them, and the session's summary.
 * Above `maxBytes` only the two ends of a long message are read, because no prompt has room for it: 30 of the longest would block the thread for 15 ms.
 */
export async function listRecent(
  db: Database,
  agentId: string,
  sessionId: string,
  from: number,
  maxBytes: number,
  last = Number.MAX_SAFE_INTEGER,
): Promise<{ messages: RecentMessage[]; summary: Summary | undefined }> {
  const recent: { messages: RecentMessage[]; summary: Summary | undefined } = { messages: [], summary: undefined }
  const rows = await db.readValues(RECENT, [agentId, sessionId, from, Math.max(maxBytes, LONGER_BYTES), last])
  for (const [role, text, place, size, turn] of rows) {
    const content = text as string
    const seq = place as number
    if (role === SUMMARY) recent.summary = { upto: seq, text: content }
    else recent.messages.push({ role: role as Role, content, seq, bytes: size as number, isFailed: turn === 'failed' })
  }
  return recent
}
