import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads'
import { ReparteeError } from '../../../core/errors.ts'
import { moduleBeside } from '../../../core/platform/module-beside.ts'
import type { Step } from '../../postgres/batch.ts'
import { BaseBusy, type SqlRow } from '../base.ts'

export interface ConnectionSettings {
  /** As in `PostgresOptions`. */
  url: string
  pooler: boolean
}

/** What the thread is started with. */
export interface ConnectionStart extends ConnectionSettings {
  port: MessagePort
  signal: Int32Array
}

/** What the thread is asked. `continues`: the steps stand in a transaction that was begun before. */
export interface BlockingRequest {
  steps: Step[]
  continues: boolean
}

/** What the thread answers. */
export type BlockingAnswer = { rows: SqlRow[][] } | { message: string; isTransient: boolean; isLocked: boolean }

/**
 * A connection to PostgreSQL that the thread using it stands still for: the connection lives in a thread of its own. Only for threads that have
 * nothing else to do meanwhile.
 */
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
   * Sends them all at once, and waits. Returns the rows of each; what comes behind one that failed is not done, as long as it stands in the same
   * transaction, which is over then. `continues`: they stand in a transaction that was begun before. Throws `BaseBusy` where a lock was not had in time, and
   * `unavailable` where trying again may help.
   */
  run(steps: Step[], continues = false): SqlRow[][] {
    const before = Atomics.load(this.#signal, 0)
    this.#port.postMessage({ steps, continues } satisfies BlockingRequest)
    // The call that wakes may come from the answer before.
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
