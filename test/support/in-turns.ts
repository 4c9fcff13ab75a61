import { NotYet } from '../../src/store/knowledge/reader/filters.ts'

/** Runs the work again each time that it yields. Returns the result and the number of turns. */
export function inTurns<T>(work: () => T): { result: T; turns: number } {
  for (let turns = 1; ; turns++) {
    try {
      return { result: work(), turns }
    } catch (error) {
      if (!(error instanceof NotYet)) throw error
    }
  }
}
