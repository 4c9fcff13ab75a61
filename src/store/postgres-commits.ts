import type { Row, Statement } from './database.ts'
import { isLost } from './postgres-errors.ts'

/** What one request has written: the rest of its statements only where the first returned a row, if it is guarded. */
export interface Part {
  statements: Statement[]
  isGuarded: boolean
}
export type PartRows = Row[][] | undefined

interface Waiting extends Part {
  since: number
  resolve: (rows: PartRows) => void
  reject: (error: unknown) => void
}

/** Transactions that are shared, under way at once: the fewer, the more requests share one; a second, because a row may be held by somebody else. */
const AT_ONCE = 2
/** A longer list has a transaction of its own, so that nobody else waits for it. */
const MOST_STATEMENTS = 6

/** One transaction. `isPatient`: it may wait for a row that somebody else holds; otherwise it fails soon. */
type Commit = (parts: Part[], isPatient: boolean) => Promise<PartRows[]>

/** Group commit: what is asked for while others are being written shares one transaction, and one wait for the disk. */
export class Commits {
  readonly #commit: Commit
  #waiting: Waiting[] = []
  #running = 0

  constructor(commit: Commit) {
    this.#commit = commit
  }

  add(statements: Statement[], isGuarded: boolean): Promise<PartRows> {
    return new Promise((resolve, reject) => {
      const part = { statements, isGuarded, since: performance.now(), resolve, reject }
      if (statements.length > MOST_STATEMENTS) void this.#writeAlone(part)
      else if (this.#waiting.push(part) === 1) setImmediate(() => this.#next())
    })
  }

  /** For how long the first has waited. */
  waitMs(): number {
    const [first] = this.#waiting
    return first === undefined ? 0 : performance.now() - first.since
  }

  #next(): void {
    if (this.#running === AT_ONCE || this.#waiting.length === 0) return
    const parts = this.#take()
    this.#running++
    void this.#write(parts).then(() => {
      this.#running--
      this.#next()
    })
    this.#next()
  }

  /**
   * One for each row that they begin with, for they do not see what comes behind the first statements of each other; and in the order of
   * these rows, so that no two processes hold what the other waits for. The others go alone, and wait for the row in the database.
   */
  #take(): Waiting[] {
    const taken = new Map<string, Waiting>()
    for (const part of this.#waiting) {
      const row = rowOf(part)
      if (taken.has(row)) void this.#writeAlone(part)
      else taken.set(row, part)
    }
    this.#waiting = []
    return [...taken].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, part]) => part)
  }

  async #write(parts: Waiting[]): Promise<void> {
    try {
      const results = await this.#commit(parts, false)
      parts.forEach((part, i) => {
        part.resolve(results[i])
      })
    } catch (error) {
      if (isLost((error as Error).cause ?? error)) for (const part of parts) part.reject(error)
      // One that fails, or waits for a row, must not hold up the others.
      else for (const part of parts) void this.#writeAlone(part)
    }
  }

  async #writeAlone(part: Waiting): Promise<void> {
    try {
      const [rows] = await this.#commit([part], true)
      part.resolve(rows)
    } catch (error) {
      part.reject(error)
    }
  }
}

/** Statements name first what they change, and the agent before all. */
const rowOf = ({ statements }: Part): string => {
  const [first, second] = statements[0]!.params
  return `${first}\0${second}`
}
