const QUOTE = 0x22
const COMMA = 0x2c
const BRACKET = 0x5b
const BRACE = 0x7b

/**
 * Returns true if a JSON text has more values than `most`. Counts arrays, objects and commas outside of strings. This is much cheaper than parsing: parsing 1 MB of
 * empty objects takes about 20 MB and 100 ms.
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

function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let slashes = 0
    while (json[end - 1 - slashes] === '\\') slashes++
    if (slashes % 2 === 0) return end
  }
  return json.length
}
