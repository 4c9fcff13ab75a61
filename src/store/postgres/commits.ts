import { Limiter } from '../../core/fairness/limiter.ts'
import type { Row, Statement } from '../database.ts'
import { agentOf, WritesInTurn } from '../sqlite/writes-in-turn.ts'
import { isLost } from './errors.ts'

/** The statements of one request. If guarded, the rest runs only if the first returns a row. */
export interface CommitPart {
  statements: Statement[]
  isGuarded: boolean
  /** True if other requests would wait for it. */
  isLong: boolean
  /** Unordered statements of all parts come last in a transaction, in the order of the rows that they change. */
  isUnordered: boolean
}
export type PartRows = Row[][] | undefined

interface Waiting extends CommitPart {
  since: number
  resolve: (rows: PartRows) => void
  reject: (error: unknown) => void
}

/** Shared transactions at once. With fewer, more requests share each one. Two, because one may wait for a locked row. */
const AT_ONCE = 2
/** Requests that share one transaction. */
const MOST_PARTS = 200
/** A longer list has its own transaction, so that no other request waits for it. */
const MOST_STATEMENTS = 6
/** Transactions of single requests at once: each takes a connection, and may wait for a row. */
const ALONE_AT_ONCE = 3

/** One transaction. If `isPatient`, it may wait for a locked row; otherwise it fails soon. */
type Commit = (parts: CommitPart[], isPatient: boolean) => Promise<PartRows[]>

/** Group commit: writes that arrive while others are written share one transaction and one wait for the disk. Agents take turns. */
export class Commits {
  readonly #commit: Commit
  readonly #waiting = new WritesInTurn<Waiting>()
  /** By row: parts that wait for the part that is queued or running in a shared transaction. */
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

  /** Returns how long the next agent has waited for its turn, in milliseconds. */
  waitMs(): number {
    return this.#waiting.waitMs()
  }

  /**
   * Queues requests that first change the same row: only one of them at a time is in a shared transaction.
   * In one transaction they would miss each other's later statements. In two they would wait for each other in the database.
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

  /** Starts the next request that begins with the same row. */
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

  /** Sorts requests by the rows that they begin with, so that no two processes wait for each other's locks. */
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
        // A part that fails or waits for a row must not delay the others.
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
