import { isAscii } from './fold.ts'

export interface Run {
  text: string
  han: boolean
}

const SURROGATE = /[\ud800-\udfff]/

/** All pieces of a text of so many characters, in order. A character beyond the basic plane is never cut in two. */
function pieces(text: string, size: number): string[] {
  const found: string[] = []
  if (SURROGATE.test(text)) {
    const characters = [...text]
    for (let i = 0; i + size <= characters.length; i++) found.push(characters.slice(i, i + size).join(''))
  } else for (let i = 0; i + size <= text.length; i++) found.push(text.slice(i, i + size))
  return found
}

/** 4-grams of a folded word with a boundary mark on both ends; a word of two letters or one is a single gram. */
export function wordGrams(word: string): string[] {
  const marked = `^${word}$`
  return marked.length <= 4 ? [marked] : pieces(marked, 4)
}

/** Counts the 4-grams of many words. */
export class GramCounts {
  /** By four characters of ASCII in one number: nearly all are such, and numbers are found sooner than pieces cut out of words. */
  readonly #plain = new Map<number, number>()
  readonly #others = new Map<string, number>()

  /** Counts each gram of a word so many times. */
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

  /** Each with its count, in their order. */
  inOrder(): [string, number][] {
    const all = new Map(this.#others)
    for (const [packed, n] of this.#plain) {
      const gram = String.fromCharCode(packed >>> 21, (packed >>> 14) & 127, (packed >>> 7) & 127, packed & 127)
      all.set(gram, (all.get(gram) ?? 0) + n)
    }
    return [...all].sort(([a], [b]) => (a < b ? -1 : 1))
  }
}

/** How many 4-grams `wordGrams` gives, give or take. */
export const wordGramCount = (word: string): number => Math.max(1, word.length - 1)

/** Pieces of a run without spaces: 1 to 3 characters of Han and Kana, 3 and 4 of the others. Never across runs. */
export function runGrams(run: Run): string[] {
  return run.han
    ? [...pieces(run.text, 1), ...pieces(run.text, 2), ...pieces(run.text, 3)]
    : [...pieces(run.text, 3), ...pieces(run.text, 4)]
}

/** 3-grams with boundary marks, each once: by these the vocabulary is searched for words spelt alike. */
export const spellingGrams = (word: string): string[] => [...new Set(pieces(`^${word}$`, 3))]

/** 16 bits, never 0. */
export function hashOf(term: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < term.length; i++) hash = Math.imul(hash ^ term.charCodeAt(i), 0x01000193)
  return ((hash >>> 16) ^ hash) & 0xffff || 1
}

/** The same of a term given as the UTF-16 units from `start` to `end`. */
export function hashOfUnits(units: Uint8Array, start: number, end: number): number {
  let hash = 0x811c9dc5
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ units[i]!, 0x01000193)
  return ((hash >>> 16) ^ hash) & 0xffff || 1
}
