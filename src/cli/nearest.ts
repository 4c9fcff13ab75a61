import { distance } from 'fastest-levenshtein'

/** The largest edit distance, in letters, that counts as a typo. */
const MAX_SLIP = 3

/** Returns the known name that the given one is a typo of. Undefined if none is near. */
export function nearest(given: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  // A name with two thirds of its letters changed is another name.
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

/** Returns ` Did you mean "…"?` or an empty text. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearest(given, known)
  return name === undefined ? '' : ` Did you mean "${name}"?`
}
