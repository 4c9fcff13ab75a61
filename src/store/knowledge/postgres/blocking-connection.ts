import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { ReparteeError } from '../../../core/errors.ts'
import { moduleBeside } from '../../../core/platform/module-beside.ts'
import type { Step } from '../../postgres/batch.ts'
import { BaseBusy } from '../base.ts'
import type { SqlRow } from '../rows.ts'

export interface ConnectionSettings {
  /** As in `PostgresOptions`. */
  url: string
  pooler: boolean
}

/** `workerData` of the thread. */
export interface ConnectionStart extends ConnectionSettings {
  port: MessagePort
  signal: Int32Array
}

/** A request to the thread. `continues`: the steps belong to a transaction that was begun before. */
export interface BlockingRequest {
  steps: Step[]
  continues: boolean
}

export type BlockingAnswer = { rows: SqlRow[][] } | { message: string; isTransient: boolean; isLocked: boolean }

/** A connection to PostgreSQL that blocks the calling thread: it lives in another thread. Only for threads with no other work. */
export class WaitingConnection {
  readonly #signal = new Int32Array(new SharedArrayBuffer(4))
  readonly #port: MessagePort
  readonly #worker: Worker

  constructor(settings: ConnectionSettings) {
    const { port1, port2 } = new MessageChannel()
    this.#port = port1
    this.#worker = new Worker(moduleBeside(import.meta.url, './blocking-connection-thread'), {
      workerData: { ...settings, port: port2, signal: this.#signal } satisfies ConnectionStart,
      transferList: [port2],
    })
    this.#worker.unref()
    port1.unref()
  }

  /**
   * Sends all steps at once, and blocks. Returns the rows of each. A failed step ends its transaction, and the rest of that transaction does not run.
   * `continues`: the steps belong to an open transaction. Throws `BaseBusy` on a lock timeout, and `unavailable` if a retry may help.
   */
  run(steps: Step[], continues = false): SqlRow[][] {
    const before = Atomics.load(this.#signal, 0)
    this.#port.postMessage({ steps, continues } satisfies BlockingRequest)
    // The wake-up may come from the previous answer.
    while (Atomics.load(this.#signal, 0) === before) Atomics.wait(this.#signal, 0, before)
    const { message: answer } = receiveMessageOnPort(this.#port) as { message: BlockingAnswer }
    if ('rows' in answer) return answer.rows
    const cause = new Error(answer.message)
    if (answer.isLocked) throw new BaseBusy({ cause })
    if (answer.isTransient)
      throw new ReparteeError('unavailable', 'The knowledge base is out of reach. Try again.', { retryAfter: 1, cause })
    throw cause
  }

  close(): void {
    this.#port.close()
    void this.#worker.terminate()
  }
}
