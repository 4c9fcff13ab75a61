/**
 * The statements of a knowledge base name no agent, because each SQLite file belongs to one agent. In PostgreSQL all agents share tables:
 * `scope` adds the agent to every table in a statement.
 */

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
const TABLES =
  'document|content|large_content|content_piece|passage|segment|post|dead|word|spelling|gram|language|manifest|site|page|page_links|vector_space|vector_block|vector|near'
const KEYWORDS = /^(WHERE|ORDER|GROUP|LIMIT|JOIN|ON|SET|SELECT|VALUES|RETURNING|LEFT)$/i

export interface Scoped {
  text: string
  /** Table of an insert whose row gets a number: the number is the last parameter. */
  numbered: string | undefined
}

/** The table of the vectors of one space that pgvector searches. */
export const nearTable = (agentId: string, space: number): string => `knowledge_near_${agentId.replaceAll('-', '')}_${space}`

/** Translates a statement for PostgreSQL. `$1` is the agent; the parameters of the statement follow. */
export function scope(sql: string): Scoped {
  const insertion = new RegExp(`^\\s*INSERT INTO (${TABLES}) \\(([^)]*)\\)`).exec(sql)
  const change = new RegExp(`^\\s*(UPDATE|DELETE FROM) (${TABLES})\\b`).exec(sql)
  let count = 1
  let text = sql.replace(/\?(\d*)/g, (_, number: string) => `$${number === '' ? ++count : Number(number) + 1}`)
  let numbered: string | undefined
  const head = (insertion ?? change)?.[0].length ?? 0
  let start = text.slice(0, head)
  let rest = text.slice(head)
  if (insertion !== null) {
    const [, table, columns] = insertion
    // The row may already have its number.
    const isNumbered = table! in NUMBERED && !columns!.split(', ').includes(NUMBERED[table!]!)
    if (isNumbered) numbered = table
    const own = isNumbered ? `, ${NUMBERED[table!]}` : ''
    start = `INSERT INTO knowledge_${table} AS ${table} (agent_id, ${columns}${own})`
    rest = rest
      .replace(
        /^\s*VALUES \(([\s\S]*?)\)(?=\s*(ON CONFLICT|RETURNING|$))/,
        (_, values: string) => ` VALUES ($1, ${values}${isNumbered ? `, $${++count}` : ''})`,
      )
      .replace(/^\s*SELECT /, ' SELECT $1, ')
      .replace(/ON CONFLICT \(/, 'ON CONFLICT (agent_id, ')
  }
  if (change !== null) {
    const [, verb, table] = change
    const own = `${table}.agent_id = $1`
    start = `${verb} knowledge_${table} AS ${table}`
    rest = / WHERE /.test(rest)
      ? rest.replace(
          /\bWHERE ([\s\S]*?)(\s+RETURNING [\s\S]*)?$/,
          (_, condition: string, returning = '') => `WHERE ${own} AND (${condition})${returning}`,
        )
      : `${rest} WHERE ${own}`
  }
  text = start + rest.replace(new RegExp(`\\b(FROM|JOIN) (${TABLES})\\b(?: (?:AS )?([a-z]+)\\b)?`, 'g'), named)
  return { text, numbered }
}

function named(_: string, verb: string, table: string, alias: string | undefined): string {
  const isAlias = alias !== undefined && !KEYWORDS.test(alias)
  const scoped = `${verb} (SELECT * FROM knowledge_${table} WHERE agent_id = $1) ${isAlias ? alias : table}`
  return isAlias || alias === undefined ? scoped : `${scoped} ${alias}`
}
