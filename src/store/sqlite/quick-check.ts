import { DatabaseSync } from 'node:sqlite'

/** Checks a whole database file. Returns SQLite's message about the damage, undefined if there is none. */
export function quickCheck(path: string): string | undefined {
  try {
    const db = new DatabaseSync(path)
    try {
      // The file may be in use.
      db.exec('PRAGMA busy_timeout = 10000')
      const rows = db.prepare('PRAGMA quick_check').all() as { quick_check: string }[]
      const text = rows.map((row) => row.quick_check).join('; ')
      return text === 'ok' ? undefined : text
    } finally {
      db.close()
    }
  } catch (error) {
    return (error as Error).message
  }
}
