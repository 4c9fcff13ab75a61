import type { Run } from './analyse.ts'

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
