import type { KnowledgeBase, NearTables } from '../base.ts'
import type { SqlRow } from '../rows.ts'
import type { Insertion } from '../statements.ts'
import { drive, get, type Work } from '../work.ts'

/** Maximum dimensions that pgvector indexes for half-precision vectors, which store the values exactly. */
const MOST_DIMENSIONS = 4_000
const OLDEST_PGVECTOR = [0, 7]
/** Vectors indexed per transaction: each takes about 2 ms. */
export const NEAR_SLICE = 100
/** Passages that the index returns per question. With this depth it finds the best ten of 100,000 in 99 of 100 cases. */
export const TOLD_BY_INDEX = 200

const NEAR: Insertion = { into: 'near', columns: ['space'] }

export interface NearIndex {
  upto: number
  isReady: boolean
}

/** The vectors of one embedding model. */
interface Space {
  number: number
  dimensions: number
}

/** The code of a passage's vector. */
interface Coded {
  id: number
  code: Uint8Array
}

/** Returns the index of a space; undefined if there is none. */
export function* findNear(space: number): Work<NearIndex | undefined> {
  const row = yield* get<{ upto: number; ready: number }>('SELECT upto, is_ready AS ready FROM {near} WHERE space = ?', space)
  return row === undefined ? undefined : { upto: row.upto, isReady: row.ready === 1 }
}

/** Returns the passages that the index finds nearest to a question, nearest first, at most `TOLD_BY_INDEX`. `unit`: of length 1. */
export function* listNear(table: string, unit: Float32Array): Work<{ id: number; cosine: number }[]> {
  const question = `[${Array.from(unit, (x) => x.toFixed(6)).join(',')}]`
  const [, rows] = yield [
    // Applies to the transaction, which contains both statements.
    { sql: `SELECT set_config('hnsw.ef_search', '${TOLD_BY_INDEX}', true)`, params: [], isRaw: true },
    {
      sql: `SELECT id, 1 - (vector <=> $1::halfvec) AS cosine FROM ${table} ORDER BY vector <=> $1::halfvec LIMIT ${TOLD_BY_INDEX}`,
      params: [question],
      isRaw: true,
    },
  ]
  return rows as unknown as { id: number; cosine: number }[]
}

const foundNear = (base: KnowledgeBase, space: number): NearIndex | undefined =>
  base.near === undefined ? undefined : drive(base, findNear(space))

/** Runs in the caller's transaction. */
export function beginNear(base: KnowledgeBase, near: NearTables, { number, dimensions }: Space): void {
  const name = near.nameOf(number)
  near.tell(`DROP TABLE IF EXISTS ${name}`, [])
  near.tell(`CREATE TABLE ${name} (id BIGINT PRIMARY KEY, vector halfvec(${dimensions}) NOT NULL)`, [])
  near.tell(`CREATE INDEX ON ${name} USING hnsw (vector halfvec_cosine_ops)`, [])
  base.insert(NEAR, number)
}

/** Adds the next vectors of a space. `isAll`: no more vectors are left. Runs in the caller's transaction. */
export function fillNear(base: KnowledgeBase, space: Space, rows: readonly Coded[], isAll: boolean): void {
  insertNear(base, space, rows)
  const upto = rows.at(-1)?.id ?? 0
  base.update('near', { set: 'upto = greatest(upto, ?), is_ready = ?', where: 'space = ?' }, upto, isAll ? 1 : 0, space.number)
}

/** Adds vectors that `fillNear` no longer reaches. Runs in the caller's transaction. */
export function addToNear(base: KnowledgeBase, space: Space, rows: readonly Coded[]): void {
  const index = foundNear(base, space.number)
  if (index !== undefined)
    insertNear(
      base,
      space,
      rows.filter(({ id }) => index.isReady || id <= index.upto),
    )
}

function insertNear(base: KnowledgeBase, { number, dimensions }: Space, rows: readonly Coded[]): void {
  if (rows.length === 0) return
  const ids = rows.map(({ id }) => id)
  // Only directions are compared, so the integers of the code suffice. Half precision stores them exactly.
  const vectors = rows.map(({ code }) => `[${new Int8Array(code.buffer, code.byteOffset + 4, dimensions).join(',')}]`)
  base.near!.tell(
    `INSERT INTO ${base.near!.nameOf(number)} (id, vector) SELECT * FROM unnest($1::bigint[], $2::halfvec[])
     ON CONFLICT (id) DO UPDATE SET vector = excluded.vector`,
    [ids, vectors],
  )
}

/** Runs in the caller's transaction. */
export function eraseNear(base: KnowledgeBase, space: number, first: number, last: number): void {
  if (foundNear(base, space) !== undefined)
    base.near!.tell(`DELETE FROM ${base.near!.nameOf(space)} WHERE id BETWEEN $1 AND $2`, [first, last])
}

/** Runs in the caller's transaction. */
export function dropNear(base: KnowledgeBase, space: number): void {
  if (foundNear(base, space) === undefined) return
  base.near!.tell(`DROP TABLE IF EXISTS ${base.near!.nameOf(space)}`, [])
  base.delete('near', 'space = ?', space)
}

/** Returns the reason why pgvector cannot index vectors of this many dimensions; undefined if it can. */
export function whyNoNear(near: NearTables, dimensions: number): string | undefined {
  const [row] = near.ask("SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'", [])
  return (
    whyNoPgvector(row) ?? (dimensions > MOST_DIMENSIONS ? `pgvector indexes ${MOST_DIMENSIONS} dimensions at most` : undefined)
  )
}

/** Returns the reason why pgvector cannot be used; undefined if it can. `row`: version of the extension, if it is installed. */
export function whyNoPgvector(row: SqlRow | undefined): string | undefined {
  if (row === undefined) return 'pgvector is not there (`CREATE EXTENSION vector` adds it where the server has it)'
  const [major = 0, minor = 0] = String(row['version']).split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_PGVECTOR as [number, number]
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
  return isOld ? `pgvector is too old (${row['version']}; ${OLDEST_PGVECTOR.join('.')} is needed)` : undefined
}
