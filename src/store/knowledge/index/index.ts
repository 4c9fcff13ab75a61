import type { KnowledgeBase } from '../base.ts'
import type { Insertion } from '../statements.ts'
import { eraseVectors } from '../vectors.ts'
import { drive } from '../work.ts'
import { type IndexedText, letterOf, SegmentBuilder, streams } from './build.ts'
import { areAllIn, lowerBound, type Range, rangeOf } from './ranges.ts'
import { listSegments, type Segment, writeSegment } from './segments.ts'
import { addToVocabulary, takeFromVocabulary } from './vocabulary.ts'

export interface NewPassage extends IndexedText {
  /** Number of its document. */
  document: number
  position: number
  page: number | null
}

/** Analysed passages, ready to be written in one transaction. */
export interface Batch {
  passages: NewPassage[]
  forward: Uint8Array[]
  builder: SegmentBuilder
}

export const newBatch = (): Batch => ({ passages: [], forward: [], builder: new SegmentBuilder() })

/** Analyses a passage and adds it to the batch. This is the costly part, so call it outside of transactions. */
export function addToBatch(batch: Batch, passage: NewPassage): void {
  batch.passages.push(passage)
  batch.forward.push(batch.builder.add(passage))
}

const PASSAGE: Insertion = {
  into: 'passage',
  columns: ['id', 'document', 'position', 'heading', 'page', 'text', 'forward'],
}

/** Writes a batch as passages and a segment, and returns the first of consecutive ids. `first`: a reserved id. Runs in the caller's transaction. */
export function writeBatch(
  base: KnowledgeBase,
  { passages, forward, builder }: Batch,
  first = base.reserve('passage', passages.length),
): number {
  if (passages.length === 0) return 0
  base.insertMany(
    PASSAGE,
    passages.map(({ document, position, heading, page, text }, i) => [
      first + i,
      document,
      position,
      heading,
      page,
      text,
      forward[i]!,
    ]),
  )
  writeSegment(
    base,
    builder,
    Uint32Array.from(passages, (_, i) => first + i),
  )
  addToVocabulary(base, builder)
  return first
}

/** Signals a change to readers. Runs in the transaction of the change. */
export function raiseVersion(base: KnowledgeBase): void {
  base.update('manifest', { set: 'version = version + 1' })
}

const DEAD: Insertion = {
  into: 'dead',
  columns: ['first', 'last', 'erased', 'staged', 'title'],
  onConflict: {
    key: ['first'],
    set: 'last = excluded.last, erased = excluded.erased, staged = excluded.staged, title = excluded.title',
  },
}

/** Marks a range of passages as deleted: hidden at once, and removed later by `eraseSome`. `title`: their indexed title. */
export function markDeleted(base: KnowledgeBase, first: number, last: number, title: string): void {
  if (last < first) return
  base.insert(DEAD, first, last, first, 0, title)
}

/** Hides passages that are not complete yet; `publish` makes them visible. After a crash they are erased. */
export function stage(base: KnowledgeBase, first: number, last: number, title: string): void {
  base.insert(DEAD, first, last, first, 1, title)
}

/** Returns true if exactly these passages are staged. A database server crash may have lost the last commits while this process keeps running. */
export const areStaged = (base: KnowledgeBase, first: number, last: number): boolean =>
  base.get('SELECT 1 FROM {dead} WHERE first = ? AND last = ? AND staged = 1', first, last) !== undefined

export function publish(base: KnowledgeBase, first: number): void {
  base.delete('dead', 'first = ? AND staged = 1', first)
}

/** Marks all staged passages as deleted. Runs in the caller's transaction. */
export function markStagedDeleted(base: KnowledgeBase): void {
  base.update('dead', { set: 'staged = 0', where: 'staged = 1' })
}

/** Marks passages that a crash left staged as deleted. Call it before anything else is staged. */
export function giveUpStaged(base: KnowledgeBase): void {
  if (base.get('SELECT 1 FROM {dead} WHERE staged = 1') !== undefined) base.write(() => markStagedDeleted(base))
}

interface DeadRow {
  first: number
  last: number
  erased: number
  title: string
}

export const isToErase = (base: KnowledgeBase): boolean => listToErase(base, 1).length > 0

const listToErase = (base: KnowledgeBase, most: number): DeadRow[] =>
  base.all<DeadRow>(
    'SELECT first, last, erased, title FROM {dead} WHERE staged = 0 AND erased <= last ORDER BY first LIMIT ?',
    most,
  )

/** Limits of one erase transaction: about 0.1 s of work. Each distinct word needs its own lookup. */
const ERASED = { stretches: 50, passages: 400, words: 2_000, pieces: 10_000 }
/** Lists read at once: one list can have more bytes than its segment has passages. */
const LISTS_AT_ONCE = 100
/** Bytes of lists deleted in one transaction. Other writes wait, because SQLite overwrites deleted bytes. */
const DELETED_BYTES = 2_000_000
/** A merge rewrites a segment with at least this share of deleted passages. */
export const MAX_DEAD_SHARE = 0.2

