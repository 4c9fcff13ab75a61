import type { KnowledgeBase } from '../base.ts'
import { type Bytes, numbersOf, type Posting } from './posting.ts'
import type { Segment } from './segments.ts'

const LISTS_A_PAGE = 500
/** If lists are long, fewer are read at once. */
const BYTES_A_PAGE = 1_000_000

export interface ListRow extends Posting {
  key: string
}

/** Reads the lists of a segment in order of their keys. */
export class Head {
  readonly part: PostingsPart
  readonly #segment: number
  #page: ListRow[] = []
  #at = 0
  #last = ''
  #isOver = false

  constructor(segment: number, part: PostingsPart) {
    this.#segment = segment
    this.part = part
  }

  /** Returns the current list; undefined after the last. */
  row(base: KnowledgeBase): ListRow | undefined {
    if (this.#at === this.#page.length && !this.#isOver) {
      this.#page = []
      this.#at = 0
      let bytes = 0
      const sql = 'SELECT key, df, last, data FROM {post} WHERE segment = ? AND key > ? ORDER BY key LIMIT ?'
      for (const list of base.iterate<ListRow>(sql, this.#segment, this.#last, LISTS_A_PAGE)) {
        this.#page.push(list)
        bytes += list.data.length
        if (bytes >= BYTES_A_PAGE) break
      }
      this.#last = this.#page.at(-1)?.key ?? this.#last
      this.#isOver = this.#page.length < LISTS_A_PAGE && bytes < BYTES_A_PAGE
    }
    return this.#page[this.#at]
  }

  next(): void {
    this.#at++
  }
}

export interface PostingsPart {
  ids: number[]
  /** Local number of its first passage in the merged segment. */
  offset: number
  /** Old local number → new one within the part, or -1 if deleted. Undefined if no passage is deleted. */
  locals: Int32Array | undefined
}

export function renumber(segment: Segment, isDead: (id: number) => boolean): PostingsPart {
  const ids: number[] = []
  const locals = new Int32Array(segment.n)
  for (let local = 0; local < segment.n; local++)
    locals[local] = isDead(segment.ids[local]!) ? -1 : ids.push(segment.ids[local]!) - 1
  return { ids, offset: 0, locals: ids.length === segment.n ? undefined : locals }
}

export interface Joined {
  df: number
  last: number
  impacts: Uint8Array[]
  gaps: Bytes
}

export function append(joined: Joined, row: ListRow, part: PostingsPart): void {
  const impacts = row.data.subarray(0, row.df)
  if (part.locals === undefined) {
    // No passage is deleted: copy the bytes, and adapt only the first gap to the end of the previous list.
    const first = firstGap(row.data, row.df)
    joined.gaps.varint(part.offset + first.gap - 1 - joined.last)
    joined.gaps.append(row.data.subarray(first.end))
    joined.impacts.push(impacts)
    joined.df += row.df
    joined.last = part.offset + row.last
    return
  }
  const kept: number[] = []
  let i = 0
  for (const local of numbersOf(row.data, row.df)) {
    const moved = part.locals[local]!
    if (moved >= 0) {
      joined.gaps.varint(part.offset + moved - joined.last)
      joined.last = part.offset + moved
      kept.push(impacts[i]!)
    }
    i++
  }
  joined.df += kept.length
  joined.impacts.push(Uint8Array.from(kept))
}

function firstGap(data: Uint8Array, start: number): { gap: number; end: number } {
  let at = start
  let byte = data[at++]!
  let gap = byte & 127
  for (let shift = 7; byte >= 128; shift += 7) {
    byte = data[at++]!
    gap |= (byte & 127) << shift
  }
  return { gap, end: at }
}

const SURROGATE = /[\ud800-\udfff]/

/** Compares in SQLite's order, by UTF-8 bytes. JavaScript's order differs outside the Basic Multilingual Plane. */
export function precedes(a: string, b: string): boolean {
  return SURROGATE.test(a) || SURROGATE.test(b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 : a < b
}
