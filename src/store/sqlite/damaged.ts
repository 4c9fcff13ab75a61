import { statSync } from 'node:fs'
import { sqliteCodeOf } from '../transient.ts'

/** SQLite result codes for a damaged file: corrupt, not a database. */
const DAMAGED = new Set([11, 26])

/** A database file that something else than the service changed, or a failing disk. The message names the file and the way out. */
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

/** Returns `DamagedFile` for an SQLite error that means that the file is damaged; other errors unchanged. */
export const orDamaged = (error: unknown, path: string): unknown =>
  DAMAGED.has(sqliteCodeOf(error)) ? new DamagedFile(path, error as Error) : error

/** Throws `DamagedFile` if the path is not a file. Opening a pipe would wait for a writer forever. */
export function refuseNoFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) throw new DamagedFile(path, new Error('it is not a file'))
}
