import { bytesOf, type KnowledgeBase, type SqlValue } from '../base.ts'
import { letterOf, type SegmentBuilder, type Stream, streams } from './build.ts'
import { Bytes, toImpact } from './posting.ts'

/** A row of `segment`: what an index part holds, without its lists. */
export interface Segment {
  number: number
  n: number
  /** Passage ids by local number, ascending. */
  ids: Uint32Array
  /** Terms over all its passages, by stream, and n-grams. */
  lengths: Record<Stream, number>
  grams: number
}

/** How much a long passage is held against a term. A title is short whatever it says. */
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
 * All segments, by the ids of their passages. Those in `known` (by number) are taken from there: a segment never changes. After a crash of a database server has lost
 * one, another may have its number.
 */
export function listSegments(base: KnowledgeBase, known?: ReadonlyMap<number, Segment>): Segment[] {
  const listed = base.all<{ number: number; first: number; n: number }>(
    'SELECT number, first, n FROM segment WHERE n > 0 ORDER BY first',
  )
  const numbers = listed.map(({ number }) => number)
  const isKnown = ({ number, first, n }: (typeof listed)[number]) => {
    const segment = known?.get(number)
    return segment !== undefined && segment.n === n && segment.ids[0] === first
  }
  const unknown = listed.filter((row) => !isKnown(row)).map(({ number }) => number)
  const rows = base.getMany<SegmentRow>(
    'SELECT number, n, ids, exact, stems, title, unspaced, grams FROM segment WHERE number = ?',
    unknown.map((number) => [number]),
  )
  const read = new Map(rows.map((row) => [row!.number, toSegment(row!)]))
  return numbers.map((number) => read.get(number) ?? known!.get(number)!)
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

/** All segments without their ids: number and passages. */
export function listSizes(base: KnowledgeBase): Pick<Segment, 'number' | 'n'>[] {
  return base.all('SELECT number, n FROM segment WHERE n > 0 ORDER BY first')
}

export const countSegments = (base: KnowledgeBase): number =>
  base.get<{ segments: number }>('SELECT count(*) AS segments FROM segment WHERE n > 0')!.segments

/** An empty one, which is no part of the index as long as it stays so. */
export function insertSegment(base: KnowledgeBase): number {
  return base.run(
    'INSERT INTO segment (first, n, ids, exact, stems, title, unspaced, grams) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ...toRow(NOTHING),
  )
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

/** What it holds from now on; left out: nothing. */
export function setSegment(base: KnowledgeBase, number: number, holding = NOTHING): void {
  base.run(
    'UPDATE segment SET first = ?, n = ?, ids = ?, exact = ?, stems = ?, title = ?, unspaced = ?, grams = ? WHERE number = ?',
    ...toRow(holding),
    number,
  )
}

const INSERT_LIST = 'INSERT INTO post (segment, key, df, last, data) VALUES (?, ?, ?, ?, ?)'
const LISTS_AT_ONCE = 320

/** Writes the lists of a segment, in order of their keys, many at a time. */
export class ListWriter {
  /** Of the list under way: what is written here is what `put` takes. */
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

  /** In the transaction of the lists put last. */
  flush(): void {
    this.#base.insertMany(INSERT_LIST, this.#rows)
    this.#rows = []
    this.data.clear()
    this.#start = 0
  }
}

/**
 * Writes what the builder collected as a new segment over the passages `ids`. In a transaction of the caller.
 * The average lengths that impacts are made with are those of the base at this moment, and stay frozen in the segment.
 */
export function writeSegment(base: KnowledgeBase, builder: SegmentBuilder, ids: Uint32Array): void {
  const sums = Object.fromEntries(
    streams.map((stream) => [stream, builder.lengths[stream].reduce((a, b) => a + b, 0)]),
  ) as Record<Stream, number>
  const before = base.get<Record<Stream | 'n', number | null>>(
    'SELECT sum(n) AS n, sum(exact) AS exact, sum(stems) AS stems, sum(title) AS title, sum(unspaced) AS unspaced FROM segment',
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

/** Writes one list; returns its last number. */
function encode(packed: Int32Array, data: Bytes, impact: (local: number, times: number) => number): number {
  for (const entry of packed) data.byte(impact(entry >>> 8, entry & 255))
  let last = -1
  for (const entry of packed) {
    data.varint((entry >>> 8) - last)
    last = entry >>> 8
  }
  return last
}
