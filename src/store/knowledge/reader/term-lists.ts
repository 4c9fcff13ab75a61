import type { Posting } from '../index/posting.ts'
import { getMany, type Work } from '../work.ts'
import type { ByteCache } from './cache.ts'
import type { PlacedSegment, Snapshot } from './snapshot.ts'

/** A term over the whole base. */
export interface TermLists {
  /** Number of passages that contain it, including deleted ones as in `Snapshot.slots`. */
  df: number
  parts: { posting: Posting; offset: number }[]
}

/** A list of a segment. A long list is read on demand. */
interface Head extends Omit<Posting, 'data'> {
  data: Uint8Array | null
}

/** The lists of a term in some segments. */
export interface Heads {
  df: number
  parts: { head: Head; segment: number; offset: number }[]
  /** The states of the segments that were searched. */
  states: ReadonlySet<object>
  /** By segment state. */
  heads: ReadonlyMap<object, Head>
  /** Set once the data of all heads is read. */
  lists?: TermLists
}

/** Heads by term. Entries survive changes of the base; lists of removed segments stay until the term is read again. */
export type HeadCache = ByteCache<string, Heads>

/** A list of more passages is read only to sum its impacts: it has its own database pages, and may be long. */
export const MOST_READ_AT_ONCE = 8_000
/** Overhead of a cache entry in bytes. */
export const ENTRY_BYTES = 200

/** A term with the segments whose lists are not known yet. */
export interface UnknownHeads {
  key: string
  known: Heads | undefined
  segments: readonly PlacedSegment[]
}

export function unknownHeads(key: string, known: Heads | undefined, { segments }: Snapshot): UnknownHeads {
  return { key, known, segments: segments.filter(({ state }) => known?.states.has(state) !== true) }
}

/** Reads the heads of terms in the segments where they are unknown. `mostReadAtOnce`: maximum `df` of a list that is read with its head. */
export function* readHeads(terms: readonly UnknownHeads[], snapshot: Snapshot, mostReadAtOnce: number): Work<Heads[]> {
  const rows = yield* getMany<Head>(
    `SELECT df, last, CASE WHEN df <= ${mostReadAtOnce} THEN data END AS data FROM {post} WHERE segment = ? AND key = ?`,
    terms.flatMap(({ key, segments }) => segments.map(({ segment }) => [segment.number, key])),
  )
  return toHeads(terms, rows, snapshot)
}

function toHeads(terms: readonly UnknownHeads[], rows: readonly (Head | undefined)[], snapshot: Snapshot): Heads[] {
  let at = 0
  return terms.map(({ known, segments }) => {
    const own = rows.slice(at, at + segments.length)
    at += segments.length
    const heads = new Map<object, Head>()
    for (const [i, head] of own.entries()) if (head !== undefined) heads.set(segments[i]!.state, head)
    const parts: Heads['parts'] = []
    let df = 0
    for (const { segment, state, offset } of snapshot.segments) {
      const head = heads.get(state) ?? known?.heads.get(state)
      if (head === undefined) continue
      heads.set(state, head)
      parts.push({ head, segment: segment.number, offset })
      df += head.df
    }
    return { df, parts, states: snapshot.states, heads }
  })
}

export const unreadParts = ({ parts }: Heads): Heads['parts'] => parts.filter(({ head }) => head.data === null)

/** Reads the data of all lists of these terms. */
export function* readData(terms: readonly { key: string; heads: Heads }[]): Work<void> {
  const unread = terms.flatMap(({ key, heads }) => unreadParts(heads).map((part) => ({ key, part })))
  const rows = yield* getMany<{ data: Uint8Array }>(
    'SELECT data FROM {post} WHERE segment = ? AND key = ?',
    unread.map(({ key, part }) => [part.segment, key]),
  )
  for (const [i, row] of rows.entries()) unread[i]!.part.head.data = row?.data ?? null
}

export function listsOf(heads: Heads): TermLists {
  heads.lists ??= {
    df: heads.df,
    parts: heads.parts.flatMap(({ head, offset }) => (head.data === null ? [] : [{ posting: head as Posting, offset }])),
  }
  return heads.lists
}

export const bytesOfHeads = ({ parts }: Heads): number =>
  parts.reduce((sum, { head }) => sum + (head.data?.length ?? 0) + ENTRY_BYTES, ENTRY_BYTES)
