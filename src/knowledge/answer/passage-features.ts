import { innermost } from '../../core/headings.ts'
import type { Hit } from '../../core/ports/retrieval.ts'
import type { Token } from '../../text/analyse.ts'
import type { AnswerType } from './answer-types.ts'
import { isBlock } from './quotable.ts'

/** Features that all units of a passage with several blocks share. Each is 0 to about 1; 0 in running text. In the order of the fitted weights. */
export const passageFeatureNames = [
  'phrases', // pairs of neighbouring words of the question, stop words included, that are neighbours in the passage
  'phrasesAbove', // the same in its heading or the title
  'steps', // has numbered steps, if the question asks how
  'faq', // its heading is a question
] as const

/** The pairs of neighbouring words of a question. */
export class Phrases {
  /** By first word: the second words. */
  readonly #pairs = new Map<string, Set<string>>()
  readonly #size: number

  /** `words`: all words of the question, folded. */
  constructor(words: readonly string[]) {
    for (let i = 1; i < words.length; i++)
      this.#pairs.set(words[i - 1]!, (this.#pairs.get(words[i - 1]!) ?? new Set()).add(words[i]!))
    this.#size = this.#pairs.values().reduce((sum, seconds) => sum + seconds.size, 0)
  }

  /** Returns 0 to 1: the share of the pairs that are neighbours in one of the texts. */
  shareIn(...texts: (readonly Token[])[]): number {
    if (this.#size === 0) return 0
    const found = new Set<string>()
    for (const tokens of texts) {
      let before = ''
      for (const { exact } of tokens) {
        if (exact === '') continue
        if (this.#pairs.get(before)?.has(exact) === true) found.add(`${before} ${exact}`)
        before = exact
      }
    }
    return found.size / this.#size
  }
}

const STEP = /^[ \t]{0,12}\d{1,3}[.)] /m
export const isQuestion = (heading: string): boolean => /[?？]\W*$/u.test(heading)

/** The question, and the words of a passage, its title and its heading. */
interface Reading {
  phrases: Phrases
  type: AnswerType | undefined
  asksWhatIs: boolean
  tokens: readonly Token[]
  title: readonly Token[]
  heading: readonly Token[]
}

export function passageFeatures(hit: Hit, { phrases, type, asksWhatIs, tokens, title, heading }: Reading): number[] {
  if (!isBlock(hit.text)) return passageFeatureNames.map(() => 0)
  return [
    phrases.shareIn(tokens),
    phrases.shareIn(title, heading),
    type === 'how' && STEP.test(hit.text) ? 1 : 0,
    // The section below another question is not a definition.
    isQuestion(lastHeading(hit)) && !asksWhatIs ? 1 : 0,
  ]
}

/** Returns the heading of a passage's own section, or the title if there is none. */
export const lastHeading = ({ heading, title }: Hit): string => innermost(heading) || title
