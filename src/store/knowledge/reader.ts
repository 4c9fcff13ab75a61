import type { MetadataFilter } from '../../core/agent.ts'
import { gramHashes } from '../../text/analyse.ts'
import type { Language } from '../../text/languages.ts'
import { BaseGone, type KnowledgeBase } from './base.ts'
import { ByteCache, CacheBudget } from './cache.ts'
import { Filters, NotYet } from './filters.ts'
import type { Posting } from './index/posting.ts'
import { hasIdIn, lowerBound } from './index/ranges.ts'
import { listSegments, type Segment } from './index/segments.ts'
import { type SimilarWord, type SimilarWords, Vocabulary } from './index/spelling.ts'

/** A term over the whole base. Slots number the passages of all segments, in order of their ids. */
export interface TermLists {
  /** Number of passages that contain it, including deleted ones as in `slots`. */
  df: number
  parts: { posting: Posting; offset: number }[]
}

interface PlacedSegment {
  segment: Segment
  /** Slot of its first passage. */
  offset: number
  /** Identifies its lists. A new object replaces it when some of them are erased. */
  state: object
}

/** A list of a segment. A long list is read on demand. */
interface Head extends Omit<Posting, 'data'> {
  data: Uint8Array | null
}

/** The lists of a term in some segments. */
interface Heads {
  df: number
  parts: { head: Head; segment: number; offset: number }[]
  /** The states of the segments that were searched. */
  states: ReadonlySet<object>
  /** By segment state. */
  heads: ReadonlyMap<object, Head>
  /** Set once the data of all heads is read. */
  lists?: TermLists
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

/** Data for the detailed scoring of a candidate, as 16-bit hashes: stems of its title, 0, stems of its text; then n-grams. */
export interface Sketch {
  hashes: Uint16Array
  /** Start of the n-grams of the title, and of the text. */
  title: number
  text: number
}

/** Placeholders for rows that are not fetched yet. */
const NO_SKETCH: Sketch = { hashes: new Uint16Array(), title: 0, text: 0 }
const NO_PASSAGE: FoundPassage = {
  ...{ documentId: '', title: '', source: '{}', metadata: '{}', generation: 0, position: 0, heading: '', page: null, text: '' },
}
/** Overhead of a cache entry in bytes. */
const ENTRY_BYTES = 200
/** Bytes of one remembered object. */
const OBJECT_BYTES = 150
/** Maximum number of cached filter masks. */
export const MAX_MASKS = 16
/** A list of more passages is read only to sum its impacts: it has its own database pages, and may be long. */
const MOST_READ_AT_ONCE = 8_000
/** About 50 ms in a large base. A question of ten words makes a hundred lookups in each segment. */
const LOOKUPS_OF_TURN = 5_000
const MOST_YIELDS = 100
/** Entries of spelling lists that a question reads per turn: about 2 ms. */
const ENTRIES_OF_TURN = 500_000
/** A question of 2,000 characters reads up to 7 entries for each word of the vocabulary; suggested questions read 22. */
const MOST_ENTRIES_OF_QUESTION = 30_000_000
/** n-grams are counted only at the start of a long passage. */
const MAX_SKETCH_CHARS = 8_000

interface LanguageRow {
  code: Language
  passages: number
}

/** Ignores languages with fewer passages and a smaller share: code, names and tables are mistaken for other languages. */
const FEW_PASSAGES = 5
const SMALL_SHARE = 0.01

function withoutMistaken(rows: readonly LanguageRow[]): Language[] {
  const all = rows.reduce((sum, { passages }) => sum + passages, 0)
  return rows.filter(({ passages }) => passages >= FEW_PASSAGES || passages >= SMALL_SHARE * all).map(({ code }) => code)
}

/** Reads one agent's index. Each `read` sees one snapshot. */
export class KnowledgeIndex {
  readonly #base: KnowledgeBase
  readonly #mostReadAtOnce: number
  readonly #epoch: number
  readonly vocabulary: Vocabulary
  #version = -1
  #segments: PlacedSegment[] = []
  #states: ReadonlySet<object> = new Set()
  /** Next passage to erase, by first passage of a deleted range. */
  #erased = new Map<number, number>()
  #hidden: Uint8Array | undefined
  /** By term. Entries survive changes of the base; lists of removed segments stay until the term is read again. */
  readonly #lists: ByteCache<string, Heads>
  readonly #filters: Filters
  /** By filter, as of the version loaded. */
  #masks = new Map<string, Uint8Array>()
  /** By slot, as of the version loaded. */
  readonly #passages: ByteCache<number, FoundPassage>
  /** By passage id; the data of an id never changes. */
  readonly #sketches: ByteCache<number, Sketch>
  /** Remembers answers about words (see `remember`); emptied when the vocabulary may have changed. */
  readonly #memory: ByteCache<string, unknown>
  /** Words that were looked up for questions that are not answered yet. */
  readonly #lookedUp = new WeakMap<object, Map<string, SimilarWords>>()
  /** Words that were looked up for the current question. */
  #ownLookedUp: Map<string, SimilarWords> | undefined
  /** Entries of spelling lists that the current question needs, and how many of them do not come from `#memory`. */
  #spent = 0
  #spentNow = 0
  /** List lookups of the current question, and how often they caused `NotYet` since the last answer. */
  #lookups = 0
  #yields = 0
  /** Number of passages in the segments, including deleted ones. Document frequencies are relative to it. */
  slots = 0
  averageGrams = 1
  /** Languages of the passages, most frequent first. */
  languages: Language[] = []

