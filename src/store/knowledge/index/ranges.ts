import { forEachNumber } from './posting.ts'

/** Passages by their ids, both ends included. */
export interface Range {
  first: number
  last: number
}

/** The range that holds an id, of such as lie apart from each other and are in order. */
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

/** Position of the first id that is not below `id`, none of those before `from` being one. Quick if it is near `from`. */
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

/** True where one of the ids, which ascend, lies in the range. */
export function hasIdIn(ids: Uint32Array, { first, last }: Range): boolean {
  const at = lowerBound(ids, first)
  return at < ids.length && ids[at]! <= last
}
