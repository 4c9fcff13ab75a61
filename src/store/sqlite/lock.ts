import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from '../transient.ts'

/**
 * Locks a data folder for this process. The operating system releases the lock when the process ends, even after a crash.
 * Throws if another process has the lock or the folder is not writable. A separate file, so that backup tools can read the data.
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
