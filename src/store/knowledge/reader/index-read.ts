import type { MetadataFilter } from '../../../core/agent.ts'
import type { Language } from '../../../text/languages.ts'
import type { ReadableBase } from '../base.ts'
import { lowerBound } from '../index/ranges.ts'
import { getMany, type Results, together, type Work } from '../work.ts'
import { NotYet } from './filters.ts'
import type { IndexCaches } from './index-caches.ts'
import { type Sketch, type SketchRow, toSketch } from './sketch.ts'
import type { FoundPassage, Snapshot } from './snapshot.ts'
import {
  bytesOfHeads,
  ENTRY_BYTES,
  type Heads,
  listsOf,
  readData,
  readHeads,
  type TermLists,
  type UnknownHeads,
  unknownHeads,
  unreadParts,
} from './term-lists.ts'
import { type Counted, type SimilarTo, type SimilarWord, type SimilarWords, type SpellingList, wordsOf } from './vocabulary.ts'

/** Bytes of one remembered object. */
const OBJECT_BYTES = 150
/** Maximum number of cached filter masks. */
export const MAX_MASKS = 16
/** About 50 ms in a large base. A question of ten words makes a hundred lookups in each segment. */
const LOOKUPS_OF_TURN = 5_000
const MOST_YIELDS = 100
/** Entries of spelling lists that a question reads per turn: about 2 ms. */
const ENTRIES_OF_TURN = 500_000
/** A question of 2,000 characters reads up to 7 entries for each word of the vocabulary; suggested questions read 22. */
const MOST_ENTRIES_OF_QUESTION = 30_000_000

const FROM_PASSAGE = 'FROM {passage p} JOIN {document d} ON d.number = p.document WHERE p.id = ?'
const PASSAGE = 'd.id AS "documentId", d.title, d.source, d.metadata, d.generation, p.position, p.heading, p.page, p.text'
const SELECT_PASSAGE = `SELECT ${PASSAGE} ${FROM_PASSAGE}`
const SELECT_SKETCH = `SELECT p.forward, d.indexed_title AS "indexedTitle", p.heading, p.text ${FROM_PASSAGE}`
const SELECT_BOTH = `SELECT p.forward, d.indexed_title AS "indexedTitle", ${PASSAGE} ${FROM_PASSAGE}`

/**
 * One question's view of an index. It reads one snapshot. The methods that begin with `load` read from the base, for many keys at once;
 * the other methods return what was loaded, and throw if it was not.
 */
export class IndexRead {
  readonly #caches: IndexCaches
  readonly snapshot: Snapshot
  /** True if each yield costs a round trip: then rows are better read early than one after the other. */
  readonly isRemote: boolean
  readonly #heads = new Map<string, Heads>()
  readonly #words = new Map<string, number>()
  readonly #grams = new Map<string, number>()
  readonly #passages = new Map<number, FoundPassage>()
  readonly #sketches = new Map<number, Sketch>()
  readonly #masks = new Map<string, Uint8Array | undefined>()
  /** Similar words of this question, also from earlier turns. */
  readonly #lookedUp: Map<string, SimilarWords>
  /** Entries of spelling lists that the question needs, and how many of them were read in this turn. */
  #spent = 0
  #spentNow = 0
  /** List lookups of this turn. */
  #lookups = 0
  /** The lists for `similar` that were loaded early, and the words that they are for. */
  readonly #spelling = new Map<string, SpellingList>()
  readonly #spelledWords = new Set<string>()
  /** True if the lengths of all words are loaded. */
  #hasLengths = false

  constructor(caches: IndexCaches, snapshot: Snapshot, lookedUp: Map<string, SimilarWords>) {
    this.#caches = caches
    this.snapshot = snapshot
    this.isRemote = caches.base.isRemote
    this.#lookedUp = lookedUp
  }

  get version(): number {
    return this.snapshot.version
  }

