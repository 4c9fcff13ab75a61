import { readdirSync, readFileSync } from 'node:fs'
import type { DatabaseSync } from 'node:sqlite'

/** The numbered `.sql` files of a folder, in order. */
export const migrationsIn = (folder: URL): string[] =>
  readdirSync(folder)
    .filter((name) => /^\d{4}-.+\.sql$/.test(name))
    .sort()

export const numberOf = (migration: string): number => Number(migration.slice(0, 4))

export const newestMigration = (folder: URL): number => numberOf(migrationsIn(folder).at(-1)!)

/**
 * Brings a file to the newest schema: the numbered `.sql` files of a folder, each in one transaction with its number in `user_version`.
 * Throws where the file is of a newer schema than this version of the service knows.
 */
export function migrate(db: DatabaseSync, folder: URL): void {
  const files = migrationsIn(folder)
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
  const newest = numberOf(files.at(-1)!)
  if (version > newest) {
    throw new Error(
      `the data was written by a newer version of Repartee (schema ${version}, this version knows ${newest}): update Repartee, or restore a backup`,
    )
  }
  for (const file of files) {
    const number = numberOf(file)
    if (number <= version) continue
    db.exec(`BEGIN IMMEDIATE; ${readFileSync(new URL(file, folder), 'utf8')}; PRAGMA user_version = ${number}; COMMIT`)
  }
}
