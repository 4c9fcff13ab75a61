import { type Transferable, Worker } from 'node:worker_threads'
import { ReparteeError } from '../errors.ts'
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
  /** If others wait, a longer job restarts in a thread for slow jobs, to which all jobs of repeatedly slow owners go. Without it: one thread for all. */
  slowMs?: number
}

const IDLE_MS = 10_000
/** Part of `slowMs` after which a replacement thread starts while others wait: a start may take seconds on a busy machine. */
const SPARE_AT = 0.2

interface Thread {
  worker: Worker
  /** True when its module is loaded. */
  isReady: boolean
}

/** Runs jobs one at a time in a thread, which starts with the first job and ends when idle. Its module sends one message when loaded, and one per job. */
export class JobThread<Asked, Answer> {
  readonly #parts: JobThreadParts
  readonly #waiting = new InTurn<Job<Asked, Answer>>()
  #current: Job<Asked, Answer> | undefined
  #thread: Thread | undefined
  /** The thread that takes over if the current job is slow. */
  #spare: Thread | undefined
  #idleTimer: NodeJS.Timeout | undefined
  readonly #forSlow: JobThread<Asked, Answer> | undefined
  readonly #slowOwners = new SlowOwners()
  #slowTimer: NodeJS.Timeout | undefined
  /** When the current job began in a ready thread. */
  #since = 0

  constructor(parts: JobThreadParts) {
    this.#parts = parts
    const { slowMs, ...others } = parts
    if (slowMs !== undefined) this.#forSlow = new JobThread(others)
  }

  /** Runs a job; owners take turns. `transferred` buffers become empty here. Rejects with `unavailable` if the thread cannot start or ends during the job. */
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
        this.#thread?.worker.unref()
        this.#idleTimer = setTimeout(() => this.#endAll(), IDLE_MS).unref()
        return
      }
      try {
        this.#thread ??= this.#start()
        this.#thread.worker.ref()
        this.#thread.worker.postMessage(this.#current.asked, this.#current.transferred)
        this.#since = performance.now()
        this.#watch()
        return
      } catch (cause) {
        this.#current.reject(this.#broken(cause))
      }
    }
  }

  /** Checks whether the current job delays others for too long. */
  #watch(): void {
    clearTimeout(this.#slowTimer)
    const { slowMs } = this.#parts
    // A job with transferred buffers cannot restart, because this thread no longer has them.
    if (slowMs === undefined || this.#waiting.isEmpty || this.#current?.transferred.length !== 0) return
    if (!this.#thread?.isReady) return
    const hasSpare = this.#spare !== undefined
    const leftMs = this.#since + slowMs * (hasSpare ? 1 : SPARE_AT) - performance.now()
    this.#slowTimer = setTimeout(() => (hasSpare ? this.#moveSlow() : this.#startSpare()), Math.max(0, leftMs)).unref()
  }

  #startSpare(): void {
    try {
      this.#spare = this.#start()
      this.#spare.worker.unref()
      this.#watch()
    } catch {
      // The next job retries.
    }
  }

  #moveSlow(): void {
    const slow = this.#current
    if (slow === undefined || this.#waiting.isEmpty) return
    this.#slowOwners.note(slow.owner, performance.now())
    const { worker } = this.#thread!
    this.#thread = this.#spare
    this.#spare = undefined
    void worker.terminate()
    this.#forSlow!.#add(slow)
    this.#next()
  }

  #start(): Thread {
    const { module, heapMb } = this.#parts
    const worker = new Worker(module, { resourceLimits: { maxOldGenerationSizeMb: heapMb } })
    const thread: Thread = { worker, isReady: false }
    let cause: unknown
    worker.on('message', (answer: Answer) => {
      const isAnswer = thread.isReady
      thread.isReady = true
      if (thread !== this.#thread) return
      if (isAnswer) {
        this.#current?.resolve(answer)
        this.#next()
      } else {
        this.#since = performance.now()
        this.#watch()
      }
    })
    worker.on('messageerror', (error) => {
      if (thread !== this.#thread) return
      this.#current?.reject(this.#broken(error))
      this.#next()
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (thread === this.#spare) this.#spare = undefined
      if (thread !== this.#thread) return
      this.#thread = undefined
      this.#current?.reject(this.#broken(cause))
      this.#next()
    })
    return thread
  }

  #broken(cause: unknown): ReparteeError {
    return new ReparteeError('unavailable', this.#parts.broken, { retryAfter: 1, cause })
  }

  #endAll(): void {
    const ended = [this.#thread, this.#spare]
    this.#thread = this.#spare = undefined
    for (const thread of ended) void thread?.worker.terminate()
  }
}
