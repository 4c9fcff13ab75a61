import { NotYet } from '../src/store/knowledge/reader/filters.ts'
import type { IndexRead } from '../src/store/knowledge/reader/index-read.ts'
import type { KnowledgeIndex } from '../src/store/knowledge/reader/knowledge-index.ts'
import type { Work } from '../src/store/knowledge/work.ts'

/** Returns the result of `work`, and runs it again each time that it yields to other questions. */
export function readIndex<T>(index: KnowledgeIndex, work: (read: IndexRead) => Work<T>): T {
  const question = {}
  for (;;) {
    try {
      return index.read(work, question)
    } catch (error) {
      if (!(error instanceof NotYet)) throw error
    }
  }
}
