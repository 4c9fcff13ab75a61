import { isUnspacedAt } from '../../text/scan.ts'

/**
 * Characters searched at the beginning and at the end of a long message, where the question is. A message may have 32,000 characters and a reply 200,000,
 * and each word costs a lookup.
 */
const SEARCHED_CHARS = 1_000
/** Weight of a character of a script without spaces: it is looked up alone and with its neighbours, five times in all. */
const UNSPACED_CHARS = 10

/** Returns the part of a message that is searched. */
export function searched(text: string): string {
  const head = reachOf(text, (i) => i)
  if (head === text.length) return text
  const tail = text.length - reachOf(text, (i) => text.length - 1 - i)
  return tail <= head ? text : `${text.slice(0, head)}\n${text.slice(tail)}`.toWellFormed()
}

/** Returns how many characters are searched. `at` maps their number to a position in the text. */
function reachOf(text: string, at: (i: number) => number): number {
  let chars = 0
  for (let i = 0; i < text.length; i++) {
    chars += isUnspacedAt(text, at(i)) ? UNSPACED_CHARS : 1
    if (chars > SEARCHED_CHARS) return i
  }
  return text.length
}
