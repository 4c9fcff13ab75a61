import { forEachNumber } from './posting.ts'

/** A range of passage ids, both ends included. */
export interface Range {
  first: number
  last: number
}

/** Returns the range that contains an id. The ranges must be sorted and must not overlap. */
export function rangeOf<T extends Range>(ranges: readonly T[], id: number): T | undefined {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ranges[middle]!.first <= id) low = middle + 1
    else high = middle
  }
  const range = ranges[low - 1]
  return range !== undefined && id <= range.last ? range : undefined
}

/** Returns true if every passage of an index list is in one of the ranges, which are sorted. `ids` are the passages of its segment. */
export function areAllIn(ranges: readonly Range[], ids: Uint32Array, { data, df }: { data: Uint8Array; df: number }): boolean {
  let at = 0
  let isIn = true
  forEachNumber(data, df, (local) => {
    if (!isIn) return
    const id = ids[local]!
    while (at < ranges.length && ranges[at]!.last < id) at++
    isIn = at < ranges.length && ranges[at]!.first <= id
  })
  return isIn
}

/** Returns the position of the first id that is at least `id`, from position `from` on. Fast if the result is near `from`. */
export function lowerBound(ids: Uint32Array, id: number, from = 0): number {
  let low = from
  let step = 1
  for (; low + step <= ids.length && ids[low + step - 1]! < id; step *= 2) low += step
  let high = Math.min(low + step, ids.length)
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns true if one of the ascending ids is in the range. */
export function hasIdIn(ids: Uint32Array, { first, last }: Range): boolean {
  const at = lowerBound(ids, first)
  return at < ids.length && ids[at]! <= last
}
