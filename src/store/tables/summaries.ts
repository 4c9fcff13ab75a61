import type { Session } from '../../core/session.ts'
import { type Database, statement } from '../database.ts'

/** Summary of a session's messages up to position `upto` (a seq). */
export interface Summary {
  upto: number
  text: string
}

export async function findSummary(db: Database, agentId: string, sessionId: string): Promise<Summary | undefined> {
  const [row] = await db.read('SELECT upto, text FROM summary WHERE agent_id = $1 AND session_id = $2', [agentId, sessionId])
  return row && { upto: row.upto as number, text: row.text as string }
}

/** Stores a summary if the stored one covers less and the session exists. Compares `createdAt`, because a deleted id may be in use again. */
export async function putSummary(db: Database, { agentId, id, createdAt }: Session, s: Summary, at: number): Promise<void> {
  const sql = `INSERT INTO summary (agent_id, session_id, upto, text, updated_at)
    SELECT agent_id, id, CAST($3 AS BIGINT), $4, CAST($5 AS BIGINT) FROM session WHERE agent_id = $1 AND id = $2 AND created_at = $6 FOR SHARE
    ON CONFLICT (agent_id, session_id) DO UPDATE SET upto = $3, text = $4, updated_at = $5 WHERE summary.upto < $3`
  await db.write([statement(sql, agentId, id, s.upto, s.text, at, createdAt)])
}
