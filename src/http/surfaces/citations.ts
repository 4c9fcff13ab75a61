import type { Source } from '../../reply/cite.ts'
import { findMarks } from '../../reply/statements.ts'

/** One mark `[n]` of a reply. Offsets count Unicode code points, from 0. */
export interface Citation {
  start: number
  end: number
  source: Source
}

const NUMBER = /\[(\d+)\]/g
/** Two UTF-16 units that are one code point. */
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g

/** Each citation is an object with the title of its source, and in a stream an event. */
const MOST_CITATIONS = 1_000

/** Returns the first marks of a reply that name a source, in order. */
export function citationsIn(content: string, sources: Source[]): Citation[] {
  const byIndex = new Map(sources.map((source) => [source.index, source]))
  if (byIndex.size === 0) return []
  const citations: Citation[] = []
  let seen = 0
  let points = 0
  const pointsTo = (offset: number): number => {
    points += offset - seen - (content.slice(seen, offset).match(PAIR)?.length ?? 0)
    seen = offset
    return points
  }
  for (const { start, end } of findMarks(content).marks) {
    for (const { 0: mark, 1: n, index } of content.slice(start, end).matchAll(NUMBER)) {
      const source = byIndex.get(Number(n))
      const at = start + index
      if (citations.length === MOST_CITATIONS) return citations
      if (source !== undefined) citations.push({ start: pointsTo(at), end: pointsTo(at + mark.length), source })
    }
  }
  return citations
}
