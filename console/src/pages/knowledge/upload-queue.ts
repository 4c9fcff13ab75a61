import { documents, type Repartee } from 'repartee-client'
import { fetchTelling } from './upload-fetch.ts'

export interface Upload {
  id: number
  file: File
  /** Path below the selected folder, or the file name. */
  path: string
  state: 'waiting' | 'sending' | 'failed'
  /** Sent share of the file, from 0 to 1. */
  share: number
  error?: unknown
}

export interface Uploads {
  /** The waiting, running and failed uploads. */
  list: readonly Upload[]
  /** Number of completed uploads since the list was last empty. */
  sent: number
}

const AT_ONCE = 3
/** Timeout of one upload, long enough for a large file on a slow connection. */
const WITHIN_MS = 3_600_000

/** Uploads the files of one agent. Uploads continue while other pages of the console are open. */
export class UploadQueue {
  #now: Uploads = { list: [], sent: 0 }
  readonly #client: Repartee
  readonly #agentId: string
  readonly #listeners = new Set<() => void>()
  readonly #stops = new Map<number, AbortController>()
  #lastId = 0

  constructor(client: Repartee, agentId: string) {
    this.#client = client
    this.#agentId = agentId
    addEventListener('online', () => this.#pump())
    addEventListener('beforeunload', (event) => {
      if (this.#now.list.some(({ state }) => state !== 'failed')) event.preventDefault()
    })
  }

  readonly subscribe = (listener: () => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
  readonly snapshot = () => this.#now

  add(files: readonly { file: File; path: string }[]): void {
    const added = files.map((one): Upload => ({ ...one, id: ++this.#lastId, state: 'waiting', share: 0 }))
    const { list, sent } = this.#now
    this.#show({ list: [...list, ...added], sent: list.length === 0 ? 0 : sent })
    this.#pump()
  }

  /** Retries one failed upload, or all of them. */
  retry(id?: number): void {
    const isMeant = (one: Upload) => one.state === 'failed' && (id === undefined || one.id === id)
    this.#show({
      ...this.#now,
      list: this.#now.list.map((one) => (isMeant(one) ? { ...one, state: 'waiting', share: 0, error: undefined } : one)),
    })
    this.#pump()
  }

  /** Removes one upload and cancels it if it is running, or removes all failed ones. */
  dismiss(id?: number): void {
    const isMeant = (one: Upload) => (id === undefined ? one.state === 'failed' : one.id === id)
    this.#remove(isMeant)
    if (id !== undefined) this.#stops.get(id)?.abort()
  }

  /** Cancels all uploads that are not complete. */
  stop(): void {
    this.#remove(({ state }) => state !== 'failed')
    for (const stop of this.#stops.values()) stop.abort()
  }

  #pump(): void {
    // Uploads fail while the network is offline.
    if (!navigator.onLine) return
    const free = AT_ONCE - this.#now.list.filter(({ state }) => state === 'sending').length
    for (const one of this.#now.list.filter(({ state }) => state === 'waiting').slice(0, Math.max(0, free))) void this.#send(one)
  }

  async #send({ id, file, path }: Upload): Promise<void> {
    const stop = new AbortController()
    this.#stops.set(id, stop)
    this.#change(id, { state: 'sending' })
    const told = fetchTelling((share) => this.#change(id, { share }))
    const connection = { ...this.#client.connection, fetch: told }
    try {
      await documents.upload(
        connection,
        { agentId: this.#agentId, file, filename: path },
        { signal: stop.signal, timeoutMs: WITHIN_MS },
      )
      this.#remove((one) => one.id === id, 1)
    } catch (error) {
      this.#change(id, { state: 'failed', error })
    } finally {
      this.#stops.delete(id)
      this.#pump()
    }
  }

  #change(id: number, change: Partial<Upload>): void {
    this.#show({ ...this.#now, list: this.#now.list.map((one) => (one.id === id ? { ...one, ...change } : one)) })
  }

  #remove(isMeant: (one: Upload) => boolean, sent = 0): void {
    const list = this.#now.list.filter((one) => !isMeant(one))
    this.#show({ list, sent: this.#now.sent + sent })
  }

  #show(next: Uploads): void {
    this.#now = next
    for (const listener of this.#listeners) listener()
  }
}

const queues = new WeakMap<Repartee, Map<string, UploadQueue>>()

/** Returns the upload queue of an agent, which outlives the page that shows it. */
export function queueOf(client: Repartee, agentId: string): UploadQueue {
  const ofClient = queues.get(client) ?? new Map<string, UploadQueue>()
  queues.set(client, ofClient)
  const queue = ofClient.get(agentId) ?? new UploadQueue(client, agentId)
  ofClient.set(agentId, queue)
  return queue
}
