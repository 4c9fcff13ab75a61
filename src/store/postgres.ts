import pg from 'pg'
import { ReparteeError } from '../core/errors.ts'
import type { Database, Row, Statement, Value } from './database.ts'
import { inOrder } from './postgres-batch.ts'
import { isLost, isPassing, isSilence, lostTheRace, reasonOf } from './postgres-errors.ts'
import { migratePostgres } from './postgres-migrate.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the driver's own parameters. */
  url: string
  /** Connections of this process at most, beside a few for long lists. */
  connections: number
  /**
   * Between this process and the server stands a pooler that lends a connection to each transaction (PgBouncer, Supavisor): statements are
   * neither prepared nor sent ahead of answers.
   */
  pooler?: boolean
  /** A connection that does not answer for so long is given up. */
  answerWithinMs?: number
  /** Told of connections that broke while nobody used them. */
  warn?: (about: string, error: unknown) => void
}

const CONNECT_WITHIN_MS = 5_000
/** Whoever holds a row longer is no request of ours. Longer than it takes the server to find two that wait for each other. */
const LOCK_WITHIN_MS = 2_000
/** No statement of the service takes nearly so long. */
const ANSWER_WITHIN_MS = 30_000
/** Long lists hold a connection as long as their readers take. */
const STREAM_CONNECTIONS = 4
const MAX_TRIES = 5

/** 64-bit integers, and sums over them: all that the service counts is below 2^53. */
const AS_NUMBER = new Set([20, 1700])
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (AS_NUMBER.has(oid) && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format)),
}

/** PostgreSQL, for any number of processes at once. A commit is on the server's disk before it is acknowledged, unless the server is set up otherwise. */
export class PostgresDatabase implements Database {
  readonly #pool: pg.Pool
  /** Of those who wait for a connection, the first one first. */
  readonly #waiting = new Set<{ since: number }>()
  readonly #streams: pg.Pool
  readonly #pooler: boolean
  readonly #prepared = new Map<string, { text: string; name?: string }>()
  /** When each connection was made; and before when one that was made may be dead, because another did not answer. */
  readonly #born = new WeakMap<pg.PoolClient, number>()
  #suspectBefore = 0

