/** A posting list in memory: a one-byte impact for each of `df` passages (local numbers of a segment, ascending). */
export interface Posting {
  df: number
  /** The last local number in the list, from which a merge continues with the next list. */
  last: number
  /** `df` impacts, then `df` gaps as 7-bit varints, the first gap from -1. */
  data: Uint8Array
}

export const BM25_K1 = 1.2
/** The maximum score of a term before its idf, encoded as impact 255. */
export const MAX_IMPACT = BM25_K1 + 1

/** Returns BM25's term weight as one byte, at least 1. `b` says how much length counts. */
export function toImpact(tf: number, length: number, average: number, b: number): number {
  const weight = (tf * MAX_IMPACT) / (tf + BM25_K1 * (1 - b + (b * length) / average))
  return Math.min(255, Math.max(1, Math.round((255 / MAX_IMPACT) * weight)))
}

/** A byte buffer that grows as it is written. */
export class Bytes {
  #bytes = new Uint8Array(4096)
  length = 0

  byte(value: number): void {
    if (this.length === this.#bytes.length) this.#grow(1)
    this.#bytes[this.length++] = value
  }

  varint(value: number): void {
    let rest = value
    while (rest >= 128) {
      this.byte((rest & 127) | 128)
      rest >>>= 7
    }
    this.byte(rest)
  }

  append(bytes: Uint8Array): void {
    if (this.length + bytes.length > this.#bytes.length) this.#grow(bytes.length)
    this.#bytes.set(bytes, this.length)
    this.length += bytes.length
  }

  /** Returns a view of the bytes written from `start` on, valid until `clear`. */
  view(start = 0): Uint8Array {
    return this.#bytes.subarray(start, this.length)
  }

  clear(): void {
    this.length = 0
  }

  #grow(needed: number): void {
    const larger = new Uint8Array(Math.max(this.#bytes.length * 2, this.length + needed))
    larger.set(this.view())
    this.#bytes = larger
  }
}

/** Yields the numbers of a list of varint gaps that starts at byte `at` of `data`. */
export function* numbersOf(data: Uint8Array, at: number): Generator<number> {
  let number = -1
  for (let i = at; i < data.length; ) {
    let byte = data[i++]!
    let gap = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = data[i++]!
      gap |= (byte & 127) << shift
    }
    number += gap
    yield number
  }
}

/** Does the same without a generator, which can cost more than the work on the numbers. */
export function forEachNumber(data: Uint8Array, at: number, visit: (number: number) => void): void {
  let number = -1
  for (let i = at; i < data.length; ) {
    let byte = data[i++]!
    let gap = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = data[i++]!
      gap |= (byte & 127) << shift
    }
    number += gap
    visit(number)
  }
}

/** Adds `weight` times each impact to the slot of its passage, and `times` that score in `others`. `offset`: slot of the segment's first passage. */
export function accumulate(
  posting: Posting,
  weight: number,
  slots: Float32Array,
  offset: number,
  others?: Float32Array,
  times = 0,
): void {
  const { data, df } = posting
  const scale = (weight * MAX_IMPACT) / 255
  let slot = offset - 1
  for (let i = 0, at = df; i < df; i++) {
    let byte = data[at++]!
    let gap = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      byte = data[at++]!
      gap |= (byte & 127) << shift
    }
    slot += gap
    const score = data[i]! * scale
    slots[slot]! += score
    if (others !== undefined) others[slot]! += score * times
  }
}
