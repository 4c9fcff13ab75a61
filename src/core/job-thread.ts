import { type Transferable, Worker } from 'node:worker_threads'
import { ReparteeError } from './errors.ts'
import { InTurn } from './in-turn.ts'

interface Job<Asked, Answer> {
  asked: Asked
  transferred: Transferable[]
  resolve: (answer: Answer) => void
  reject: (error: unknown) => void
}

export interface JobThreadParts {
  module: URL
  heapMb: number
  /** The error message if the thread ends during a job. */
  broken: string
}

const IDLE_MS = 10_000

/** Runs jobs one by one in a thread. The thread starts with the first job and ends when it is idle. Its module must answer each message with one message. */
export class JobThread<Asked, Answer> {
  readonly #parts: JobThreadParts
  readonly #waiting = new InTurn<Job<Asked, Answer>>()
  #current: Job<Asked, Answer> | undefined
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined

  constructor(parts: JobThreadParts) {
    this.#parts = parts
  }

  /** Owners take turns. `transferred` buffers become empty here. Rejects with `unavailable` if the thread cannot start or ends during the job. */
  run(owner: string, asked: Asked, transferred: Transferable[] = []): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(owner, { asked, transferred, resolve, reject })
      if (this.#current === undefined) this.#next()
    })
  }

  #next(): void {
    clearTimeout(this.#idleTimer)
    for (;;) {
      this.#current = this.#waiting.next()
      if (this.#current === undefined) {
        this.#worker?.unref()
        this.#idleTimer = setTimeout(() => this.#end(), IDLE_MS).unref()
        return
      }
      try {
        this.#worker ??= this.#start()
        this.#worker.ref()
        this.#worker.postMessage(this.#current.asked, this.#current.transferred)
        return
      } catch (cause) {
        this.#current.reject(this.#broken(cause))
      }
    }
  }

  #start(): Worker {
    const { module, heapMb } = this.#parts
    const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    let cause: unknown
    worker.on('message', (answer: Answer) => {
      this.#current?.resolve(answer)
      this.#next()
    })
    worker.on('messageerror', (error) => {
      this.#current?.reject(this.#broken(error))
      this.#next()
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (worker !== this.#worker) return
      this.#worker = undefined
      this.#current?.reject(this.#broken(cause))
      this.#next()
    })
    return worker
  }

  #broken(cause: unknown): ReparteeError {
    return new ReparteeError('unavailable', this.#parts.broken, { retryAfter: 1, cause })
  }

  #end(): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
  }
}
