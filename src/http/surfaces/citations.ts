import type { Source } from '../../chat/cite.ts'
import { findMarks } from '../../chat/statements.ts'

/** One mark `[n]` of a reply. Offsets count Unicode code points, from 0. */
export interface Citation {
  start: number
  end: number
  source: Source
}

/** The marks of a reply that name a source, in order. */
export function citationsIn(content: string, sources: Source[]): Citation[] {
  const byIndex = new Map(sources.map((source) => [source.index, source]))
  if (byIndex.size === 0) return []
  let seen = 0
  let points = 0
  const pointsTo = (offset: number): number => {
    for (const _ of content.slice(seen, offset)) points++
    seen = offset
    return points
  }
  return findMarks(content).marks.flatMap(({ start, end }) =>
    [...content.slice(start, end).matchAll(/\[(\d+)\]/g)].flatMap(({ 0: mark, 1: n, index }) => {
      const source = byIndex.get(Number(n))
      if (source === undefined) return []
      const at = start + index
      return [{ start: pointsTo(at), end: pointsTo(at + mark.length), source }]
    }),
  )
}
