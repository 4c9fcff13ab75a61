import { type Transferable, Worker } from 'node:worker_threads'
import { ReparteeError } from './errors.ts'
import { InTurn } from './in-turn.ts'
import { SlowOwners } from './slow-owners.ts'

interface Job<Asked, Answer> {
  owner: string
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
  /** A job that takes longer while others wait begins again in a second thread, and so do all jobs of an owner of several such jobs. Left out: no second thread. */
  slowMs?: number
}

const IDLE_MS = 10_000
/** How much longer the first job of a thread may take, for its start. */
const START_MS = 2_000

/** Runs jobs one by one in a thread. The thread starts with the first job and ends when it is idle. Its module must answer each message with one message. */
export class JobThread<Asked, Answer> {
  readonly #parts: JobThreadParts
  readonly #waiting = new InTurn<Job<Asked, Answer>>()
  #current: Job<Asked, Answer> | undefined
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined
  readonly #forSlow: JobThread<Asked, Answer> | undefined
  readonly #slowOwners = new SlowOwners()
  #slowTimer: NodeJS.Timeout | undefined
  /** When the current job began. */
  #since = 0
  /** The thread has answered before. */
  #isUsed = false

  constructor(parts: JobThreadParts) {
    this.#parts = parts
    const { slowMs, ...others } = parts
    if (slowMs !== undefined) this.#forSlow = new JobThread(others)
  }

  /** Owners take turns. `transferred` buffers become empty here. Rejects with `unavailable` if the thread cannot start or ends during the job. */
  run(owner: string, asked: Asked, transferred: Transferable[] = []): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const thread = this.#slowOwners.has(owner, performance.now()) ? (this.#forSlow ?? this) : this
      thread.#add({ owner, asked, transferred, resolve, reject })
    })
  }

  #add(job: Job<Asked, Answer>): void {
    this.#waiting.add(job.owner, job)
    if (this.#current === undefined) this.#next()
    else this.#watch()
  }

  #next(): void {
    clearTimeout(this.#idleTimer)
    clearTimeout(this.#slowTimer)
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
        this.#since = performance.now()
        this.#watch()
        return
      } catch (cause) {
        this.#current.reject(this.#broken(cause))
      }
    }
  }

  /** Looks whether the current job keeps others waiting for too long. */
  #watch(): void {
    clearTimeout(this.#slowTimer)
    const { slowMs } = this.#parts
    // What was transferred is gone from here.
    if (slowMs === undefined || this.#waiting.isEmpty || this.#current?.transferred.length !== 0) return
    const leftMs = this.#since + slowMs + (this.#isUsed ? 0 : START_MS) - performance.now()
    this.#slowTimer = setTimeout(() => this.#moveSlow(), Math.max(0, leftMs)).unref()
  }

  #moveSlow(): void {
    const slow = this.#current
    if (slow === undefined || this.#waiting.isEmpty) return
    this.#slowOwners.note(slow.owner, performance.now())
    this.#end()
    this.#forSlow!.#add(slow)
    this.#next()
  }

  #start(): Worker {
    const { module, heapMb } = this.#parts
    this.#isUsed = false
    const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    let cause: unknown
    worker.on('message', (answer: Answer) => {
      if (worker !== this.#worker) return
      this.#isUsed = true
      this.#current?.resolve(answer)
      this.#next()
    })
    worker.on('messageerror', (error) => {
      if (worker !== this.#worker) return
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
