import { isUnspacedAt } from '../../text/scan.ts'

/**
 * Of a long message its beginning and its end are searched, where what is asked stands; of each so many characters. A message may hold 32,000 and a
 * reply 200,000, and each word of them is looked up.
 */
const SEARCHED_CHARS = 1_000
/** One of a script without spaces counts as so many: it is looked up alone and with its neighbours, five times in all. */
const UNSPACED_CHARS = 10

/** The part of a message that is searched. */
export function searched(text: string): string {
  const head = reachOf(text, (i) => i)
  if (head === text.length) return text
  const tail = text.length - reachOf(text, (i) => text.length - 1 - i)
  return tail <= head ? text : `${text.slice(0, head)}\n${text.slice(tail)}`.toWellFormed()
}

/** How many of the characters, at the places that `at` tells, are searched. */
function reachOf(text: string, at: (i: number) => number): number {
  let chars = 0
  for (let i = 0; i < text.length; i++) {
    chars += isUnspacedAt(text, at(i)) ? UNSPACED_CHARS : 1
    if (chars > SEARCHED_CHARS) return i
  }
  return text.length
}
