import { sentences } from '../text/sentences.ts'

const WORD = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/gu
const MAX_CHARS = 600

/** Returns the sentence of a passage that shares the most words with a reply, verbatim. */
export function supportingText(passage: string, reply: string): string {
  const said = new Set(words(reply))
  let best = { shared: -1, start: 0, end: 0 }
  for (const { start, end } of sentences(passage)) {
    const shared = new Set(words(passage.slice(start, end)).filter((word) => said.has(word))).size
    if (shared > best.shared) best = { shared, start, end }
  }
  return passage.slice(best.start, Math.min(best.end, best.start + MAX_CHARS)).toWellFormed()
}

const words = (text: string): string[] => text.toLowerCase().match(WORD) ?? []
