import { type Database, type Statement, statement } from '../../database.ts'

/** The process that begins a turn, and the position in which the turn waited. */
export interface WaitingPosition {
  replica: string
  now: number
  /** Undefined if it has not waited. */
  position: number | undefined
}

// Greater than every assigned position.
const LAST = Number.MAX_SAFE_INTEGER
const firstOf = (replica: string) =>
  `SELECT min(place) FROM waiting_send WHERE agent_id = $1 AND session_id = $2 AND replica = ${replica}`

/**
 * Condition: no send of another replica is before the first of this replica. A replica orders its own sends itself.
 * Parameters: $1 the agent, $2 the session, $n the replica, $n+1 the time.
 */
export const isFirst = (n: number): string =>
  `NOT EXISTS (SELECT 1 FROM waiting_send o WHERE o.agent_id = $1 AND o.session_id = $2 AND o.replica <> $${n} AND o.until > $${n + 1}
    AND o.place < coalesce((${firstOf(`$${n}`)}), ${LAST}))`

export const leaveFirst = (agentId: string, sessionId: string, replica: string): Statement =>
  statement(
    `DELETE FROM waiting_send WHERE agent_id = $1 AND session_id = $2 AND place = (${firstOf('$3')})`,
    agentId,
    sessionId,
    replica,
  )

// Locks the session's row, so that no two sends get the same position.
const LOCK = 'SELECT id FROM session WHERE agent_id = $1 AND id = $2 FOR UPDATE'
const EXPIRE = 'DELETE FROM waiting_send WHERE agent_id = $1 AND session_id = $2 AND until <= $3'
const ENTER = `INSERT INTO waiting_send (agent_id, session_id, place, replica, until)
  SELECT $1, $2, coalesce(max(place), 0) + 1, $3, CAST($4 AS BIGINT) FROM waiting_send WHERE agent_id = $1 AND session_id = $2
  HAVING count(*) < CAST($5 AS BIGINT) RETURNING place`

export interface NewWaiter {
  agentId: string
  sessionId: string
  replica: string
  now: number
  until: number
}

/** Adds a waiting send. Resolves to its position; `full` if `most` sends wait already, `gone` if there is no such session. */
export async function enterQueue(db: Database, w: NewWaiter, most: number): Promise<number | 'full' | 'gone'> {
  const done = await db.writeIf([
    statement(LOCK, w.agentId, w.sessionId),
    statement(EXPIRE, w.agentId, w.sessionId, w.now),
    statement(ENTER, w.agentId, w.sessionId, w.replica, w.until, most),
  ])
  if (done === undefined) return 'gone'
  return (done[2]![0]?.place as number | undefined) ?? 'full'
}

// Another send of the replica may have begun with this position and left its own.
const LEAVE = `DELETE FROM waiting_send WHERE agent_id = $1 AND session_id = $2 AND replica = $3 AND place = coalesce(
  (SELECT place FROM waiting_send WHERE agent_id = $1 AND session_id = $2 AND replica = $3 AND place = $4),
  (SELECT max(place) FROM waiting_send WHERE agent_id = $1 AND session_id = $2 AND replica = $3))`

/** Removes a waiting send that did not begin. */
export async function leaveQueue(db: Database, { agentId, sessionId, replica }: Omit<NewWaiter, 'now' | 'until'>, place: number) {
  await db.write([statement(LEAVE, agentId, sessionId, replica, place)])
}

const LOOK = `SELECT CASE WHEN lease IS NULL AND ${isFirst(3)} THEN 1 ELSE 0 END AS free FROM session WHERE agent_id = $1 AND id = $2`

/** Resolves to true if the first send that waits here can lease the session; undefined if there is no such session. */
export async function isFree(
  db: Database,
  agentId: string,
  sessionId: string,
  replica: string,
  now: number,
): Promise<boolean | undefined> {
  const [row] = await db.read(LOOK, [agentId, sessionId, replica, now])
  return row && row.free === 1
}
