import type { ReadableBase } from '../../../store/knowledge/base.ts'
import { findNear, listNear, TOLD_BY_INDEX } from '../../../store/knowledge/postgres/pgvector.ts'
import { ByteCache, CacheBudget } from '../../../store/knowledge/reader/cache.ts'
import { MAX_MASKS } from '../../../store/knowledge/reader/index-read.ts'
import { findLiveSpace, listVectors, type Vector, type VectorSpace, vectorsOf } from '../../../store/knowledge/vectors.ts'
import type { Work } from '../../../store/knowledge/work.ts'
import { cosine, toSigns, toUnit } from './quantise.ts'
import { type Hide, SignBlocks } from './sign-blocks.ts'

/** Memory of a cached vector in addition to its bytes. */
const ENTRY_BYTES = 200

/** A passage whose vector is near the question's vector. */
export interface Near {
  /** Id of the passage. */
  id: number
  cosine: number
}

/** A version of a base (see `IndexRead.at`). */
export interface BaseVersion {
  base: ReadableBase
  version: number
}

/** The space that is searched in a version of a base. */
interface LoadedSpace {
  version: number
  space: VectorSpace | undefined
  /** The signs of the vectors, if there are enough vectors for a mean. */
  blocks: SignBlocks | undefined
  /** True if the database has a vector index for the space. */
  isIndexed: boolean
  /** All vectors, while there are too few for a mean. */
  few: Vector[]
  /** The visible ones of `few`, by the key of the filter. */
  visible: Map<string, Vector[]>
}

/** Searches the vectors of one base. Loads one bit per dimension into memory, or nothing if the database has a vector index. */
export class VectorSearch {
  #loaded: LoadedSpace | undefined
  /** By passage id. Entries never change. */
  readonly #codes: ByteCache<number, Uint8Array>

  constructor(budget = new CacheBudget()) {
    this.#codes = new ByteCache(budget)
  }

  close(): void {
    this.#codes.close()
  }

  /** Returns the model whose vectors are searched; undefined if there are none. */
  *model(at: BaseVersion): Work<string | undefined> {
    return (yield* this.#load(at)).space?.model
  }

  /** Returns the passages nearest to the question, best first. Empty if the question has other dimensions. */
  *nearest(at: BaseVersion, question: Float32Array, most: number, hide: Hide): Work<Near[]> {
    const loaded = yield* this.#load(at)
    const { space, blocks, isIndexed } = loaded
    if (space === undefined || space.dimensions !== question.length) return []
    const unit = toUnit(question)
    const indexed = isIndexed ? yield* nearestByIndex(at.base.near!.nameOf(space.number), unit, most, hide) : undefined
    if (indexed !== undefined) return indexed
    const vectors = blocks === undefined ? visibleOf(loaded, hide) : yield* this.#closest(blocks, at.version, unit, hide)
    return vectors
      .map(({ id, code }) => ({ id, cosine: cosine(unit, code) }))
      .sort((a, b) => b.cosine - a.cosine || a.id - b.id)
      .slice(0, most)
  }

  /** Returns the vectors with the fewest differing signs. */
  *#closest(blocks: SignBlocks, version: number, unit: Float32Array, hide: Hide): Work<Vector[]> {
    yield* blocks.load(version)
    return yield* this.#vectorsOf(blocks.space, blocks.candidates(toSigns(unit, blocks.space.mean!), hide))
  }

  /** Returns the cosines of the question and these passages. Leaves out passages without a vector. */
  *cosines(at: BaseVersion, question: Float32Array, ids: readonly number[]): Work<Near[]> {
    const { space } = yield* this.#load(at)
    if (space === undefined || space.dimensions !== question.length) return []
    const unit = toUnit(question)
    return (yield* this.#vectorsOf(space, ids)).map(({ id, code }) => ({ id, cosine: cosine(unit, code) }))
  }

  /** Returns the vectors of the passages, in no order. Leaves out passages without a vector. */
  *#vectorsOf({ number }: VectorSpace, ids: readonly number[]): Work<Vector[]> {
    const found: Vector[] = []
    const unknown: number[] = []
    for (const id of ids) {
      const code = this.#codes.get(id)
      if (code === undefined) unknown.push(id)
      else found.push({ id, code })
    }
    for (const vector of yield* vectorsOf(number, unknown)) {
      this.#codes.set(vector.id, vector.code, vector.code.length + ENTRY_BYTES)
      found.push(vector)
    }
    return found
  }

  *#load({ version, base }: BaseVersion): Work<LoadedSpace> {
    if (this.#loaded?.version === version) return this.#loaded
    const space = yield* findLiveSpace()
    const few = space?.mean === null ? yield* listVectors(space.number) : []
    const isLarge = space !== undefined && space.mean !== null
    const isIndexed = isLarge && base.near !== undefined && (yield* findNear(space.number))?.isReady === true
    const before = this.#loaded
    const isSame = space?.number === before?.space?.number
    if (!isSame) this.#codes.clear()
    const blocks = !isLarge ? undefined : isSame && before?.blocks !== undefined ? before.blocks : new SignBlocks(space)
    this.#loaded = { version, space, blocks, isIndexed, few, visible: new Map() }
    return this.#loaded
  }
}

function visibleOf({ few, visible }: LoadedSpace, { key, mask }: Hide): Vector[] {
  const known = visible.get(key)
  if (known !== undefined) return known
  const hidden = mask(Uint32Array.from(few, ({ id }) => id))
  const found = few.filter((_, i) => hidden?.[i] !== 1)
  if (visible.size >= MAX_MASKS) visible.clear()
  visible.set(key, found)
  return found
}

/** Returns undefined if the index finds too few visible passages. */
function* nearestByIndex(table: string, unit: Float32Array, most: number, { mask }: Hide): Work<Near[] | undefined> {
  const listed = yield* listNear(table, unit)
  const ids = Uint32Array.from(listed, ({ id }) => id).sort()
  const hidden = mask(ids)
  const gone = new Set(ids.filter((_, i) => hidden?.[i] === 1))
  const near = listed.filter(({ id }) => !gone.has(id)).slice(0, most)
  return near.length === most || listed.length < TOLD_BY_INDEX ? near : undefined
}
