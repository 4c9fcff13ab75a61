import { isAscii } from './fold.ts'

export interface Run {
  text: string
  han: boolean
}

const SURROGATE = /[\ud800-\udfff]/

/** Returns all substrings of `size` characters, in order. Never splits a character beyond the basic plane. */
function pieces(text: string, size: number): string[] {
  const found: string[] = []
  if (SURROGATE.test(text)) {
    const characters = [...text]
    for (let i = 0; i + size <= characters.length; i++) found.push(characters.slice(i, i + size).join(''))
  } else for (let i = 0; i + size <= text.length; i++) found.push(text.slice(i, i + size))
  return found
}

/** Returns the 4-grams of a folded word with a boundary mark at both ends. A word of one or two letters is a single gram. */
export function wordGrams(word: string): string[] {
  const marked = `^${word}$`
  return marked.length <= 4 ? [marked] : pieces(marked, 4)
}

/** Counts the 4-grams of many words. */
export class GramCounts {
  /** By four ASCII characters packed into a number. Nearly all grams are ASCII, and numbers are faster than substrings. */
  readonly #plain = new Map<number, number>()
  readonly #others = new Map<string, number>()

  /** Counts each gram of a word `times` times. */
  add(word: string, times: number): void {
    if (word.length < 2 || !isAscii(word)) {
      for (const gram of wordGrams(word)) this.#others.set(gram, (this.#others.get(gram) ?? 0) + times)
      return
    }
    const marked = `^${word}$`
    let gram = 0
    for (let i = 0; i < marked.length; i++) {
      gram = ((gram << 7) | marked.charCodeAt(i)) & 0xfffffff
      if (i >= 3) this.#plain.set(gram, (this.#plain.get(gram) ?? 0) + times)
    }
  }

  /** Returns the grams with their counts, sorted. */
  inOrder(): [string, number][] {
    const all = new Map(this.#others)
    for (const [packed, n] of this.#plain) {
      const gram = String.fromCharCode(packed >>> 21, (packed >>> 14) & 127, (packed >>> 7) & 127, packed & 127)
      all.set(gram, (all.get(gram) ?? 0) + n)
    }
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1))
  }
}

/** Returns the approximate number of 4-grams of `wordGrams`. */
export const wordGramCount = (word: string): number => Math.max(1, word.length - 1)

/** Returns substrings of a run without spaces: 1 to 3 characters for Han and Kana, 3 and 4 for other scripts. */
export function runGrams(run: Run): string[] {
  return run.han
    ? [...pieces(run.text, 1), ...pieces(run.text, 2), ...pieces(run.text, 3)]
    : [...pieces(run.text, 3), ...pieces(run.text, 4)]
}

/** Returns distinct 3-grams with boundary marks, by which the vocabulary is searched for similar spellings. */
export const spellingGrams = (word: string): string[] => [...new Set(pieces(`^${word}$`, 3))]

/** Returns a 16-bit hash, never 0. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < term.length; i++) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193)
  return ((hash >>> 16) ^ hash) & 0xffff || 1
}

/** As `hashOf`, for the units from `start` to `end`. */
export function hashOfUnits(units: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ units[i]!, 0x01000193)
  return ((hash >>> 16) ^ hash) & 0xffff || 1
}
