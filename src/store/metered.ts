import type { Meters } from '../core/ports/meters.ts'
import type { Database } from './database.ts'

/** Returns the database with its reads and transactions counted and timed. */
export function meterDatabase(db: Database, meters: Meters): Database {
  function timed<T>(kind: 'read' | 'write', run: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    const done = run()
    const note = (isFailed: boolean) => meters.databaseUsed(kind, isFailed, performance.now() - startedAt)
    done.then(
      () => note(false),
      () => note(true),
    )
    return done
  }
  return {
    read: (sql, params) => timed('read', () => db.read(sql, params)),
    scan: (sql, params, sharer) => timed('read', () => db.scan(sql, params, sharer)),
    readValues: (sql, params) => timed('read', () => db.readValues(sql, params)),
    write: (statements, options) => timed('write', () => db.write(statements, options)),
    writeIf: (statements, options) => timed('write', () => db.writeIf(statements, options)),
    stream: (sql, params, sliceRows) => db.stream(sql, params, sliceRows),
    mayLoseAnswers: db.mayLoseAnswers,
    listsAtOnce: db.listsAtOnce,
    scrub: () => db.scrub(),
    waitMs: () => db.waitMs(),
    close: () => db.close(),
  }
}
