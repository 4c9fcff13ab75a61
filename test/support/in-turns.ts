import { NotYet } from '../../src/store/knowledge/filters.ts'

/** Runs it again for each turn that it gives to others. */
export function inTurns<T>(work: () => T): { result: T; turns: number } {
  for (let turns = 1; ; turns++) {
    try {
      return { result: work(), turns }
    } catch (error) {
      if (!(error instanceof NotYet)) throw error
    }
  }
}
