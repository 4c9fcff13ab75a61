import { NotYet } from '../src/store/knowledge/filters.ts'
import type { KnowledgeIndex } from '../src/store/knowledge/reader.ts'

/** What `work` returns, in as many turns as it takes. */
export function readIndex<T>(index: KnowledgeIndex, work: () => T): T {
  for (;;) {
    try {
      return index.read(work)
    } catch (error) {
      if (!(error instanceof NotYet)) throw error
    }
  }
}
