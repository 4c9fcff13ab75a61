import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { MIGRATIONS as KNOWLEDGE_MIGRATIONS, KnowledgeFile } from '../../knowledge/file.ts'
import { KnowledgeFolder } from '../../knowledge/folder.ts'
import { NUMBERED } from '../../knowledge/postgres/scope.ts'
import { lockFolder } from '../../sqlite/lock.ts'
import { migrate, newestMigration } from '../../sqlite/migrate.ts'
import { MAIN, UNFINISHED } from '../../sqlite/sqlite-database.ts'
import {
  type BaseState,
  type Cell,
  MoveError,
  type MovePart,
  type MoveSide,
  readSlice,
  type Table,
  type Target,
} from './place.ts'

const PART = '.part'
const MIGRATIONS = new URL('../../../../migrations/sqlite/', import.meta.url)

/** Base class of source and target: one file for the conversations and one per knowledge base. One knowledge base is open at a time. */
class Folder implements MoveSide {
  readonly name: string
  protected readonly knowledge: KnowledgeFolder
  protected readonly main: DatabaseSync
  #base: { agentId: string; db: DatabaseSync } | undefined
  readonly #statements = new Map<string, StatementSync>()
  readonly #openBase: (path: string) => DatabaseSync
  #readMarks: { pending: Set<string>; due: Map<string, number> } | undefined

  constructor(folder: string, main: DatabaseSync, openBase: (path: string) => DatabaseSync) {
    this.name = folder
    this.main = main
    this.knowledge = new KnowledgeFolder(join(folder, 'knowledge'))
    this.#openBase = openBase
  }

  async listBases(): Promise<string[]> {
    if (!existsSync(join(this.name, 'knowledge'))) return []
    return this.knowledge
      .list()
      .known.sort()
      .filter((agentId) => this.#isMade(agentId))
  }

  #isMade(agentId: string): boolean {
    try {
      return this.db(agentId).prepare('SELECT 1 FROM sqlite_schema').get() !== undefined
    } catch (error) {
      if (existsSync(this.path(agentId))) throw error
      return false // deleted by a service that uses the folder
    }
  }

  async columns({ name }: Table, part: MovePart): Promise<string[]> {
    const rows = this.db(part).prepare(`SELECT name FROM pragma_table_info('${name}') ORDER BY name`).all()
    return rows.map((row) => row['name'] as string)
  }

  async read(table: Table, part: MovePart, columns: readonly string[], after: readonly Cell[] | undefined): Promise<Cell[][]> {
    const places = table.key.map((_, i) => `?${i + 1}`).join(', ')
    const behind = after === undefined ? '' : `WHERE (${table.key.join(', ')}) > (${places})`
    return this.prepare(part, readSlice(table, columns, `${table.name} ${behind}`, table.key)).all(
      ...(after ?? []),
    ) as unknown as Cell[][]
  }

  async readState(agentId: string): Promise<BaseState> {
    const manifest = this.prepare(agentId, 'SELECT version, reading FROM manifest').get()
    const [version, reading] = manifest as unknown as [number, number]
    const none = Object.keys(NUMBERED).map((name): [string, number] => [name, 0])
    const given = this.prepare(agentId, 'SELECT name, seq FROM sqlite_sequence').all() as unknown as [string, number][]
    return {
      version,
      reading,
      last: Object.fromEntries([...none, ...given]),
      isPending: this.#marks.pending.has(agentId),
      dueAt: this.#marks.due.get(agentId) ?? null,
    }
  }

  /** Read once: each base has its own mark files. */
  get #marks(): { pending: Set<string>; due: Map<string, number> } {
    this.#readMarks ??= { pending: new Set(this.knowledge.list().pending), due: this.knowledge.listDue() }
    return this.#readMarks
  }

  async query(sql: string): Promise<Cell[][]> {
    return this.prepare(undefined, sql).all() as unknown as Cell[][]
  }

  async close(): Promise<void> {
    this.leaveBase()
    this.#statements.clear()
    this.main.close()
  }

  protected path(agentId: string): string {
    return join(this.name, 'knowledge', `${agentId}.db`)
  }

  protected db(part: MovePart): DatabaseSync {
    if (part === undefined) return this.main
    if (this.#base?.agentId !== part) {
      this.leaveBase()
      this.#base = { agentId: part, db: this.#openBase(this.path(part)) }
    }
    return this.#base.db
  }

  protected leaveBase(): void {
    if (this.#base === undefined) return
    for (const name of this.#statements.keys()) if (name.startsWith('base ')) this.#statements.delete(name)
    this.#base.db.close()
    this.#base = undefined
  }

  protected prepare(part: MovePart, sql: string): StatementSync {
    const db = this.db(part)
    const name = `${part === undefined ? 'main' : 'base'} ${sql}`
    let statement = this.#statements.get(name)
    if (statement === undefined) {
      statement = db.prepare(sql)
      statement.setReturnArrays(true)
      this.#statements.set(name, statement)
    }
    return statement
  }
}

/** Opens a data folder that no service uses. Its data stays as it is. */
export function openFolder(folder: string): MoveSide {
  if (!existsSync(join(folder, MAIN))) throw new MoveError(`${folder} holds no data`)
  const lock = lockFolder(folder)
  const main = openToRead(join(folder, MAIN))
  const place = new Folder(folder, main, (path) => {
    KnowledgeFile.openToRead(path)?.close() // brings it up to date
    return openToRead(path)
  })
  const close = place.close.bind(place)
  place.close = async () => {
    await close()
    lock.release()
  }
  checkSchema(main, MIGRATIONS, folder)
  return place
}

/** Opens a data folder that may be in use: a snapshot of the conversations, and the names of the knowledge bases. */
export function lookIntoFolder(folder: string): MoveSide {
  const main = openToRead(join(folder, MAIN))
  checkSchema(main, MIGRATIONS, folder)
  main.exec('BEGIN')
  return new Folder(folder, main, openToRead)
}

/** Opens a folder that nobody writes into, such as a backup. Reading leaves no files next to its files. */
export function openFrozenFolder(folder: string): MoveSide {
  const open = (path: string) => new DatabaseSync(new URL(`${pathToFileURL(path)}?immutable=1`), { readOnly: true })
  const main = open(join(folder, MAIN))
  checkSchema(main, MIGRATIONS, folder)
  const place = new Folder(folder, main, (path) => {
    const base = open(path)
    checkSchema(base, KNOWLEDGE_MIGRATIONS, path)
    return base
  })
  const readState = place.readState.bind(place)
  // Work that was pending when the folder was copied may have lost its mark.
  place.readState = async (agentId) => ({ ...(await readState(agentId)), isPending: true })
  return place
}

function openToRead(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { readOnly: true })
  db.exec('PRAGMA busy_timeout = 5000')
  return db
}

