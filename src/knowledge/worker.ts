import { Worker } from 'node:worker_threads'
import { ReparteeError } from '../core/errors.ts'
import { fromSentError, type Handled, type Methods, type Response, type RpcRequest, type ThreadEvent, toLine } from './rpc.ts'

interface Call {
  /** The queue, from `toLine`. */
  line: string
  /** Time of the call, by `performance.now()`. */
  at: number
  resolve: (value: never) => void
  reject: (error: unknown) => void
}

/** Without a limit, short-lived garbage grows a thread by 150 MB under load, without benefit. */
const YOUNG_MB = 16

/** A worker thread. Starts at the first call, and restarts at the next call after it dies. Keeps the process alive only while calls are open. */
export class WorkerHandle<M extends Methods> {
  readonly #url: URL
  readonly #data: object
  readonly #maxHeapMb: number
  readonly #onDeath: (cause: unknown) => void
  readonly #onEvent: (event: ThreadEvent) => void
  readonly #servesInTurn: boolean
  #worker: Worker | undefined
  #calls = new Map<number, Call>()
  #lastId = 0

  /**
   * `onDeath` is called when the thread exits unexpectedly, with the error if there is one. `onEvent` receives messages that are not answers.
   * `servesInTurn`: the thread is notified of handled answers.
   */
  constructor(
    url: URL,
    data: object,
    maxHeapMb: number,
    onDeath: (cause: unknown) => void = () => {},
    onEvent: (event: ThreadEvent) => void = () => {},
    servesInTurn = false,
  ) {
    this.#url = url
    this.#data = data
    this.#maxHeapMb = maxHeapMb
    this.#onDeath = onDeath
    this.#onEvent = onEvent
    this.#servesInTurn = servesInTurn
  }

  get started(): boolean {
    return this.#worker !== undefined
  }

  /** Returns how long the oldest open call has waited, in milliseconds. `line`: only calls in this queue, from `toLine`. */
  waitMs(line?: string): number {
    const oldest = this.#calls.values().find((call) => line === undefined || call.line === line)
    return oldest === undefined ? 0 : performance.now() - oldest.at
  }

  /** Rejects with `ReparteeError`; `unavailable` if the thread dies before it answers. */
  call<K extends keyof M & string>(method: K, ...args: Parameters<M[K]>): Promise<Awaited<ReturnType<M[K]>>> {
    return this.#send(method, args, [])
  }

  /** Like `call`, but transfers the bytes instead of copying them: the caller's buffer is empty afterwards. */
  callWith<K extends keyof M & string>(
    bytes: Uint8Array<ArrayBuffer> | undefined,
    method: K,
    ...args: Parameters<M[K]>
  ): Promise<Awaited<ReturnType<M[K]>>> {
    return this.#send(method, args, bytes === undefined ? [] : [bytes.buffer])
  }

  #send(method: string, args: unknown[], transfer: ArrayBuffer[]): Promise<never> {
    const worker = this.#worker ?? this.#start()
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      const request: RpcRequest = { id, method, args }
      // Throws if a value cannot be copied. Then no call is open.
      worker.postMessage(request, transfer)
      this.#calls.set(id, { line: toLine(args), at: performance.now(), resolve, reject })
      worker.ref()
    })
  }

  async terminate(): Promise<void> {
    const worker = this.#worker
    this.#worker = undefined
    await worker?.terminate()
  }

  #start(): Worker {
    const worker = new Worker(this.#url, {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: this.#maxHeapMb, maxYoungGenerationSizeMb: YOUNG_MB },
    })
    const calls = new Map<number, Call>()
    this.#calls = calls
    this.#worker = worker
    let cause: unknown
    let handled = 0
    const tellHandled = () => {
      worker.postMessage({ handled } satisfies Handled)
      handled = 0
    }
    worker.on('message', (response: Response) => {
      if (!('id' in response)) return this.#onEvent(response)
      // In a later turn of the event loop, so that other events are handled in between.
      if (this.#servesInTurn && handled++ === 0) setImmediate(tellHandled)
      const call = calls.get(response.id)
      calls.delete(response.id)
      if (calls.size === 0) worker.unref()
      if ('error' in response) call?.reject(fromSentError(response.error))
      else call?.resolve(response.value as never)
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.on('exit', () => {
      const unexpected = this.#worker === worker
      if (unexpected) this.#worker = undefined
      for (const call of calls.values())
        call.reject(
          new ReparteeError('unavailable', 'The knowledge base had to start anew. Try again.', { retryAfter: 1, cause }),
        )
      calls.clear()
      if (unexpected) this.#onDeath(cause)
    })
    return worker
  }
}
