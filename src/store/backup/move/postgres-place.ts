import pg from 'pg'
import { cleanText } from '../../../core/text.ts'
import { NUMBERED } from '../../knowledge/postgres/scope.ts'
import { KNOWLEDGE_TYPES } from '../../postgres/batch.ts'
import { reasonOf } from '../../postgres/errors.ts'
import { HALF_MOVED, migratePostgres } from '../../postgres/migrate.ts'
import { newestMigration } from '../../sqlite/migrate.ts'
import {
  type BaseState,
  type Cell,
  CONVERSATIONS,
  MoveError,
  type MovePart,
  type MoveSide,
  readSlice,
  type Table,
  type Target,
} from './place.ts'

const MIGRATIONS = new URL('../../../../migrations/postgres/', import.meta.url)
const CONNECT_WITHIN_MS = 5_000
/** A replica reports more often than this that it is alive. */
const SEEN_WITHIN_MS = 20_000
const COUNTERS = Object.keys(NUMBERED)

/** Returns the address without its password. */
export function nameOf(url: string): string {
  const { protocol, host, pathname, username } = new URL(url)
  return `${protocol}//${username}${username && '@'}${host}${pathname}`
}

async function connect(url: string): Promise<pg.Client> {
  const settings = { application_name: 'repartee move', connectionTimeoutMillis: CONNECT_WITHIN_MS, keepAlive: true }
  const client = new pg.Client({ connectionString: url, types: KNOWLEDGE_TYPES, ...settings })
  // The running statement reports a broken connection.
  client.on('error', () => {})
  try {
    await client.connect()
    return client
  } catch (cause) {
    throw new MoveError(`${nameOf(url)} is out of reach: ${reasonOf(cause)}`, { cause })
  }
}

class Postgres implements MoveSide {
  readonly name: string
  protected readonly client: pg.Client
  readonly #types = new Map<string, Map<string, string>>()

  constructor(name: string, client: pg.Client) {
    this.name = name
    this.client = client
  }

  async listBases(): Promise<string[]> {
    const rows = await this.ask('SELECT agent_id FROM knowledge_manifest ORDER BY agent_id')
    return rows.map(([agentId]) => agentId as string)
  }

  async columns(table: Table, part: MovePart): Promise<string[]> {
    return [...(await this.types(table, part)).keys()].filter((name) => part === undefined || name !== 'agent_id')
  }

  async read(table: Table, part: MovePart, columns: readonly string[], after: readonly Cell[] | undefined): Promise<Cell[][]> {
    const { name, key, params } = this.#keyed(table, part)
    const places = key.map((_, i) => `$${i + 1}`).join(', ')
    const of = part === undefined ? [] : ['agent_id = $1']
    const behind = after === undefined ? [] : [`(${key.join(', ')}) > (${places})`]
    const where = [...of, ...behind].join(' AND ')
    const from = `${name} ${where && `WHERE ${where}`}`
    return this.ask(readSlice(table, columns, from, key), [...params, ...(after ?? [])])
  }

  async readState(agentId: string): Promise<BaseState> {
    const last = COUNTERS.map((table) => `last_${table}`).join(', ')
    const sql = `SELECT version, reading, is_pending, due_at, ${last} FROM knowledge_manifest WHERE agent_id = $1`
    const [row] = await this.ask(sql, [agentId])
    const [version, reading, isPending, dueAt, ...numbers] = row as number[]
    return {
      version: version!,
      reading: reading!,
      last: Object.fromEntries(COUNTERS.map((table, i) => [table, numbers[i]!])),
      isPending: isPending === 1,
      dueAt: dueAt!,
    }
  }

  query(sql: string): Promise<Cell[][]> {
    return this.ask(sql)
  }

  async close(): Promise<void> {
    await this.client.end().catch(() => {})
  }

  protected async ask(text: string, params: readonly Cell[] = []): Promise<Cell[][]> {
    return (await this.client.query({ text, values: params as Cell[], rowMode: 'array' })).rows as Cell[][]
  }

  /** Resolves to the types by column name. */
  protected async types(table: Table, part: MovePart): Promise<Map<string, string>> {
    const { name } = this.#keyed(table, part)
    let types = this.#types.get(name)
    if (types === undefined) {
      const sql = `SELECT attname, format_type(atttypid, NULL) FROM pg_attribute
        WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attname COLLATE "C"`
      types = new Map((await this.ask(sql, [name])) as [string, string][])
      this.#types.set(name, types)
    }
    return types
  }

  protected nameOf = ({ name }: Table, part: MovePart): string => (part === undefined ? name : `knowledge_${name}`)

  #keyed(table: Table, part: MovePart): { name: string; key: string[]; params: Cell[] } {
    const name = this.nameOf(table, part)
    return part === undefined
      ? { name, key: [...table.key], params: [] }
      : { name, key: ['agent_id', ...table.key], params: [part] }
  }
}

/** Opens a snapshot of a database, in use or not. Throws `MoveError`. */
export async function openPostgresSnapshot(url: string): Promise<MoveSide> {
  const client = await connect(url)
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
    await checkSchema(client, url)
    return new Postgres(nameOf(url), client)
  } catch (error) {
    await client.end()
    throw error
  }
}

async function checkSchema(client: pg.Client, url: string): Promise<void> {
  const name = nameOf(url)
  const known = `SELECT to_regclass('schema_version') AS schema, to_regclass('${HALF_MOVED}') AS half`
  const { rows } = await client.query(known)
  if (rows[0].schema === null) throw new MoveError(`${name} holds no data`)
  if (rows[0].half !== null) throw new MoveError(`${name} is not whole: a move into it is not finished`)
  const { rows: versions } = await client.query('SELECT version FROM schema_version')
  const newest = newestMigration(MIGRATIONS)
  if (versions[0].version < newest)
    throw new MoveError(
      `${name} was written by an older version of Repartee: start this version on it once, which brings it up to date`,
    )
  if (versions[0].version > newest) throw new MoveError(`${name} was written by a newer version of Repartee: use that one`)
}

