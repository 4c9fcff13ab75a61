import { gramHashes } from '../../../text/analyse.ts'

/** Data for the detailed scoring of a candidate, as 16-bit hashes: stems of its title, 0, stems of its text; then n-grams. */
export interface Sketch {
  hashes: Uint16Array
  /** Start of the n-grams of the title, and of the text. */
  title: number
  text: number
}

export interface SketchRow {
  forward: Uint8Array
  indexedTitle: string
  heading: string
  text: string
}

/** n-grams are counted only at the start of a long passage. */
const MAX_SKETCH_CHARS = 8_000

export function toSketch(row: SketchRow): Sketch {
  const titleGrams = gramHashes(`${row.indexedTitle}\n${row.heading}`)
  const textGrams = gramHashes(row.text.slice(0, MAX_SKETCH_CHARS))
  const title = row.forward.length / 2
  const text = title + titleGrams.length
  const hashes = new Uint16Array(text + textGrams.length)
  new Uint8Array(hashes.buffer).set(row.forward)
  hashes.set(titleGrams, title)
  hashes.set(textGrams, text)
  return { hashes, title, text }
}
