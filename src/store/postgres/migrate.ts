import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import pg, { type ClientBase } from 'pg'
import { migrationsIn, numberOf } from '../sqlite/migrate.ts'

/** Advisory lock: one process migrates at a time. Any number works, as long as it never changes. */
const LOCK = 7_370_417

/** Deletes the entries of vector indexes that this database cannot search: it was recreated without pgvector, or copied without their tables. */
const FORGET_LOST = `DELETE FROM knowledge_near WHERE NOT EXISTS (SELECT 1 FROM pg_extension WHERE extname = 'vector')
  OR to_regclass('knowledge_near_' || replace(agent_id, '-', '') || '_' || space) IS NULL`

/** A schema change waits for all readers, and later statements queue after it. It times out soon and is retried. */
const LOCK_WITHIN_MS = 300
const AGAIN_AFTER_MS = 1_000
const TRIES = 300
const LOCK_NOT_HAD = '55P03'

/** A table of this name exists while a move fills the database. */
export const HALF_MOVED = 'half_moved'

/**
 * Migrates a database: applies the numbered `.sql` files of a folder and stores the number of the last, all in one transaction.
 * Replicas that start at once wait for the first. Throws if the schema is newer than this version knows, or a move into the database is unfinished.
 */
export async function migratePostgres(client: ClientBase, folder: URL): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await migrateOnce(client, folder)
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      if (!(error instanceof pg.DatabaseError) || error.code !== LOCK_NOT_HAD || tries === TRIES) throw error
      await pause(AGAIN_AFTER_MS)
    }
  }
}

async function migrateOnce(client: ClientBase, folder: URL): Promise<void> {
  const files = migrationsIn(folder)
  const newest = numberOf(files.at(-1)!)
  await client.query('BEGIN')
  await client.query(`SELECT pg_advisory_xact_lock(${LOCK})`)
  const { rows: half } = await client.query(`SELECT to_regclass('${HALF_MOVED}') AS name`)
  if (half[0].name !== null) throw new Error('a move into the database is not finished: run the same `repartee move` again')
  await client.query('CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)')
  const { rows } = await client.query<{ version: number }>('SELECT version FROM schema_version')
  const version = rows[0]?.version ?? 0
  if (version > newest)
    throw new Error(
      `the database was written by a newer version of Repartee (schema ${version}, this version knows ${newest}): update Repartee, or restore a backup`,
    )
  await client.query(`SET LOCAL lock_timeout = ${LOCK_WITHIN_MS}`)
  for (const file of files) if (numberOf(file) > version) await client.query(readFileSync(new URL(file, folder), 'utf8'))
  if (rows.length === 0) await client.query(`INSERT INTO schema_version VALUES (${newest})`)
  else if (version < newest) await client.query(`UPDATE schema_version SET version = ${newest}`)
  await client.query(FORGET_LOST)
  await client.query('COMMIT')
}
