import type { Work } from '../../store/knowledge/work.ts'
import { analyse, contentStems, type Language } from '../../text/analyse.ts'
import { idfOf } from '../query/idf.ts'
import type { TermStatistics } from './question-terms.ts'

/**
 * Compares headings with a question. Their likeness is 0 to 1: the words that both share, weighed by idf; 1 if both say the same.
 * In Repartee's documents, most passages contain the name, so "is it fast" is like "Is Repartee fast?".
 */
export class Likeness {
  readonly #statistics: TermStatistics
  readonly #language: Language
  readonly #asked: ReadonlySet<string>
  readonly #whole: number

  /** The stems of the question must be loaded. */
  private constructor(statistics: TermStatistics, language: Language, asked: ReadonlySet<string>) {
    this.#statistics = statistics
    this.#language = language
    this.#asked = asked
    this.#whole = this.#weigh(asked)
  }

  static *to(question: string, statistics: TermStatistics): Work<Likeness> {
    const analysed = analyse(question)
    const asked = new Set(contentStems(analysed))
    yield* statistics.load(asked)
    return new Likeness(statistics, analysed.language, asked)
  }

  /** Loads what `isLike` needs for these headings. Words that only the heading has are loaded only if they can decide. */
  *load(headings: Iterable<string>, least: number): Work<void> {
    const deciding = [...headings].map((heading) => this.#stemsOf(heading)).filter((stems) => this.#atMost(stems) >= least)
    yield* this.#statistics.load(deciding.flatMap((stems) => [...stems.difference(this.#asked)]))
  }

  /** Returns true if the likeness of heading and question is at least `least`. */
  isLike(heading: string, least: number): boolean {
    const stems = this.#stemsOf(heading)
    return this.#atMost(stems) >= least && this.#likeness(stems, this.#weigh(stems.difference(this.#asked))) >= least
  }

  #stemsOf(heading: string): Set<string> {
    return new Set(contentStems(analyse(heading, this.#language)))
  }

  /** The likeness if the heading had no words of its own. */
  #atMost(stems: ReadonlySet<string>): number {
    return this.#likeness(stems, 0)
  }

  #likeness(stems: ReadonlySet<string>, others: number): number {
    const shared = this.#weigh(this.#asked.intersection(stems))
    return (2 * shared) / (this.#whole + shared + others || 1)
  }

  #weigh(stems: ReadonlySet<string>): number {
    const { passages } = this.#statistics
    return stems.values().reduce((sum, stem) => sum + idfOf(passages, this.#statistics.frequency(stem)), 0)
  }
}
