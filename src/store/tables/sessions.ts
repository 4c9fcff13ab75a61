import { nextSlice } from '../../core/fairness/pacer.ts'
import type { Session } from '../../core/session.ts'
import { type Database, type Row, type Statement, statement, type Value } from '../database.ts'

export const SESSION_COLUMNS = 'agent_id, id, name, user_id, message_count, last_message_at, created_at, updated_at'

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

/** From the values of `SESSION_COLUMNS`. */
const fromValues = ([agentId, id, name, userId, totalMessages, lastMessageAt, createdAt, updatedAt]: Value[]): Session =>
  ({ id, agentId, name, userId, totalMessages, lastMessageAt, createdAt, updatedAt }) as Session

/** Counter rows of an agent's sessions: see the migration. */
export const SHARDS = 32
const anyShard = (): number => Math.floor(Math.random() * SHARDS)

export const insertCounts = (agentId: string): Statement =>
  statement(
    `WITH RECURSIVE n (shard) AS (SELECT 0 UNION ALL SELECT shard + 1 FROM n WHERE shard < ${SHARDS - 1})
     INSERT INTO session_count (agent_id, shard, sessions) SELECT CAST($1 AS TEXT), shard, 0 FROM n`,
    agentId,
  )

export const deleteCounts = (agentId: string): Statement => statement('DELETE FROM session_count WHERE agent_id = $1', agentId)

export const countOneLess = (agentId: string): Statement =>
  statement('UPDATE session_count SET sessions = sessions - 1 WHERE agent_id = $1 AND shard = $2', agentId, anyShard())

/** The first returns a row if the agent exists. A deletion of the agent waits for this transaction, or came first. */
export function insertSessionStatements(s: Session): [count: Statement, insert: Statement] {
  const shard = anyShard()
  return [
    statement(
      'UPDATE session_count SET sessions = sessions + 1 WHERE agent_id = $1 AND shard = $2 RETURNING shard',
      s.agentId,
      shard,
    ),
    statement(
      `INSERT INTO session (${SESSION_COLUMNS}) SELECT agent_id, $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS BIGINT),
        CAST($7 AS BIGINT), CAST($8 AS BIGINT) FROM session_count WHERE agent_id = $1 AND shard = $9`,
      s.agentId,
      s.id,
      s.name,
      s.userId,
      s.totalMessages,
      s.lastMessageAt,
      s.createdAt,
      s.updatedAt,
      shard,
    ),
  ]
}

/** Resolves to false if the agent is gone. */
export async function insertSession(db: Database, session: Session, alongside: Statement[] = []): Promise<boolean> {
  const statements = insertSessionStatements(session)
  if (alongside.length > 0) return (await db.writeIf([...statements, ...alongside])) !== undefined
  // Without the agent neither writes anything, so the second need not wait for the result of the first.
  const [counted] = await db.write(statements)
  return counted!.length > 0
}

export async function findSession(db: Database, agentId: string, sessionId: string): Promise<Session | undefined> {
  const sql = `SELECT ${SESSION_COLUMNS} FROM session WHERE agent_id = $1 AND id = $2`
  const [values] = await db.readValues(sql, [agentId, sessionId])
  return values && fromValues(values)
}

/** Resolves to false if the session is gone. */
export async function renameSession(db: Database, session: Session, name: string, updatedAt: number): Promise<boolean> {
  const rename = 'UPDATE session SET name = $3, updated_at = $4 WHERE agent_id = $1 AND id = $2 RETURNING id'
  const done = await db.writeIf([statement(rename, session.agentId, session.id, name, updatedAt)])
  return done !== undefined
}

/** Sets a generated name, if the session still has the name that it was created with. */
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

/** Position of a session in the list: last activity first, then id, both descending. */
export interface SessionPosition {
  lastMessageAt: number
  id: string
}

const PERIOD = 'last_message_at >= $3 AND (last_message_at, id) < ($4, $5)'
const WHERE = `agent_id = $1 AND CAST($2 AS TEXT) IS NULL AND ${PERIOD}`
const WHERE_USER = `agent_id = $1 AND user_id = $2 AND ${PERIOD}`
const ORDER = 'ORDER BY last_message_at DESC, id DESC'
const where = (filter: SessionFilter) => (filter.userId === undefined ? WHERE : WHERE_USER)
// Outside the range of dates.
const EARLIEST = Number.MIN_SAFE_INTEGER
const LATEST = Number.MAX_SAFE_INTEGER

/** Uses one upper bound: with two, SQLite would use only the first and scan all sessions before the other. */
function filterParams(
  { agentId, userId = undefined, from = EARLIEST, to = LATEST }: SessionFilter,
  after?: SessionPosition,
): Value[] {
  const end = after === undefined || to <= after.lastMessageAt ? { lastMessageAt: to, id: '' } : after
  return [agentId, userId ?? null, from, end.lastMessageAt, end.id]
}

