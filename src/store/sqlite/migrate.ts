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
 * Migrates a file: applies the numbered `.sql` files of a folder, each in one transaction with its number in `user_version`.
 * Throws if the file has a newer schema than this version of the service knows.
 */
export function migrate(db: DatabaseSync, folder: URL): void {
  const files = migrationsIn(folder)
  const version = versionOf(db)
  const newest = numberOf(files.at(-1)!)
  if (version > newest) {
    throw new Error(
      `the data was written by a newer version of Repartee (schema ${version}, this version knows ${newest}): update Repartee, or restore a backup`,
    )
  }
  for (const file of files)
    if (numberOf(file) > version) migrateTo(db, numberOf(file), readFileSync(new URL(file, folder), 'utf8'))
}

function migrateTo(db: DatabaseSync, number: number, sql: string): void {
  db.exec('BEGIN IMMEDIATE')
  try {
    // Another connection may have applied it first.
    if (versionOf(db) < number) db.exec(`${sql}; PRAGMA user_version = ${number}`)
    db.exec('COMMIT')
  } catch (error) {
    // A full disk has already ended the transaction.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

const versionOf = (db: DatabaseSync): number => (db.prepare('PRAGMA user_version').get() as { user_version: number }).user_version
