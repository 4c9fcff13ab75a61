import type { KnowledgeBase } from './knowledge-base.ts'
import { letterOf, type SegmentBuilder, type Stream, streams } from './knowledge-build.ts'
import { Bytes, numbersOf, type Posting, toImpact } from './knowledge-posting.ts'

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

/** All segments, by the ids of their passages. Those in `known` (by number) are taken from there: a segment never changes. */
export function listSegments(base: KnowledgeBase, known?: ReadonlyMap<number, Segment>): Segment[] {
  const numbers = base.all<{ number: number }>('SELECT number FROM segment ORDER BY first').map(({ number }) => number)
  const unknown = numbers.filter((number) => known?.has(number) !== true)
  const rows = base.getMany<SegmentRow>(
    'SELECT number, n, ids, exact, stems, title, unspaced, grams FROM segment WHERE number = ?',
    unknown.map((number) => [number]),
  )
  const read = new Map(rows.map((row) => [row!.number, toSegment(row!)]))
  return numbers.map((number) => known?.get(number) ?? read.get(number)!)
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
  return base.all('SELECT number, n FROM segment ORDER BY first')
}

function insertSegment(base: KnowledgeBase, ids: Uint32Array, lengths: Record<Stream, number>, grams: number): number {
  return base.run(
    'INSERT INTO segment (first, n, ids, exact, stems, title, unspaced, grams) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
    ids[0]!,
    ids.length,
    new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength),
    lengths.exact,
    lengths.stems,
    lengths.title,
    lengths.unspaced,
    grams,
  )
}

const INSERT_LIST = 'INSERT INTO post (segment, key, df, last, data) VALUES (?, ?, ?, ?, ?)'

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
  const number = insertSegment(base, ids, sums, builder.grams)
  const passages = ids.length + (before.n ?? 0)
  for (const stream of streams) {
    const average = Math.max(1, (sums[stream] + (before[stream] ?? 0)) / passages)
    const lists = builder.lists[stream]
    const lengths = builder.lengths[stream]
    for (const term of [...lists.keys()].sort()) {
      const { packed } = lists.get(term)!
      const last = encode(packed, (local, times) => toImpact(times, lengths[local]!, average, LENGTH_SHARE[stream]))
      base.run(INSERT_LIST, number, letterOf[stream] + term, packed.length, last, scratch.view())
    }
  }
}

const scratch = new Bytes()

/** Fills `scratch` with one list; returns its last number. */
function encode(packed: readonly number[], impact: (local: number, times: number) => number): number {
  scratch.clear()
  for (const entry of packed) scratch.byte(impact(entry >>> 8, entry & 255))
  let last = -1
  for (const entry of packed) {
    scratch.varint((entry >>> 8) - last)
    last = entry >>> 8
  }
  return last
}

interface ListRow extends Posting {
  key: string
}

/**
 * Makes one segment of several neighbours, in a transaction of the caller, without the passages that `isDead`.
 * `reader` is a second connection to the same base: a cursor on the table that is being written would be moved by each row.
 */
export function mergeSegments(
  base: KnowledgeBase,
  reader: KnowledgeBase,
  segments: readonly Segment[],
  isDead: (id: number) => boolean,
): void {
  const parts = segments.map((segment) => renumber(segment, isDead))
  const kept = Uint32Array.from(parts.flatMap((part) => part.ids))
  if (kept.length > 0) {
    let offset = 0
    const lengths: Record<Stream, number> = { exact: 0, stems: 0, title: 0, unspaced: 0 }
    let grams = 0
    for (const [i, part] of parts.entries()) {
      part.offset = offset
      offset += part.ids.length
      // The lengths of the dead are not known one by one: they go in proportion.
      const share = part.ids.length / segments[i]!.n
      for (const stream of streams) lengths[stream] += Math.round(segments[i]!.lengths[stream] * share)
      grams += Math.round(segments[i]!.grams * share)
    }
    copyLists(base, reader, segments, parts, insertSegment(base, kept, lengths, grams))
  }
  for (const segment of segments) {
    base.run('DELETE FROM post WHERE segment = ?', segment.number)
    base.run('DELETE FROM segment WHERE number = ?', segment.number)
  }
}

interface Part {
  ids: number[]
  /** Local number of its first passage in the merged segment. */
  offset: number
  /** Old local number → new within the part, or -1; undefined where nobody is dead. */
  locals: Int32Array | undefined
}

function renumber(segment: Segment, isDead: (id: number) => boolean): Part {
  const ids: number[] = []
  const locals = new Int32Array(segment.n)
  for (let local = 0; local < segment.n; local++)
    locals[local] = isDead(segment.ids[local]!) ? -1 : ids.push(segment.ids[local]!) - 1
  return { ids, offset: 0, locals: ids.length === segment.n ? undefined : locals }
}

function copyLists(
  base: KnowledgeBase,
  reader: KnowledgeBase,
  segments: readonly Segment[],
  parts: readonly Part[],
  number: number,
): void {
  const heads = segments.map((segment, part) => {
    const rows = reader.iterate<ListRow>('SELECT key, df, last, data FROM post WHERE segment = ? ORDER BY key', segment.number)
    return { rows, part: parts[part]!, row: rows.next().value as ListRow | undefined }
  })
  for (;;) {
    let key: string | undefined
    for (const head of heads) if (head.row !== undefined && (key === undefined || precedes(head.row.key, key))) key = head.row.key
    if (key === undefined) return
    const joined: { df: number; last: number; impacts: Uint8Array[]; gaps: Bytes } = {
      df: 0,
      last: -1,
      impacts: [],
      gaps: joinedGaps,
    }
    joinedGaps.clear()
    for (const head of heads) {
      if (head.row?.key !== key) continue
      append(joined, head.row, head.part)
      const next = head.rows.next()
      head.row = next.done ? undefined : (next.value as ListRow)
    }
    if (joined.df === 0) continue
    scratch.clear()
    for (const impacts of joined.impacts) scratch.append(impacts)
    scratch.append(joined.gaps.view())
    base.run(INSERT_LIST, number, key, joined.df, joined.last, scratch.view())
  }
}

const joinedGaps = new Bytes()

function append(joined: { df: number; last: number; impacts: Uint8Array[]; gaps: Bytes }, row: ListRow, part: Part): void {
  const impacts = row.data.subarray(0, row.df)
  if (part.locals === undefined) {
    // Nobody is dead: the bytes are copied, and only the first gap is told from where the list before ended.
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

/** The order of SQLite, that of UTF-8 bytes; JavaScript's differs from it beyond the basic plane. */
function precedes(a: string, b: string): boolean {
  return SURROGATE.test(a) || SURROGATE.test(b) ? Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0 : a < b
}
