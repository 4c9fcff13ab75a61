import pg from 'pg'
import { ReparteeError } from '../../core/errors.ts'
import { Limiter } from '../../core/fairness/limiter.ts'
import type { Sharer } from '../../core/fairness/shares.ts'
import {
  ConditionFailed,
  type Database,
  type Row,
  type Statement,
  statement,
  type Value,
  type WriteOptions,
} from '../database.ts'
import { isTransient } from '../transient.ts'
import { type CommitPart, Commits, type PartRows } from './commits.ts'
import { isConditionFailed, isLost, isSilence, lostTheRace, reasonOf } from './errors.ts'
import { exchange, type PostgresAnswer, type PostgresRequest, toRows } from './exchange.ts'
import { endWhenCut } from './keepalive.ts'
import { migratePostgres } from './migrate.ts'
import { Reads } from './reads.ts'

export interface PostgresOptions {
  /** `postgres://user:password@host:port/database`, with the driver's own parameters. */
  url: string
  /** Maximum connections of this process, plus a few for long lists. */
  connections: number
  /** A pooler lends a connection to each transaction (PgBouncer, Supavisor): statements are neither prepared nor sent ahead of answers. */
  pooler?: boolean
  /** A connection that does not answer for this long is closed. */
  answerWithinMs?: number
  /** Called when an idle connection breaks. */
  warn?: (about: string, error: unknown) => void
}

const CONNECT_WITHIN_MS = 5_000
/** Lock timeout of shared transactions. A request that must wait longer is retried alone. */
const SHARED_LOCK_WITHIN_MS = 200
/** Lock timeout of single requests. A lock that lasts longer is not from the service. Longer than the server's deadlock detection takes. */
const LOCK_WITHIN_MS = 2_000
const WAIT_LONGER = statement(`SELECT set_config('lock_timeout', '${LOCK_WITHIN_MS}', true)`)
const BEGIN_READING = statement('BEGIN READ ONLY')
/** No statement of the service takes nearly this long. */
const ANSWER_WITHIN_MS = 30_000
/** Long lists occupy a connection as long as their readers take. One more is left for other long reads. */
const LISTS_AT_ONCE = 5
/** Share of the connections for scans. The rest is for other statements. */
const SCANNING_SHARE = 0.4
const STREAM_CONNECTIONS = LISTS_AT_ONCE + 1
const MAX_TRIES = 5

/** 64-bit integers and their sums: all counts of the service are below 2^53. */
const AS_NUMBER = new Set([20, 1700])
const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => (AS_NUMBER.has(oid) && format !== 'binary' ? Number : pg.types.getTypeParser(oid, format)),
}

