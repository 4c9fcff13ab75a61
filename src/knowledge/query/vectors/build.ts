import { ReparteeError } from '../../../core/errors.ts'
import type { KnowledgeBase, TransactionOptions } from '../../../store/knowledge/base.ts'
import { raiseVersion } from '../../../store/knowledge/index/index.ts'
import { beginNear, fillNear, findNear, NEAR_SLICE, whyNoNear } from '../../../store/knowledge/postgres/pgvector.ts'
import { appendSigns, countSigns } from '../../../store/knowledge/vector-blocks.ts'
import {
  copyVectors,
  countVectors,
  dropSpace,
  embeddedOf,
  findSpace,
  hasOtherSizes,
  insertVectors,
  listSpaces,
  listUnembedded,
  listVectors,
  listVectorsBehind,
  makeLive,
  openSpace,
  presentOf,
  setSpace,
  type Unembedded,
  type VectorCopy,
  type VectorSpace,
} from '../../../store/knowledge/vectors.ts'
import { drive } from '../../../store/knowledge/work.ts'
import { codeBytes, fromCode, signBytes, toCode, toSigns, toUnit } from './quantise.ts'

/** The mean is computed from this many vectors. Fewer vectors are compared one by one. */
export const MEAN_OF = 1_000

/** Writing vectors does not wait for the lease of the base, and makes no work for the process that has the lease. */
const NO_WORK: TransactionOptions = { bringsWork: false }

/** Returns passages that still need a vector of this model. If none does, searches use the model's space from now on. */
export function takeUnembedded(base: KnowledgeBase, model: string, most: number): Unembedded[] {
  return base.write(() => {
    const space = openSoundSpace(base, model)
    const items = listUnembedded(base, space, most)
    if (items.length === 0 && !space.isLive && space.dimensions > 0) {
      makeLive(base, space)
      raiseVersion(base)
    }
    return items
  }, NO_WORK)
}

/** Returns the model's space. Drops and recreates a space with vectors of different lengths, from older versions. Call within a transaction. */
function openSoundSpace(base: KnowledgeBase, model: string): VectorSpace {
  const space = openSpace(base, model)
  const size = { code: codeBytes(space.dimensions), signs: signBytes(space.dimensions) }
  if (!hasOtherSizes(base, space, size)) return space
  dropSpace(base, space.number)
  raiseVersion(base)
  return openSpace(base, model)
}

/**
 * Stores the vectors of passages, which need not have length 1; null: the passage needs none. Returns false if the space was deleted, or has other
 * dimensions: then the model changed under its name, and a new space is begun. Throws `model_failed` if the vectors differ in dimensions.
 */
export function putVectors(
  base: KnowledgeBase,
  model: string,
  ids: readonly number[],
  vectors: readonly (Float32Array | null)[],
): boolean {
  const lengths = new Set(vectors.flatMap((vector) => (vector === null ? [] : [vector.length])))
  if (lengths.size > 1) throw new ReparteeError('model_failed', 'The embedding model returned vectors of different lengths.')
  return base.write(() => {
    const space = findSpace(base, model)
    if (space === undefined) return false
    const [dimensions = space.dimensions] = lengths
    if (space.dimensions !== 0 && space.dimensions !== dimensions) {
      dropSpace(base, space.number)
      raiseVersion(base)
      return false
    }
    // Since the request, some passages may have been deleted, and another process may have embedded others.
    const present = presentOf(base, ids)
    const embedded = embeddedOf(base, space.number, ids)
    const rows = ids.flatMap((id, i) => {
      const vector = vectors[i] ?? null
      return vector === null || !present.has(id) || embedded.has(id) ? [] : [{ id, unit: toUnit(vector) }]
    })
    insertVectors(
      base,
      space,
      rows.map(({ id, unit }) => ({ id, code: toCode(unit) })),
    )
    const upto = Math.max(space.upto, ...ids)
    const grown = { ...space, dimensions, upto }
    if (space.mean !== null)
      appendSigns(
        base,
        space.number,
        rows.map(({ id, unit }) => ({ id, bits: toSigns(unit, space.mean!) })),
      )
    else grown.mean = foundMean(base, grown)
    setSpace(base, grown)
    raiseVersion(base)
    return true
  }, NO_WORK)
}

export type NearProgress = 'more' | 'done' | { impossible: string }

/** Adds vectors of a large base to the database's own index, a slice at each call, if it supports one. Searches use the index once it is complete. */
export function growNear(base: KnowledgeBase, model: string): NearProgress {
  const { near } = base
  if (near === undefined) return 'done'
  return base.write((): NearProgress => {
    const space = findSpace(base, model)
    if (space === undefined || !space.isLive) return 'done'
    const index = drive(base, findNear(space.number))
    if (index?.isReady) return 'done'
    if (index === undefined) {
      if (countSigns(base, space.number) < near.from) return 'done'
      const impossible = whyNoNear(near, space.dimensions)
      if (impossible !== undefined) return { impossible }
      beginNear(base, near, space)
      return 'more'
    }
    const rows = listVectorsBehind(base, space.number, index.upto, NEAR_SLICE)
    const isAll = rows.length < NEAR_SLICE
    fillNear(base, space, rows, isAll)
    if (isAll) raiseVersion(base)
    return isAll ? 'done' : 'more'
  }, NO_WORK)
}

/** Copies vectors of old passages to equal passages of a new version: embedding them again would cost. Call within a transaction. */
export function adoptVectors(base: KnowledgeBase, copies: readonly VectorCopy[]): void {
  if (copies.length === 0) return
  for (const space of listSpaces(base)) {
    const { number, dimensions, mean } = space
    const vectors = copyVectors(base, space, copies, codeBytes(dimensions))
    if (mean === null || vectors.length === 0) continue
    const ids = vectors.map(({ id }) => id)
    const units = vectors.map(({ code }) => fromCode(code, dimensions))
    appendSigns(base, number, toSignRows(ids, units, mean))
  }
}

const toSignRows = (ids: readonly number[], units: readonly Float32Array[], mean: Float32Array) =>
  ids.map((id, i) => ({ id, bits: toSigns(units[i]!, mean) }))

/** Returns null until there are enough vectors for a mean. Then stores the signs of all vectors. */
function foundMean(base: KnowledgeBase, { number, dimensions }: VectorSpace): Float32Array | null {
  if (countVectors(base, number, MEAN_OF) < MEAN_OF) return null
  const rows = drive(base, listVectors(number))
  const units = rows.map(({ code }) => fromCode(code, dimensions))
  const mean = new Float32Array(dimensions)
  for (const unit of units) for (let i = 0; i < dimensions; i++) mean[i]! += unit[i]! / units.length
  appendSigns(
    base,
    number,
    toSignRows(
      rows.map(({ id }) => id),
      units,
      mean,
    ),
  )
  return mean
}
