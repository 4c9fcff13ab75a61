import { ReparteeError } from '../../../core/errors.ts'
import type { Step } from '../../postgres/batch.ts'
import { type KnowledgeBase, LeaseLost, type NearTables, type TransactionOptions } from '../base.ts'
import type { SqlRow, SqlValue } from '../rows.ts'
import type { Change, Insertion } from '../statements.ts'
import { drive, type Work } from '../work.ts'
import { insertTogether, PLACE, selectTogether } from './batched-sql.ts'
import type { WaitingConnection } from './blocking-connection.ts'
import { SHORT_LOCK } from './removal.ts'
import { NUMBERED, nearTable, ofAgent, scope } from './scope.ts'

/** Limits of buffered changes: each change takes memory here and in transit. */
const MOST_WAITING = 2_000
const MOST_WAITING_BYTES = 4 * 1_024 * 1_024
/** From this number of parameter sets on, one statement fetches the rows of all. */
const TOGETHER_FROM = 3
const ROWS_AT_ONCE = 2_000
const COUNTERS = Object.keys(NUMBERED)
const LOCK = `SELECT ${COUNTERS.map((table) => `last_${table}`).join(', ')}, holder, hold FROM knowledge_manifest WHERE agent_id = $1 FOR UPDATE`

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
export class PostgresBase implements KnowledgeBase {
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
