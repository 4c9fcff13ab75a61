import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { query } from './postgres.ts'
import type { Service } from './service.ts'

/** Direct access to the store of a service. */
export interface Store {
  isPostgres: boolean
  run(sql: string): Promise<void>
  /** Blocks all other writers. Resolves to a function that releases the lock. */
  hold(): Promise<() => Promise<void>>
  /** Returns whether any table or data file contains a text. */
  holds(text: string): Promise<boolean>
}

export const storeOf = ({ data, database }: Service): Store => (database === undefined ? sqlite(data) : postgres(data, database))

function sqlite(data: string): Store {
  const open = () => new DatabaseSync(join(data, 'repartee.db'), { timeout: 60_000 })
  return {
    isPostgres: false,
    async run(sql) {
      const db = open()
      db.exec(sql)
      db.close()
    },
    async hold() {
      const db = open()
      db.exec('BEGIN IMMEDIATE')
      return async () => {
        db.exec('ROLLBACK')
        db.close()
      }
    },
    holds: async (text) => isInFiles(data, text),
  }
}

function postgres(data: string, url: string): Store {
  return {
    isPostgres: true,
    async run(sql) {
      await query(url, sql)
    },
    async hold() {
      const client = new pg.Client({ connectionString: url })
      await client.connect()
      await client.query('BEGIN; LOCK TABLE session, message IN ACCESS EXCLUSIVE MODE')
      return async () => {
        await client.query('ROLLBACK')
        await client.end()
      }
    },
    async holds(text) {
      const tables = await query(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
      for (const { tablename } of tables) {
        const [row] = await query(url, `SELECT EXISTS (SELECT 1 FROM ${tablename} t WHERE t::text LIKE '%${text}%') AS found`)
        if (row.found) return true
      }
      return isInFiles(data, text)
    },
  }
}

/** Reads a database's journal before its file, because a checkpoint moves data from the journal to the file. */
export const isInFiles = (folder: string, text: string): boolean =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .reverse()
    .some((path) => bytesOf(path).includes(text))

/** Returns an empty buffer for a file that was removed during the search. */
function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return Buffer.alloc(0)
  }
}
