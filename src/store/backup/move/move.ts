import { createHash, type Hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { ReportProgress } from '../../progress.ts'
import {
  type Cell,
  CONVERSATIONS,
  isLast,
  KNOWLEDGE,
  MoveError,
  type MovePart,
  type MoveSide,
  type Table,
  type Target,
} from './place.ts'

export interface MovedTable {
  /** Names of knowledge base tables, which cover all bases together, begin with `knowledge_`. */
  table: string
  rows: number
  /** Covers all rows in order. Equal on both sides. */
  sha256: string
}

/**
 * Copies everything from one location to another, then reads both and compares them. Throws `MoveError` if they differ.
 * After an interruption, the next call continues, as long as the source does not change.
 */
export async function move(from: MoveSide, to: Target, tell: ReportProgress): Promise<MovedTable[]> {
  const bases = await from.listBases()
  const ofBases = bases.length * KNOWLEDGE.length
  // Every table is copied, and then compared.
  const of = 2 * (CONVERSATIONS.length + ofBases)
  for (const [i, table] of CONVERSATIONS.entries())
    await copyTable(from, to, table, undefined, (rows) => tell(`copying ${table.name}, ${rows} rows`, i, of))
  for (const [i, agentId] of bases.entries()) {
    if (await to.hasBase(agentId)) continue
    const before = CONVERSATIONS.length + i * KNOWLEDGE.length
    const base = `knowledge base ${i + 1} of ${bases.length}`
    for (const [j, table] of KNOWLEDGE.entries())
      await copyTable(from, to, table, agentId, (rows) => tell(`${base}: copying ${table.name}, ${rows} rows`, before + j, of))
    await to.writeState(agentId, await from.readState(agentId))
  }
  const moved = await compare(from, to, bases, (text, done) => tell(text, of / 2 + done, of))
  await to.finish()
  return moved
}

async function copyTable(from: MoveSide, to: Target, table: Table, part: MovePart, tell: (rows: number) => void): Promise<void> {
  const columns = await to.columns(table, part)
  const keyAt = table.key.map((column) => columns.indexOf(column))
  let after = await to.lastKey(table, part)
  for (let copied = 0; ; ) {
    const rows = await from.read(table, part, columns, after)
    if (rows.length > 0) await to.write(table, part, columns, to.toStorable(rows))
    copied += rows.length
    tell(copied)
    if (isLast(table, rows)) return
    after = keyAt.map((i) => rows.at(-1)![i]!)
  }
}

async function compare(
  from: MoveSide,
  to: Target,
  bases: string[],
  tell: (text: string, done: number) => void,
): Promise<MovedTable[]> {
  const differ = (what: string) =>
    new MoveError(
      `${what} of ${to.name} is not that of ${from.name}, which changed since the move began: empty ${to.name} and begin again`,
    )
  if (!isDeepStrictEqual(await to.listBases(), bases)) throw differ('The list of knowledge bases')
  // Both are read at the same pace, so only one reports progress.
  const [there, here] = await Promise.all([new Digest(from, to).of(bases, () => {}), new Digest(to, to).of(bases, tell)])
  for (const [i, { table, rows, sha256 }] of here.entries())
    if (there[i]!.rows !== rows || there[i]!.sha256 !== sha256) throw differ(`Table ${table}`)
  return here
}

/** Digests of all tables of one location, computed in one pass. */
class Digest {
  readonly #place: MoveSide
  /** Defines the columns that are read, and the form in which rows are compared. */
  readonly #to: Target
  readonly #tables = new Map<string, { hash: Hash; rows: number }>()

  constructor(place: MoveSide, to: Target) {
    this.#place = place
    this.#to = to
  }

  async of(bases: string[], tell: (text: string, done: number) => void): Promise<MovedTable[]> {
    let done = 0
    const tellRows = (text: string) => tell(text, done)
    for (const table of CONVERSATIONS) {
      await this.#add(table, undefined, table.name, tellRows)
      done++
    }
    for (const agentId of bases) {
      for (const table of KNOWLEDGE) {
        await this.#add(table, agentId, `knowledge_${table.name}`, tellRows)
        done++
      }
      const { version, last } = await this.#place.readState(agentId)
      const numbers = Object.keys(last).sort()
      this.#feed('knowledge_manifest', [[version, ...numbers.map((table) => last[table]!)]])
    }
    return [...this.#tables].map(([table, { hash, rows }]) => ({ table, rows, sha256: hash.digest('hex') }))
  }

  async #add(table: Table, part: MovePart, name: string, tell: (text: string) => void): Promise<void> {
    const columns = await this.#to.columns(table, part)
    const keyAt = table.key.map((column) => columns.indexOf(column))
    let after: Cell[] | undefined
    for (;;) {
      const rows = await this.#place.read(table, part, columns, after)
      tell(`comparing ${name}, ${this.#feed(name, this.#to.toStorable(rows))} rows`)
      if (isLast(table, rows)) return
      after = keyAt.map((i) => rows.at(-1)![i]!)
    }
  }

  /** Returns the number of rows so far. */
  #feed(name: string, rows: readonly Cell[][]): number {
    const known = this.#tables.get(name) ?? { hash: createHash('sha256'), rows: 0 }
    this.#tables.set(name, known)
    addTo(known.hash, rows)
    known.rows += rows.length
    return known.rows
  }
}

/** The longest text that is joined before it is hashed. */
const MOST_JOINED = 1_000_000

/** Adds each value with its type and length, so that different rows never give the same text. */
function addTo(hash: Hash, rows: readonly Cell[][]): void {
  let text = ''
  for (const row of rows) {
    if (text.length > MOST_JOINED) {
      hash.update(text)
      text = ''
    }
    for (const cell of row) {
      if (cell === null) text += 'n'
      else if (typeof cell === 'number') text += `d${cell};`
      else if (typeof cell === 'string') text += `s${cell.length}:${cell}`
      else {
        hash.update(`${text}b${cell.length}:`)
        hash.update(cell)
        text = ''
      }
    }
  }
  hash.update(text)
}
