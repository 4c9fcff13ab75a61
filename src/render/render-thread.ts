import { Worker } from 'node:worker_threads'
import { ReparteeError } from '../core/errors.ts'
import { InTurn } from '../core/in-turn.ts'
import { moduleBeside } from '../core/module-beside.ts'

/** What the thread is asked for. It answers with the HTML. */
export interface RenderRequest {
  source: string
  imageHosts: string[]
}

interface Job {
  request: RenderRequest
  resolve: (html: string) => void
  reject: (error: unknown) => void
}

/** The longest reply takes some 100 MB. */
const MAX_HEAP_MB = 512
const IDLE_MS = 10_000

/** Renders one text after the other in a thread, which starts when it is needed and ends when it is idle. */
export class RenderThread {
  readonly #waiting = new InTurn<Job>()
  #current: Job | undefined
  #worker: Worker | undefined
  #idleTimer: NodeJS.Timeout | undefined

  /** Rejects with `unavailable` if the thread ends over it. */
  render(owner: string, request: RenderRequest): Promise<string> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(owner, { request, resolve, reject })
      if (this.#current === undefined) this.#next()
    })
  }

  #next(): void {
    clearTimeout(this.#idleTimer)
    this.#current = this.#waiting.next()
    if (this.#current === undefined) {
      this.#worker?.unref()
      this.#idleTimer = setTimeout(() => this.#end(), IDLE_MS).unref()
      return
    }
    this.#worker ??= this.#start()
    this.#worker.ref()
    this.#worker.postMessage(this.#current.request)
  }

  #start(): Worker {
    const worker = new Worker(moduleBeside(import.meta.url, './render-worker'), {
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    })
    let cause: unknown
    worker.on('message', (html: string) => {
      this.#current?.resolve(html)
      this.#next()
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      if (worker !== this.#worker) return
      this.#worker = undefined
      this.#current?.reject(
        new ReparteeError('unavailable', 'The reply could not be rendered. Try again.', { retryAfter: 1, cause }),
      )
      this.#next()
    })
    return worker
  }

  #end(): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
  }
}
