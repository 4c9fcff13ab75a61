import type { KnowledgeBase } from './base.ts'
import { addToNear, dropNear, eraseNear } from './postgres/pgvector.ts'
import { bytesOf } from './rows.ts'
import type { Insertion } from './statements.ts'
import { eraseFromBlocks } from './vector-blocks.ts'
import { all, drive, get, getMany, type Work } from './work.ts'

/** Vectors of one embedding model. */
export interface VectorSpace {
  number: number
  model: string
  /** Dimensions of the model; 0 until the first vectors arrive. */
  dimensions: number
  isLive: boolean
  /** Passages up to this id have their vectors, or need none. */
  upto: number
  mean: Float32Array | null
}

/** The vector of a passage. */
export interface Vector {
  id: number
  code: Uint8Array
}

/** A passage that has no vector yet. */
export interface Unembedded {
  id: number
  text: string
}

/** A vector's key is its space number times this, plus its passage id. */
export const SPACE_STEP = 2 ** 40
/** Greater than the numbers of all spaces, because keys of vectors are safe integers. */
const NO_SPACE = 2 ** 13 - 1
/** Some megabytes, which SQLite overwrites: 20 to 100 ms. */
const VECTORS_A_DELETION = 500
const BLOCKS_A_DELETION = 8

const SPACE: Insertion = { into: 'vector_space', columns: ['model'] }
const VECTOR: Insertion = { into: 'vector', columns: ['key', 'code'] }
interface SpaceRow {
  number: number
  model: string
  dimensions: number
  is_live: number
  upto: number
  mean: Uint8Array | null
}

const toSpace = ({ is_live, mean, ...row }: SpaceRow): VectorSpace => ({
  ...row,
  isLive: is_live === 1,
  mean: mean === null ? null : new Float32Array(mean.slice().buffer),
})

/** Returns the space that is searched. */
export function* findLiveSpace(): Work<VectorSpace | undefined> {
  const row = yield* get<SpaceRow>('SELECT number, model, dimensions, is_live, upto, mean FROM {vector_space} WHERE is_live = 1')
  return row === undefined ? undefined : toSpace(row)
}

export function findSpace(base: KnowledgeBase, model: string): VectorSpace | undefined {
  const row = base.get<SpaceRow>(
    'SELECT number, model, dimensions, is_live, upto, mean FROM {vector_space} WHERE model = ?',
    model,
  )
  return row === undefined ? undefined : toSpace(row)
}

/** Returns the space of a model, and creates it if missing. Drops other spaces that were being built. Runs in the caller's transaction. */
export function openSpace(base: KnowledgeBase, model: string): VectorSpace {
  for (const { number } of base.all<{ number: number }>(
    'SELECT number FROM {vector_space} WHERE model <> ? AND is_live = 0',
    model,
  ))
    dropSpace(base, number)
  if (findSpace(base, model) === undefined) base.insert(SPACE, model)
  return findSpace(base, model)!
}

/** Returns indexed passages without a vector in this space, in order of ids. Excludes hidden passages and passages that are not published yet. */
export function listUnembedded(base: KnowledgeBase, { number, upto }: VectorSpace, most: number): Unembedded[] {
  const staged = base.get<{ first: number | null }>('SELECT min(first) AS first FROM {dead} WHERE staged = 1')!.first
  return base.all<Unembedded>(
    `SELECT p.id, CASE d.indexed_title WHEN '' THEN '' ELSE d.indexed_title || '\n' END || CASE p.heading WHEN '' THEN '' ELSE p.heading || '\n' END || p.text AS text
     FROM {passage p} JOIN {document d} ON d.number = p.document
     WHERE p.id > ? AND p.id < ? AND p.id BETWEEN d.first AND d.last AND NOT EXISTS (SELECT 1 FROM {vector} WHERE key = ? + p.id)
     ORDER BY p.id LIMIT ?`,
    upto,
    staged ?? Number.MAX_SAFE_INTEGER,
    number * SPACE_STEP,
    most,
  )
}

