import pg from 'pg'
import { whyNoPgvector } from '../knowledge/postgres/pgvector.ts'
import { reasonOf } from './errors.ts'

const CONNECT_WITHIN_MS = 5_000

/** Result of a check of a database, which it does not change. */
export type PostgresFinding = { reason: string } | PostgresFound

export interface PostgresFound {
  server: string
  /** 0 if there is no schema yet. */
  schema: number
  /** Why the database itself cannot search large numbers of vectors. */
  noPgvector: string | undefined
}

export async function checkPostgres(url: string): Promise<PostgresFinding> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_WITHIN_MS })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query(
      "SELECT current_setting('server_version') AS server, to_regclass('schema_version') AS known",
    )
    const { server, known } = rows[0] as { server: string; known: string | null }
    const { rows: extensions } = await client.query("SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'")
    const noPgvector = whyNoPgvector(extensions[0])
    if (known === null) return { server, schema: 0, noPgvector }
    const { rows: versions } = await client.query('SELECT version FROM schema_version')
    return { server, schema: Number(versions[0]?.version ?? 0), noPgvector }
  } catch (error) {
    return { reason: reasonOf(error) }
  } finally {
    await client.end().catch(() => {})
  }
}
