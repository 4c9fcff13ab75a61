import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * Takes a data folder for this process; the operating system lets go of it when the process ends, however it ends.
 * Throws where another process holds it. Kept in a file of its own, so that backup tools may read the data meanwhile.
 */
export function lockFolder(folder: string): { release(): void } {
  mkdirSync(folder, { recursive: true })
  const db = new DatabaseSync(join(folder, 'lock'))
  try {
    db.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    throw new Error(
      `the data folder ${folder} is in use by another process: stop it first, or set REPARTEE_DATA to another folder`,
      { cause },
    )
  }
  return { release: () => db.close() }
}