/** PostgreSQL, for any number of processes. A commit is on the server's disk before it is acknowledged, unless the server is configured otherwise. */
export class PostgresDatabase implements Database {
  readonly mayLoseAnswers = true
  readonly listsAtOnce = LISTS_AT_ONCE
  readonly #pool: pg.Pool
  readonly #scans: Limiter
  /** Requests that wait for a connection, oldest first. */
  readonly #waiting = new Set<{ since: number }>()
  readonly #streams: pg.Pool
  readonly #pooler: boolean
  readonly #prepared = new Map<string, { name: string; text: string }>()
  readonly #reads = new Reads(
    (statements) => this.#retried((client) => this.#run(client, statements)),
    (statement) => this.#readAlone(statement),
  )
  readonly #commits = new Commits((parts, isPatient) => this.#retried((client) => this.#commit(client, parts, isPatient)))
  /** When each connection was opened. Connections from before `#suspectBefore` may be dead, because another one did not answer. */
  readonly #born = new WeakMap<pg.PoolClient, number>()
  #suspectBefore = 0

  private constructor({ url, connections, pooler = false, answerWithinMs = ANSWER_WITHIN_MS, warn = () => {} }: PostgresOptions) {
    this.#pooler = pooler
    this.#scans = new Limiter(Math.max(1, Math.floor(connections * SCANNING_SHARE)))
    const settings: pg.PoolConfig = {
      connectionString: url,
      application_name: 'repartee',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: answerWithinMs,
      keepAlive: true,
      types: TYPES,
    }
    // A pooler does not support settings of a connection.
    this.#pool = new pg.Pool({
      ...settings,
      max: connections,
      ...(pooler ? {} : { lock_timeout: SHARED_LOCK_WITHIN_MS }),
    })
    this.#streams = new pg.Pool({ ...settings, max: STREAM_CONNECTIONS })
    for (const pool of [this.#pool, this.#streams]) {
      pool.on('error', (error) => warn('an idle connection to the database broke', error))
      // The running statement reports a broken connection. Without a listener the error would end the process.
      pool.on('connect', (client) => {
        this.#born.set(client, performance.now())
        client.on('error', () => {})
        if (!pooler) endWhenCut(client)
      })
    }
  }

  /** Opens and migrates the database. Throws if it is unreachable or its schema is too new. The message contains no password. */
  static async open(options: PostgresOptions): Promise<PostgresDatabase> {
    const db = new PostgresDatabase(options)
    try {
      // Own client: a change of large tables takes longer than any other statement may.
      const client = new pg.Client({ connectionString: options.url, connectionTimeoutMillis: CONNECT_WITHIN_MS, types: TYPES })
      client.on('error', () => {})
      try {
        await client.connect()
        await migratePostgres(client, new URL('../../../migrations/postgres/', import.meta.url))
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
    return toRows(await this.#read({ sql, params }))
  }

  async readValues(sql: string, params: Value[]): Promise<Value[][]> {
    return (await this.#read({ sql, params })).rows
  }

  async scan(sql: string, params: Value[], sharer: Sharer = { id: String(params[0]) }): Promise<Row[]> {
    return toRows(await this.#scans.run(sharer, () => this.#readAlone({ sql, params })))
  }

  write(statements: Statement[], { long = false, unordered = false }: WriteOptions = {}): Promise<Row[][]> {
    return this.#write({ statements, isGuarded: false, isLong: long, isUnordered: unordered }) as Promise<Row[][]>
  }

  writeIf(statements: Statement[], { long = false }: Pick<WriteOptions, 'long'> = {}): Promise<Row[][] | undefined> {
    return this.#write({ statements, isGuarded: true, isLong: long, isUnordered: false })
  }

  #write(part: CommitPart): Promise<PartRows> {
    return this.#pooler ? this.#retried((client) => this.#oneByOne(client, part)) : this.#commits.add(part)
  }

  async *stream(sql: string, params: Value[], sliceRows: number): AsyncGenerator<Value[][]> {
    const client = await this.#streams.connect().catch(fail)
    let broken: unknown
    try {
      // Own cursor name for each statement: the columns of a FETCH are cached by its text.
      const cursor = `list_${this.#toAsk({ sql, params }).name}`
      const fetch = statement(`FETCH ${sliceRows} FROM ${cursor}`)
      const declare = statement(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, ...params)
      let { rows } = (await this.#run(client, [BEGIN_READING, declare, fetch]))[2]!
      for (;;) {
        if (rows.length > 0) yield rows
        if (rows.length < sliceRows) return
        rows = (await this.#run(client, [fetch]))[0]!.rows
      }
    } catch (error) {
      broken = error
      fail(error)
    } finally {
      if (broken === undefined) await client.query('ROLLBACK').catch((error: unknown) => (broken = error))
      client.release(broken !== undefined)
    }
  }

  /** Nothing to do: the server's vacuum and log recycling remove deleted data from its files. */
  scrub(): void {}

  async close(): Promise<void> {
    await Promise.all([this.#pool.end(), this.#streams.end()])
  }

  /** Retries after a conflict with another transaction, because nothing was written. */
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
    return Math.max(this.#commits.waitMs(), first === undefined ? 0 : performance.now() - first.since)
  }

  /** Skips connections as old as one that did not answer: each dead one would take a timeout to fail. */
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

  /** Rolls back a transaction that an error left open. Resolves to false if the connection is unusable. */
  #isClean(client: pg.PoolClient): Promise<boolean> {
    return client.query('ROLLBACK').then(
      () => true,
      () => false,
    )
  }

  /** Runs all parts in one transaction: first the guards, then the rest of the parts whose guard returned a row. */
  async #commit(client: pg.PoolClient, parts: CommitPart[], isPatient: boolean): Promise<PartRows[]> {
    const lists = parts.map(({ statements }) => statements.map((statement) => this.#toAsk(statement)))
    const isFirst = (i: number, place: number) => place === 0 || !parts[i]!.isGuarded
    const isLet = (i: number) => !parts[i]!.isGuarded || lists[i]![0]!.rows.length > 0
    const ordered = lists.flatMap((asked, i) => (parts[i]!.isUnordered ? [] : asked.filter((_, place) => isFirst(i, place))))
    const unordered = lists.flatMap((asked, i) => (parts[i]!.isUnordered ? asked : []))
    const first = [...ordered, ...unordered.sort((a, b) => (String(a.values[0]) < String(b.values[0]) ? -1 : 1))]
    const rest = () => lists.flatMap((asked, i) => (isLet(i) ? asked.filter((_, place) => !isFirst(i, place)) : []))
    const isWhole = lists.every((asked, i) => isFirst(i, asked.length - 1))
    if (isPatient) first.unshift(this.#toAsk(WAIT_LONGER))
    await exchange(client, TYPES, first, isWhole ? undefined : rest)
    return lists.map((asked, i) => (isLet(i) ? asked.map(toRows) : undefined))
  }

  /** Runs one part through a pooler. */
  async #oneByOne(client: pg.PoolClient, { statements, isGuarded }: CommitPart): Promise<PartRows> {
    if (statements.length > 1) await client.query('BEGIN')
    const results: Row[][] = []
    for (const statement of statements) {
      const rows = (await this.#run(client, [statement])).flatMap(toRows)
      results.push(rows)
      if (isGuarded && rows.length === 0 && results.length === 1) break
    }
    const isLet = results.length === statements.length
    if (statements.length > 1) await client.query(isLet ? 'COMMIT' : 'ROLLBACK')
    return !isGuarded || results[0]!.length > 0 ? results : undefined
  }

  #read(statement: Statement): Promise<PostgresAnswer> {
    return this.#pooler ? this.#readAlone(statement) : this.#reads.add(statement)
  }

  async #readAlone(statement: Statement): Promise<PostgresAnswer> {
    const steps = [...(this.#pooler ? [] : [WAIT_LONGER]), statement]
    return (await this.#retried((client) => this.#run(client, steps))).at(-1)!
  }

  async #run(client: pg.PoolClient, statements: Statement[]): Promise<PostgresAnswer[]> {
    const asked = statements.map((statement) => this.#toAsk(statement))
    if (!this.#pooler) await exchange(client, TYPES, asked)
    else for (const one of asked) Object.assign(one, await askPooler(client, one))
    return asked
  }

  #toAsk({ sql, params }: Statement): PostgresRequest {
    let prepared = this.#prepared.get(sql)
    if (prepared === undefined) {
      prepared = { name: `s${this.#prepared.size}`, text: toPostgres(sql) }
      this.#prepared.set(sql, prepared)
    }
    return { ...prepared, values: params, columns: [], rows: [] }
  }
}

async function askPooler(client: pg.PoolClient, { text, values }: PostgresRequest): Promise<PostgresAnswer> {
  const { fields, rows } = await client.query<Value[]>({ text, values: [...values], rowMode: 'array' })
  return { columns: fields.map(({ name }) => name), rows }
}

/** Translates SQL that differs between the engines. SQLite has one writer, and ignores a comment. */
const toPostgres = (sql: string): string =>
  sql
    .replace(/SELECT value FROM json_each\((\$\d+)\)/g, 'SELECT json_array_elements_text($1::json)')
    .replace('/* SKIP LOCKED */', 'FOR UPDATE SKIP LOCKED')

function fail(error: unknown): never {
  if (isConditionFailed(error)) throw new ConditionFailed('a condition did not hold', { cause: error })
  if (isTransient(error) || isLost(error))
    throw new ReparteeError('unavailable', 'The database is out of reach. Try again.', { retryAfter: 1, cause: error })
  throw error
}