/** Returns the ids of passages that still exist. */
export function presentOf(base: KnowledgeBase, ids: readonly number[]): Set<number> {
  const rows = base.getMany(
    'SELECT 1 FROM {passage} WHERE id = ?',
    ids.map((id) => [id]),
  )
  return new Set(ids.filter((_, i) => rows[i] !== undefined))
}

/** Runs in the caller's transaction. */
export function insertVectors(base: KnowledgeBase, space: VectorSpace, rows: readonly Vector[]): void {
  base.insertMany(
    VECTOR,
    rows.map(({ id, code }) => [space.number * SPACE_STEP + id, code]),
  )
  addToNear(base, space, rows)
}

export function setSpace(base: KnowledgeBase, { number, dimensions, upto, mean }: VectorSpace): void {
  base.update(
    'vector_space',
    { set: 'dimensions = ?, upto = ?, mean = ?', where: 'number = ?' },
    dimensions,
    upto,
    mean === null ? null : bytesOf(mean),
    number,
  )
}

/** Makes a space the one that is searched, and drops all others. Runs in the caller's transaction. */
export function makeLive(base: KnowledgeBase, space: VectorSpace): void {
  for (const { number } of base.all<{ number: number }>('SELECT number FROM {vector_space} WHERE number <> ?', space.number))
    dropSpace(base, number)
  base.update('vector_space', { set: 'is_live = 1', where: 'number = ?' }, space.number)
}

/** Drops a space. Its vectors are no longer searched, and `eraseDropped` deletes them later. Runs in a transaction of the caller. */
export function dropSpace(base: KnowledgeBase, number: number): void {
  dropNear(base, number)
  base.delete('vector_space', 'number = ?', number)
}

/** Removes some vectors or signs of spaces that were dropped. Returns false when none are left. */
export function eraseDropped(base: KnowledgeBase): boolean {
  const erase = nextErasure(base)
  if (erase === undefined) return false
  base.write(erase, { durable: false })
  return true
}

export const hasDropped = (base: KnowledgeBase): boolean => nextErasure(base) !== undefined

/** Finds rows of dropped spaces: their numbers are in the gaps between the numbers of existing spaces. */
function nextErasure(base: KnowledgeBase): (() => void) | undefined {
  const numbers = base.all<{ number: number }>('SELECT number FROM {vector_space} ORDER BY number').map(({ number }) => number)
  for (const [i, after] of [0, ...numbers].entries()) {
    const before = numbers[i] ?? NO_SPACE
    const erase = erasureOfVectors(base, after, before) ?? erasureOfBlocks(base, after, before)
    if (erase !== undefined) return erase
  }
  return undefined
}

function erasureOfVectors(base: KnowledgeBase, after: number, before: number): (() => void) | undefined {
  const keys = base.all<{ key: number }>(
    'SELECT key FROM {vector} WHERE key >= ? AND key < ? ORDER BY key LIMIT ?',
    (after + 1) * SPACE_STEP,
    before * SPACE_STEP,
    VECTORS_A_DELETION,
  )
  const [first, last] = [keys[0]?.key, keys.at(-1)?.key]
  if (first === undefined || last === undefined) return undefined
  return () => void base.delete('vector', 'key BETWEEN ? AND ?', first, last)
}

function erasureOfBlocks(base: KnowledgeBase, after: number, before: number): (() => void) | undefined {
  const [block] = base.all<{ space: number; number: number }>(
    'SELECT space, number FROM {vector_block} WHERE space > ? AND space < ? ORDER BY space DESC, number DESC LIMIT 1',
    after,
    before,
  )
  if (block === undefined) return undefined
  const { space, number } = block
  return () => void base.delete('vector_block', 'space = ? AND number > ?', space, number - BLOCKS_A_DELETION)
}

/**
 * Returns true if a space contains vectors or signs of another size, which cannot be compared.
 * Reads the vectors themselves only while they are few and have no signs.
 */
