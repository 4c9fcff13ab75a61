import type { KnowledgeBase, NearTables, SqlRow } from '../base.ts'

/** Half-precision numbers are kept exactly that far, and indexed in so many dimensions at most. */
const MOST_DIMENSIONS = 4_000
const OLDEST_PGVECTOR = [0, 7]
/** Of one transaction: indexing one takes about 2 ms. */
export const NEAR_SLICE = 100
/** Passages that the index tells for one question. Looking so far it finds the best ten of 100,000 in 99 of 100 cases. */
export const TOLD_BY_INDEX = 200

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

/** The index of a space; undefined where there is none. */
export function findNear(base: KnowledgeBase, space: number): NearIndex | undefined {
  if (base.near === undefined) return undefined
  const row = base.get<{ upto: number; ready: number }>('SELECT upto, is_ready AS ready FROM near WHERE space = ?', space)
  return row === undefined ? undefined : { upto: row.upto, isReady: row.ready === 1 }
}

/** The passages nearest to a question as far as the index knows, nearest first, `TOLD_BY_INDEX` at most. `unit`: of length 1. */
export function listNear(near: NearTables, space: number, unit: Float32Array): { id: number; cosine: number }[] {
  const question = `[${Array.from(unit, (x) => x.toFixed(6)).join(',')}]`
  // Holds for the transaction, in which both are asked for.
  near.ask(`SELECT set_config('hnsw.ef_search', '${TOLD_BY_INDEX}', true)`, [])
  return near.ask(
    `SELECT id, 1 - (vector <=> $1::halfvec) AS cosine FROM ${near.nameOf(space)} ORDER BY vector <=> $1::halfvec LIMIT ${TOLD_BY_INDEX}`,
    [question],
  ) as unknown as { id: number; cosine: number }[]
}

/** In a transaction of the caller. */
export function beginNear(base: KnowledgeBase, near: NearTables, { number, dimensions }: Space): void {
  const name = near.nameOf(number)
  near.tell(`DROP TABLE IF EXISTS ${name}`, [])
  near.tell(`CREATE TABLE ${name} (id BIGINT PRIMARY KEY, vector halfvec(${dimensions}) NOT NULL)`, [])
  near.tell(`CREATE INDEX ON ${name} USING hnsw (vector halfvec_cosine_ops)`, [])
  base.run('INSERT INTO near (space) VALUES (?)', number)
}

/** Takes in the next of the vectors of a space; `isAll`: there are no more. In a transaction of the caller. */
export function fillNear(base: KnowledgeBase, space: Space, rows: readonly Coded[], isAll: boolean): void {
  insertNear(base, space, rows)
  const upto = rows.at(-1)?.id ?? 0
  base.run('UPDATE near SET upto = greatest(upto, ?), is_ready = ? WHERE space = ?', upto, isAll ? 1 : 0, space.number)
}

/** Those that the index does not come to by itself. In a transaction of the caller. */
export function addToNear(base: KnowledgeBase, space: Space, rows: readonly Coded[]): void {
  const index = findNear(base, space.number)
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
  // Only directions are compared: the whole numbers of the code will do, and half precision holds them exactly.
  const vectors = rows.map(({ code }) => `[${new Int8Array(code.buffer, code.byteOffset + 4, dimensions).join(',')}]`)
  base.near!.tell(
    `INSERT INTO ${base.near!.nameOf(number)} (id, vector) SELECT * FROM unnest($1::bigint[], $2::halfvec[])
     ON CONFLICT (id) DO UPDATE SET vector = excluded.vector`,
    [ids, vectors],
  )
}

/** In a transaction of the caller. */
export function eraseNear(base: KnowledgeBase, space: number, first: number, last: number): void {
  if (findNear(base, space) !== undefined)
    base.near!.tell(`DELETE FROM ${base.near!.nameOf(space)} WHERE id BETWEEN $1 AND $2`, [first, last])
}

/** In a transaction of the caller. */
export function dropNear(base: KnowledgeBase, space: number): void {
  if (findNear(base, space) === undefined) return
  base.near!.tell(`DROP TABLE IF EXISTS ${base.near!.nameOf(space)}`, [])
  base.run('DELETE FROM near WHERE space = ?', space)
}

/** Why pgvector cannot index vectors of so many dimensions; undefined where it can. */
export function whyNoNear(near: NearTables, dimensions: number): string | undefined {
  const [row] = near.ask("SELECT extversion AS version FROM pg_extension WHERE extname = 'vector'", [])
  return (
    whyNoPgvector(row) ?? (dimensions > MOST_DIMENSIONS ? `pgvector indexes ${MOST_DIMENSIONS} dimensions at most` : undefined)
  )
}

/** `row` holds the version of the extension in the database, where it is there. */
export function whyNoPgvector(row: SqlRow | undefined): string | undefined {
  if (row === undefined) return 'pgvector is not there (`CREATE EXTENSION vector` adds it where the server has it)'
  const [major = 0, minor = 0] = String(row['version']).split('.').map(Number)
  const [oldestMajor, oldestMinor] = OLDEST_PGVECTOR as [number, number]
  const isOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor)
  return isOld ? `pgvector is too old (${row['version']}; ${OLDEST_PGVECTOR.join('.')} is needed)` : undefined
}
