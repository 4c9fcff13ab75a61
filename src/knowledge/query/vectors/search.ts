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
 * Vectors that are compared in full: the more dimensions, the more their signs tell. So many find the best ten of 100,000 in 98 of 100 cases
 * at 384 dimensions, and more often at more.
 */
const closeLook = (dimensions: number): number => Math.max(150, Math.ceil((400 * 384) / dimensions))

/** If many are as far away as the last of them, this many times as many are compared. */
const TIES = 4

/** What a vector kept at hand takes beside its bytes. */
const ENTRY_BYTES = 200

/** A passage whose vector is near that of the question. */
export interface Near {
  /** Of the passage. */
  id: number
  cosine: number
}

/** What may not be found. */
export interface Hide {
  /** Tells it from others, as long as the index does not change. */
  key: string
  /** For ids that mostly ascend, 0 among them for none: 1 for each that may not. Undefined where all may. */
  mask: (ids: Uint32Array) => Uint8Array | undefined
}

/**
 * Vectors of one base, as far as a question needs them in memory: a bit a dimension, or nothing where the database has an index over them.
 * Reads within the transaction of the caller.
 */
export class VectorSearch {
  #space: VectorSpace | undefined
  #version = -1
  /** The database has an index over the space. */
  #isIndexed = false
  /** Of the blocks that are loaded. */
  #blocksVersion = -1
  #scan: HammingScan | undefined
  readonly #versions = new Map<number, number>()
  /** Ids by slot; a block has its slots for itself, and 0 stands where there is no vector. */
  #ids = new Uint32Array(0)
  /** All vectors, while they are few. */
  #few: { id: number; code: Uint8Array }[] = []
  /** By id of the passage; one never changes. */
  readonly #codes: ByteCache<number, Uint8Array>
  /** By the key of what may not be found, as of the version loaded. */
  readonly #masks = new Map<string, Uint8Array | undefined>()

  constructor(budget = new CacheBudget()) {
    this.#codes = new ByteCache(budget)
  }

  close(): void {
    this.#codes.close()
  }

  /** The model whose vectors are searched; undefined where there are none. `version` is that of the index. */
  model(base: KnowledgeBase, version: number): string | undefined {
    this.#load(base, version)
    return this.#space?.model
  }

  /** The passages nearest to the question, best first. Nothing where the question has other dimensions. */
  nearest(base: KnowledgeBase, version: number, question: Float32Array, most: number, hide: Hide): Near[] {
    if (!this.#load(base, version)) return []
    const space = this.#space
    if (space === undefined || space.dimensions !== question.length) return []
    const unit = toUnit(question)
    return (this.#isIndexed && this.#toldByIndex(base, space, unit, most, hide)) || this.#compared(base, space, unit, most, hide)
  }

  /** Undefined where it tells of too few that may be found. */
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

  /** How near the question is to each of these passages, as far as they have vectors. */
  cosines(base: KnowledgeBase, question: Float32Array, ids: readonly number[]): Near[] {
    const space = this.#space
    if (space === undefined || space.dimensions !== question.length) return []
    const unit = toUnit(question)
    return this.#vectorsOf(base, space, ids).map(({ id, code }) => ({ id, cosine: cosine(unit, code) }))
  }

  /** Those of the passages that have one, in no order. */
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

  /** 1 for each slot, or each of the few, that may not be found. */
  #hidden(base: KnowledgeBase, { key, mask }: Hide): Uint8Array | undefined {
    if (this.#masks.has(key)) return this.#masks.get(key)
    const ids = this.#space?.mean === null ? Uint32Array.from(this.#few, ({ id }) => id) : this.#ids
    const found = mask(ids)
    if (base.isPartial) return found
    if (this.#masks.size >= MAX_MASKS) this.#masks.clear()
    this.#masks.set(key, found)
    return found
  }

  /** By the number of signs that differ. */
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
    // Equal passages have equal vectors: of many at the last distance, the first are as good as all.
    let room = most * TIES - (sum - (counts[bound] ?? 0))
    const near: number[] = []
    for (let slot = 0; slot < ids.length; slot++) {
      if (distances[slot]! > bound || !isCandidate(slot)) continue
      if (distances[slot]! < bound || room-- > 0) near.push(ids[slot]!)
    }
    return near
  }

  /** False where what is known is of an earlier state, in which there may have been another space. */
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
      // One of another size stays empty, until the space is dropped.
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
