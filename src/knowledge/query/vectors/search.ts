import type { KnowledgeBase } from '../../../store/knowledge/base.ts'
import { ByteCache, CacheBudget } from '../../../store/knowledge/cache.ts'
import { findNear, listNear, TOLD_BY_INDEX } from '../../../store/knowledge/postgres/pgvector.ts'
import { MAX_MASKS } from '../../../store/knowledge/reader.ts'
import {
  BLOCK_VECTORS,
  findLiveSpace,
  listVectors,
  readBlocks,
  type Vector,
  type VectorSpace,
} from '../../../store/knowledge/vectors.ts'
import { HammingScan } from './hamming.ts'
import { cosine, signBytes, toSigns, toUnit } from './quantise.ts'

/**
 * Vectors that are compared in full. With more dimensions, signs are more precise, so fewer are needed. At 384 dimensions, this many include the best ten of
 * 100,000 vectors in 98 of 100 cases; at more dimensions, more often.
 */
const closeLook = (dimensions: number): number => Math.max(150, Math.ceil((400 * 384) / dimensions))

/** If many vectors tie at the last distance, up to this many times as many are compared. */
const TIES = 4

/** Memory of a cached vector in addition to its bytes. */
const ENTRY_BYTES = 200

/** A passage whose vector is near the question's vector. */
export interface Near {
  /** Id of the passage. */
  id: number
  cosine: number
}

/** A filter that hides passages. */
export interface Hide {
  /** Identifies the filter, as long as the index does not change. */
  key: string
  /** Takes ids that mostly ascend; 0 means no passage. Returns 1 for each hidden one; undefined if all are visible. */
  mask: (ids: Uint32Array) => Uint8Array | undefined
}

/**
 * Searches the vectors of one base. Loads one bit per dimension into memory, or nothing if the database has a vector index.
 * Reads within the transaction of the caller.
 */
export class VectorSearch {
  #space: VectorSpace | undefined
  #version = -1
  /** True if the database has a vector index for the space. */
  #isIndexed = false
  /** Version of the index whose blocks are loaded. */
  #blocksVersion = -1
  #scan: HammingScan | undefined
  readonly #versions = new Map<number, number>()
  /** Ids by slot. Each block has its own slots; 0 means no vector. */
  #ids = new Uint32Array(0)
  /** All vectors, while there are too few for a mean. */
  #few: { id: number; code: Uint8Array }[] = []
  /** By passage id. Entries never change. */
  readonly #codes: ByteCache<number, Uint8Array>
  /** Hidden slots by the key of the filter, for the loaded version. */
  readonly #masks = new Map<string, Uint8Array | undefined>()

  constructor(budget = new CacheBudget()) {
    this.#codes = new ByteCache(budget)
  }

  close(): void {
    this.#codes.close()
  }

  /** Returns the model whose vectors are searched; undefined if there are none. `version`: of the index. */
  model(base: KnowledgeBase, version: number): string | undefined {
    this.#load(base, version)
    return this.#space?.model
  }

  /** Returns the passages nearest to the question, best first. Empty if the question has other dimensions. */
  nearest(base: KnowledgeBase, version: number, question: Float32Array, most: number, hide: Hide): Near[] {
    if (!this.#load(base, version)) return []
    const space = this.#space
    if (space === undefined || space.dimensions !== question.length) return []
    const unit = toUnit(question)
    return (this.#isIndexed && this.#toldByIndex(base, space, unit, most, hide)) || this.#compared(base, space, unit, most, hide)
  }

  /** Returns undefined if the index finds too few visible passages. */
  #toldByIndex(base: KnowledgeBase, space: VectorSpace, unit: Float32Array, most: number, { mask }: Hide): Near[] | undefined {
    const told = listNear(base.near!, space.number, unit)
    const ids = Uint32Array.from(told, ({ id }) => id).sort()
    const hidden = mask(ids)
    const gone = new Set(ids.filter((_, i) => hidden?.[i] === 1))
    const near = told.filter(({ id }) => !gone.has(id)).slice(0, most)
    const isEnough = near.length === most || told.length < TOLD_BY_INDEX
    return isEnough || base.isPartial ? near : undefined
  }

  #compared(base: KnowledgeBase, space: VectorSpace, unit: Float32Array, most: number, hide: Hide): Near[] {
    if (space.mean !== null) this.#loadBlocks(base, space)
    if (base.isPartial) return []
    const hidden = this.#hidden(base, hide)
    const rows =
      space.mean === null
        ? this.#few.filter((_, i) => hidden?.[i] !== 1)
        : this.#vectorsOf(base, space, this.#candidates(toSigns(unit, space.mean), hidden))
    return rows
      .map(({ id, code }) => ({ id, cosine: cosine(unit, code) }))
      .sort((a, b) => b.cosine - a.cosine || a.id - b.id)
      .slice(0, most)
  }

