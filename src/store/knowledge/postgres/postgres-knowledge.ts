import { ReparteeError } from '../../../core/errors.ts'
import type { Step } from '../../postgres/batch.ts'
import { type KnowledgeBase, type KnowledgeStore, LeaseLost, type NearTables, type TransactionOptions } from '../base.ts'
import type { SqlRow, SqlValue } from '../rows.ts'
import type { Change, Insertion } from '../statements.ts'
import { drive, type Work } from '../work.ts'
import { insertTogether, PLACE, selectTogether } from './batched-sql.ts'
import { type ConnectionSettings, WaitingConnection } from './blocking-connection.ts'
import { RemovedBases, removeBase, SHORT_LOCK } from './removal.ts'
import { NUMBERED, nearTable, ofAgent, scope } from './scope.ts'

/** Limits of buffered changes: each change takes memory here and in transit. */
const MOST_WAITING = 2_000
const MOST_WAITING_BYTES = 4 * 1_024 * 1_024
/** From this number of parameter sets on, one statement fetches the rows of all. */
const TOGETHER_FROM = 3
const ROWS_AT_ONCE = 2_000
const COUNTERS = Object.keys(NUMBERED)
const IS_MADE = 'SELECT 1 FROM knowledge_manifest WHERE agent_id = $1'
/** Increments `generation`: readers that cached that the agent has no base must drop this entry. */
const MAKE = `WITH made AS (INSERT INTO knowledge_manifest (agent_id) SELECT id FROM agent WHERE id = $1 FOR SHARE ON CONFLICT DO NOTHING
  RETURNING agent_id) UPDATE generation SET n = n + 1 WHERE EXISTS (SELECT agent_id FROM made)`
const LOCK = `SELECT ${COUNTERS.map((table) => `last_${table}`).join(', ')}, holder, hold FROM knowledge_manifest WHERE agent_id = $1 FOR UPDATE`
/** Duration of a base's lease, renewed with every piece of work. A replica that is removed from `replica` has no lease. */
const HELD_FOR = '15 seconds'
const IS_FREE = `(holder IS NULL OR holder = $1 OR held_until < clock_timestamp() OR NOT EXISTS (SELECT 1 FROM replica WHERE replica.id = holder))`
const HOLD = `UPDATE knowledge_manifest SET hold = CASE WHEN holder = $1 THEN hold ELSE hold + 1 END, holder = $1,
  held_until = clock_timestamp() + INTERVAL '${HELD_FOR}' WHERE agent_id = (SELECT agent_id FROM knowledge_manifest
  WHERE agent_id = $2 AND ${IS_FREE} FOR UPDATE SKIP LOCKED) RETURNING hold, work`
/** Locks the row, or fails at once. */
const FREE_ROW = '(SELECT agent_id FROM knowledge_manifest WHERE agent_id = $2 FOR UPDATE NOWAIT)'
/** Checks the lease while a change locks the row. */
const IS_HELD = 'SELECT 1 FROM knowledge_manifest WHERE agent_id = $2 AND holder = $1 AND hold = $3'
const KEEP_HELD = `UPDATE knowledge_manifest SET held_until = clock_timestamp() + INTERVAL '${HELD_FOR}' WHERE agent_id IN
  (SELECT agent_id FROM knowledge_manifest WHERE holder = $1 AND agent_id = ANY(string_to_array($2, ',')) FOR UPDATE SKIP LOCKED)`
const LET_GO = `UPDATE knowledge_manifest SET is_pending = 0, holder = NULL, held_until = NULL
  WHERE agent_id = $1 AND holder = $2 AND work = $3 RETURNING agent_id`
/** Duration of the embedding lease. A batch of passages takes far less if the provider answers. */
const EMBEDS_FOR = '60 seconds'
const CLAIM_EMBEDDING = `UPDATE knowledge_manifest SET embedder = $1, embeds_until = clock_timestamp() + INTERVAL '${EMBEDS_FOR}' WHERE agent_id = ${FREE_ROW}
  AND (embedder IS NULL OR embedder = $1 OR embeds_until < clock_timestamp() OR NOT EXISTS (SELECT 1 FROM replica WHERE replica.id = embedder))
  RETURNING agent_id`
const END_EMBEDDING = `UPDATE knowledge_manifest SET embedder = NULL, embeds_until = NULL WHERE agent_id = ${FREE_ROW} AND embedder = $1`

export interface PostgresKnowledgeOptions extends ConnectionSettings {
  /** Replica id of this process, unique in the database. */
  holder: string
  /** Number of vectors from which pgvector searches a base. Default: never. */
  nearFrom?: number
}

