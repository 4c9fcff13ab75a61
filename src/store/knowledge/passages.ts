// Ids of passages are made from their document's: the last 48 bits are those of the document, with generation and position
// laid over them. So they need neither a column nor an index, and yet say which passage they name.
const TAIL = 12
const POSITIONS = 2 ** 26
const GENERATIONS = 2 ** 22

/** UUID of the passage at `position` (from 0) in the given generation of a document's content. */
export function passageIdOf(documentId: string, generation: number, position: number): string {
  const own = Number.parseInt(documentId.slice(-TAIL), 16)
  const place = (generation % GENERATIONS) * POSITIONS + position + 1
  return documentId.slice(0, -TAIL) + exclusiveOr(own, place).toString(16).padStart(TAIL, '0')
}

/** The position that a passage's id names, or undefined where it is none of this generation of the document. */
export function positionOf(documentId: string, generation: number, passageId: string): number | undefined {
  if (passageId.slice(0, -TAIL).toLowerCase() !== documentId.slice(0, -TAIL)) return undefined
  const place = exclusiveOr(Number.parseInt(documentId.slice(-TAIL), 16), Number.parseInt(passageId.slice(-TAIL), 16))
  const position = place % POSITIONS
  return Math.floor(place / POSITIONS) === generation % GENERATIONS && position > 0 ? position - 1 : undefined
}

// The operator itself knows 32 bits only.
function exclusiveOr(a: number, b: number): number {
  const half = 2 ** 24
  return (Math.floor(a / half) ^ Math.floor(b / half)) * half + ((a % half) ^ (b % half))
}