  /** `mostReadAtOnce`: maximum number of passages of a list whose data is read with its `df`. */
  constructor(base: KnowledgeBase, budget = new CacheBudget(), mostReadAtOnce = MOST_READ_AT_ONCE) {
    this.#base = base
    this.#mostReadAtOnce = mostReadAtOnce
    this.#epoch = base.epoch
    this.vocabulary = new Vocabulary(base)
    this.#filters = new Filters(base)
    this.#lists = new ByteCache(budget)
    this.#passages = new ByteCache(budget)
    this.#sketches = new ByteCache(budget)
    this.#memory = new ByteCache(budget)
  }

  /**
   * `question`: the same object for each retry of a question after `NotYet`. Its looked-up words stay valid even if the base changes in between:
   * otherwise a question to a base that changes all the time might never be answered.
   */
  read<T>(work: () => T, question?: object): T {
    this.#ownLookedUp = question && (this.#lookedUp.get(question) ?? new Map())
    if (question !== undefined) this.#lookedUp.set(question, this.#ownLookedUp!)
    this.#spent = 0
    this.#spentNow = 0
    this.#lookups = 0
    const result = this.#base.read(() => {
      const version = this.#base.get<{ version: number }>('SELECT version FROM manifest')?.version
      if (version === undefined) throw new BaseGone()
      if (version !== this.#version) this.#load(version)
      return work()
    })
    this.#yields = 0
    return result
  }

  get base(): KnowledgeBase {
    return this.#base
  }

  /** True if the database may have lost data that was read. */
  get isOutdated(): boolean {
    return this.#base.epoch !== this.#epoch
  }

  close(): void {
    this.#base.close()
    this.forget()
  }

