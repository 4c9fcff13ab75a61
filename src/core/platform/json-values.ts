const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const SPACE = 0x20
const BRACKET = 0x5b
const BRACE = 0x7b
const END_OF_OBJECT = 0x7d
const BACKSLASH = 0x5c

/**
 * Returns true if a JSON text has more values than `most`. Counts arrays, objects and commas outside of strings.
 * This is much cheaper than parsing: 1 MB of empty objects takes about 20 MB and 100 ms to parse.
 */
export function hasMoreValues(json: string, most: number): boolean {
  if (json.length <= most) return false
  let count = 0
  for (let i = 0; i < json.length; i++) {
    const char = json.charCodeAt(i)
    if (char === QUOTE) i = endOfString(json, i)
    else if ((char === COMMA || char === BRACKET || char === BRACE) && ++count > most) return true
  }
  return false
}

/** The length of `"":1` and a comma. */
const LEAST_FIELD_CHARS = 5

/**
 * Returns true if the objects of a JSON text have more than `most` shapes (V8's hidden classes). Each new sequence of fields makes one.
 * 50,000 shapes take 50 to 200 ms to parse and to free; 50,000 fields of a few shapes take 5 ms.
 */
export function hasMoreShapes(json: string, most: number): boolean {
  if (json.length <= LEAST_FIELD_CHARS * most) return false
  /** By name of the next field, then by shape. */
  const next = new Map<string, Map<number, number>>()
  let shapes = 0
  /** The shapes of the open objects. An empty object has shape 0. */
  const open: number[] = []
  for (let i = 0; i < json.length; i++) {
    const char = json.charCodeAt(i)
    if (char === BRACE) open.push(0)
    else if (char === END_OF_OBJECT) open.pop()
    if (char !== QUOTE) continue
    const end = endOfString(json, i)
    const start = i + 1
    i = end
    const shape = open.at(-1)
    if (shape === undefined || !isName(json, end)) continue
    const name = json.slice(start, end)
    const byShape = next.get(name) ?? new Map<number, number>()
    next.set(name, byShape)
    const grown = byShape.get(shape) ?? ++shapes
    if (shapes > most) return true
    byShape.set(shape, grown)
    open[open.length - 1] = grown
  }
  return false
}

/** Returns true if a colon follows the string. */
function isName(json: string, end: number): boolean {
  let after = end + 1
  while (json.charCodeAt(after) <= SPACE) after++
  return json.charCodeAt(after) === COLON
}

function endOfString(json: string, start: number): number {
  const quote = json.indexOf('"', start + 1)
  if (quote === -1) return json.length
  if (json.charCodeAt(quote - 1) !== BACKSLASH) return quote
  // Searching for each quote of a million escaped ones takes ten times as long as this loop.
  for (let end = start + 1; end < json.length; end++) {
    const char = json.charCodeAt(end)
    if (char === BACKSLASH) end++
    else if (char === QUOTE) return end
  }
  return json.length
}

/** A new name may take as much time as this many values. */
const VALUES_OF_NAME = 4

/** Counts the values of a JSON text in pieces, as `hasMoreValues` does. Each field name counts as four more. */
export class ValueCount {
  #count = 0
  #isInString = false
  #isEscaped = false

  /** Adds the bytes of a piece from `start` on. Returns the number of values so far. */
  add(piece: Uint8Array, start = 0): number {
    for (let at = start; at < piece.length; at++) {
      const byte = piece[at]!
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === QUOTE) this.#isInString = !this.#isInString
      else if (this.#isInString) this.#isEscaped = byte === BACKSLASH
      else if (byte === COMMA || byte === BRACKET || byte === BRACE) this.#count++
      else if (byte === COLON) this.#count += VALUES_OF_NAME
    }
    return this.#count
  }

  /** Resets the count for the next text. */
  begin(): void {
    this.#count = 0
    this.#isInString = false
    this.#isEscaped = false
  }
}
