import type { KnowledgeBase } from '../../../store/knowledge/base.ts'
import { hasVectors } from '../../../store/knowledge/vectors.ts'

/** A passage of a new version, by its position, and the id of an older passage with the same text and heading. */
export interface SamePassage {
  position: number
  from: number
}

interface Said {
  text: string
  heading: string
}

/** Old passages read at a time. */
const PAGE = 500

/**
 * Returns the passages of a new version whose text and heading an older passage has, in order: they can reuse its vector. Empty if the base has no vectors.
 * Reads each old passage once, and calls `pause` between pages.
 */
export async function findSame(
  base: KnowledgeBase,
  old: { first: number; last: number },
  passages: readonly Said[],
  pause: () => Promise<void> | undefined,
): Promise<SamePassage[]> {
  if (old.last < old.first || !hasVectors(base)) return []
  const ids = new Map<string, Map<string, number>>()
  for (const { text, heading } of passages) ids.set(text, (ids.get(text) ?? new Map<string, number>()).set(heading, 0))
  for (let after = old.first - 1; ; ) {
    const rows = base.all<Said & { id: number }>(
      'SELECT id, text, heading FROM {passage} WHERE id > ? AND id <= ? ORDER BY id LIMIT ?',
      after,
      old.last,
      PAGE,
    )
    for (const { id, text, heading } of rows) {
      const ofText = ids.get(text)
      // The first of several equal passages gets its vector first.
      if (ofText?.get(heading) === 0) ofText.set(heading, id)
    }
    if (rows.length < PAGE) break
    after = rows.at(-1)!.id
    await pause()
  }
  return passages.flatMap(({ text, heading }, position) => {
    const from = ids.get(text)!.get(heading)!
    return from === 0 ? [] : [{ position, from }]
  })
}
