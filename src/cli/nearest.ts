import { distance } from 'fastest-levenshtein'

/** A name this far from a known one, in letters, is a slip of it. */
const MAX_SLIP = 3

/** The known name that the given one is a slip of; undefined where none is near. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  // Two thirds of a word changed is another word.
  let least = Math.min(MAX_SLIP, Math.floor((given.length * 2) / 3)) + 1
  for (const name of known) {
    const slips = distance(given.toLowerCase(), name.toLowerCase())
    if (slips < least) {
      least = slips
      best = name
    }
  }
  return best
}

/** ` Did you mean "…"?`, or nothing. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearest(given, known)
  return name === undefined ? '' : ` Did you mean "${name}"?`
}
