import { DatabaseSync } from 'node:sqlite'

/** Reads a database file through. Returns what is wrong with it, in SQLite's words; undefined where nothing is. */
export function quickCheck(path: string): string | undefined {
  try {
    const db = new DatabaseSync(path)
    try {
      // In use, perhaps.
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
