import pg from 'pg'
import { ReparteeError } from '../../../core/errors.ts'
import { KNOWLEDGE_TYPES, type Step, sendTogether } from '../../postgres/batch.ts'
import { isLost, isSilence, isTableGone } from '../../postgres/errors.ts'
import { isTransient } from '../../transient.ts'
import { BaseGone, type NearTables, type ReadableBase } from '../base.ts'
import { VERSION } from '../reader/snapshot.ts'
import type { SqlRow, SqlValue } from '../rows.ts'
import type { Answers, Need, Needs, Work } from '../work.ts'
import { PLACE, selectTogether } from './batched-sql.ts'
import type { ConnectionSettings } from './blocking-connection.ts'
import { nearTable, scope } from './scope.ts'

const CONNECTIONS = 4
const CONNECT_WITHIN_MS = 5_000
const ANSWER_WITHIN_MS = 30_000
/** From this number of parameter sets on, one statement fetches the rows of all. */
const TOGETHER_FROM = 3
/** How often work starts over because the base changed. A base that changes at every round trip is too busy to be read. */
const MOST_STARTS = 100

/** The base changed, or a table of it was dropped, since the work began. */
class Changed extends Error {}

interface Fetched {
  version: number
  answers: Answers
}

/** Knowledge bases in PostgreSQL, for questions. Each yield of work is one round trip, and no question blocks another. */
export class PostgresReads {
  readonly #pool: pg.Pool
  readonly #pooler: boolean
  readonly #bases = new Map<string, PostgresRead>()
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
  openToRead(agentId: string): PostgresRead {
    let base = this.#bases.get(agentId)
    if (base === undefined) {
      base = new PostgresRead(agentId, {
        send: (steps) => this.#send(steps),
        epochOf: () => this.#lostConnections,
        close: () => this.#bases.delete(agentId),
      })
      this.#bases.set(agentId, base)
    }
    return base
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  async #send(steps: readonly Step[]): Promise<SqlRow[][]> {
    let client: pg.PoolClient | undefined
    let broken = false
    try {
      client = await this.#pool.connect()
      return await sendTogether(client, steps, this.#pooler)
    } catch (error) {
      broken = true
      if (isLost(error) && !isSilence(error)) this.#lostConnections++
      if (isTableGone(error)) throw new Changed()
      if (!isTransient(error) && !isLost(error)) throw error
      throw new ReparteeError('unavailable', 'The knowledge base is out of reach. Try again.', { retryAfter: 1, cause: error })
    } finally {
      client?.release(broken)
    }
  }
}

interface Connection {
  send: (steps: readonly Step[]) => Promise<SqlRow[][]>
  epochOf: () => number
  close: () => void
}

/** One agent's base in PostgreSQL, for questions. */
class PostgresRead implements ReadableBase {
  readonly near: Pick<NearTables, 'nameOf'>
  readonly isRemote = true
  readonly close: () => void
  readonly #agentId: string
  readonly #connection: Connection
  /** Version as of the last round trip. Work begins with it, and the first round trip checks it. */
  #version: number | undefined
  /** Shared rows that are being fetched, by statement. */
  readonly #arrivals = new Map<string, Promise<Answers[number]>>()

  constructor(agentId: string, connection: Connection) {
    this.#agentId = agentId
    this.#connection = connection
    this.near = { nameOf: (space) => nearTable(agentId, space) }
    this.close = connection.close
  }

  get epoch(): number {
    return this.#connection.epochOf()
  }

  /** Returns a promise, because the rows come from the network. */
  perform<T>(make: () => Work<T>): T {
    return this.#perform(make) as T
  }

  async #perform<T>(make: () => Work<T>): Promise<T> {
    for (let starts = 0; starts < MOST_STARTS; starts++) {
      try {
        return await this.#performOnce(make())
      } catch (error) {
        if (!(error instanceof Changed)) throw error
      }
    }
    throw new ReparteeError('unavailable', 'The knowledge base changes all the time. Try again.', { retryAfter: 1 })
  }