/** Yields all matching sessions, last activity first, in slices of one consistent snapshot. */
export async function* streamSessions(db: Database, filter: SessionFilter, sliceRows: number): AsyncGenerator<Session[]> {
  const sql = `SELECT ${SESSION_COLUMNS} FROM session WHERE ${where(filter)} ${ORDER}`
  for await (const rows of db.stream(sql, filterParams(filter), sliceRows)) yield rows.map(fromValues)
}

export async function listSessions(
  db: Database,
  filter: SessionFilter,
  after: SessionPosition | undefined,
  limit: number,
): Promise<Session[]> {
  const sql = `SELECT ${SESSION_COLUMNS} FROM session WHERE ${where(filter)} ${ORDER} LIMIT $6`
  return (await db.readValues(sql, [...filterParams(filter, after), limit])).map(fromValues)
}

/** Resolves to the number of sessions. A whole agent has a counter, others are counted in slices. */
export async function countSessions(db: Database, filter: SessionFilter, slicing: Slicing): Promise<number> {
  const { agentId, userId, from, to } = filter
  const isWhole = userId === undefined && from === undefined && to === undefined
  if (!isWhole) return sumSessions(db, filter, { column: '1', sliceRows: 5_000 }, slicing)
  const [row] = await db.read('SELECT coalesce(sum(sessions), 0) AS n FROM session_count WHERE agent_id = $1', [agentId])
  return row!.n as number
}

/** Counts the messages of one user, in slices. */
export const countMessagesOfUser = (db: Database, agentId: string, userId: string, slicing: Slicing): Promise<number> =>
  sumSessions(db, { agentId, userId }, { column: 'message_count', sliceRows: 1_000 }, slicing)

/** How work is done in slices. */
export interface Slicing {
  /** The caller. Owners take turns. */
  owner: string
  /** Returns false when the caller has left: the rest of the work is skipped. */
  isWanted?: () => boolean
}
const isAlwaysWanted = () => true

/** Most sums cover fewer sessions. They need not wait for their turn. */
const FIRST_SLICE_ROWS = 1_000

/** Adds up a column over the matching sessions. Returns the sum so far if the caller has left. */
async function sumSessions(
  db: Database,
  filter: SessionFilter,
  { column, sliceRows }: { column: '1' | 'message_count'; sliceRows: number },
  { owner, isWanted = isAlwaysWanted }: Slicing,
): Promise<number> {
  const rest = `FROM session WHERE ${where(filter)} ${ORDER}`
  const sharer = { id: filter.agentId, userId: owner }
  let sum = 0
  let rows = FIRST_SLICE_ROWS
  for (let after: SessionPosition | undefined; ; rows = sliceRows) {
    const params = filterParams(filter, after)
    const sumSlice = `SELECT count(*) AS n, coalesce(sum(value), 0) AS sum FROM (SELECT ${column} AS value ${rest} LIMIT $6) slice`
    const [slice] = await db.scan(sumSlice, [...params, rows], sharer)
    sum += slice!.sum as number
    if ((slice!.n as number) < rows || !isWanted()) return sum
    const [end] = await db.scan(`SELECT last_message_at, id ${rest} LIMIT 1 OFFSET $6`, [...params, rows - 1], sharer)
    if (end === undefined) return sum
    after = { lastMessageAt: end.last_message_at as number, id: end.id as string }
    await nextSlice(owner)
    if (!isWanted()) return sum
  }
}

const SLICE_ROWS = 1_000
/** Returns sessions without activity since `before`, oldest first. A session with a running turn is active. */
export async function listOldestSessions(db: Database, agentId: string, before: number, limit: number): Promise<Session[]> {
  const sql = `SELECT ${SESSION_COLUMNS} FROM session WHERE agent_id = $1 AND last_message_at < $2 AND lease IS NULL
    ORDER BY last_message_at, id LIMIT $3`
  return (await db.scan(sql, [agentId, before, limit])).map(toSession)
}

const SUM_SLICE = `SELECT coalesce(sum(message_count), 0) AS messages, count(*) AS n, max(id) AS last FROM
  (SELECT message_count, id FROM session WHERE agent_id = $1 AND id > $2 ORDER BY id LIMIT ${SLICE_ROWS}) slice`

/** Counts the messages of all sessions of an agent in slices. Returns the count so far when the caller has left. */
export async function countMessages(
  db: Database,
  agentId: string,
  { owner, isWanted = isAlwaysWanted }: Slicing,
): Promise<number> {
  let messages = 0
  for (let after = ''; ; ) {
    const [row] = await db.scan(SUM_SLICE, [agentId, after], { id: agentId, userId: owner })
    messages += row!.messages as number
    if ((row!.n as number) < SLICE_ROWS || !isWanted()) return messages
    after = row!.last as string
    await nextSlice(owner)
  }
}
