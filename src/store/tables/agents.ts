import type { Agent } from '../../core/agent.ts'
import { type Database, type Row, type Statement, statement } from '../database.ts'
import { firstRows } from '../first-rows.ts'
import { raiseGeneration } from './processes/replicas.ts'
import { insertCounts } from './sessions.ts'

/** Lists each column: the result of a prepared statement must not change when a newer version adds a column. */
const COLUMNS = 'id, name, settings, created_at, updated_at'

type Settings = Omit<Agent, 'id' | 'name' | 'createdAt' | 'updatedAt'>

const toAgent = (row: Row): Agent => ({
  id: row.id as string,
  name: row.name as string,
  ...(JSON.parse(row.settings as string) as Settings),
  createdAt: row.created_at as number,
  updatedAt: row.updated_at as number,
})

const toSettings = ({ id, name, createdAt, updatedAt, ...settings }: Agent): string => JSON.stringify(settings satisfies Settings)

export async function insertAgent(db: Database, agent: Agent, alongside: Statement[] = []): Promise<void> {
  const sql = 'INSERT INTO agent (id, name, settings, created_at, updated_at) VALUES ($1, $2, $3, $4, $5)'
  await db.write([
    statement(sql, agent.id, agent.name, toSettings(agent), agent.createdAt, agent.updatedAt),
    insertCounts(agent.id),
    ...alongside,
  ])
}

/** Resolves to false if the agent is gone or was changed after `before`. */
export async function updateAgent(db: Database, agent: Agent, before: Agent): Promise<boolean> {
  const sql = 'UPDATE agent SET name = $2, settings = $3, updated_at = $4 WHERE id = $1 AND updated_at = $5 RETURNING id'
  const update = statement(sql, agent.id, agent.name, toSettings(agent), agent.updatedAt, before.updatedAt)
  return (await db.writeIf([update, raiseGeneration])) !== undefined
}

export async function findAgent(db: Database, agentId: string): Promise<Agent | undefined> {
  const [row] = await db.read(`SELECT ${COLUMNS} FROM agent WHERE id = $1`, [agentId])
  return row && toAgent(row)
}

const AGENTS = firstRows({
  columns: COLUMNS,
  from: `agent WHERE (CAST($1 AS TEXT) IS NULL OR id IN (SELECT value FROM json_each($1))) AND (created_at, id) < ($2, $3)`,
  key: ['created_at', 'id'],
  direction: 'DESC',
  texts: ['settings'],
  limit: '$4',
})

/** Returns the first agents after `after`, newest first, limited as in `firstRows`. A list in `agentIds` restricts them. */
export async function listAgents(
  db: Database,
  agentIds: string[] | null,
  after: Agent | undefined,
  limit: number,
): Promise<Agent[]> {
  const rows = await db.read(AGENTS, [
    agentIds && JSON.stringify(agentIds),
    after?.createdAt ?? Number.MAX_SAFE_INTEGER,
    after?.id ?? '',
    limit,
  ])
  return rows.map(toAgent)
}

/** An agent without its settings. */
export type AgentHead = Pick<Agent, 'id' | 'createdAt'>

/** Returns agents after one, newest first, without their settings. */
export async function listAgentHeads(db: Database, after: AgentHead | undefined, limit: number): Promise<AgentHead[]> {
  const sql = 'SELECT id, created_at FROM agent WHERE (created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3'
  const rows = await db.readValues(sql, [after?.createdAt ?? Number.MAX_SAFE_INTEGER, after?.id ?? '', limit])
  return rows.map(([id, createdAt]) => ({ id, createdAt }) as AgentHead)
}

export async function countAgents(db: Database, agentIds: string[] | null): Promise<number> {
  const sql = 'SELECT count(*) AS n FROM agent WHERE CAST($1 AS TEXT) IS NULL OR id IN (SELECT value FROM json_each($1))'
  const [row] = await db.read(sql, [agentIds && JSON.stringify(agentIds)])
  return row!.n as number
}
