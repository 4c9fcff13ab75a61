import type { TermStatistics } from '../../src/knowledge/answer/question-terms.ts'
import { done, drive, type Work } from '../../src/store/knowledge/work.ts'

/** Does work that needs no rows. */
export function finish<T>(work: Work<T>): T {
  const noRows = () => {
    throw new Error('the work needs rows')
  }
  return drive({ all: noRows, getMany: noRows, iterate: noRows }, work)
}

/** Statistics that are known without a base. */
export const fixedStatistics = (passages: number, frequency: (stem: string) => number): TermStatistics => ({
  passages,
  frequency,
  load: () => done(undefined),
})
