import type { MetadataFilter } from '../../../core/agent.ts'
import type { Metadata } from '../../../core/document.ts'
import { all, type Work } from '../work.ts'

/** Documents read per query: the initial limit and the maximum. */
const FIRST_AT_ONCE = 20
const MOST_AT_ONCE = 3_000
/** Characters of metadata read per query: about 2 ms of work. */
const CHARS_AT_ONCE = 262_144
/** A turn ends after this time, and other questions run. */
const TURN_MS = 10
/** Finished filters of one agent that stay cached. */
const MAX_KEPT = 16
/** Unfinished filters of one agent: as many as questions that wait for them. */
const MAX_BEGUN = 1_000

/** The question needs another turn before it can be answered. Run it again; other questions may run first. */
export class NotYet extends Error {}

/** `changed` is greater than the base's version at any time before the document's change (see `changeDocument`). */
const SINCE = `SELECT number, changed, metadata, first, last FROM {document}
  WHERE (changed, number) > (?, ?) AND changed <= ? AND last >= first ORDER BY changed, number LIMIT ?`
/** Documents that changed after their transaction raised the version. */
const NEWEST = 'SELECT number, changed, metadata, first, last FROM {document} WHERE changed > ? AND last >= first'

interface DocumentRow {
  number: number
  changed: number
  metadata: string
  first: number
  last: number
}

/** The passages that match a filter, one bit per id. Ids of deleted passages are not removed. */
class Passing {
  #bits = new Uint8Array(1_024)

  has(id: number): boolean {
    return ((this.#bits[id >>> 3] ?? 0) & (1 << (id & 7))) !== 0
  }

  set(first: number, last: number, passes: boolean): void {
    if (last >>> 3 >= this.#bits.length) {
      const longer = new Uint8Array(2 * ((last >>> 3) + 1))
      longer.set(this.#bits)
      this.#bits = longer
    }
    for (let id = first; id <= last; id++) {
      if (passes) this.#bits[id >>> 3]! |= 1 << (id & 7)
      else this.#bits[id >>> 3]! &= ~(1 << (id & 7))
    }
  }
}

const charsOf = (rows: readonly DocumentRow[]): number => rows.reduce((sum, { metadata }) => sum + metadata.length, 0)

/** Returns true at the row whose metadata reaches `CHARS_AT_ONCE`: later rows may have far more metadata than earlier ones. */
function atMostChars(): (row: { metadata?: unknown }) => boolean {
  let chars = 0
  return ({ metadata }) => {
    chars += String(metadata).length
    return chars >= CHARS_AT_ONCE
  }
}

/** One filter and the progress of its scan over the documents, in order of their last change. */
class FilterState {
  readonly passing = new Passing()
  readonly #wanted: [key: string, values: Set<unknown>][]
  /** The last scanned document, in order of their changes. */
  #changed = -1
  #number = 0
  /** Number of documents that the next query reads. */
  #atOnce = FIRST_AT_ONCE

  constructor(filter: MetadataFilter) {
    this.#wanted = Object.entries(filter).map(([key, value]) => [key, new Set(Array.isArray(value) ? value : [value])])
  }

  /** Returns false if the scan is not finished after `turnMs`. */
  *advance(version: number, turnMs: number): Work<boolean> {
    const until = performance.now() + turnMs
    const newest = yield* all<DocumentRow>(NEWEST, version)
    for (;;) {
      const atOnce = this.#atOnce
      const params = [this.#changed, this.#number, version, atOnce]
      const [answer] = yield [{ sql: SINCE, params, isLast: atMostChars() }]
      const rows = answer as unknown as DocumentRow[]
      for (const row of rows) this.#lookAt(row)
      const last = rows.at(-1)
      if (last !== undefined) [this.#changed, this.#number] = [last.changed, last.number]
      const chars = charsOf(rows)
      if (rows.length < atOnce && chars < CHARS_AT_ONCE) break
      this.#atOnce = Math.min(
        MOST_AT_ONCE,
        2 * atOnce,
        Math.max(FIRST_AT_ONCE, Math.floor((CHARS_AT_ONCE * rows.length) / chars)),
      )
      if (performance.now() >= until) return false
    }
    for (const row of newest) this.#lookAt(row)
    return true
  }

  #lookAt({ metadata, first, last }: DocumentRow): void {
    this.passing.set(first, last, this.#passes(JSON.parse(metadata) as Metadata))
  }

  /** A document matches if each key of its metadata equals the value, or one of the values. */
  #passes(metadata: Metadata): boolean {
    return this.#wanted.every(([key, values]) => {
      if (!Object.hasOwn(metadata, key)) return false
      const held = metadata[key]!
      return Array.isArray(held) ? held.some((value) => values.has(value)) : values.has(held)
    })
  }
}

/** The filters of one agent's base. The first question with a filter scans all documents, over several turns. */
export class Filters {
  readonly #turnMs: number
  readonly #kept = new Map<string, FilterState>()
  readonly #begun = new Map<string, FilterState>()

  constructor(turnMs = TURN_MS) {
    this.#turnMs = turnMs
  }

  /** Returns the matching passages as of `version`. Call it within a read of that version. Throws `NotYet`. */
  *passing(filter: MetadataFilter, version: number): Work<{ has(id: number): boolean }> {
    const key = JSON.stringify(filter)
    const state = this.#kept.get(key) ?? this.#begun.get(key) ?? new FilterState(filter)
    // The state stays here while rows are fetched: a question that starts over must not start the scan over.
    if (!this.#kept.has(key)) put(this.#begun, key, state, MAX_BEGUN)
    if (!(yield* state.advance(version, this.#turnMs))) throw new NotYet()
    this.#begun.delete(key)
    put(this.#kept, key, state, MAX_KEPT)
    return state.passing
  }
}

function put<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key)
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > most) map.delete(oldest!)
}
