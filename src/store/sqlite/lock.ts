import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../transient.ts'

/**
 * Takes a data folder for this process; the operating system lets go of it when the process ends, however it ends.
 * Throws where another process holds it, or nothing can be written there. Kept in a file of its own, so that backup tools may read the data meanwhile.
 */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true })
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(join(folder, 'lock'))
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    db?.close()
    throw new Error(
      isBusy(cause)
        ? `the data folder ${folder} is in use by another process: stop it first, or set REPARTEE_DATA to another folder`
        : `the data folder ${folder} cannot be written (${(cause as Error).message}): it must be on a disk that is not read-only, and belong to the user that Repartee runs as`,
      { cause },
    )
  }
  const held = db
  return { release: () => held.close() }
}
