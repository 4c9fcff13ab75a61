import { MAX_MASKS } from '../../../store/knowledge/reader/index-read.ts'
import { BLOCK_VECTORS, readBlocks } from '../../../store/knowledge/vector-blocks.ts'
import type { VectorSpace } from '../../../store/knowledge/vectors.ts'
import type { Work } from '../../../store/knowledge/work.ts'
import { HammingScan } from './hamming.ts'
import { signBytes } from './quantise.ts'

/**
 * Vectors that are compared in full. With more dimensions, signs are more precise, so fewer are needed. At 384 dimensions, this many include the best ten of
 * 100,000 vectors in 98 of 100 cases; at more dimensions, more often.
 */
const closeLook = (dimensions: number): number => Math.max(150, Math.ceil((400 * 384) / dimensions))

/** If many vectors tie at the last distance, up to this many times as many are compared. */
const TIES = 4

/** A filter that hides passages. */
export interface Hide {
  /** Identifies the filter, as long as the index does not change. */
  key: string
  /** Takes ids that mostly ascend; 0 means no passage. Returns 1 for each hidden one; undefined if all are visible. */
  mask: (ids: Uint32Array) => Uint8Array | undefined
}

/** The signs of all vectors of a space, in blocks: one bit per dimension. */
export class SignBlocks {
  readonly space: VectorSpace
  readonly #scan: HammingScan
  /** Version of the index whose blocks are loaded. */
  #version = -1
  /** Versions of the blocks by number. */
  readonly #versions = new Map<number, number>()
  /** Passage ids by slot. Each block has its own slots; 0 means no vector. */
  #ids = new Uint32Array(0)
  /** Hidden slots by the key of the filter, in the loaded version. */
  readonly #masks = new Map<string, Uint8Array | undefined>()

  constructor(space: VectorSpace) {
    this.space = space
    this.#scan = new HammingScan(signBytes(space.dimensions))
  }

  /** Loads the blocks of a version. They stay loaded until the caller yields. */
  *load(version: number): Work<void> {
    if (this.#version === version) return
    const { all, changed } = yield* readBlocks(this.space.number, this.#versions)
    const slots = (all.at(-1) ?? 0) * BLOCK_VECTORS
    this.#scan.reserve(slots)
    const ids = new Uint32Array(slots)
    ids.set(this.#ids.subarray(0, slots))
    const present = new Set(all)
    for (const known of [...this.#versions.keys()].filter((block) => !present.has(block))) {
      ids.fill(0, (known - 1) * BLOCK_VECTORS, known * BLOCK_VECTORS)
      this.#versions.delete(known)
    }
    const bytes = signBytes(this.space.dimensions)
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
    this.#masks.clear()
    this.#version = version
  }

  /** Returns the ids of the visible vectors with the fewest differing signs. */
  candidates(signs: Uint8Array, hide: Hide): number[] {
    const ids = this.#ids
    const hidden = this.#hidden(hide)
    const distances = this.#scan.distances(signs, ids.length)
    const isCandidate = (slot: number) => ids[slot] !== 0 && hidden?.[slot] !== 1
    const counts = new Uint32Array(signs.length * 8 + 1)
    for (let slot = 0; slot < ids.length; slot++) if (isCandidate(slot)) counts[distances[slot]!]!++
    let bound = -1
    let sum = 0
    const most = closeLook(this.space.dimensions)
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

  #hidden({ key, mask }: Hide): Uint8Array | undefined {
    if (this.#masks.has(key)) return this.#masks.get(key)
    const found = mask(this.#ids)
    if (this.#masks.size >= MAX_MASKS) this.#masks.clear()
    this.#masks.set(key, found)
    return found
  }
}
