import { Worker } from 'node:worker_threads'
import { ReparteeError } from '../core/errors.ts'
import { moduleBeside } from '../core/module-beside.ts'
import type { Row, Value } from './database.ts'
import type { Outcome, Work } from './sqlite-connection.ts'

/** A list of statements as it travels: each by the number of its text, with its parameters behind it. */
export interface SentWork {
  guarded: boolean
  steps: (number | Value[])[]
}

/** What the thread is asked to write. `texts`: those that were not sent before, in the order of their numbers. */
export interface Request {
  texts: string[]
  works: SentWork[]
}

/** Of an error, what says what to do about it: a copy of the error itself would lose that. */
export interface SentError {
  message: string
  code: string | undefined
  errcode: number | undefined
}
type Failed = { failed: SentError }
/** What became of each list; or whether the log was emptied. */
export type Answer = ({ rows: Row[][] | undefined } | Failed)[] | boolean | Failed

/** A thread with a connection of its own to the database, which writes what it is given, one thing at a time, and waits for the disk. */
export class WriterThread {
  readonly #worker: Worker
  readonly #numbers = new Map<string, number>()
  #take: ((answer: Answer) => void) | undefined
  #isClosed = false

  private constructor(worker: Worker, lost: (error: unknown) => void) {
    this.#worker = worker
    let cause: Error | undefined
    worker.on('message', (answer: Answer) => this.#take?.(answer))
    worker.on('error', (error: Error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (this.#isClosed) return
      lost(cause)
      this.#take?.({ failed: { message: 'the thread that writes has ended', code: undefined, errcode: undefined } })
    })
  }

  /** `lost` is called when it ends by itself. Rejects where it cannot be had. */
  static open(path: string, lost: (error: unknown) => void): Promise<WriterThread> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(moduleBeside(import.meta.url, './sqlite-thread-worker'), { workerData: path })
      worker.once('error', reject)
      worker.once('message', () => {
        worker.off('error', reject)
        worker.unref()
        resolve(new WriterThread(worker, lost))
      })
    })
  }

  /** As that of the connection. */
  async write(works: Work[]): Promise<Outcome[]> {
    const texts: string[] = []
    const sent = works.map(({ guarded, statements }) => ({
      guarded,
      steps: statements.flatMap(({ sql, params }) => [this.#numberOf(sql, texts), params]),
    }))
    const answer = await this.#ask({ texts, works: sent }).catch((error: unknown) => {
      // The thread did not get them.
      for (const text of texts) this.#numbers.delete(text)
      throw error
    })
    if (Array.isArray(answer)) return answer.map((one) => ('failed' in one ? { error: toError(one) } : one))
    // Whether it was written nobody can tell, as with a process that dies.
    const cause = toError(answer as Failed)
    const error = new ReparteeError('unavailable', 'The database is out of reach. Try again.', { retryAfter: 1, cause })
    return works.map(() => ({ error }))
  }

  /** As that of the connection. */
  async checkpoint(): Promise<boolean> {
    const answer = await this.#ask('checkpoint')
    if (typeof answer === 'boolean') return answer
    throw toError(answer as Failed)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker.terminate()
  }

  #numberOf(sql: string, texts: string[]): number {
    const known = this.#numbers.get(sql)
    if (known !== undefined) return known
    texts.push(sql)
    const number = this.#numbers.size
    this.#numbers.set(sql, number)
    return number
  }

  #ask(request: Request | 'checkpoint'): Promise<Answer> {
    return new Promise((resolve) => {
      // Throws for what cannot be copied. Then nothing is waited for.
      this.#worker.postMessage(request)
      this.#worker.ref()
      this.#take = (answer) => {
        this.#take = undefined
        this.#worker.unref()
        resolve(answer)
      }
    })
  }
}

const toError = ({ failed: { message, ...codes } }: Failed): Error => Object.assign(new Error(message), codes)
