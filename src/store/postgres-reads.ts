import type { Row, Statement } from './database.ts'
import { isLost } from './postgres-errors.ts'

interface Waiting {
  statement: Statement
  resolve: (rows: Row[]) => void
  reject: (error: unknown) => void
}

/** What is read in one turn of the event loop, by whichever requests, is asked for in one packet. */
export class Reads {
  readonly #read: (statements: Statement[]) => Promise<Row[][]>
  #waiting: Waiting[] = []

  constructor(read: (statements: Statement[]) => Promise<Row[][]>) {
    this.#read = read
  }

  add(statement: Statement): Promise<Row[]> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ statement, resolve, reject }) > 1) return
      setImmediate(() => {
        const reads = this.#waiting
        this.#waiting = []
        void this.#answer(reads)
      })
    })
  }

  async #answer(reads: Waiting[]): Promise<void> {
    try {
      const results = await this.#read(reads.map(({ statement }) => statement))
      reads.forEach((read, i) => {
        read.resolve(results[i]!)
      })
    } catch (error) {
      // One that fails must not fail the others.
      if (reads.length > 1 && !isLost((error as Error).cause ?? error)) for (const read of reads) void this.#answer([read])
      else for (const read of reads) read.reject(error)
    }
  }
}