  /** Frees the caches. */
  forget(): void {
    for (const cache of [this.#lists, this.#passages, this.#sketches, this.#memory]) cache.close()
  }

  #load(version: number): void {
    this.#version = -1
    let offset = 0
    let grams = 0
    const before = new Map(this.#segments.map((placed) => [placed.segment.number, placed]))
    const languages = this.#base.all<LanguageRow>('SELECT code, passages FROM language ORDER BY passages DESC')
    const dead = this.#base.all<{ first: number; last: number; erased: number }>('SELECT first, last, erased FROM dead')
    const segments = listSegments(this.#base, new Map(before.entries().map(([number, { segment }]) => [number, segment])))
    if (this.#base.isPartial) return
    const erased = dead.filter((range) => range.erased > (this.#erased.get(range.first) ?? range.first))
    this.#erased = new Map(dead.map((range) => [range.first, range.erased]))
    this.#segments = segments.map((segment) => {
      const known = before.get(segment.number)
      const isSame = known?.segment === segment && !erased.some((range) => hasIdIn(segment.ids, range))
      const placed = { segment, offset, state: isSame ? known.state : {} }
      offset += segment.n
      grams += segment.grams
      return placed
    })
    this.slots = offset
    this.averageGrams = Math.max(1, grams / Math.max(1, offset))
    this.languages = withoutMistaken(languages)
    const states = new Set(this.#segments.map(({ state }) => state))
    // The same set object means the same lists (see `#heads`).
    if (states.size !== this.#states.size || !states.isSubsetOf(this.#states)) this.#states = states
    this.#hidden = this.#hiddenBy(dead)
    this.#passages.clear()
    this.#masks.clear()
    this.#memory.clear()
    this.#version = version
  }

  #hiddenBy(dead: readonly { first: number; last: number }[]): Uint8Array | undefined {
    if (dead.length === 0) return undefined
    const hidden = new Uint8Array(this.slots)
    for (const { first, last } of dead) this.#fill(hidden, first, last, 1)
    return hidden
  }

  /** Sets the slots of all passages with ids from `first` to `last`. */
  #fill(slots: Uint8Array, first: number, last: number, value: number): void {
    for (const { segment, offset } of this.#segments) {
      if (segment.ids[0]! > last || segment.ids.at(-1)! < first) continue
      slots.fill(value, offset + lowerBound(segment.ids, first), offset + lowerBound(segment.ids, last + 1))
    }
  }

  /** Throws `NotYet` if the filter must still scan documents. Call it before any other work for the question. */
  prepare(filter: MetadataFilter | null): void {
    this.hidden(filter)
  }

  /** Returns 1 by slot for each passage that must not be found; undefined if all may be found. Throws `NotYet`. */
  hidden(filter: MetadataFilter | null): Uint8Array | undefined {
    if (filter === null || Object.keys(filter).length === 0) return this.#hidden
    const key = JSON.stringify(filter)
    let mask = this.#masks.get(key)
    if (mask === undefined) {
      mask = this.#maskOf(filter)
      if (this.#base.isPartial) return mask
      if (this.#masks.size >= MAX_MASKS) this.#masks.clear()
      this.#masks.set(key, mask)
    }
    return mask
  }

  /**
   * Returns 1 by position for each id that must not be found or does not exist; undefined if all passages may be found.
   * Searches each id after the one before, because ids mostly ascend.
   */
  hiddenIds(ids: Uint32Array, filter: MetadataFilter | null): Uint8Array | undefined {
    const mask = this.hidden(filter)
    if (mask === undefined) return undefined
    const hidden = new Uint8Array(ids.length).fill(1)
    let held: Uint32Array = new Uint32Array()
    let offset = 0
    let local = 0
    for (let at = 0; at < ids.length; at++) {
      const id = ids[at]!
      const isHere = held[local]! <= id && id <= held[held.length - 1]!
      if (!isHere) {
        // In a block of vectors, 0 means no passage.
        const place = id === 0 ? undefined : this.#placeOf(id)
        if (place === undefined) continue
        held = place.segment.ids
        offset = place.offset
        local = 0
      }
      local = lowerBound(held, id, local)
      if (held[local] === id) hidden[at] = mask[offset + local]!
    }
    return hidden
  }

  slotOf(id: number): number | undefined {
    const place = this.#placeOf(id)
    if (place === undefined) return undefined
    const at = lowerBound(place.segment.ids, id)
    return place.segment.ids[at] === id ? place.offset + at : undefined
  }

  /** Returns the only segment that can contain the passage. */
  #placeOf(id: number): PlacedSegment | undefined {
    return this.#segments.findLast(({ segment }) => segment.ids[0]! <= id)
  }

  get version(): number {
    return this.#version
  }

  #maskOf(filter: MetadataFilter): Uint8Array {
    const passing = this.#filters.passing(filter, this.#version)
    const mask = this.#hidden?.slice() ?? new Uint8Array(this.slots)
    for (const { segment, offset } of this.#segments)
      for (const [i, id] of segment.ids.entries()) if (!passing.has(id)) mask[offset + i] = 1
    return mask
  }

  /** Returns the number of passages that contain a term. Does not read long lists. */
  frequency(key: string): number {
    return this.#heads(key).df
  }

  lists(key: string): TermLists {
    const heads = this.#heads(key)
    if (heads.lists !== undefined) return heads.lists
    const unread = heads.parts.filter(({ head }) => head.data === null)
    if (unread.length > 0) this.#readData(key, heads, unread)
    const parts = heads.parts.filter(({ head }) => head.data !== null)
    const lists = { df: heads.df, parts: parts.map(({ head, offset }) => ({ posting: head as Posting, offset })) }
    if (parts.length === heads.parts.length) heads.lists = lists
    return lists
  }

  #readData(key: string, heads: Heads, unread: Heads['parts']): void {
    this.#countLookups(unread.length)
    const found = this.#base.getMany<{ data: Uint8Array }>(
      'SELECT data FROM post WHERE segment = ? AND key = ?',
      unread.map(({ segment }) => [segment, key]),
    )
    for (const [i, row] of found.entries()) unread[i]!.head.data = row?.data ?? null
    this.#keep(key, heads)
  }

  #heads(key: string): Heads {
    const known = this.#lists.get(key)
    if (known?.states === this.#states) return known
    const unknown = this.#segments.filter(({ state }) => known?.states.has(state) !== true)
    this.#countLookups(unknown.length)
    const found = this.#base.getMany<Head>(
      `SELECT df, last, CASE WHEN df <= ${this.#mostReadAtOnce} THEN data END AS data FROM post WHERE segment = ? AND key = ?`,
      unknown.map(({ segment }) => [segment.number, key]),
    )
    const heads = new Map<object, Head>()
    for (const [i, head] of found.entries()) if (head !== undefined) heads.set(unknown[i]!.state, head)
    const parts: Heads['parts'] = []
    let df = 0
    for (const { segment, state, offset } of this.#segments) {
      const head = heads.get(state) ?? known?.heads.get(state)
      if (head === undefined) continue
      heads.set(state, head)
      parts.push({ head, segment: segment.number, offset })
      df += head.df
    }
    const all = { df, parts, states: this.#states, heads }
    this.#keep(key, all)
    return all
  }

  #keep(key: string, heads: Heads): void {
    if (this.#base.isPartial) return
    const bytes = heads.parts.reduce((sum, { head }) => sum + (head.data?.length ?? 0) + ENTRY_BYTES, ENTRY_BYTES)
    this.#lists.set(key, heads, bytes)
  }

  /** Throws `NotYet` if other questions come first. Lists found so far stay cached unless others need the space, so the retries end at some time. */
  #countLookups(segments: number): void {
    this.#lookups += segments
    if (this.#lookups <= LOOKUPS_OF_TURN || this.#base.isPartial || this.#yields >= MOST_YIELDS) return
    this.#yields++
    throw new NotYet()
  }

  /** Returns the number of passages with a 4-gram: slightly too high, but never above `slots`. */
  gramFrequency(gram: string): number {
    return this.remember(`g${gram}`, () =>
      Math.min(this.slots, this.#base.get<{ n: number }>('SELECT n FROM gram WHERE gram = ?', gram)?.n ?? 0),
    )
  }

  /** Returns what `find` returned for this key before, while the index has not changed. `sizeOf` says how many objects a value holds. */
  remember<T>(key: string, find: () => T, sizeOf: (value: T) => number = () => 0): T {
    let value = this.#memory.get(key) as T | undefined
    if (value === undefined) {
      value = find()
      if (this.#base.isPartial) return value
      this.#memory.set(key, value, ENTRY_BYTES + OBJECT_BYTES * sizeOf(value))
    }
    return value
  }

  /** See `Vocabulary.similar`. Returns undefined if the question has used up its lookups. Throws `NotYet` if other questions come first. */
  similar(word: string, leastShared: number, leastDice: number, most: number): SimilarWord[] | undefined {
    if (this.#spent >= MOST_ENTRIES_OF_QUESTION) return undefined
    const find = () => {
      if (this.#spentNow >= ENTRIES_OF_TURN) {
        if (!this.#base.isPartial) throw new NotYet()
        return { words: [], entries: 0 }
      }
      const found = this.vocabulary.similar(word, leastShared, leastDice, most)
      this.#spentNow += found.entries
      return found
    }
    const key = `n${most} ${word}`
    const found = this.#ownLookedUp?.get(key) ?? this.remember(key, find, ({ words }) => words.length)
    if (!this.#base.isPartial) this.#ownLookedUp?.set(key, found)
    this.#spent += found.entries
    return found.words
  }

  passage(slot: number): FoundPassage {
    const known = this.#passages.get(slot)
    if (known !== undefined) return known
    const row = this.#base.get<FoundPassage>(
      `SELECT d.id AS "documentId", d.title, d.source, d.metadata, d.generation, p.position, p.heading, p.page, p.text
       FROM passage p JOIN document d ON d.number = p.document WHERE p.id = ?`,
      this.idAt(slot),
    )
    if (row === undefined) return NO_PASSAGE
    this.#passages.set(slot, row, 2 * (row.text.length + row.title.length + row.metadata.length) + ENTRY_BYTES)
    return row
  }

  sketch(slot: number): Sketch {
    const id = this.idAt(slot)
    const known = this.#sketches.get(id)
    if (known !== undefined) return known
    const row = this.#base.get<{ forward: Uint8Array; title: string; heading: string; text: string }>(
      'SELECT p.forward, d.indexed_title AS title, p.heading, p.text FROM passage p JOIN document d ON d.number = p.document WHERE p.id = ?',
      id,
    )
    if (row === undefined) return NO_SKETCH
    const titleGrams = gramHashes(`${row.title}\n${row.heading}`)
    const textGrams = gramHashes(row.text.slice(0, MAX_SKETCH_CHARS))
    const title = row.forward.length / 2
    const text = title + titleGrams.length
    const hashes = new Uint16Array(text + textGrams.length)
    new Uint8Array(hashes.buffer).set(row.forward)
    hashes.set(titleGrams, title)
    hashes.set(textGrams, text)
    const sketch: Sketch = { hashes, title, text }
    this.#sketches.set(id, sketch, 2 * hashes.length + ENTRY_BYTES)
    return sketch
  }

  /** Returns the id of the passage in a slot. */
  idAt(slot: number): number {
    const place = this.#segments.findLast(({ offset }) => offset <= slot)!
    return place.segment.ids[slot - place.offset]!
  }
}
