import type { Statement } from '../database.ts'
import { isLost } from './errors.ts'
import type { PostgresAnswer } from './exchange.ts'

interface Waiting {
  statement: Statement
  resolve: (answer: PostgresAnswer) => void
  reject: (error: unknown) => void
}

/** Sends the reads of one turn of the event loop, from any requests, in one packet. */
export class Reads {
  readonly #readTogether: (statements: Statement[]) => Promise<PostgresAnswer[]>
  readonly #readAlone: (statement: Statement) => Promise<PostgresAnswer>
  #waiting: Waiting[] = []

  constructor(
    readTogether: (statements: Statement[]) => Promise<PostgresAnswer[]>,
    readAlone: (statement: Statement) => Promise<PostgresAnswer>,
  ) {
    this.#readTogether = readTogether
    this.#readAlone = readAlone
  }

  add(statement: Statement): Promise<PostgresAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ statement, resolve, reject }) === 1) setImmediate(() => void this.#readAll())
    })
  }

  async #readAll(): Promise<void> {
    const reads = this.#waiting
    this.#waiting = []
    try {
      const results = await this.#readTogether(reads.map(({ statement }) => statement))
      reads.forEach((read, i) => {
        read.resolve(results[i]!)
      })
    } catch (error) {
      if (isLost((error as Error).cause ?? error)) for (const read of reads) read.reject(error)
      // A read that fails must not fail the others.
      else for (const { statement, resolve, reject } of reads) this.#readAlone(statement).then(resolve, reject)
    }
  }
}
