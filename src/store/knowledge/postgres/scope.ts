import { withTables } from '../statements.ts'

/** Tables whose rows get a reserved number, and the column of the number. */
export const NUMBERED: Record<string, string> = {
  document: 'number',
  passage: 'id',
  segment: 'number',
  word: 'number',
  site: 'number',
  vector_space: 'number',
  large_content: 'number',
}

/** The table of the vectors of one space that pgvector searches. */
export const nearTable = (agentId: string, space: number): string => `knowledge_near_${agentId.replaceAll('-', '')}_${space}`

const cache = new Map<string, string>()

/** Returns a statement for PostgreSQL: `$1` is the agent, and the parameters follow. Each table contains only the rows of the agent. */
export function scope(sql: string): string {
  let text = cache.get(sql)
  if (text === undefined) {
    const ofAgent = (table: string, alias = table) => `(SELECT * FROM knowledge_${table} WHERE agent_id = $1) ${alias}`
    let count = 1
    text = withTables(sql, ofAgent).replace(/\?/g, () => `$${++count}`)
    cache.set(sql, text)
  }
  return text
}

/** Returns the condition that a row of `table` belongs to the agent and to `where`. */
export const ofAgent = (table: string, where = 'true'): string => `WHERE ${table}.agent_id = $1 AND (${where})`
