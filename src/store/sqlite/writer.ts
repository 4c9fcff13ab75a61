import { setTimeout as pause } from 'node:timers/promises'
import type { Row, Statement } from '../database.ts'
import { isBusy } from '../transient.ts'
import type { SqliteConnection, StatementList } from './connection.ts'
import { WritesInTurn } from './writes-in-turn.ts'

interface Job extends StatementList {
  since: number
  resolve: (rows: Row[][] | undefined) => void
  reject: (error: unknown) => void
}

/** How long a write waits for the lock of another program: on a timer, because SQLite's own waiting would block every request. */
const BUSY_MS = 1_000
const LOOK_AGAIN_MS = 20
/** Maximum jobs of one transaction. Jobs that do not fit are queued again. */
const MOST_JOBS = 256

/**
 * Group commit: writes the lists of one turn of the event loop in one transaction, or in several if one would take too long. Agents take turns.
 * The process itself waits for the disk: see `docs/decisions/0003-embedded-sqlite-with-group-commit.md`.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  /** Returns the error that callers get for an error of SQLite. */
  readonly #translate: (error: unknown) => unknown
  readonly #queue = new WritesInTurn<Job>()
  /** Since when another program has locked the database. */
  #busySince: number | undefined

  constructor(connection: SqliteConnection, translate: (error: unknown) => unknown) {
    this.#connection = connection
    this.#translate = translate
  }

  add(statements: Statement[], guarded: boolean): Promise<Row[][] | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#queue.isEmpty) setImmediate(() => this.#write())
      this.#queue.add({ statements, guarded, since: performance.now(), resolve, reject })
    })
  }

  /** Returns how long the next agent has waited for its turn, in milliseconds. */
  waitMs(): number {
    return this.#queue.waitMs()
  }

  /** Resolves when everything is written. */
  async close(): Promise<void> {
    this.#write()
    while (!this.#queue.isEmpty) await pause(LOOK_AGAIN_MS)
  }

  /** Jobs without an outcome wait for the next transaction. */
  #write(): void {
    const jobs = this.#queue.take(MOST_JOBS)
    if (jobs.length === 0) return
    const outcomes = this.#connection.write(jobs)
    const [first] = outcomes
    if (first !== undefined && 'error' in first && isBusy(first.error) && this.#isPatient()) {
      this.#queue.putBack(jobs)
      setTimeout(() => this.#write(), LOOK_AGAIN_MS)
      return
    }
    this.#busySince = undefined
    this.#queue.putBack(jobs.slice(outcomes.length))
    for (const [i, outcome] of outcomes.entries()) {
      if ('error' in outcome) jobs[i]!.reject(this.#translate(outcome.error))
      else jobs[i]!.resolve(outcome.rows)
    }
    if (!this.#queue.isEmpty) setImmediate(() => this.#write())
  }

  #isPatient(): boolean {
    this.#busySince ??= performance.now()
    return performance.now() - this.#busySince < BUSY_MS
  }
}