  /** The base and its version. */
  get at(): { base: ReadableBase; version: number } {
    return { base: this.#caches.base, version: this.version }
  }

  /** See `Snapshot.slots`. */
  get slots(): number {
    return this.snapshot.slots
  }

  get languages(): Language[] {
    return this.snapshot.languages
  }

  /** Does several pieces of work: at the same time if that saves round trips. */
  *together<const W extends readonly Work<unknown>[]>(...works: W): Work<Results<W>> {
    if (this.isRemote) return yield* together(...works)
    const results: unknown[] = []
    for (const work of works) results.push(yield* work)
    return results as Results<W>
  }

  /** Loads the frequencies of terms, and short lists. Keys are letters of streams with terms (see `letterOf`). */
  *load(keys: Iterable<string>): Work<void> {
    const unknown = this.#unknownAmong(keys)
    if (unknown.length === 0) return
    for (const some of this.#portions(unknown, ({ segments }) => segments.length)) {
      const heads = yield* readHeads(some, this.snapshot, this.#caches.mostReadAtOnce)
      for (let i = 0; i < some.length; i++) this.#keep(some[i]!.key, heads[i]!)
    }
  }

  #unknownAmong(keys: Iterable<string>): UnknownHeads[] {
    const unknown = new Map<string, UnknownHeads>()
    for (const key of keys) {
      if (this.#heads.has(key)) continue
      const known = this.#caches.heads.get(key)
      if (known?.states === this.snapshot.states) this.#heads.set(key, known)
      else if (!unknown.has(key)) unknown.set(key, unknownHeads(key, known, this.snapshot))
    }
    return [...unknown.values()]
  }

  /** Loads the lists of terms whose frequencies are loaded. */
  *loadLists(keys: Iterable<string>): Work<void> {
    const unread = this.#unreadAmong(keys)
    for (const some of this.#portions(unread, ({ heads }) => unreadParts(heads).length)) {
      yield* readData(some)
      for (const { key, heads } of some) this.#keep(key, heads)
    }
  }

  #unreadAmong(keys: Iterable<string>): { key: string; heads: Heads }[] {
    const unread = new Map<string, Heads>()
    for (const key of keys) {
      const heads = this.#headsOf(key)
      if (heads.lists === undefined && unreadParts(heads).length > 0) unread.set(key, heads)
    }
    return [...unread].map(([key, heads]) => ({ key, heads }))
  }

  /** Returns the number of passages that contain a term. */
  frequency(key: string): number {
    return this.#headsOf(key).df
  }

  /** Returns the lists of a term that `loadLists` has loaded. */
  lists(key: string): TermLists {
    return listsOf(this.#headsOf(key))
  }

  #headsOf(key: string): Heads {
    return loaded(this.#heads.get(key), key)
  }

  #keep(key: string, heads: Heads): void {
    this.#heads.set(key, heads)
    this.#caches.heads.set(key, heads, bytesOfHeads(heads))
  }

  /**
   * Yields items that are looked up at once. Throws `NotYet` before a portion that exceeds the lookups of a turn. Lists found so far stay cached
   * unless others need the space, so the retries end at some time.
   */
  *#portions<T>(items: readonly T[], lookupsOf: (item: T) => number): Generator<T[]> {
    for (let from = 0; from < items.length; ) {
      let to = from
      do this.#lookups += lookupsOf(items[to++]!)
      while (to < items.length && (this.isRemote || this.#lookups + lookupsOf(items[to]!) <= LOOKUPS_OF_TURN))
      if (!this.isRemote && this.#lookups > LOOKUPS_OF_TURN && this.#caches.yields < MOST_YIELDS) {
        this.#caches.yields++
        throw new NotYet()
      }
      yield items.slice(from, to)
      from = to
    }
  }

  /** Loads the number of passages with each 4-gram. */
  *loadGrams(grams: Iterable<string>): Work<void> {
    yield* this.#loadCounts('SELECT n FROM {gram} WHERE gram = ?', this.#grams, 'g', grams)
  }

  /** Returns the number of passages with a 4-gram: slightly too high, but never above `slots`. */
  gramFrequency(gram: string): number {
    return Math.min(this.slots, loaded(this.#grams.get(gram), gram))
  }

  /** Loads the number of passages that contain each word, as it is spelled. */
  *loadWords(words: Iterable<string>): Work<void> {
    yield* this.#loadCounts('SELECT df AS n FROM {word} WHERE word = ?', this.#words, 'w', words)
  }

  wordFrequency(word: string): number {
    return loaded(this.#words.get(word), word)
  }

  /** Puts the counts of these keys into `counts`, 0 for a key without a row. Remembers them under `kind`. */
  *#loadCounts(sql: string, counts: Map<string, number>, kind: string, keys: Iterable<string>): Work<void> {
    const unknown = new Set<string>()
    for (const key of keys) {
      if (counts.has(key)) continue
      const known = this.snapshot.memory.get(kind + key) as number | undefined
      if (known === undefined) unknown.add(key)
      else counts.set(key, known)
    }
    const each = [...unknown].map((key) => [key])
    const rows = yield* getMany<{ n: number }>(sql, each)
    for (const [i, [key]] of each.entries()) {
      const n = rows[i]?.n ?? 0
      this.snapshot.memory.set(kind + key!, n, ENTRY_BYTES)
      counts.set(key!, n)
    }
  }

  /** Returns what `find` returned for this key before, while the index has not changed. `sizeOf` says how many objects a value holds. */
  *remember<T>(key: string, find: () => Work<T>, sizeOf: (value: T) => number = () => 0): Work<T> {
    const known = this.snapshot.memory.get(key) as T | undefined
    if (known !== undefined) return known
    const value = yield* find()
    this.snapshot.memory.set(key, value, ENTRY_BYTES + OBJECT_BYTES * sizeOf(value))
    return value
  }

  /** Loads the lists for `similar`, if that saves a round trip. */
  *loadSpelling(words: readonly string[]): Work<void> {
    if (!this.isRemote) return
    const lists = yield* this.#caches.vocabulary.lists(words, this.#hasLengths)
    this.#hasLengths = true
    for (const [gram, list] of lists) this.#spelling.set(gram, list)
    for (const word of words) this.#spelledWords.add(word)
  }

  /**
   * Returns words of the base with a similar spelling, most similar first. Undefined for a word for which the question has no lookups left.
   * Throws `NotYet` if other questions come first.
   */
  *similar(asked: readonly SimilarTo[]): Work<(SimilarWord[] | undefined)[]> {
    const keys = asked.map(({ word, most }) => `n${most} ${word}`)
    const found = keys.map((key) => this.#lookedUp.get(key) ?? (this.snapshot.memory.get(key) as SimilarWords | undefined))
    let spent = found.reduce((sum, words) => sum + (words?.entries ?? 0), this.#spent)
    let unknown = [...asked.keys()].filter((i) => found[i] === undefined)
    while (unknown.length > 0 && spent < MOST_ENTRIES_OF_QUESTION) {
      if (this.#spentNow >= ENTRIES_OF_TURN) throw new NotYet()
      const some = (this.isRemote ? unknown : unknown.slice(0, 1)).map((i) => asked[i]!)
      const counted = yield* this.#count(some)
      const all = yield* wordsOf(counted)
      for (const [n, words] of all.entries()) {
        const i = unknown[n]!
        found[i] = words
        spent += words.entries
        this.#spentNow += words.entries
        this.#lookedUp.set(keys[i]!, words)
        this.snapshot.memory.set(keys[i]!, words, ENTRY_BYTES + OBJECT_BYTES * words.words.length)
      }
      unknown = unknown.slice(all.length)
    }
    return found.map((words, i) => this.#spend(keys[i]!, words))
  }

  *#count(asked: readonly SimilarTo[]): Work<Counted[]> {
    const { vocabulary } = this.#caches
    const words = asked.map(({ word }) => word)
    const isLoaded = words.every((word) => this.#spelledWords.has(word))
    const lists = isLoaded ? this.#spelling : yield* vocabulary.lists(words, this.#hasLengths)
    this.#hasLengths = true
    return vocabulary.count(asked, lists, ENTRIES_OF_TURN - this.#spentNow)
  }

  /** Returns undefined if the question has no lookups left. */
  #spend(key: string, words: SimilarWords | undefined): SimilarWord[] | undefined {
    if (words === undefined || this.#spent >= MOST_ENTRIES_OF_QUESTION) return undefined
    this.#spent += words.entries
    this.#lookedUp.set(key, words)
    return words.words
  }

  *loadPassages(slots: Iterable<number>): Work<void> {
    const unknown: number[] = []
    for (const slot of slots) {
      if (this.#passages.has(slot)) continue
      const known = this.snapshot.passages.get(slot)
      if (known === undefined) unknown.push(slot)
      else this.#passages.set(slot, known)
    }
    const rows = yield* getMany<FoundPassage>(
      SELECT_PASSAGE,
      unknown.map((slot) => [this.snapshot.idAt(slot)]),
    )
    for (const [i, row] of rows.entries()) this.#keepPassage(unknown[i]!, row!)
  }

  #keepPassage(slot: number, passage: FoundPassage): void {
    this.#passages.set(slot, passage)
    const chars = passage.text.length + passage.title.length + passage.metadata.length
    this.snapshot.passages.set(slot, passage, 2 * chars + ENTRY_BYTES)
  }

  passage(slot: number): FoundPassage {
    return loaded(this.#passages.get(slot), slot)
  }

  /** Loads the sketches of passages. If that costs a round trip, it loads the passages as well. */
  *loadSketches(slots: readonly number[]): Work<void> {
    const unknown: number[] = []
    for (const slot of slots) {
      if (this.#sketches.has(slot)) continue
      const known = this.#caches.sketches.get(this.snapshot.idAt(slot))
      if (known === undefined) unknown.push(slot)
      else this.#sketches.set(slot, known)
    }
    if (unknown.length === 0) return
    const ids = unknown.map((slot) => [this.snapshot.idAt(slot)] as const)
    const rows = yield* getMany<SketchRow & FoundPassage>(this.isRemote ? SELECT_BOTH : SELECT_SKETCH, ids)
    for (const [i, [id]] of ids.entries()) {
      const sketch = toSketch(rows[i]!)
      this.#sketches.set(unknown[i]!, sketch)
      this.#caches.sketches.set(id, sketch, 2 * sketch.hashes.length + ENTRY_BYTES)
      if (this.isRemote) this.#keepPassage(unknown[i]!, rows[i]!)
    }
  }

  sketch(slot: number): Sketch {
    return loaded(this.#sketches.get(slot), slot)
  }

  /** Loads which passages a filter hides. Throws `NotYet` if the filter must still scan documents: call it before any other work for the question. */
  *loadFilter(filter: MetadataFilter | null): Work<void> {
    if (isEmpty(filter)) return
    const key = JSON.stringify(filter)
    const { masks, dead, slots, segments } = this.snapshot
    let mask = masks.get(key)
    if (mask === undefined) {
      const passing = yield* this.#caches.filters.passing(filter!, this.version)
      mask = dead?.slice() ?? new Uint8Array(slots)
      for (const { segment, offset } of segments)
        for (const [i, id] of segment.ids.entries()) if (!passing.has(id)) mask[offset + i] = 1
      if (masks.size >= MAX_MASKS) masks.clear()
      masks.set(key, mask)
    }
    this.#masks.set(key, mask)
  }

  /** Returns 1 by slot for each passage that must not be found; undefined if all may be found. */
  hidden(filter: MetadataFilter | null): Uint8Array | undefined {
    if (isEmpty(filter)) return this.snapshot.dead
    const key = JSON.stringify(filter)
    return loaded(this.#masks.get(key), key)
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
        const place = id === 0 ? undefined : this.snapshot.segmentOf(id)
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
}

const isEmpty = (filter: MetadataFilter | null): boolean => filter === null || Object.keys(filter).length === 0

function loaded<T>(value: T | undefined, key: string | number): T {
  if (value === undefined) throw new Error(`${key} was not loaded before it was read`)
  return value
}