function checkSchema(db: DatabaseSync, migrations: URL, folder: string): void {
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number }
  const newest = newestMigration(migrations)
  if (version === newest) return
  db.close()
  throw new MoveError(
    version < newest
      ? `${folder} was written by an older version of Repartee: start this version on it once, which brings it up to date`
      : `${folder} was written by a newer version of Repartee: use that one`,
  )
}

/** Opens a folder to fill: a new one, or one with an interrupted move. */
export function openNewFolder(folder: string): Target {
  if (existsSync(join(folder, MAIN))) throw new MoveError(`${folder} holds data already: name a folder that holds none`)
  for (const kind of ['wal', 'shm', 'journal'])
    if (existsSync(join(folder, `${MAIN}-${kind}`)))
      throw new MoveError(
        `${join(folder, `${MAIN}-${kind}`)} belongs to a database that is missing: empty the folder, or name another one`,
      )
  const isBegun = existsSync(join(folder, UNFINISHED))
  if (!isBegun && existsSync(join(folder, 'knowledge')) && readdirSync(join(folder, 'knowledge')).length > 0)
    throw new MoveError(`${folder} holds documents already: name a folder that holds none`)
  mkdirSync(join(folder, 'knowledge'), { recursive: true, mode: 0o700 })
  return new NewFolder(folder)
}

class NewFolder extends Folder implements Target {
  readonly #lock: { release(): void }

  constructor(folder: string) {
    const lock = lockFolder(folder)
    const main = openToFill(join(folder, UNFINISHED))
    migrate(main, MIGRATIONS)
    super(folder, main, (path) => {
      const part = existsSync(path) ? path : path + PART
      KnowledgeFile.openToWrite(part).close()
      return openToFill(part)
    })
    this.#lock = lock
  }

  async lastKey(table: Table, part: MovePart): Promise<Cell[] | undefined> {
    const key = table.key.join(', ')
    const order = table.key.map((column) => `${column} DESC`).join(', ')
    return this.prepare(part, `SELECT ${key} FROM ${table.name} ORDER BY ${order} LIMIT 1`).get() as unknown as Cell[]
  }

  toStorable(rows: Cell[][]): Cell[][] {
    return rows
  }

  async write(table: Table, part: MovePart, columns: readonly string[], rows: readonly Cell[][]): Promise<void> {
    const places = columns.map(() => '?').join(', ')
    const insert = this.prepare(part, `INSERT INTO ${table.name} (${columns.join(', ')}) VALUES (${places})`)
    const db = this.db(part)
    db.exec('BEGIN')
    for (const row of rows) insert.run(...row)
    db.exec('COMMIT')
  }

  async hasBase(agentId: string): Promise<boolean> {
    return existsSync(this.path(agentId))
  }

  async writeState(agentId: string, { version, reading, last, isPending, dueAt }: BaseState): Promise<void> {
    const db = this.db(agentId)
    db.exec('BEGIN; DELETE FROM sqlite_sequence')
    db.prepare('UPDATE manifest SET version = ?, reading = ?').run(version, reading)
    const put = db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)')
    for (const [name, number] of Object.entries(last)) if (number > 0) put.run(name, number)
    db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
    this.leaveBase()
    if (isPending) this.knowledge.markPending(agentId)
    this.knowledge.markDue(agentId, dueAt)
    renameSync(this.path(agentId) + PART, this.path(agentId))
  }

  async finish(): Promise<void> {
    this.leaveBase()
    this.main.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)')
    await super.close()
    renameSync(join(this.name, UNFINISHED), join(this.name, MAIN))
    this.#lock.release()
  }

  override async close(): Promise<void> {
    if (!this.main.isOpen) return
    await super.close()
    this.#lock.release()
  }
}

function openToFill(path: string): DatabaseSync {
  const db = new DatabaseSync(path)
  db.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536')
  return db
}