  private constructor({ url, connections, pooler = false, answerWithinMs = ANSWER_WITHIN_MS, warn = () => {} }: PostgresOptions) {
    this.#pooler = pooler
    const settings: pg.PoolConfig = {
      connectionString: url,
      application_name: 'repartee',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: answerWithinMs,
      keepAlive: true,
      types: TYPES,
    }
    // A pooler takes no settings of a connection.
    this.#pool = new pg.Pool({
      ...settings,
      max: connections,
      pipeline: !pooler,
      ...(pooler ? {} : { lock_timeout: LOCK_WITHIN_MS }),
    })
    this.#streams = new pg.Pool({ ...settings, max: STREAM_CONNECTIONS })
    for (const pool of [this.#pool, this.#streams]) {
      pool.on('error', (error) => warn('an idle connection to the database broke', error))
      // One that breaks in use is told of by the statement under way; without anybody who listens it would end the process.
      pool.on('connect', (client) => {
        this.#born.set(client, performance.now())
        client.on('error', () => {})
      })
    }
  }

  /**
   * Brings the database to the newest schema. Throws where it cannot be reached, or is of a newer schema than this version knows; the message can be
   * shown, and holds no password.
   */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const db = new PostgresDatabase(options)
    try {
      // Of its own, because a change of large tables takes longer than any other statement may.
      const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: CONNECT_WITHIN_MS, types: TYPES })
      client.on('error', () => {})
      try {
        await client.connect()
        await migratePostgres(client, new URL('../../migrations/postgres/', import.meta.url))
      } finally {
        await client.end().catch(() => {})
      }
      return db
    } catch (cause) {
      await db.close()
      throw new Error(`the PostgreSQL database cannot be used: ${reasonOf(cause)}`, { cause })
    }
  }

  async read(sql: string, params: Value[]): Promise<Row[]> {
    return this.#retried((client) => this.#run(client, { sql, params }))
  }

  async readValues(sql: string, params: Value[]): Promise<Value[][]> {
    return this.#retried(
      async (client) => (await client.query<Value[]>({ ...this.#prepare(sql), values: params, rowMode: 'array' })).rows,
    )
  }

  async write(statements: Statement[]): Promise<Row[][]> {
    if (statements.length === 1) return [await this.#retried((client) => this.#run(client, statements[0]!))]
    return this.#retried((client) => this.#inOrder(client, ['BEGIN', ...statements, 'COMMIT'])).then((rows) => rows.slice(1, -1))
  }

  async writeIf(statements: Statement[]): Promise<Row[][] | undefined> {
    const [guard, ...rest] = statements
    return this.#retried(async (client) => {
      if (rest.length === 0) {
        const rows = await this.#run(client, guard!)
        return rows.length === 0 ? undefined : [rows]
      }
      const [, first] = await this.#inOrder(client, ['BEGIN', guard!])
      if (first!.length === 0) {
        await client.query('ROLLBACK')
        return undefined
      }
      const others = await this.#inOrder(client, [...rest, 'COMMIT'])
      return [first!, ...others.slice(0, -1)]
    })
  }

  async *stream(sql: string, params: Value[], sliceRows: number): AsyncGenerator<Value[][]> {
    const client = await this.#streams.connect().catch(fail)
    let broken: unknown
    try {
      await client.query('BEGIN READ ONLY')
      await client.query(`DECLARE list NO SCROLL CURSOR FOR ${toPostgres(sql)}`, params)
      for (;;) {
        const { rows } = await client.query<Value[]>({ text: `FETCH ${sliceRows} FROM list`, rowMode: 'array' })
        if (rows.length > 0) yield rows
        if (rows.length < sliceRows) return
      }
    } catch (error) {
      broken = error
      fail(error)
    } finally {
      if (broken === undefined) await client.query('ROLLBACK').catch((error: unknown) => (broken = error))
      client.release(broken !== undefined)
    }
  }

  /** Nothing to do: what is deleted leaves the server's files with its vacuum and the recycling of its log. */
  scrub(): void {}

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#streams.end()])
  }

  /** Whoever lost against another transaction tries again, because nothing of it was written. */
  async #retried<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++) {
      const client = await this.#connect()
      let broken = false
      try {
        return await work(client)
      } catch (error) {
        if (isSilence(error)) this.#suspectBefore = performance.now()
        broken = isLost(error) || !(await this.#isClean(client))
        if (!lostTheRace(error) || tries === MAX_TRIES) fail(error)
      } finally {
        client.release(broken)
      }
    }
  }

  waitMs(): number {
    const [first] = this.#waiting
    return first === undefined ? 0 : performance.now() - first.since
  }

  /** A connection that broke without a word takes its time to be noticed: those that are as old as one that did are not tried one by one. */
  async #connect(): Promise<pg.PoolClient> {
    for (;;) {
      const client = await this.#wait()
      if (this.#born.get(client)! >= this.#suspectBefore) return client
      client.release(true)
    }
  }

  async #wait(): Promise<pg.PoolClient> {
    const waiting = { since: performance.now() }
    this.#waiting.add(waiting)
    try {
      return await this.#pool.connect().catch(fail)
    } finally {
      this.#waiting.delete(waiting)
    }
  }

  /** Ends what an error may have left open. False where the connection is of no more use. */
  #isClean(client: pg.PoolClient): Promise<boolean> {
    return client.query('ROLLBACK').then(
      () => true,
      () => false,
    )
  }

  #inOrder(client: pg.PoolClient, steps: (Statement | 'BEGIN' | 'COMMIT')[]): Promise<Row[][]> {
    return inOrder(client, steps, this.#pooler, (step) =>
      typeof step === 'string' ? client.query<Row>(step).then(({ rows }) => rows) : this.#run(client, step),
    )
  }

  async #run(client: pg.PoolClient, { sql, params }: Statement): Promise<Row[]> {
    return (await client.query<Row>({ ...this.#prepare(sql), values: params })).rows
  }

  #prepare(sql: string): { text: string; name?: string } {
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      const text = toPostgres(sql)
      prepared = this.#pooler ? { text } : { text, name: `s${this.#prepared.size}` }
      this.#prepared.set(sql, prepared)
    }
    return prepared
  }
}

/** The one construct that the engines spell differently. */
const toPostgres = (sql: string): string =>
  sql.replace(/SELECT value FROM json_each\((\$\d+)\)/g, 'SELECT json_array_elements_text($1::json)')

function fail(error: unknown): never {
  if (isPassing(error))
    throw new ReparteeError('unavailable', 'The database is out of reach. Try again.', { retryAfter: 1, cause: error })
  throw error
}
