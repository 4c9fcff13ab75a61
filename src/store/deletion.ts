import type { Session } from '../core/session.ts'
import { type Database, type Statement, statement } from './database.ts'
import { raiseGeneration } from './replicas.ts'
import { countOneLess, deleteCounts } from './sessions.ts'

/** Rows deleted in one transaction: small enough that no other request waits noticeably. */
const SLICE_ROWS = 500

const DELETE_MESSAGES = 'DELETE FROM message WHERE agent_id = $1 AND session_id = $2'
/** What else holds text of a session, or tells of it. */
const DELETE_REST = ['message_version', 'summary', 'kept_answer', 'webhook_delivery'].map(
  (table) => `DELETE FROM ${table} WHERE agent_id = $1 AND session_id = $2`,
)
const DELETE_SLICE = `${DELETE_MESSAGES} AND seq <= (SELECT min(seq) + ${SLICE_ROWS} FROM message WHERE agent_id = $1 AND session_id = $2) RETURNING seq`
const MARK = `INSERT INTO purge (agent_id, session_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`

/**
 * Deletes a session for good; resolves to undefined where there is none, else to the lease of the turn that ran in it. A long history is gone
 * from sight at once, and from the disk in slices soon after.
 */
export async function deleteSession(
  db: Database,
  session: Session,
  alongside: Statement[] = [],
): Promise<{ lease: string | null } | undefined> {
  const { agentId, id } = session
  const long = session.totalMessages > SLICE_ROWS
  const remove = statement('DELETE FROM session WHERE agent_id = $1 AND id = $2 RETURNING lease', agentId, id)
  const rest = DELETE_REST.map((sql) => statement(sql, agentId, id))
  const messages = statement(long ? MARK : DELETE_MESSAGES, agentId, id)
  const done = await db.writeIf([remove, countOneLess(agentId), messages, ...rest, ...alongside])
  if (done === undefined) return undefined
  db.scrub()
  if (long) purgeSession(db, agentId, id).catch(() => {}) // still marked: the next start takes it up
  return { lease: done[0]![0]!.lease as string | null }
}

/** Deletes an agent's rows: the agent at once, its sessions one by one. */
export async function deleteAgentRows(db: Database, agentId: string): Promise<boolean> {
  const mark =
    'INSERT INTO purge (agent_id, session_id) SELECT agent_id, id FROM session WHERE agent_id = $1 ON CONFLICT DO NOTHING'
  const remove = statement('DELETE FROM agent WHERE id = $1 RETURNING id', agentId)
  const done = await db.writeIf([
    remove,
    deleteCounts(agentId),
    raiseGeneration,
    statement(mark, agentId),
    statement('DELETE FROM session WHERE agent_id = $1', agentId),
    statement("DELETE FROM kept_answer WHERE agent_id = $1 AND session_id = ''", agentId),
    statement('DELETE FROM webhook_delivery WHERE agent_id = $1', agentId),
  ])
  if (done === undefined) return false
  db.scrub()
  purgeMarked(db).catch(() => {}) // still marked: the next start takes it up
  return true
}

/** A session of this id was deleted, and its history is still being taken from the disk. */
export async function isPurged(db: Database, agentId: string, sessionId: string): Promise<boolean> {
  const rows = await db.read('SELECT session_id FROM purge WHERE agent_id = $1 AND session_id = $2', [agentId, sessionId])
  return rows.length > 0
}

/** Takes up deletions that a crash cut off. */
export async function purgeMarked(db: Database): Promise<void> {
  for (;;) {
    const marked = await db.read('SELECT agent_id, session_id FROM purge LIMIT 100', [])
    if (marked.length === 0) return
    for (const row of marked) await purgeSession(db, row.agent_id as string, row.session_id as string)
  }
}

async function purgeSession(db: Database, agentId: string, sessionId: string): Promise<void> {
  for (;;) {
    const [rows] = await db.write([statement(DELETE_SLICE, agentId, sessionId)])
    if (rows!.length < SLICE_ROWS) break
  }
  await db.write([
    statement(DELETE_MESSAGES, agentId, sessionId),
    ...DELETE_REST.map((sql) => statement(sql, agentId, sessionId)),
    statement('DELETE FROM purge WHERE agent_id = $1 AND session_id = $2', agentId, sessionId),
  ])
  db.scrub()
}
