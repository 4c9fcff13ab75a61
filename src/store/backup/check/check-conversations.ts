import type { MoveSide } from '../move/place.ts'

/** A kind of inconsistency in the data. */
export interface Problem {
  what: string
  count: number
  /** The first of them. */
  example: string
}

const NOT_BEING_DELETED = 'NOT EXISTS (SELECT 1 FROM purge p WHERE p.agent_id = x.agent_id AND p.session_id = x.session_id)'
const SESSION_GONE = `NOT EXISTS (SELECT 1 FROM session s WHERE s.agent_id = x.agent_id AND s.id = x.session_id) AND ${NOT_BEING_DELETED}`
const OF_SESSION = `SELECT x.agent_id || '/' || x.session_id AS example FROM`

/** Each query lists one kind of inconsistency. Rows of deleted sessions that are still being deleted do not count. */
const CHECKS: Record<string, string> = {
  'sessions of an agent that does not exist': `SELECT agent_id || '/' || id AS example FROM session
    WHERE NOT EXISTS (SELECT 1 FROM agent WHERE agent.id = session.agent_id)
    AND NOT EXISTS (SELECT 1 FROM purge p WHERE p.agent_id = session.agent_id AND p.session_id = '')`,
  'sessions whose messages are not numbered from 1 without gaps, or are not as many as the session says': `SELECT s.agent_id || '/' || s.id AS example
    FROM session s LEFT JOIN (SELECT agent_id, session_id, count(*) AS n, min(seq) AS first, max(seq) AS last FROM message
      GROUP BY agent_id, session_id) m ON m.agent_id = s.agent_id AND m.session_id = s.id
    WHERE s.message_count <> coalesce(m.n, 0) OR m.first <> 1 OR m.last <> m.n`,
  'sessions that do not exist, but have messages': `SELECT agent_id || '/' || session_id AS example
    FROM (SELECT DISTINCT agent_id, session_id FROM message) x WHERE ${SESSION_GONE}`,
  'earlier versions of a message that does not exist': `${OF_SESSION} message_version x
    WHERE NOT EXISTS (SELECT 1 FROM message m WHERE m.agent_id = x.agent_id AND m.session_id = x.session_id AND m.id = x.message_id)
    AND ${NOT_BEING_DELETED}`,
  'summaries of a session that does not exist': `${OF_SESSION} summary x WHERE ${SESSION_GONE}`,
  'kept answers of a session that does not exist': `${OF_SESSION} kept_answer x WHERE x.session_id <> '' AND ${SESSION_GONE}`,
  'agents whose sessions are counted wrongly': `SELECT id AS example FROM agent WHERE (SELECT sum(sessions) FROM session_count c WHERE c.agent_id = agent.id)
    <> (SELECT count(*) FROM session s WHERE s.agent_id = agent.id)`,
  'turns that nobody runs': `SELECT m.agent_id || '/' || m.session_id AS example
    FROM message m JOIN session s ON s.agent_id = m.agent_id AND s.id = m.session_id WHERE m.turn = 'running' AND s.lease IS NULL`,
}

export async function checkConversations(place: MoveSide): Promise<Problem[]> {
  const problems: Problem[] = []
  for (const [what, sql] of Object.entries(CHECKS)) {
    const [row] = await place.query(`SELECT count(*), min(example) FROM (${sql}) found`)
    const [count, example] = row as [number, string]
    if (count > 0) problems.push({ what, count, example })
  }
  return problems
}

/** Returns the knowledge bases whose agents are gone. */
export async function listStrays(place: MoveSide): Promise<string[]> {
  const bases = await place.listBases()
  const agents = new Set((await place.query('SELECT id FROM agent')).map(([id]) => id))
  return bases.filter((agentId) => !agents.has(agentId))
}
