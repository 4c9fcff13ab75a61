import type { Passage } from '../../core/document.ts'
import { splitHeadings } from '../../core/headings.ts'
import type { KnowledgeBase } from '../../store/knowledge/base.ts'
import { listPassages } from '../../store/knowledge/tasks.ts'
import { detectLanguage, type Language } from '../../text/analyse.ts'

/** A passage before it is indexed. */
export type ReadPassage = Omit<Passage, 'id' | 'index'>

/** The passages of a document, in order. */
export interface PassageList {
  readonly length: number
  slice(start: number, end: number): ReadPassage[]
}

/** Passages of a list that are in memory at a time. */
const PAGE = 200
/** Typical characters of a passage with its headings. */
const PASSAGE_CHARS = 1_500

/** The passages of a document with a new title. Read from the store in pages, because a few large documents would fill the memory of the thread. */
export class StoredPassages implements PassageList {
  readonly length: number
  readonly #base: KnowledgeBase
  readonly #first: number

  constructor(base: KnowledgeBase, first: number, last: number) {
    this.#base = base
    this.#first = first
    this.length = last - first + 1
  }

  slice(start: number, end: number): ReadPassage[] {
    const stop = Math.min(end, this.length)
    const passages = listPassages(this.#base, this.#first + start, this.#first + stop - 1)
    if (passages.length < stop - start) throw new Error('Passages of a document with a new title are not in the store.')
    return passages
  }
}

/** Passages that are sampled per document, and characters per passage. */
const SAMPLED = 12
const SAMPLED_CHARS = 400
/** A language with a smaller share of a document is usually a detection error. */
const LEAST_SHARE = 0.2

/** Returns the languages of a document, most frequent first. Detection for a single short passage, table or code is often wrong. */
export function languagesOf(list: PassageList): Language[] {
  const chars = new Map<Language, number>()
  const step = Math.max(1, Math.ceil(list.length / SAMPLED))
  for (let at = 0; at < list.length; at += step) {
    const text = list.slice(at, at + 1)[0]!.text.slice(0, SAMPLED_CHARS)
    const language = detectLanguage(text)
    chars.set(language, (chars.get(language) ?? 0) + text.length)
  }
  const all = chars.values().reduce((sum, count) => sum + count, 0)
  return [...chars]
    .filter(([, count]) => count >= LEAST_SHARE * all)
    .sort(([, a], [, b]) => b - a)
    .map(([language]) => language)
}

/** Yields the passages from a position on, each with its position. */
export function* entriesFrom(list: PassageList, start: number): Generator<[position: number, passage: ReadPassage]> {
  for (let at = start; at < list.length; at += PAGE)
    for (const [i, passage] of list.slice(at, at + PAGE).entries()) yield [at + i, passage]
}

/** Returns the passages as one text. Adds the heading before a passage whose text does not contain it. */
export function textOf(list: PassageList): string {
  const parts: string[] = []
  let before = ''
  for (const [, { text, heading }] of entriesFrom(list, 0)) {
    const path = splitHeadings(heading)
    if (heading !== '' && heading !== before && !HEADING.test(text))
      parts.push(`${'#'.repeat(Math.min(6, path.length))} ${path.at(-1)}`)
    parts.push(text)
    before = heading
  }
  return parts.join('\n\n')
}

const HEADING = /^ {0,3}#{1,6}\s/m

/** Returns the characters of the texts and headings; an estimate for stored passages. */
export const charsOf = (list: PassageList): number =>
  list instanceof StoredPassages ? list.length * PASSAGE_CHARS : charsOfPassages(list.slice(0, list.length))

/** Characters that the list keeps in memory. */
export const heldCharsOf = (list: PassageList): number =>
  list instanceof StoredPassages ? Math.min(list.length, PAGE) * PASSAGE_CHARS : charsOf(list)

const charsOfPassages = (passages: readonly { text: string; heading: string }[]): number =>
  passages.reduce((sum, { text, heading }) => sum + text.length + heading.length, 0)