  /** Returns the cosines of the question and these passages. Leaves out passages without a vector. */
  cosines(base: KnowledgeBase, question: Float32Array, ids: readonly number[]): Near[] {
    const space = this.#space
    if (space === undefined || space.dimensions !== question.length) return []
    const unit = toUnit(question)
    return this.#vectorsOf(base, space, ids).map(({ id, code }) => ({ id, cosine: cosine(unit, code) }))
  }

  /** Returns the vectors of the passages, in no order. Leaves out passages without a vector. */
  #vectorsOf(base: KnowledgeBase, { number }: VectorSpace, ids: readonly number[]): Vector[] {
    const found: Vector[] = []
    const unknown: number[] = []
    for (const id of ids) {
      const code = this.#codes.get(id)
      if (code === undefined) unknown.push(id)
      else found.push({ id, code })
    }
    for (const vector of listVectors(base, number, unknown)) {
      this.#codes.set(vector.id, vector.code, vector.code.length + ENTRY_BYTES)
      found.push(vector)
    }
    return found
  }

  /** Returns 1 for each hidden slot, or for each hidden entry of `#few`. */
  #hidden(base: KnowledgeBase, { key, mask }: Hide): Uint8Array | undefined {
    if (this.#masks.has(key)) return this.#masks.get(key)
    const ids = this.#space?.mean === null ? Uint32Array.from(this.#few, ({ id }) => id) : this.#ids
    const found = mask(ids)
    if (base.isPartial) return found
    if (this.#masks.size >= MAX_MASKS) this.#masks.clear()
    this.#masks.set(key, found)
    return found
  }

  /** Returns the ids of the vectors with the fewest differing signs. */
  #candidates(signs: Uint8Array, hidden: Uint8Array | undefined): number[] {
    const ids = this.#ids
    const distances = this.#scan!.distances(signs, ids.length)
    const isCandidate = (slot: number) => ids[slot] !== 0 && hidden?.[slot] !== 1
    const counts = new Uint32Array(signs.length * 8 + 1)
    for (let slot = 0; slot < ids.length; slot++) if (isCandidate(slot)) counts[distances[slot]!]!++
    let bound = -1
    let sum = 0
    const most = closeLook(this.#space!.dimensions)
    while (sum < most && bound + 1 < counts.length) sum += counts[++bound]!
    // Equal passages have equal vectors: if many are at the last distance, the first ones are as good as all.
    let room = most * TIES - (sum - (counts[bound] ?? 0))
    const near: number[] = []
    for (let slot = 0; slot < ids.length; slot++) {
      if (distances[slot]! > bound || !isCandidate(slot)) continue
      if (distances[slot]! < bound || room-- > 0) near.push(ids[slot]!)
    }
    return near
  }

  /** Returns false if the loaded state is from an earlier version, which may have another space. */
  #load(base: KnowledgeBase, version: number): boolean {
    if (version === this.#version) return version >= 0
    this.#version = -1
    this.#masks.clear()
    const space = findLiveSpace(base)
    if (base.isPartial) return false
    if (space?.number !== this.#space?.number) this.#forget()
    this.#space = space
    if (space !== undefined) {
      this.#isIndexed = space.mean !== null && findNear(base, space.number)?.isReady === true
      this.#few = space.mean === null ? listVectors(base, space.number) : []
    }
    if (base.isPartial) return false
    this.#version = version
    return true
  }

  #loadBlocks(base: KnowledgeBase, { number, dimensions }: VectorSpace): void {
    if (this.#blocksVersion === this.#version) return
    const bytes = signBytes(dimensions)
    this.#scan ??= new HammingScan(bytes)
    const { all, changed } = readBlocks(base, number, this.#versions)
    if (base.isPartial) return
    const slots = (all.at(-1) ?? 0) * BLOCK_VECTORS
    this.#scan.reserve(slots)
    const ids = new Uint32Array(slots)
    ids.set(this.#ids.subarray(0, slots))
    const present = new Set(all)
    for (const known of [...this.#versions.keys()].filter((block) => !present.has(block))) {
      ids.fill(0, (known - 1) * BLOCK_VECTORS, known * BLOCK_VECTORS)
      this.#versions.delete(known)
    }
    for (const block of changed) {
      const at = (block.number - 1) * BLOCK_VECTORS
      ids.fill(0, at, at + BLOCK_VECTORS)
      // A block of another size stays empty until the space is dropped.
      if (block.bits.length === block.ids.length * bytes) {
        ids.set(block.ids, at)
        this.#scan.set(at, block.bits)
      }
      this.#versions.set(block.number, block.version)
    }
    this.#ids = ids
    this.#blocksVersion = this.#version
  }

  #forget(): void {
    this.#blocksVersion = -1
    this.#scan = undefined
    this.#versions.clear()
    this.#ids = new Uint32Array(0)
    this.#few = []
    this.#codes.clear()
  }
}
