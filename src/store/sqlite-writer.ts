import { setTimeout as pause } from 'node:timers/promises'
import type { Row, Statement } from './database.ts'
import type { Outcome, SqliteConnection, Work } from './sqlite-connection.ts'
import { WriterThread } from './sqlite-thread.ts'
import { isBusy } from './transient.ts'
import { WritesInTurn } from './writes-in-turn.ts'

interface Job extends Work {
  since: number
  resolve: (rows: Row[][] | undefined) => void
  reject: (error: unknown) => void
}

export interface WriterSettings {
  path: string
  /** A thread writes from when the disk is waited for longer than this more often than not; 0: from the start. */
  slowMs: number
  /** What is thrown in the place of an error of SQLite. */
  translate: (error: unknown) => unknown
  warn: (about: string, error: unknown) => void
}

/** How long a write waits for another program that holds the database: on a timer, because SQLite's own waiting would hold up every request. */
const BUSY_MS = 1_000
const LOOK_AGAIN_MS = 20
/** Of one transaction, at most. Jobs that do not fit are queued again. */
const MOST_JOBS = 256
/** Of each commit in the share: a single slow one, as by a checkpoint, is no slow disk. */
const WEIGHT = 0.05

/**
 * Group commit: what was asked for in one turn of the event loop, or while the disk was waited for, is written as one transaction, or as several where one would
 * take too long; agents take turns. On a disk that answers at once this thread does it, for to have it done costs a tenth more; on any other, a thread of its own waits for the disk,
 * and the event loop does not.
 */
export class SqliteWriter {
  readonly #connection: SqliteConnection
  readonly #settings: WriterSettings
  readonly #queue = new WritesInTurn<Job>()
  #checkpoints: ((work: Promise<boolean>) => void)[] = []
  #opening: Promise<void> | undefined
  #thread: WriterThread | undefined
  /** The thread is at work, or waited for. */
  #isAway = false
  /** Of the latest commits. */
  #slowShare = 0
  /** Since when another program has held the database. */
  #busySince: number | undefined

  constructor(connection: SqliteConnection, settings: WriterSettings) {
    this.#connection = connection
    this.#settings = settings
    if (settings.slowMs > 0) return
    this.#isAway = true
    this.#openThread()
  }

  add(statements: Statement[], guarded: boolean): Promise<Row[][] | undefined> {
    return new Promise((resolve, reject) => {
      if (this.#queue.isEmpty) setImmediate(() => this.#next())
      this.#queue.add({ statements, guarded, since: performance.now(), resolve, reject })
    })
  }

  /** As that of the connection, between two transactions. */
  checkpoint(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#checkpoints.push(resolve)
      this.#next()
    })
  }

  /** For how long the agent whose turn is next has waited for it. */
  waitMs(): number {
    return this.#queue.waitMs()
  }

  async close(): Promise<void> {
    this.#next()
    while (this.#isAway || !this.#queue.isEmpty) await pause(LOOK_AGAIN_MS)
    await this.#opening
    await this.#thread?.close()
    this.#thread = undefined
  }

  #next(): void {
    if (this.#isAway) return
    const checkpoint = this.#checkpoints.shift()
    if (checkpoint !== undefined) checkpoint(this.#checkpoint())
    else if (!this.#queue.isEmpty) this.#write()
  }

  #write(): void {
    const jobs = this.#queue.take(MOST_JOBS)
    if (this.#thread === undefined) this.#settle(jobs, this.#writeHere(jobs))
    else this.#writeAway(this.#thread, jobs)
  }

  async #writeAway(thread: WriterThread, jobs: Job[]): Promise<void> {
    this.#isAway = true
    const outcomes = await thread.write(jobs).catch((error: unknown) => jobs.map(() => ({ error })))
    this.#isAway = false
    this.#settle(jobs, outcomes)
  }

  async #checkpoint(): Promise<boolean> {
    const thread = this.#thread
    this.#isAway = thread !== undefined
    try {
      return thread === undefined ? this.#connection.checkpoint() : await thread.checkpoint()
    } finally {
      this.#isAway = false
      this.#goOn()
    }
  }

  #writeHere(jobs: Job[]): Outcome[] {
    const outcomes = this.#connection.write(jobs)
    const isSlow = this.#connection.commitMs > this.#settings.slowMs
    this.#slowShare += WEIGHT * (Number(isSlow) - this.#slowShare)
    if (this.#slowShare > 0.5) this.#openThread()
    return outcomes
  }

  /** Jobs without an outcome wait for the next transaction. */
  #settle(jobs: Job[], outcomes: Outcome[]): void {
    const [first] = outcomes
    if (first !== undefined && 'error' in first && isBusy(first.error) && this.#mayWait()) {
      this.#queue.putBack(jobs)
      setTimeout(() => this.#next(), LOOK_AGAIN_MS)
      return
    }
    this.#busySince = undefined
    this.#queue.putBack(jobs.slice(outcomes.length))
    for (const [i, outcome] of outcomes.entries()) {
      if ('error' in outcome) jobs[i]!.reject(this.#settings.translate(outcome.error))
      else jobs[i]!.resolve(outcome.rows)
    }
    this.#goOn()
  }

  #goOn(): void {
    if (!this.#queue.isEmpty || this.#checkpoints.length > 0) setImmediate(() => this.#next())
  }

  #mayWait(): boolean {
    this.#busySince ??= performance.now()
    return performance.now() - this.#busySince < BUSY_MS
  }

  /** Once; where it cannot be had, or ends, writing goes on here. */
  #openThread(): void {
    const { path, warn } = this.#settings
    const lost = (error: unknown) => {
      warn('the thread that writes has ended: what comes is written without it', error)
      this.#thread = undefined
    }
    const open = async () => {
      this.#thread = await WriterThread.open(path, lost).catch((error: unknown) => {
        warn('there is no thread to write with', error)
        return undefined
      })
      if (this.#settings.slowMs > 0) return
      this.#isAway = false
      this.#next()
    }
    this.#opening ??= open()
  }
}
