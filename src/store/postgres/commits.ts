import { Limiter } from '../../core/fairness/limiter.ts'
import type { Row, Statement } from '../database.ts'
import { agentOf, WritesInTurn } from '../sqlite/writes-in-turn.ts'
import { isLost } from './errors.ts'

/** What one request has written: the rest of its statements only where the first returned a row, if it is guarded. */
export interface CommitPart {
  statements: Statement[]
  isGuarded: boolean
  /** Others would wait for it. */
  isLong: boolean
  /** In a transaction, these statements of all parts come last, in the order of the rows that they change. */
  isUnordered: boolean
}
export type PartRows = Row[][] | undefined

interface Waiting extends CommitPart {
  since: number
  resolve: (rows: PartRows) => void
  reject: (error: unknown) => void
}

/** Transactions that are shared, under way at once: the fewer, the more requests share one; a second, because a row may be held by somebody else. */
const AT_ONCE = 2
/** So many requests share one. */
const MOST_PARTS = 200
/** A longer list has a transaction of its own, so that nobody else waits for it. */
const MOST_STATEMENTS = 6
/** Transactions of one request, under way at once: each takes a connection, and may wait for a row. */
const ALONE_AT_ONCE = 3

/** One transaction. `isPatient`: it may wait for a row that somebody else holds; otherwise it fails soon. */
type Commit = (parts: CommitPart[], isPatient: boolean) => Promise<PartRows[]>

/** Group commit: what is asked for while others are being written shares one transaction, and one wait for the disk. Agents take turns. */
export class Commits {
  readonly #commit: Commit
  readonly #waiting = new WritesInTurn<Waiting>()
  /** By row: what waits for the one that waits, or is under way, in a shared transaction. */
  readonly #behind = new Map<string, Waiting[]>()
  readonly #alone = new Limiter(ALONE_AT_ONCE)
  #running = 0
  #isAwake = false

  constructor(commit: Commit) {
    this.#commit = commit
  }

  add(added: CommitPart): Promise<PartRows> {
    return new Promise((resolve, reject) => {
      const part = { ...added, since: performance.now(), resolve, reject }
      if (part.isLong || part.statements.length > MOST_STATEMENTS) void this.#writeAlone(part)
      else this.#line(part)
    })
  }

  /** For how long the agent whose turn is next has waited for it. */
  waitMs(): number {
    return this.#waiting.waitMs()
  }

  /**
   * Requests that change the same row first wait in line, and one of them at a time is in a shared transaction: in one transaction they would miss each
   * other's later statements, and in two they would wait for each other in the database.
   */
  #line(part: Waiting): void {
    const row = rowOf(part)
    const behind = this.#behind.get(row)
    if (behind !== undefined) {
      behind.push(part)
      return
    }
    this.#behind.set(row, [])
    this.#add(part)
  }

  #add(part: Waiting): void {
    this.#waiting.add(part)
    if (this.#isAwake) return
    this.#isAwake = true
    setImmediate(() => {
      this.#isAwake = false
      this.#next()
    })
  }

  /** The next that begins with the same row may come. */
  #endRow(part: Waiting): void {
    const row = rowOf(part)
    const next = this.#behind.get(row)!.shift()
    if (next === undefined) this.#behind.delete(row)
    else this.#add(Object.assign(next, { since: performance.now() }))
  }

  #next(): void {
    if (this.#running === AT_ONCE || this.#waiting.isEmpty) return
    const parts = this.#take()
    this.#running++
    void this.#write(parts).then(() => {
      this.#running--
      this.#next()
    })
    this.#next()
  }

  /** In the order of the rows that they begin with, so that no two processes hold what the other waits for. */
  #take(): Waiting[] {
    return this.#waiting.take(MOST_PARTS).sort((a, b) => (rowOf(a) < rowOf(b) ? -1 : 1))
  }

  async #write(parts: Waiting[]): Promise<void> {
    try {
      const results = await this.#commit(parts, false)
      parts.forEach((part, i) => {
        part.resolve(results[i])
        this.#endRow(part)
      })
    } catch (error) {
      const isGone = isLost((error as Error).cause ?? error)
      for (const part of parts) {
        // One that fails, or waits for a row, must not hold up the others.
        if (!isGone) void this.#writeAlone(part).then(() => this.#endRow(part))
        else {
          part.reject(error)
          this.#endRow(part)
        }
      }
    }
  }

  /** Agents take turns. */
  async #writeAlone(part: Waiting): Promise<void> {
    try {
      const [rows] = await this.#alone.run({ id: agentOf(part) }, () => this.#commit([part], true))
      part.resolve(rows)
    } catch (error) {
      part.reject(error)
    }
  }
}

const rowOf = ({ statements }: CommitPart): string => {
  const [first, second] = statements[0]!.params
  return `${first}\0${second}`
}
