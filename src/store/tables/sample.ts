import { type Database, type Statement, statement } from '../database.ts'

/** Stored state of the sample agent. */
export interface SampleMark {
  agentId: string
  /** '' if there is none yet. */
  sessionId: string
  /** True if it has all its documents. */
  isComplete: boolean
}

export async function findSampleMark(db: Database): Promise<SampleMark | undefined> {
  const [row] = await db.read('SELECT agent_id, session_id, complete FROM sample', [])
  return row && { agentId: row.agent_id as string, sessionId: row.session_id as string, isComplete: row.complete === 1 }
}

const INSERT = 'INSERT INTO sample (id, agent_id, session_id, complete) VALUES (1, $1, $2, $3)'

/** For the transaction that creates the agent: of processes that create one at once, all but one fail. */
export const insertSampleMark = ({ agentId, sessionId, isComplete }: SampleMark): Statement =>
  statement(INSERT, agentId, sessionId, Number(isComplete))

export async function changeSampleMark(db: Database, { agentId, sessionId, isComplete }: SampleMark): Promise<void> {
  const sql = 'UPDATE sample SET session_id = $2, complete = $3 WHERE agent_id = $1'
  await db.write([statement(sql, agentId, sessionId, Number(isComplete))])
}