/** Knowledge bases in PostgreSQL, for the thread that created this object. */
export class PostgresKnowledge implements KnowledgeStore {
  readonly #settings: ConnectionSettings
  readonly #holder: string
  readonly #nearFrom: number
  readonly isShared = true
  /** Leases as of the last `hold`, by agent. */
  readonly #held = new Map<string, { hold: number; work: number }>()
  readonly #removed = new RemovedBases(() => this.#write)
  #writing: WaitingConnection | undefined
  #reading: WaitingConnection | undefined

  constructor({ holder, nearFrom = Number.POSITIVE_INFINITY, ...settings }: PostgresKnowledgeOptions) {
    this.#settings = settings
    this.#holder = holder
    this.#nearFrom = nearFrom
  }

  /** If the agent is deleted, the base rejects every change. */
  openToWrite(agentId: string): KnowledgeBase {
    const [made] = this.#write.run([{ sql: IS_MADE, params: [agentId], prepared: true }])
    if (made!.length === 0)
      this.#write.run([{ sql: 'BEGIN' }, { sql: SHORT_LOCK }, { sql: MAKE, params: [agentId] }, { sql: 'COMMIT' }])
    const isHeld = (row: SqlRow) => row['holder'] === this.#holder && row['hold'] === this.#held.get(agentId)?.hold
    return new PostgresBase(this.#write, agentId, this.#nearFrom, isHeld)
  }

  openToRead(agentId: string): KnowledgeBase | undefined {
    this.#reading ??= new WaitingConnection(this.#settings)
    const [rows] = this.#reading.run([{ sql: IS_MADE, params: [agentId], prepared: true }])
    return rows!.length === 0 ? undefined : new PostgresBase(this.#reading, agentId, this.#nearFrom)
  }

  remove(agentId: string): void {
    removeBase(this.#write, agentId)
    this.#held.delete(agentId)
  }

  removeSome(): boolean {
    return this.#removed.deleteSome()
  }

  list(): { known: string[]; pending: string[] } {
    const sql = `SELECT agent_id FROM knowledge_manifest WHERE is_pending = 1 AND ${IS_FREE}`
    const [rows] = this.#write.run([{ sql, params: [this.#holder], prepared: true }])
    return { known: [], pending: rows!.map((row) => row['agent_id'] as string) }
  }

  listOutdated(reading: number): string[] {
    const sql = 'SELECT agent_id FROM knowledge_manifest WHERE reading < $1'
    const [rows] = this.#write.run([{ sql, params: [reading], prepared: true }])
    return rows!.map((row) => row['agent_id'] as string)
  }

  /** Nothing to do: every base stores its own `reading`. */
  endOutdated(): void {}

  /** Nothing to do: every change sets the mark itself. */
  markPending(): void {}

  unmarkPending(agentId: string): boolean {
    const { work = -1 } = this.#held.get(agentId) ?? {}
    const [rows] = this.#write.run([{ sql: LET_GO, params: [agentId, this.#holder, work], prepared: true }])
    if (rows!.length === 0) return false
    this.#held.delete(agentId)
    return true
  }

  hold(agentId: string): 'taken' | 'kept' | false {
    const before = this.#held.get(agentId)
    // If a server crash loses the lease, it is taken again.
    const [, , rows] = this.#write.run([
      { sql: 'BEGIN' },
      { sql: 'SET LOCAL synchronous_commit = off' },
      { sql: HOLD, params: [this.#holder, agentId], prepared: true },
      { sql: 'COMMIT' },
    ])
    const [row] = rows!
    if (row === undefined) {
      if (before !== undefined && this.#isHeld(agentId, before.hold)) return 'kept'
      this.#held.delete(agentId)
      return false
    }
    const held = { hold: row['hold'] as number, work: row['work'] as number }
    this.#held.set(agentId, held)
    return before?.hold === held.hold ? 'kept' : 'taken'
  }

  #isHeld(agentId: string, hold: number): boolean {
    const [rows] = this.#write.run([{ sql: IS_HELD, params: [this.#holder, agentId, hold], prepared: true }])
    return rows!.length > 0
  }

  keepHeld(agentIds: readonly string[]): void {
    if (agentIds.length === 0) return
    this.#write.run([
      { sql: 'BEGIN' },
      { sql: 'SET LOCAL synchronous_commit = off' },
      { sql: KEEP_HELD, params: [this.#holder, agentIds.join(',')], prepared: true },
      { sql: 'COMMIT' },
    ])
  }

  claimEmbedding(agentId: string): boolean {
    const [rows] = this.#write.run([{ sql: CLAIM_EMBEDDING, params: [this.#holder, agentId], prepared: true }])
    return rows!.length > 0
  }

  endEmbedding(agentId: string): void {
    this.#write.run([{ sql: END_EMBEDDING, params: [this.#holder, agentId], prepared: true }])
  }

  listForsaken(): string[] {
    const sql = `SELECT agent_id FROM knowledge_manifest
      WHERE embedder IS NOT NULL AND NOT EXISTS (SELECT 1 FROM replica WHERE replica.id = embedder)`
    const [rows] = this.#write.run([{ sql, prepared: true }])
    return rows!.map((row) => row['agent_id'] as string)
  }

  listDue(): Map<string, number> {
    const [rows] = this.#write.run([{ sql: 'SELECT agent_id, due_at FROM knowledge_manifest WHERE due_at IS NOT NULL' }])
    return new Map(rows!.map((row) => [row['agent_id'] as string, row['due_at'] as number]))
  }

  markDue(agentId: string, at: number | null): void {
    const sql = `UPDATE knowledge_manifest SET due_at = $1 WHERE agent_id = ${FREE_ROW} AND due_at IS DISTINCT FROM $1`
    this.#write.run([{ sql, params: [at, agentId], prepared: true }])
  }

  listOrphans(): string[] {
    const sql = 'SELECT agent_id FROM knowledge_manifest m WHERE NOT EXISTS (SELECT 1 FROM agent a WHERE a.id = m.agent_id)'
    const [rows] = this.#write.run([{ sql }])
    return rows!.map((row) => row['agent_id'] as string)
  }

  close(): void {
    if (this.#held.size > 0) {
      const sql = 'UPDATE knowledge_manifest SET holder = NULL, held_until = NULL WHERE holder = $1'
      try {
        this.#write.run([{ sql, params: [this.#holder] }])
      } catch {
        // The leases expire soon.
      }
    }
    this.#writing?.close()
    this.#reading?.close()
  }

  get #write(): WaitingConnection {
    this.#writing ??= new WaitingConnection(this.#settings)
    return this.#writing
  }
}

/** Rows to insert, not sent yet. */
interface WaitingRows {
  insertion: Insertion
  rows: SqlValue[][]
}

const numberedInsertions = new WeakMap<Insertion, Insertion>()

/** Returns the insertion with the column of the number; undefined if its rows have one or need none. */
function numbered(insertion: Insertion): Insertion | undefined {
  const column = NUMBERED[insertion.into]
  if (column === undefined || insertion.columns.includes(column)) return undefined
  const known = numberedInsertions.get(insertion) ?? { ...insertion, columns: [...insertion.columns, column] }
  numberedInsertions.set(insertion, known)
  return known
}

/** The knowledge base of one agent. Buffers the changes of a transaction, and sends them before the next read. */
class PostgresBase implements KnowledgeBase {
  readonly #connection: WaitingConnection
  readonly #agentId: string
  readonly near: NearTables
  readonly isRemote = true
  readonly epoch = 0
  readonly #isHeld: (row: SqlRow) => boolean
  #waiting: (Step | WaitingRows)[] = []
  #waitingBytes = 0
  #waitingCount = 0
  #transaction: 'read' | 'write' | undefined
  /** Last row numbers by table, initially as of the start of the transaction. */
  #last: Record<string, number> = {}
  #cursors = 0
  #isOpen = true

  /** `isHeld` checks by the manifest row whether this process has the lease. */
  constructor(connection: WaitingConnection, agentId: string, nearFrom: number, isHeld: (row: SqlRow) => boolean = () => false) {
    this.#connection = connection
    this.#agentId = agentId
    this.near = {
      from: nearFrom,
      nameOf: (space) => nearTable(agentId, space),
      ask: (sql, params) => this.#ask([{ sql, params: params as SqlValue[] }])[0]!,
      tell: (sql, params) => this.#waiting.push({ sql, params: params as SqlValue[] }),
    }
    this.#isHeld = isHeld
  }

  all<T = SqlRow>(sql: string, ...params: SqlValue[]): T[] {
    return this.#ask([this.#step(sql, params)])[0] as T[]
  }

  get<T = SqlRow>(sql: string, ...params: SqlValue[]): T | undefined {
    return this.all<T>(sql, ...params)[0]
  }

  getMany<T = SqlRow>(sql: string, each: readonly (readonly SqlValue[])[]): (T | undefined)[] {
    if (each.length === 0) return []
    if (each.length >= TOGETHER_FROM && sql.startsWith('SELECT')) {
      const [rows] = this.#ask([selectTogether(this.#agentId, sql, each)])
      const found: (T | undefined)[] = each.map(() => undefined)
      for (const { [PLACE]: place, ...row } of rows!) found[(place as number) - 1] = row as T
      return found
    }
    return this.#ask(each.map((params) => this.#step(sql, [...params]))).map((rows) => rows[0] as T | undefined)
  }

  *iterate<T = SqlRow>(sql: string, ...params: SqlValue[]): IterableIterator<T> {
    const name = `rows${++this.#cursors}`
    const isAlone = this.#transaction === undefined
    if (isAlone) this.#beginRead()
    const { sql: text, params: all } = this.#step(sql, params)
    this.#ask([{ sql: `DECLARE ${name} NO SCROLL CURSOR FOR ${text}`, params: all! }])
    for (;;) {
      const rows = this.#ask([{ sql: `FETCH ${ROWS_AT_ONCE} FROM ${name}` }])[0] as T[]
      yield* rows
      if (rows.length < ROWS_AT_ONCE) break
    }
    this.#ask([{ sql: `CLOSE ${name}` }])
  }

  insert(insertion: Insertion, ...values: SqlValue[]): number {
    return this.insertMany(insertion, [values])
  }

  insertMany(insertion: Insertion, rows: readonly SqlValue[][]): number {
    if (this.#transaction !== 'write') return this.write(() => this.insertMany(insertion, rows))
    const withNumber = numbered(insertion)
    const first = withNumber === undefined ? 0 : this.#reserve(insertion.into, rows.length)
    for (const [i, row] of rows.entries()) {
      this.#waitingRows(withNumber ?? insertion).push(copied(withNumber === undefined ? row : [...row, first + i]))
      this.#countWaiting(row)
    }
    return first + rows.length - 1
  }

  /** Returns the rows that are sent with the next statement, if it is the same insertion. */
  #waitingRows(insertion: Insertion): SqlValue[][] {
    const last = this.#waiting.at(-1)
    if (last !== undefined && 'rows' in last && last.insertion === insertion) return last.rows
    const rows: SqlValue[][] = []
    this.#waiting.push({ insertion, rows })
    return rows
  }

  update(table: string, change: Change, ...params: SqlValue[]): void {
    this.#change(updateText(table, change), params)
  }

  updateOne<T = SqlRow>(table: string, change: Change & { returning: string }, ...params: SqlValue[]): T | undefined {
    return this.get<T>(`${updateText(table, change)} RETURNING ${change.returning}`, ...params)
  }

  delete(table: string, where: string, ...params: SqlValue[]): void {
    this.#change(`DELETE FROM knowledge_${table} AS ${table} ${ofAgent(table, where)}`, params)
  }

  #change(sql: string, params: SqlValue[]): void {
    if (this.#transaction !== 'write') {
      this.write(() => this.#change(sql, params))
      return
    }
    this.#waiting.push(this.#step(sql, copied(params)))
    this.#countWaiting(params)
  }

  /** Sends what waits once it is too much. */
  #countWaiting(params: readonly SqlValue[]): void {
    this.#waitingCount++
    for (const value of params) if (value instanceof Uint8Array) this.#waitingBytes += value.length
    if (this.#waitingCount >= MOST_WAITING || this.#waitingBytes >= MOST_WAITING_BYTES) this.#ask([])
  }

  #reserve(table: string, count: number): number {
    const first = this.#last[table]! + 1
    this.#last[table] = first + count - 1
    return first
  }

  reserve(table: 'passage', count: number): number {
    return this.#reserve(table, count)
  }

  write<T>(work: () => T, options: TransactionOptions = {}): T {
    return this.#write(work, options, false)
  }

  #write<T>(work: () => T, { durable = true, ...options }: TransactionOptions, mustHold: boolean): T {
    const { bringsWork = !mustHold } = options
    const begin = [
      { sql: 'BEGIN' },
      ...(mustHold ? [] : [{ sql: SHORT_LOCK }]),
      ...(durable ? [] : [{ sql: 'SET LOCAL synchronous_commit = off' }]),
    ]
    const held = this.#connection.run([...begin, { sql: LOCK, params: [this.#agentId], prepared: true }]).at(-1)![0]
    try {
      if (held === undefined) throw new ReparteeError('agent_not_found', 'There is no such agent.')
      if (mustHold && !this.#isHeld(held)) throw new LeaseLost()
      this.#transaction = 'write'
      this.#last = Object.fromEntries(COUNTERS.map((table) => [table, held[`last_${table}`] as number]))
      const result = work()
      const given = COUNTERS.filter((table) => this.#last[table] !== held[`last_${table}`])
      const sets = given.map((table, i) => `last_${table} = $${i + 2}`)
      // A change from outside may create work for the process with the lease.
      if (bringsWork) sets.push('work = work + 1', 'is_pending = 1')
      if (sets.length > 0)
        this.#waiting.push({
          sql: `UPDATE knowledge_manifest SET ${sets.join(', ')} WHERE agent_id = $1`,
          params: [this.#agentId, ...given.map((table) => this.#last[table]!)],
          prepared: true,
        })
      this.#ask([{ sql: 'COMMIT' }])
      return result
    } catch (error) {
      this.#waiting = []
      this.#rollBack()
      throw error
    } finally {
      this.#transaction = undefined
    }
  }

  read<T>(work: () => T): T {
    if (this.#transaction !== undefined) return work()
    this.#beginRead()
    try {
      return work()
    } finally {
      this.#rollBack()
    }
  }

  /** Nothing to do: the server's vacuum removes deleted data from its files. */
  scrub(): boolean {
    return true
  }

  perform<T>(make: () => Work<T>): T {
    return this.read(() => drive(this, make()))
  }

  get held(): KnowledgeBase {
    const inWrite = <T>(work: () => T): T => (this.#transaction === 'write' ? work() : held.write(work))
    const held: KnowledgeBase = {
      all: (sql, ...params) => this.all(sql, ...params),
      get: (sql, ...params) => this.get(sql, ...params),
      getMany: (sql, each) => this.getMany(sql, each),
      iterate: (sql, ...params) => this.iterate(sql, ...params),
      insert: (insertion, ...values) => inWrite(() => this.insert(insertion, ...values)),
      insertMany: (insertion, rows) => inWrite(() => this.insertMany(insertion, rows)),
      update: (table, change, ...params) => inWrite(() => this.update(table, change, ...params)),
      updateOne: (table, change, ...params) => inWrite(() => this.updateOne(table, change, ...params)),
      delete: (table, where, ...params) => inWrite(() => this.delete(table, where, ...params)),
      reserve: (table, count) => this.reserve(table, count),
      write: (work, options = {}) => this.#write(work, options, true),
      read: (work) => this.read(work),
      scrub: () => this.scrub(),
      near: this.near,
      isOpen: true,
      perform: (make) => this.perform(make),
      isRemote: this.isRemote,
      epoch: this.epoch,
      held: this,
      close: () => this.close(),
    }
    return Object.defineProperties(held, { isOpen: { get: () => this.#isOpen }, held: { value: held } })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  close(): void {
    this.#isOpen = false
    if (this.#transaction !== undefined) this.#rollBack()
  }

  #beginRead(): void {
    this.#transaction = 'read'
    this.#waiting.push({ sql: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' })
  }

  #rollBack(): void {
    this.#transaction = undefined
    const isBegun = this.#waiting.length === 0
    this.#waiting = []
    if (!isBegun) return
    try {
      this.#connection.run([{ sql: 'ROLLBACK' }])
    } catch {
      // A broken connection has nothing to roll back.
    }
  }

  /** Sends the buffered changes, then `steps`. Returns the rows of `steps`. */
  #ask(steps: Step[]): SqlRow[][] {
    const waiting = this.#waiting.flatMap((one) =>
      'rows' in one ? insertTogether(this.#agentId, one.insertion, one.rows) : [one],
    )
    this.#waiting = []
    this.#waitingBytes = 0
    this.#waitingCount = 0
    const begins = waiting[0]?.sql.startsWith('BEGIN') === true
    return this.#connection.run([...waiting, ...steps], this.#transaction !== undefined && !begins).slice(waiting.length)
  }

  #step(sql: string, params: SqlValue[]): Step {
    return { sql: scope(sql), params: [this.#agentId, ...params], prepared: true }
  }
}

const updateText = (table: string, { set, where }: Change): string =>
  `UPDATE knowledge_${table} AS ${table} SET ${set} ${ofAgent(table, where)}`

/** The caller may reuse its buffers. */
const copied = (values: readonly SqlValue[]): SqlValue[] =>
  values.map((value) => (value instanceof Uint8Array ? value.slice() : value))
