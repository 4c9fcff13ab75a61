import { statSync } from 'node:fs'
import { sqliteCodeOf } from '../transient.ts'

/** Result codes of SQLite for a file that does not hold what was written: corrupt, not a database. */
const DAMAGED = new Set([11, 26])

/** A database file that something else than the service has changed, or a disk that fails. Says which, and what to do. */
export class DamagedFile extends Error {
  override readonly name = 'DamagedFile'
  readonly code = 'DAMAGED'

  constructor(path: string, cause: Error) {
    super(
      `the database file ${path} is damaged (${cause.message}): stop the service and restore a backup; \`repartee check\` tells what else is damaged`,
      { cause },
    )
  }
}

/** What is to be thrown in the place of an error of SQLite that the file at this path was the cause of. */
export const orDamaged = (error: unknown, path: string): unknown =>
  DAMAGED.has(sqliteCodeOf(error)) ? new DamagedFile(path, error as Error) : error

/** Throws `DamagedFile` for a path that leads to something else than a file. Opening a pipe would wait for a writer, without end. */
export function refuseNoFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new DamagedFile(path, new Error('it is not a file'))
}