  /** All rows are of one version. Throws `Changed` if the base changes in between. */
  async #performOnce<T>(work: Work<T>): Promise<T> {
    let version = this.#version
    let isChecked = false
    const fetch = async (needs: Needs): Promise<Answers> => {
      const fetched = await this.#fetch(needs)
      if (version !== undefined && fetched.version !== version) throw new Changed()
      version = fetched.version
      isChecked = true
      return fetched.answers
    }
    let step = work.next()
    while (step.done !== true) {
      const needs = step.value
      const isGuess = version !== undefined && needs.length === 1 && needs[0]!.sql === VERSION
      step = work.next(isGuess ? [[{ version: version! }]] : await fetch(needs))
    }
    if (!isChecked) await fetch([])
    return step.value
  }

  /** Fetches all rows in one round trip and one snapshot, and shared rows once for all work that waits for them. */
  async #fetch(needs: Needs): Promise<Fetched> {
    const shared = needs.map((need) => ('isShared' in need ? this.#fetchShared(need) : undefined))
    const own = needs.filter((need) => !('isShared' in need))
    const [fetched, ...sharedRows] = await Promise.all([this.#fetchOwn(own), ...shared])
    let at = 0
    return { version: fetched.version, answers: sharedRows.map((rows) => rows ?? fetched.answers[at++]!) }
  }

  #fetchShared(need: Need): Promise<Answers[number]> {
    const key = `${need.sql}\0${JSON.stringify(need.params)}`
    const arrival =
      this.#arrivals.get(key) ??
      this.#fetchOwn([need])
        .then(({ answers }) => answers[0]!)
        .finally(() => this.#arrivals.delete(key))
    this.#arrivals.set(key, arrival)
    return arrival
  }

  async #fetchOwn(needs: Needs): Promise<Fetched> {
    const answers: Answers = needs.map((need) => ('each' in need ? need.each.map(() => undefined) : []))
    const fetches = [
      ...needs.flatMap((need, i) => ('each' in need ? [] : [this.#fetchAll(need, answers[i]!)])),
      ...this.#fetchesOfFirst(needs, answers),
    ]
    const [, manifest, ...rows] = await this.#connection
      .send([
        { sql: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' },
        { sql: scope(VERSION), params: [this.#agentId], prepared: true },
        ...fetches.map(({ step }) => step),
        { sql: 'COMMIT' },
      ])
      .catch((error) => {
        if (error instanceof Changed) this.#version = undefined
        throw error
      })
    const version = manifest![0]?.['version'] as number | undefined
    this.#version = version
    if (version === undefined) throw new BaseGone()
    for (const [i, { put }] of fetches.entries()) put(rows[i]!)
    return { version, answers }
  }

  #fetchAll({ sql, params, isRaw }: Need, answer: Answers[number]): Fetch {
    return {
      step: isRaw === true ? { sql, params: [...params] } : this.#step(sql, params),
      put: (rows) => void answer.push(...rows),
    }
  }

  /** Returns the statements for first rows: one for all sets of parameters of the same SQL, if there are several. */
  #fetchesOfFirst(needs: Needs, answers: Answers): Fetch[] {
    const wanted = needs.flatMap((need, i) =>
      'each' in need
        ? need.each.map((params, at) => ({ sql: need.sql, params, put: (row: SqlRow) => (answers[i]![at] = row) }))
        : [],
    )
    return [...Map.groupBy(wanted, ({ sql }) => sql)].flatMap(([sql, each]): Fetch[] => {
      if (each[0]!.params.length === 0)
        return [{ step: this.#step(sql, []), put: ([row]) => row !== undefined && each.map(({ put }) => put(row)) }]
      if (each.length < TOGETHER_FROM)
        return each.map(({ params, put }) => ({
          step: this.#step(sql, params),
          put: ([row]) => row !== undefined && put(row),
        }))
      const params = each.map((one) => one.params)
      const put = (rows: readonly SqlRow[]) => {
        for (const { [PLACE]: place, ...row } of rows) each[(place as number) - 1]!.put(row)
      }
      return [{ step: selectTogether(this.#agentId, sql, params), put }]
    })
  }

  #step(sql: string, params: readonly SqlValue[]): Step {
    return { sql: scope(sql), params: [this.#agentId, ...params], prepared: true }
  }
}

/** A statement to send, and what to do with its rows. */
interface Fetch {
  step: Step
  put: (rows: readonly SqlRow[]) => unknown
}
