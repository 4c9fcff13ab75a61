import { NotYet } from '../src/store/knowledge/filters.ts'
import type { KnowledgeIndex } from '../src/store/knowledge/reader.ts'

/** Returns the result of `work`, and runs it again each time that it yields. */
export function readIndex<T>(index: KnowledgeIndex, work: () => T): T {
  for (;;) {
    try {
      return index.read(work)
    } catch (error) {
      if (!(error instanceof NotYet)) throw error
    }
  }
}
