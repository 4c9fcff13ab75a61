// A passage id is the document id with generation and position XORed into its last 48 bits.
// It needs no column and no index, and still identifies the passage.
const TAIL = 12
const POSITIONS = 2 ** 26
const GENERATIONS = 2 ** 22

/** UUID of the passage at `position` (from 0) in the given generation of a document's content. */
export function passageIdOf(documentId: string, generation: number, position: number): string {
  const own = Number.parseInt(documentId.slice(-TAIL), 16)
  const place = (generation % GENERATIONS) * POSITIONS + position + 1
  return documentId.slice(0, -TAIL) + exclusiveOr(own, place).toString(16).padStart(TAIL, '0')
}

/** Returns the position of a passage id, or undefined if the id is not from this generation of the document. */
export function positionOf(documentId: string, generation: number, passageId: string): number | undefined {
  if (passageId.slice(0, -TAIL).toLowerCase() !== documentId.slice(0, -TAIL)) return undefined
  const place = exclusiveOr(Number.parseInt(documentId.slice(-TAIL), 16), Number.parseInt(passageId.slice(-TAIL), 16))
  const position = place % POSITIONS
  return Math.floor(place / POSITIONS) === generation % GENERATIONS && position > 0 ? position - 1 : undefined
}

// JavaScript's `^` works on 32 bits only.
function exclusiveOr(a: number, b: number): number {
  const half = 2 ** 24
  return (Math.floor(a / half) ^ Math.floor(b / half)) * half + ((a % half) ^ (b % half))
}
