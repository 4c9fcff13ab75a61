import { randomInt } from 'node:crypto'
import type { Socket } from 'node:net'
import pg from 'pg'
import type { Database } from '../database.ts'
import { endWhenCut } from './keepalive.ts'

const CHANNEL = 'repartee'
/** Distinguishes our locks from others. Any number works, as long as it never changes. */
const LOCKS = 7_370_418
const RECONNECT_AFTER_MS = 500
const END_WITHIN_MS = 2_000
const MAX_LOCK = 2_147_483_647

export interface PresenceParts {
  url: string
  db: Database
  /** Receives each message that a replica sends to all. */
  onMessage: (text: string) => void
  warn: (about: string, error: unknown) => void
}

/**
 * A dedicated connection that receives messages of other replicas. The server releases its lock as soon as the process is gone.
 * Messages are lost while it is broken, so their effects must also be found by polling.
 */
export class PostgresPresence {
  readonly #parts: PresenceParts
  /** Identifies the lock of this process. */
  readonly lockId = randomInt(1, MAX_LOCK)
  #client: pg.Client | undefined
  #retry: NodeJS.Timeout | undefined
  #isClosed = false
  /** True after the broken connection was logged, so that retries do not log it again. */
  #isAway = false

  constructor(parts: PresenceParts) {
    this.#parts = parts
  }

  async open(): Promise<void> {
    const client = new pg.Client({ connectionString: this.#parts.url, application_name: 'repartee presence', keepAlive: true })
    let isOver = false
    const over = (error?: unknown) => {
      if (isOver) return
      isOver = true
      this.#client = undefined
      if (this.#isClosed) return
      if (error !== undefined && !this.#isAway)
        this.#parts.warn('the connection by which replicas hear of each other broke', error)
      this.#isAway = true
      client.end().catch(() => {})
      this.#retry = setTimeout(() => void this.open().catch(() => {}), RECONNECT_AFTER_MS)
    }
    client.on('error', over)
    client.on('end', () => over())
    client.on('notification', ({ payload }) => this.#parts.onMessage(payload ?? ''))
    try {
      await client.connect()
      endWhenCut(client)
      await client.query(`SELECT pg_advisory_lock(${LOCKS}, ${this.lockId})`)
      await client.query(`LISTEN ${CHANNEL}`)
      this.#client = client
      this.#isAway = false
    } catch (error) {
      over(error)
      throw error
    }
  }

  /** Resolves to the ids of the locks that are taken. */
  async held(lockIds: number[]): Promise<Set<number>> {
    if (lockIds.length === 0) return new Set()
    const sql = `SELECT objid::bigint AS id FROM pg_locks WHERE locktype = 'advisory' AND classid = ${LOCKS} AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
    const rows = await this.#parts.db.read(sql, [])
    return new Set(rows.map((row) => row.id as number))
  }

  /** Sends a message to all connected replicas, this one included. */
  async tell(text: string): Promise<void> {
    await this.#parts.db.read('SELECT pg_notify($1, $2)', [CHANNEL, text])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#retry)
    const client = this.#client as (pg.Client & { connection: { stream: Socket } }) | undefined
    if (client === undefined) return
    // An unreachable server never confirms the end of the connection.
    const timer = setTimeout(() => client.connection.stream.destroy(), END_WITHIN_MS)
    await client.end()
    clearTimeout(timer)
  }
}
