import type { Language } from '../../../text/languages.ts'
import { hasIdIn, lowerBound } from '../index/ranges.ts'
import { listSegments, type Segment } from '../index/segments.ts'
import { all, together, type Work } from '../work.ts'
import { ByteCache, type CacheBudget } from './cache.ts'

/** A segment with its position among the slots. Slots number the passages of all segments, in order of their ids. */
export interface PlacedSegment {
  segment: Segment
  /** Slot of its first passage. */
  offset: number
  /** Identifies its lists. A new object replaces it when some of them are erased. */
  state: object
}

/** A passage as it is shown and scored. */
export interface FoundPassage {
  documentId: string
  title: string
  source: string
  metadata: string
  generation: number
  position: number
  heading: string
  page: number | null
  text: string
}

/** The version of a base. A change to what a search may read raises it. */
export const VERSION = 'SELECT version FROM {manifest}'

/** Ids of deleted passages, first to last. All before `erased` are erased. */
interface DeadRange {
  first: number
  last: number
  erased: number
}

interface LanguageRow {
  code: Language
  passages: number
}

/** Ignores languages with fewer passages and a smaller share: code, names and tables are mistaken for other languages. */
const FEW_PASSAGES = 5
const SMALL_SHARE = 0.01

function withoutMistaken(rows: readonly LanguageRow[]): Language[] {
  const sum = rows.reduce((total, { passages }) => total + passages, 0)
  return rows.filter(({ passages }) => passages >= FEW_PASSAGES || passages >= SMALL_SHARE * sum).map(({ code }) => code)
}

/** One version of an index: its segments, and what was computed from them. The segments never change. */
export class Snapshot {
  readonly version: number
  readonly segments: readonly PlacedSegment[]
  /** States of the segments. The same set object means the same lists at the same slots. */
  readonly states: ReadonlySet<object>
  /** Number of passages in the segments, including deleted ones. Document frequencies are relative to it. */
  readonly slots: number
  readonly averageGrams: number
  /** Languages of the passages, most frequent first. */
  readonly languages: Language[]
  /** 1 by slot of a deleted passage; undefined if there is none. */
  readonly dead: Uint8Array | undefined
  /** Next passage to erase, by first passage of a deleted range. */
  readonly erased: ReadonlyMap<number, number>
  /** Hidden slots, by filter. */
  readonly masks = new Map<string, Uint8Array>()
  /** By slot. */
  readonly passages: ByteCache<number, FoundPassage>
  /** Results about words and n-grams (see `IndexRead.remember`). */
  readonly memory: ByteCache<string, unknown>

  private constructor(version: number, rows: SnapshotRows, before: Snapshot | undefined, budget: CacheBudget) {
    const { segments, dead, languages } = rows
    const known = new Map(before?.segments.map((placed) => [placed.segment.number, placed]))
    const newlyErased = dead.filter((range) => range.erased > (before?.erased.get(range.first) ?? range.first))
    let offset = 0
    let grams = 0
    this.version = version
    this.segments = segments.map((segment) => {
      const old = known.get(segment.number)
      const isSame = old?.segment === segment && !newlyErased.some((range) => hasIdIn(segment.ids, range))
      const placed = { segment, offset, state: isSame ? old.state : {} }
      offset += segment.n
      grams += segment.grams
      return placed
    })
    const states = new Set(this.segments.map(({ state }) => state))
    this.states =
      before !== undefined && states.size === before.states.size && states.isSubsetOf(before.states) ? before.states : states
    this.slots = offset
    this.averageGrams = Math.max(1, grams / Math.max(1, offset))
    this.languages = withoutMistaken(languages)
    this.erased = new Map(dead.map((range) => [range.first, range.erased]))
    this.dead = this.#maskOf(dead)
    this.passages = new ByteCache(budget)
    this.memory = new ByteCache(budget)
  }

  /** Reads the current version. Reuses the segments of an earlier snapshot. */
  static *load(version: number, before: Snapshot | undefined, budget: CacheBudget): Work<Snapshot> {
    const [languages, dead, segments] = yield* together(
      all<LanguageRow>('SELECT code, passages FROM {language} ORDER BY passages DESC'),
      all<DeadRange>('SELECT first, last, erased FROM {dead}'),
      listSegments(new Map(before?.segments.map(({ segment }) => [segment.number, segment]))),
    )
    return new Snapshot(version, { segments, dead, languages }, before, budget)
  }

  /** Frees the caches. Questions that still use the snapshot can continue. */
  close(): void {
    this.passages.close()
    this.memory.close()
  }

  #maskOf(dead: readonly DeadRange[]): Uint8Array | undefined {
    if (dead.length === 0) return undefined
    const mask = new Uint8Array(this.slots)
    for (const { first, last } of dead)
      for (const { segment, offset } of this.segments) {
        if (segment.ids[0]! > last || segment.ids.at(-1)! < first) continue
        mask.fill(1, offset + lowerBound(segment.ids, first), offset + lowerBound(segment.ids, last + 1))
      }
    return mask
  }

  /** Returns the only segment that can contain the passage. */
  segmentOf(id: number): PlacedSegment | undefined {
    return this.segments.findLast(({ segment }) => segment.ids[0]! <= id)
  }

  slotOf(id: number): number | undefined {
    const place = this.segmentOf(id)
    if (place === undefined) return undefined
    const at = lowerBound(place.segment.ids, id)
    return place.segment.ids[at] === id ? place.offset + at : undefined
  }

  /** Returns the id of the passage in a slot. */
  idAt(slot: number): number {
    const place = this.segments.findLast(({ offset }) => offset <= slot)!
    return place.segment.ids[slot - place.offset]!
  }
}

interface SnapshotRows {
  segments: readonly Segment[]
  dead: readonly DeadRange[]
  languages: readonly LanguageRow[]
}