/**
 * Erases the next few deleted passages in one transaction: their rows, their words in the vocabulary, and lists with only deleted passages,
 * because the key of a list is a word. If these lists are too large, removes some lists and no passage. Returns false when nothing is left.
 */
export function eraseSome(base: KnowledgeBase, listBytes = DELETED_BYTES): boolean {
  const waiting = listToErase(base, ERASED.stretches)
  if (waiting.length === 0) return false
  const segments = drive(base, listSegments())
  /** Terms of the passages to erase now, by segment. */
  const builders = new Map<Segment | undefined, SegmentBuilder>()
  const room = { passages: ERASED.passages, words: ERASED.words, pieces: ERASED.pieces }
  const erased: { dead: DeadRow; upTo: number }[] = []
  for (const dead of waiting) {
    const upTo = collectTerms(base, dead, segments, builders, room)
    if (upTo !== undefined) erased.push({ dead, upTo })
    if (upTo !== dead.last) break
  }
  base.write(
    () => {
      const left = { bytes: listBytes }
      for (const [segment, builder] of builders) if (segment !== undefined && !dropDeadLists(base, segment, builder, left)) return
      for (const builder of builders.values()) takeFromVocabulary(base, builder)
      for (const { dead, upTo } of erased) {
        base.delete('passage', 'id BETWEEN ? AND ?', dead.erased, upTo)
        eraseVectors(base, dead.erased, upTo)
        base.update(
          'dead',
          { set: 'erased = ?, title = ?', where: 'first = ?' },
          upTo + 1,
          upTo === dead.last ? '' : dead.title,
          dead.first,
        )
      }
    },
    { durable: false },
  )
  return true
}

/** Collects the terms of a deleted range within the limits of `room`. Returns the last id that may be erased, or undefined. */
function collectTerms(
  base: KnowledgeBase,
  { erased, last, title }: DeadRow,
  segments: readonly Segment[],
  builders: Map<Segment | undefined, SegmentBuilder>,
  room: { passages: number; words: number; pieces: number },
): number | undefined {
  const most = room.passages
  const rows = base.all<{ id: number; text: string; heading: string }>(
    'SELECT id, text, heading FROM {passage} WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?',
    erased,
    last,
    most,
  )
  let upTo: number | undefined
  for (const { id, heading, text } of rows) {
    if (room.words <= 0 || room.pieces <= 0) return upTo
    const segment = segments.findLast(({ ids }) => ids[0]! <= id)
    const builder = builders.get(segment) ?? new SegmentBuilder()
    builders.set(segment, builder)
    const before = builder.terms
    builder.add({ title, heading, text })
    room.passages--
    room.words -= builder.terms.words - before.words
    room.pieces -= builder.terms.pieces - before.pieces
    upTo = id
  }
  return rows.length < most ? last : upTo
}

/** Removes these terms' lists in which all passages are deleted. Returns false if some may be left, because `left.bytes` is used up. */
function dropDeadLists(base: KnowledgeBase, { number, ids }: Segment, builder: SegmentBuilder, left: { bytes: number }): boolean {
  const ranges = listDead(base)
  const mostDead = ranges.reduce((sum, { first, last }) => sum + lowerBound(ids, last + 1) - lowerBound(ids, first), 0)
  // A merge rewrites the segment without them.
  if (mostDead >= ids.length * MAX_DEAD_SHARE) return true
  const keys = streams.flatMap((stream) => builder.lists[stream].terms.map((term) => letterOf[stream] + term))
  for (let from = 0; from < keys.length; from += LISTS_AT_ONCE) {
    const some = keys.slice(from, from + LISTS_AT_ONCE)
    const lists = base.getMany<{ df: number; data: Uint8Array }>(
      'SELECT df, data FROM {post} WHERE segment = ? AND key = ? AND df <= ?',
      some.map((key) => [number, key, mostDead]),
    )
    for (const [i, list] of lists.entries()) {
      if (list === undefined || !areAllIn(ranges, ids, list)) continue
      base.delete('post', 'segment = ? AND key = ?', number, some[i]!)
      left.bytes -= list.data.length
      if (left.bytes < 0) return false
    }
  }
  return true
}

const listDead = (base: KnowledgeBase): Range[] => base.all<Range>('SELECT first, last FROM {dead} ORDER BY first')

/** Returns a function that returns true for the ids of deleted passages. */
export function deathOf(base: KnowledgeBase): (id: number) => boolean {
  const ranges = listDead(base)
  return (id) => rangeOf(ranges, id) !== undefined
}
