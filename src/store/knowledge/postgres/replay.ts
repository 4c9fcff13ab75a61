import pg from 'pg'
import { ReparteeError } from '../../../core/errors.ts'
import { KNOWLEDGE_TYPES, type Step, sendTogether } from '../../postgres/batch.ts'
import { isLost, isSilence, isTableGone } from '../../postgres/errors.ts'
import { isTransient } from '../../transient.ts'
import { BaseGone, type KnowledgeBase, type NearTables, type SqlRow, type SqlValue } from '../base.ts'
import { PLACE, selectTogether } from './batched-sql.ts'
import type { ConnectionSettings } from './blocking-connection.ts'
import { nearTable, scope } from './scope.ts'

const CONNECTIONS = 4
const CONNECT_WITHIN_MS = 5_000
const ANSWER_WITHIN_MS = 30_000
/** From this number of parameter sets on, one statement fetches the rows of all. */
const TOGETHER_FROM = 3
/** Maximum number of round trips. A question that needs more would never end. */
const MOST_TRIPS = 1_000
const VERSION = 'SELECT version FROM manifest'

/** Rows that a run needs and that are not fetched yet. */
interface Missing {
  sql: string
  params: SqlValue[]
  /** Only the first row is needed. */
  one: boolean
  /** Sent unchanged, without the agent. */
  raw: boolean
  /** One result serves all questions that need it now. */
  isShared?: boolean
}

/** Rows of one version of a base, as far as a question needs them. */
interface View {
  version: number | undefined
  rows: Map<string, SqlRow[]>
}

const keyOf = (sql: string, params: readonly SqlValue[]): string => `${sql}\0${JSON.stringify(params)}`

/**
 * Reads knowledge bases in PostgreSQL. A question is a synchronous function: it runs on the known rows, all missing rows are fetched in one round trip,
 * and it runs again until no row is missing. So rows are fetched together, and no question blocks another.
 */
export class KnowledgeReplay {
  readonly #pool: pg.Pool
  readonly #pooler: boolean
  readonly #bases = new Map<string, ReplayedBase>()
  /** Counts lost connections: a server crash closes all of them. */
  #lostConnections = 0

