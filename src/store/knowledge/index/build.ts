import { type Analysis, analyse, type Language, type Token } from '../../../text/analyse.ts'
import { hashOf, type Run, runGrams, wordGramCount } from '../../../text/ngrams.ts'
import { Occurrences } from './occurrences.ts'

/** The parts of a passage that are indexed. */
export interface IndexedText {
  /** Title of the document. Its terms count twice, and once more in the `title` stream. */
  title: string
  /** The headings above the passage, indexed with the title. */
  heading: string
  text: string
  /** The languages that its document may be in, the most frequent first. Without them, all languages are possible. */
  languages?: readonly Language[]
}

export const streams = ['exact', 'stems', 'title', 'unspaced'] as const
export type Stream = (typeof streams)[number]

/** The first letter of a stream's keys. Streams are in order of their letters, so that a segment is written in key order. */
export const letterOf: Record<Stream, string> = { exact: 'e', stems: 's', title: 't', unspaced: 'u' }

/** Separates title and text in a forward row; no stem has this hash. */
export const SEPARATOR = 0

/** A power of two minus one, used as a bit mask. */
const PLACES = 0x7fff
/**
 * Cache by token hash: the numbers of the last exact word and stem, from any builder. Looking up each term by its letters costs more than all other work.
 * A number is valid only if the builder has the same term under it.
 */
const met = new Int32Array(2 * (PLACES + 1))

/** Collects the terms of passages, in order of their ids, into the lists of one segment. */
export class SegmentBuilder {
  readonly lists: Record<Stream, Occurrences> = {
    exact: new Occurrences(),
    stems: new Occurrences(),
    title: new Occurrences(),
    unspaced: new Occurrences(),
  }
  /** By number of the exact word: true if its script puts spaces between words. */
  readonly spaced: boolean[] = []
  /** Number of terms of each passage, by stream. */
  readonly lengths: Record<Stream, number[]> = { exact: [], stems: [], title: [], unspaced: [] }
  readonly languages = new Map<Language, number>()
  /** Number of n-grams of all passages. */
  grams = 0
  /** By number of the stem. */
  readonly #hashes: number[] = []
  #local = -1
  #title: { text: string; language: Language; analysis: Analysis } | undefined

  get size(): number {
    return this.#local + 1
  }

  /** Returns the number of distinct words, and of distinct pieces of text without spaces between words. */
  get terms(): { words: number; pieces: number } {
    return { words: this.lists.exact.terms.length, pieces: this.lists.unspaced.terms.length }
  }

  /** Adds a passage, and returns its forward row. */
  add(passage: IndexedText): Uint8Array {
    this.#local++
    for (const stream of streams) this.lists[stream].begin(this.#local)
    const body = analyse(passage.text, passage.languages)
    const title = this.#titleOf(passage, body.language)
    this.languages.set(body.language, (this.languages.get(body.language) ?? 0) + 1)
    const before = { exact: 0, stems: 0, title: 0, unspaced: 0 }
    const forward: number[] = []
    for (const token of title.tokens) {
      if (!token.stop) {
        before.title++
        this.lists.title.put(this.lists.title.numberOf(token.stem), 1)
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
    const { exact, stems } = this.lists
    const place = (token.hash & PLACES) * 2
    if (token.exact !== '') {
      if (token.spaced) this.grams += wordGramCount(token.exact) * times
      lengths.exact += times
      let number = met[place]!
      if (exact.terms[number] !== token.exact) {
        number = exact.numberOf(token.exact)
        met[place] = number
        if (number === this.spaced.length) this.spaced.push(token.spaced)
      }
      exact.put(number, times)
    }
    if (token.stop) return
    lengths.stems += times
    let number = met[place + 1]!
    if (stems.terms[number] !== token.stem) {
      number = stems.numberOf(token.stem)
      met[place + 1] = number
      if (number === this.#hashes.length) this.#hashes.push(hashOf(token.stem))
    }
    stems.put(number, times)
    forward.push(this.#hashes[number]!)
  }

  #run(run: Run, times: number): number {
    const grams = runGrams(run)
    const { unspaced } = this.lists
    for (const gram of grams) unspaced.put(unspaced.numberOf(gram), times)
    return grams.length * times
  }
}
