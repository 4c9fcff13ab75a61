import type { KnowledgeBase } from '../base.ts'
import { bytesOf, type SqlValue } from '../rows.ts'
import type { Insertion } from '../statements.ts'
import { all, getMany, type Work } from '../work.ts'
import { letterOf, type SegmentBuilder, type Stream, streams } from './build.ts'
import { Bytes, toImpact } from './posting.ts'

const SEGMENT: Insertion = {
  into: 'segment',
  columns: ['first', 'n', 'ids', 'exact', 'stems', 'title', 'unspaced', 'grams'],
}

/** A row of `segment`: an index part without its lists. */
export interface Segment {
  number: number
  n: number
  /** Passage ids by local number, ascending. */
  ids: Uint32Array
  /** Totals of all its passages: terms by stream, and n-grams. */
  lengths: Record<Stream, number>
  grams: number
}

/** BM25's `b`: how much the length of a passage lowers a term's weight. Lower for titles, because a title is always short. */
const LENGTH_SHARE: Record<Stream, number> = { exact: 0.75, stems: 0.75, title: 0.4, unspaced: 0.75 }

interface SegmentRow {
  number: number
  n: number
  ids: Uint8Array
  exact: number
  stems: number
  title: number
  unspaced: number
  grams: number
}

/**
 * Returns all segments in order of passage ids, from `known` (by number) if possible: a segment never changes.
 * A number can be reused after a database server crash loses its segment, so `n` and `first` must match.
 */
export function* listSegments(known?: ReadonlyMap<number, Segment>): Work<Segment[]> {
  const listed = yield* all<{ number: number; first: number; n: number }>(
    'SELECT number, first, n FROM {segment} WHERE n > 0 ORDER BY first',
  )
  const isKnown = ({ number, first, n }: (typeof listed)[number]) => {
    const segment = known?.get(number)
    return segment !== undefined && segment.n === n && segment.ids[0] === first
  }
  const unknown = listed.filter((row) => !isKnown(row)).map(({ number }) => number)
  const rows = yield* getMany<SegmentRow>(
    'SELECT number, n, ids, exact, stems, title, unspaced, grams FROM {segment} WHERE number = ?',
    unknown.map((number) => [number]),
  )
  const read = new Map(rows.map((row) => [row!.number, toSegment(row!)]))
  return listed.map(({ number }) => read.get(number) ?? known!.get(number)!)
}

function toSegment(row: SegmentRow): Segment {
  return {
    number: row.number,
    n: row.n,
    ids: new Uint32Array(row.ids.buffer.slice(row.ids.byteOffset, row.ids.byteOffset + row.ids.byteLength)),
    lengths: { exact: row.exact, stems: row.stems, title: row.title, unspaced: row.unspaced },
    grams: row.grams,
  }
}

/** Returns the number and passage count of all segments. */
export function listSizes(base: KnowledgeBase): Pick<Segment, 'number' | 'n'>[] {
  return base.all('SELECT number, n FROM {segment} WHERE n > 0 ORDER BY first')
}

export const countSegments = (base: KnowledgeBase): number =>
  base.get<{ segments: number }>('SELECT count(*) AS segments FROM {segment} WHERE n > 0')!.segments

/** Inserts an empty segment, and returns its number. It is not part of the index while it is empty. */
export function insertSegment(base: KnowledgeBase): number {
  return base.insert(SEGMENT, ...toRow(NOTHING))
}

type Holding = Pick<Segment, 'ids' | 'lengths' | 'grams'>

const NOTHING: Holding = { ids: new Uint32Array(0), lengths: { exact: 0, stems: 0, title: 0, unspaced: 0 }, grams: 0 }

const toRow = ({ ids, lengths, grams }: Holding) => [
  ids[0] ?? 0,
  ids.length,
  bytesOf(ids),
  lengths.exact,
  lengths.stems,
  lengths.title,
  lengths.unspaced,
  grams,
]

/** Sets the contents of a segment; the default empties it. */
export function setSegment(base: KnowledgeBase, number: number, holding = NOTHING): void {
  base.update(
    'segment',
    { set: 'first = ?, n = ?, ids = ?, exact = ?, stems = ?, title = ?, unspaced = ?, grams = ?', where: 'number = ?' },
    ...toRow(holding),
    number,
  )
}

const LIST: Insertion = { into: 'post', columns: ['segment', 'key', 'df', 'last', 'data'] }
const LISTS_AT_ONCE = 320

/** Writes the lists of a segment, in order of their keys, many at a time. */
export class ListWriter {
  /** Data of the current list: write it here before `put`. */
  readonly data = new Bytes()
  readonly #base: KnowledgeBase
  readonly #segment: number
  #rows: SqlValue[][] = []
  #start = 0

  constructor(base: KnowledgeBase, segment: number) {
    this.#base = base
    this.#segment = segment
  }

  put(key: string, df: number, last: number): void {
    this.#rows.push([this.#segment, key, df, last, this.data.view(this.#start)])
    this.#start = this.data.length
    if (this.#rows.length === LISTS_AT_ONCE) this.flush()
  }

  /** Writes the remaining lists. Call it in the transaction of their `put` calls. */
  flush(): void {
    this.#base.insertMany(LIST, this.#rows)
    this.#rows = []
    this.data.clear()
    this.#start = 0
  }
}

/**
 * Writes the builder's lists as a new segment over the passages `ids`. Runs in the caller's transaction.
 * Impacts use the base's average lengths at this moment, which stay fixed in the segment.
 */
export function writeSegment(base: KnowledgeBase, builder: SegmentBuilder, ids: Uint32Array): void {
  const sums = Object.fromEntries(
    streams.map((stream) => [stream, builder.lengths[stream].reduce((a, b) => a + b, 0)]),
  ) as Record<Stream, number>
  const before = base.get<Record<Stream | 'n', number | null>>(
    'SELECT sum(n) AS n, sum(exact) AS exact, sum(stems) AS stems, sum(title) AS title, sum(unspaced) AS unspaced FROM {segment}',
  )!
  const number = insertSegment(base)
  setSegment(base, number, { ids, lengths: sums, grams: builder.grams })
  const passages = ids.length + (before.n ?? 0)
  const writer = new ListWriter(base, number)
  for (const stream of streams) {
    const average = Math.max(1, (sums[stream] + (before[stream] ?? 0)) / passages)
    const lists = builder.lists[stream]
    const lengths = builder.lengths[stream]
    const { numbers, packed, starts } = lists.byTerm()
    for (const n of numbers) {
      const list = packed.subarray(starts[n]!, starts[n + 1]!)
      const last = encode(list, writer.data, (local, times) => toImpact(times, lengths[local]!, average, LENGTH_SHARE[stream]))
      writer.put(letterOf[stream] + lists.terms[n]!, list.length, last)
    }
  }
  writer.flush()
}

/** Writes one list, and returns its last number. */
function encode(packed: Int32Array, data: Bytes, impact: (local: number, times: number) => number): number {
  for (const entry of packed) data.byte(impact(entry >>> 8, entry & 255))
  let last = -1
  for (const entry of packed) {
    data.varint((entry >>> 8) - last)
    last = entry >>> 8
  }
  return last
}
