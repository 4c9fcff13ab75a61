import type { Meters } from '../core/meters.ts'
import type { Database, Row, Statement, Value } from './database.ts'

/** The same, with its reads and transactions counted and timed. */
export function meterDatabase(db: Database, meters: Meters): Database {
  async function timed<T>(kind: 'read' | 'write', run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    let isFailed = true
    try {
      const result = await run()
      isFailed = false
      return result
    } finally {
      meters.databaseUsed(kind, isFailed, performance.now() - startedAt)
    }
  }
  return {
    read: (sql: string, params: Value[]): Promise<Row[]> => timed('read', () => db.read(sql, params)),
    write: (statements: Statement[]) => timed('write', () => db.write(statements)),
    writeIf: (statements: Statement[]) => timed('write', () => db.writeIf(statements)),
    stream: (sql, params, sliceRows) => db.stream(sql, params, sliceRows),
    scrub: () => db.scrub(),
    waitMs: () => db.waitMs(),
    close: () => db.close(),
  }
}