export function hasOtherSizes(
  base: KnowledgeBase,
  { number, mean }: VectorSpace,
  size: { code: number; signs: number },
): boolean {
  const [first, last] = [number * SPACE_STEP, (number + 1) * SPACE_STEP - 1]
  const other =
    mean === null
      ? base.get('SELECT 1 FROM {vector} WHERE key BETWEEN ? AND ? AND length(code) <> ? LIMIT 1', first, last, size.code)
      : base.get(
          'SELECT 1 FROM {vector_block} WHERE space = ? AND length(bits) <> length(ids) / 4 * ? LIMIT 1',
          number,
          size.signs,
        )
  return other !== undefined
}

/** Returns all vectors of a space, in order of ids. */
export const listVectors = (space: number): Work<Vector[]> =>
  all(
    'SELECT key - ? AS id, code FROM {vector} WHERE key BETWEEN ? AND ? ORDER BY key',
    space * SPACE_STEP,
    space * SPACE_STEP,
    (space + 1) * SPACE_STEP - 1,
  )

/** Returns the vectors of the given passages. Leaves out passages without a vector. */
export function* vectorsOf(space: number, ids: readonly number[]): Work<Vector[]> {
  const rows = yield* getMany<{ code: Uint8Array }>(
    'SELECT code FROM {vector} WHERE key = ?',
    ids.map((id) => [space * SPACE_STEP + id]),
  )
  return ids.flatMap((id, i) => (rows[i] === undefined ? [] : [{ id, code: rows[i].code }]))
}

/** Returns the next vectors of a space after a passage id, in order of ids. */
export function listVectorsBehind(base: KnowledgeBase, space: number, id: number, most: number): Vector[] {
  return base.all(
    'SELECT key - ? AS id, code FROM {vector} WHERE key > ? AND key < ? ORDER BY key LIMIT ?',
    space * SPACE_STEP,
    space * SPACE_STEP + id,
    (space + 1) * SPACE_STEP,
    most,
  )
}

/** Returns the ids of passages that have a vector. */
export function embeddedOf(base: KnowledgeBase, space: number, ids: readonly number[]): Set<number> {
  const rows = base.getMany(
    'SELECT 1 FROM {vector} WHERE key = ?',
    ids.map((id) => [space * SPACE_STEP + id]),
  )
  return new Set(ids.filter((_, i) => rows[i] !== undefined))
}

export function countVectors(base: KnowledgeBase, space: number, most: number): number {
  return base.all(
    'SELECT 1 FROM {vector} WHERE key BETWEEN ? AND ? LIMIT ?',
    space * SPACE_STEP,
    (space + 1) * SPACE_STEP - 1,
    most,
  ).length
}

/** Removes the vectors of erased passages. Runs in the caller's transaction. */
export function eraseVectors(base: KnowledgeBase, first: number, last: number): void {
  for (const { number } of base.all<{ number: number }>('SELECT number FROM {vector_space}')) {
    base.delete('vector', 'key BETWEEN ? AND ?', number * SPACE_STEP + first, number * SPACE_STEP + last)
    eraseNear(base, number, first, last)
    eraseFromBlocks(base, number, first, last)
  }
}

/** Returns the spaces that contain vectors. */
export const listSpaces = (base: KnowledgeBase): VectorSpace[] =>
  base
    .all<SpaceRow>('SELECT number, model, dimensions, is_live, upto, mean FROM {vector_space} WHERE dimensions > 0')
    .map(toSpace)

export const hasVectors = (base: KnowledgeBase): boolean =>
  base.get('SELECT 1 FROM {vector_space} WHERE dimensions > 0') !== undefined

/** A passage that gets the vectors of an older one. */
export interface VectorCopy {
  from: number
  to: number
}

/** Copies vectors of older passages to new ones, and returns the copies. Skips vectors of another size than `bytes`. Runs in the caller's transaction. */
export function copyVectors(base: KnowledgeBase, space: VectorSpace, copies: readonly VectorCopy[], bytes: number): Vector[] {
  const from = [...new Set(copies.map((copy) => copy.from))]
  const codes = new Map(drive(base, vectorsOf(space.number, from)).map(({ id, code }) => [id, code]))
  const vectors = copies.flatMap(({ from, to }) => {
    const code = codes.get(from)
    return code?.length === bytes ? [{ id: to, code }] : []
  })
  insertVectors(base, space, vectors)
  return vectors
}
