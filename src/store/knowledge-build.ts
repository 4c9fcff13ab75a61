import { type Analysis, analyse, type Language, type Run, type Token } from '../text/analyse.ts'
import { hashOf, runGrams, wordGramCount } from '../text/ngrams.ts'

/** What is indexed of a passage. */
export interface IndexedText {
  /** Of the document. Counts twice, and once more in a stream of its own. */
  title: string
  /** The headings above the passage; taken with the title. */
  heading: string
  text: string
}

/** A term's passages in the making: local number × 256 + times, ascending. */
export interface Entries {
  packed: number[]
  hash: number
  spaced: boolean
}

export const streams = ['exact', 'stems', 'title', 'unspaced'] as const
export type Stream = (typeof streams)[number]

/** The letter that a stream's keys start with. Streams stand in the order of their letters, so that a segment is written in key order. */
export const letterOf: Record<Stream, string> = { exact: 'e', stems: 's', title: 't', unspaced: 'u' }

const MAX_TIMES = 255
/** Between title and text in a forward row; no stem hashes to it. */
const SEPARATOR = 0

/** Collects the terms of passages, in order of their ids, into the lists of one segment. */
export class SegmentBuilder {
  readonly lists: Record<Stream, Map<string, Entries>> = {
    exact: new Map(),
    stems: new Map(),
    title: new Map(),
    unspaced: new Map(),
  }
  /** Terms of each passage, by stream. */
  readonly lengths: Record<Stream, number[]> = { exact: [], stems: [], title: [], unspaced: [] }
  readonly languages = new Map<Language, number>()
  /** n-grams of all passages. */
  grams = 0
  #local = -1
  #title: { text: string; language: Language; analysis: Analysis } | undefined

  get size(): number {
    return this.#local + 1
  }

  /** Returns the passage's forward row. */
  add(passage: IndexedText): Uint8Array {
    this.#local++
    const body = analyse(passage.text)
    const title = this.#titleOf(passage, body.language)
    this.languages.set(body.language, (this.languages.get(body.language) ?? 0) + 1)
    const before = { exact: 0, stems: 0, title: 0, unspaced: 0 }
    const forward: number[] = []
    for (const token of title.tokens) {
      if (!token.stop) {
        before.title++
        this.#put('title', token.stem, 1)
      }
      this.#token(token, 2, before, forward)
    }
    forward.push(SEPARATOR)
    for (const token of body.tokens) this.#token(token, 1, before, forward)
    for (const run of title.runs) before.unspaced += this.#run(run, 2)
    for (const run of body.runs) before.unspaced += this.#run(run, 1)
    for (const stream of streams) this.lengths[stream].push(before[stream])
    this.grams += before.unspaced
    const row = new Uint8Array(forward.length * 2)
    new Uint16Array(row.buffer).set(forward)
    return row
  }

  #titleOf(passage: IndexedText, language: Language): Analysis {
    const text = passage.heading === '' ? passage.title : `${passage.title}\n${passage.heading}`
    if (this.#title?.text !== text || this.#title.language !== language)
      this.#title = { text, language, analysis: analyse(text, language) }
    return this.#title.analysis
  }

  #token(token: Token, times: number, lengths: Record<Stream, number>, forward: number[]): void {
    if (token.exact !== '') {
      if (token.spaced) this.grams += wordGramCount(token.exact) * times
      lengths.exact += times
      this.#put('exact', token.exact, times, token.spaced)
    }
    if (token.stop) return
    lengths.stems += times
    forward.push(this.#put('stems', token.stem, times).hash)
  }

  #run(run: Run, times: number): number {
    const grams = runGrams(run)
    for (const gram of grams) this.#put('unspaced', gram, times)
    return grams.length * times
  }

  #put(stream: Stream, term: string, times: number, spaced = false): Entries {
    const lists = this.lists[stream]
    const known = lists.get(term)
    if (known === undefined) {
      const entries = { packed: [this.#local * 256 + times], hash: stream === 'stems' ? hashOf(term) : 0, spaced }
      lists.set(term, entries)
      return entries
    }
    const { packed } = known
    const end = packed.length - 1
    const last = packed[end]!
    if (last >>> 8 !== this.#local) packed.push(this.#local * 256 + times)
    else if ((last & 255) + times <= MAX_TIMES) packed[end] = last + times
    return known
  }
}
