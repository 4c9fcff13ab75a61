import { analyse, contentStems } from '../../text/analyse.ts'
import { idfOf } from '../idf.ts'
import type { TermStatistics } from './question-terms.ts'

/**
 * Returns 0 to 1: the words that a question and a heading share, weighed by idf. 1 if both say the same. In the documents of Repartee, where the
 * name is in most passages, "is it fast" is like "Is Repartee fast?".
 */
export function likeness(question: string, heading: string, statistics: TermStatistics): number {
  const analysed = analyse(question)
  const asked = new Set(contentStems(analysed))
  const held = new Set(contentStems(analyse(heading, analysed.language)))
  const weigh = (stems: Set<string>): number =>
    stems.values().reduce((sum, stem) => sum + idfOf(statistics.passages, statistics.frequency(stem)), 0)
  return (2 * weigh(asked.intersection(held))) / (weigh(asked) + weigh(held) || 1)
}