  constructor({ url, pooler }: ConnectionSettings) {
    this.#pooler = pooler
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: 'repartee questions',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
      keepAlive: true,
      types: KNOWLEDGE_TYPES,
      pipeline: !pooler,
      max: CONNECTIONS,
    })
    this.#pool.on('error', () => {
      this.#lostConnections++
    })
    this.#pool.on('connect', (client) => client.on('error', () => {}))
  }

  /** Returns the agent's base, which all its questions share until it is closed. */
  base(agentId: string): ReplayedBase {
    let base = this.#bases.get(agentId)
    if (base === undefined) {
      base = new ReplayedBase(
        agentId,
        () => this.#bases.delete(agentId),
        () => this.#lostConnections,
      )
      this.#bases.set(agentId, base)
    }
    return base
  }

  /** Resolves to the result of `work`. Rejects with `BaseGone` if the agent has no base. */
  async read<T>(agentId: string, work: () => T): Promise<T> {
    const base = this.base(agentId)
    let view: View = { version: undefined, rows: new Map() }
    for (let trips = 0; trips < MOST_TRIPS; trips++) {
      const guess = base.version
      const { missing, outcome } = base.attempt(view, work)
      if (missing.length === 0) return outcome()
      view = await this.#fetch(base, view, missing)
      if (missing.length === 1 && missing[0]!.sql === VERSION && view.version === guess) return outcome()
    }
    throw new Error('a question has no end')
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  /** Fetches each shared row once for all questions that wait for it, and all other rows in one round trip. */
  async #fetch(base: ReplayedBase, before: View, missing: readonly Missing[]): Promise<View> {
    const own = missing.filter(({ isShared }) => isShared !== true)
    const shared = missing.filter(({ isShared }) => isShared === true)
    const arrivals = shared.map((each) =>
      base.arrivalOf(each, async () => {
        const answers = await this.#send([alone(base.agentId, each).step])
        return answers === 'table gone' ? undefined : answers[0]![0]
      }),
    )
    const [view] = await Promise.all([own.length === 0 ? before : this.#fetchView(base, before, own), ...arrivals])
    return view
  }

  /** Fetches all rows in one round trip and one snapshot. If the version changed, drops the rows that were read before. */
  async #fetchView(base: ReplayedBase, before: View, missing: readonly Missing[]): Promise<View> {
    const groups = [...Map.groupBy(missing, ({ sql, one }) => (one ? sql : `${sql}\0`)).values()]
    const fetches = groups.flatMap((group) =>
      group[0]!.one && group.length >= TOGETHER_FROM
        ? [together(base.agentId, group)]
        : group.map((each) => alone(base.agentId, each)),
    )
    const version = scope(VERSION).text
    const steps: Step[] = [
      { sql: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' },
      { sql: version, params: [base.agentId], prepared: true },
      ...fetches.map(({ step }) => step),
      { sql: 'COMMIT' },
    ]
    const answers = await this.#send(steps)
    if (answers === 'table gone') {
      // A vector table was dropped since the base was read: read the base again.
      base.version = undefined
      return { version: undefined, rows: new Map() }
    }
    const [, manifest, ...rows] = answers
    const found = manifest![0]?.['version'] as number | undefined
    if (found === undefined) {
      base.version = undefined
      throw new BaseGone()
    }
    base.version = found
    const view: View =
      before.version === undefined || before.version === found
        ? { version: found, rows: before.rows }
        : { version: found, rows: new Map() }
    for (const [i, { put }] of fetches.entries()) put(view.rows, rows[i]!)
    view.rows.set(keyOf(VERSION, []), manifest!)
    return view
  }

  async #send(steps: readonly Step[]): Promise<SqlRow[][] | 'table gone'> {
    let client: pg.PoolClient | undefined
    let broken = false
    try {
      client = await this.#pool.connect()
      return await sendTogether(client, steps, this.#pooler)
    } catch (error) {
      broken = true
      if (isLost(error) && !isSilence(error)) this.#lostConnections++
      if (isTableGone(error)) return 'table gone'
      if (!isTransient(error) && !isLost(error)) throw error
      throw new ReparteeError('unavailable', 'The knowledge base is out of reach. Try again.', { retryAfter: 1, cause: error })
    } finally {
      client?.release(broken)
    }
  }
}

interface Fetch {
  step: Step
  put: (view: Map<string, SqlRow[]>, rows: SqlRow[]) => void
}

const alone = (agentId: string, { sql, params, raw }: Missing): Fetch => ({
  step: raw ? { sql, params } : { sql: scope(sql).text, params: [agentId, ...params], prepared: true },
  put: (view, rows) => view.set(keyOf(sql, params), rows),
})

function together(agentId: string, group: readonly Missing[]): Fetch {
  const { sql } = group[0]!
  return {
    step: selectTogether(
      agentId,
      sql,
      group.map(({ params }) => params),
    ),
    put(view, rows) {
      for (const { params } of group) view.set(keyOf(sql, params), [])
      for (const { [PLACE]: place, ...row } of rows) view.set(keyOf(sql, group[(place as number) - 1]!.params), [row])
    },
  }
}

/** One agent's base. A run sees the rows of its view; missing rows read as empty, and the run's result is discarded. */
class ReplayedBase implements KnowledgeBase {
  readonly agentId: string
  readonly near: NearTables
  readonly close: () => void
  readonly #epochOf: () => number
  /** Version as of the last round trip. */
  version: number | undefined
  #view: View = { version: undefined, rows: new Map() }
  #missing = new Map<string, Missing>()
  /** The last shared row, and the shared rows that are being fetched. */
  #shared: { key: string; row: SqlRow | undefined } | undefined
  readonly #arrivals = new Map<string, Promise<void>>()

  constructor(agentId: string, close: () => void, epochOf: () => number) {
    this.agentId = agentId
    this.#epochOf = epochOf
    this.near = {
      from: Number.POSITIVE_INFINITY,
      nameOf: (space) => nearTable(agentId, space),
      ask: (sql, params) => this.#rows(sql, params as SqlValue[], false, true),
      tell: () => this.run(),
    }
    this.close = close
  }

  attempt<T>(view: View, work: () => T): { missing: Missing[]; outcome: () => T } {
    this.#view = view
    this.#missing = new Map()
    let outcome: () => T
    try {
      const result = work()
      outcome = () => result
    } catch (error) {
      outcome = () => {
        throw error
      }
    }
    return { missing: [...this.#missing.values()], outcome }
  }

  get epoch(): number {
    return this.#epochOf()
  }

  get isPartial(): boolean {
    // A guessed version only needs to be confirmed.
    const isGuessed = this.version !== undefined && this.#missing.has(keyOf(VERSION, []))
    return this.#missing.size > (isGuessed ? 1 : 0)
  }

  all<T = SqlRow>(sql: string, ...params: SqlValue[]): T[] {
    return this.#rows(sql, params, false) as T[]
  }

  get<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined {
    const [row] = this.#rows(sql, params, true)
    if (row === undefined && sql === VERSION && this.version !== undefined) return { version: this.version } as T
    return row as T | undefined
  }

  getShared<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined {
    const key = keyOf(sql, params)
    if (this.#shared?.key === key) return this.#shared.row as T | undefined
    this.#missing.set(key, { sql, params, one: true, raw: false, isShared: true })
    return undefined
  }

  /** Resolves when a shared row has arrived. Fetches it unless a fetch is running. */
  arrivalOf({ sql, params }: Missing, fetch: () => Promise<SqlRow | undefined>): Promise<void> {
    const key = keyOf(sql, params)
    const arrival =
      this.#arrivals.get(key) ??
      fetch()
        .then((row) => {
          this.#shared = { key, row }
        })
        .finally(() => this.#arrivals.delete(key))
    this.#arrivals.set(key, arrival)
    return arrival
  }

  getMany<T = SqlRow>(sql: string, each: readonly SqlValue[][]): (T | undefined)[] {
    return each.map((params) => this.get<T>(sql, ...params))
  }

  iterate<T = SqlRow>(sql: string, ...params: SqlValue[]): IterableIterator<T> {
    return this.all<T>(sql, ...params).values()
  }

  run(): never {
    throw new Error('a base that is read is not changed')
  }

  insertMany(): never {
    throw new Error('a base that is read is not changed')
  }

  reserve(): never {
    throw new Error('a base that is read is not changed')
  }

  write(): never {
    throw new Error('a base that is read is not changed')
  }

  read<T>(work: () => T): T {
    return work()
  }

  scrub(): boolean {
    return true
  }

  get isOpen(): boolean {
    return true
  }

  get held(): this {
    return this
  }

  #rows(sql: string, params: SqlValue[], one: boolean, raw = false): SqlRow[] {
    const key = keyOf(sql, params)
    const rows = this.#view.rows.get(key)
    if (rows !== undefined) return rows
    this.#missing.set(key, { sql, params, one, raw })
    return []
  }
}