async function migrate(client: pg.Client, url: string): Promise<void> {
  try {
    await migratePostgres(client, MIGRATIONS)
  } catch (cause) {
    throw new MoveError(`${nameOf(url)} cannot be used: ${reasonOf(cause)}`, { cause })
  }
}

/** Throws if a process of the service was active a moment ago. */
export async function checkUnused(url: string): Promise<void> {
  const client = await connect(url)
  try {
    const { rows } = await client.query(`SELECT to_regclass('replica') AS known`)
    if (rows[0].known === null) return
    const { rowCount } = await client.query('SELECT 1 FROM replica WHERE seen_at > $1', [Date.now() - SEEN_WITHIN_MS])
    if (rowCount! > 0)
      throw new MoveError(
        `${nameOf(url)} is in use: stop every process of the service first (one that crashed counts for ${SEEN_WITHIN_MS / 1_000} seconds)`,
      )
  } finally {
    await client.end()
  }
}

/** Opens a database to fill from `from`: an empty one, or one with an interrupted move from there. */
export async function openNewPostgres(url: string, from: string): Promise<Target> {
  const client = await connect(url)
  try {
    const { rows } = await client.query(`SELECT to_regclass('${HALF_MOVED}') AS begun`)
    if (rows[0].begun === null) {
      await migrate(client, url)
      await begin(client, url, from)
    }
    const { rows: begun } = await client.query(`SELECT source FROM ${HALF_MOVED}`)
    if (begun[0].source !== from)
      throw new MoveError(`${nameOf(url)} is half filled from ${begun[0].source}: finish that, or empty the database`)
    return new NewPostgres(nameOf(url), client)
  } catch (error) {
    await client.end()
    throw error
  }
}

async function begin(client: pg.Client, url: string, from: string): Promise<void> {
  const filled = CONVERSATIONS.map(({ name }) => `EXISTS (SELECT 1 FROM ${name})`).join(' OR ')
  const { rows } = await client.query(`SELECT ${filled} OR EXISTS (SELECT 1 FROM knowledge_manifest) AS filled`)
  if (rows[0].filled) throw new MoveError(`${nameOf(url)} holds data already: name an empty database`)
  await client.query('BEGIN')
  await client.query(`CREATE TABLE ${HALF_MOVED} (source TEXT NOT NULL)`)
  await client.query(`INSERT INTO ${HALF_MOVED} VALUES ($1)`, [from])
  await client.query('COMMIT')
}

class NewPostgres extends Postgres implements Target {
  async lastKey(table: Table, part: MovePart): Promise<Cell[] | undefined> {
    const key = table.key.join(', ')
    const order = [...(part === undefined ? [] : ['agent_id']), ...table.key].map((column) => `${column} DESC`).join(', ')
    const of = part === undefined ? '' : 'WHERE agent_id = $1'
    const sql = `SELECT ${key} FROM ${this.nameOf(table, part)} ${of} ORDER BY ${order} LIMIT 1`
    return (await this.ask(sql, part === undefined ? [] : [part]))[0]
  }

  /** Older data folders contain U+0000 in documents. No key of a table contains it, so the order stays. */
  toStorable(rows: Cell[][]): Cell[][] {
    return rows.map((row) => row.map((cell) => (typeof cell === 'string' && cell.includes('\0') ? cleanText(cell) : cell)))
  }

  async write(table: Table, part: MovePart, columns: readonly string[], rows: readonly Cell[][]): Promise<void> {
    const types = await this.types(table, part)
    const lists = columns.map((_, i) => rows.map((row) => toParameter(row[i]!)))
    const [name, own] = [this.nameOf(table, part), part === undefined ? [] : [part]]
    const unnested = columns.map((column, i) => `$${i + 1 + own.length}::${types.get(column)}[]`).join(', ')
    const into = [...(part === undefined ? [] : ['agent_id']), ...columns].join(', ')
    const selected = part === undefined ? '*' : '$1::text, rows.*'
    const text = `INSERT INTO ${name} (${into}) SELECT ${selected} FROM unnest(${unnested}) AS rows`
    await this.client.query({ text, values: [...own, ...lists] })
  }

  async hasBase(agentId: string): Promise<boolean> {
    return (await this.ask('SELECT 1 FROM knowledge_manifest WHERE agent_id = $1', [agentId])).length > 0
  }

  async writeState(agentId: string, { version, reading, last, isPending, dueAt }: BaseState): Promise<void> {
    const columns = COUNTERS.map((table) => `last_${table}`).join(', ')
    const places = COUNTERS.map((_, i) => `$${i + 6}`).join(', ')
    await this.ask(
      `INSERT INTO knowledge_manifest (agent_id, version, reading, is_pending, due_at, ${columns}) VALUES ($1, $2, $3, $4, $5, ${places})`,
      [agentId, version, reading, isPending ? 1 : 0, dueAt, ...COUNTERS.map((table) => last[table] ?? 0)],
    )
  }

  async finish(): Promise<void> {
    await this.client.query('ANALYZE')
    await this.client.query(`DROP TABLE ${HALF_MOVED}`)
    await this.close()
  }
}

/** The driver writes lists of bytes only from `Buffer`. */
const toParameter = (cell: Cell): Cell =>
  cell instanceof Uint8Array ? Buffer.from(cell.buffer, cell.byteOffset, cell.byteLength) : cell
