import { analyse, contentStems } from '../../text/analyse.ts'
import { idfOf } from '../query/idf.ts'
import type { TermStatistics } from './question-terms.ts'

/** Returns true if the likeness of heading and question is at least `least`. */
export type IsLike = (heading: string, least: number) => boolean

/**
 * Returns a function that compares a heading with the question. Their likeness is 0 to 1: the words that both share, weighed by idf; 1 if both say the same.
 * In Repartee's documents, most passages contain the name, so "is it fast" is like "Is Repartee fast?". Words that only the heading has are looked up
 * only if they can decide, because in PostgreSQL that costs a round trip.
 */
export function likenessTo(question: string, statistics: TermStatistics): IsLike {
  const analysed = analyse(question)
  const asked = new Set(contentStems(analysed))
  const weigh = (stems: Set<string>): number =>
    stems.values().reduce((sum, stem) => sum + idfOf(statistics.passages, statistics.frequency(stem)), 0)
  const all = weigh(asked)
  return (heading, least) => {
    const held = new Set(contentStems(analyse(heading, analysed.language)))
    const shared = weigh(asked.intersection(held))
    const likeness = (others: number): number => (2 * shared) / (all + shared + others || 1)
    return likeness(0) >= least && likeness(weigh(held.difference(asked))) >= least
  }
}
