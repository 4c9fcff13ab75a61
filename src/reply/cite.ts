import { pacer } from '../core/fairness/pacer.ts'
import type { Hit } from '../core/ports/retrieval.ts'
import { analyse, type Language } from '../text/analyse.ts'
import { BEGINNING, openSection, type Section, sectionAfter } from './sections.ts'
import { supportingText } from './snippet.ts'
import { type Mark, statementsOf } from './statements.ts'
import { type Claim, LEAST_SHARES, type LeastShares, PassageChecker, toClaim, type Verdict } from './support.ts'

/** A passage that a reply cites (contract: `sources`). */
export interface Source {
  /** The n of `[n]` in the reply, from 1 in order of first mention. */
  index: number
  documentId: string
  title: string
  url: string | null
  /** Only for documents with pages. */
  page?: number
  snippet: string
  score: number
}

/** Marks by verdict. Unsupported ones are no longer in the reply. */
export interface CitationCounts {
  supported: number
  unsupported: number
  /** Could not be checked: the passage is in another language, or the statement has almost no content. */
  unchecked: number
}

export interface Cited {
  markdown: string
  sources: Source[]
  citations: CitationCounts
}

/** Returns a text unchanged, without citations. */
export const uncited = (markdown: string): Cited => ({
  markdown,
  sources: [],
  citations: { supported: 0, unsupported: 0, unchecked: 0 },
})

/** What is known about the citations before the check. */
export interface CiteOptions {
  /** Verbatim text for each mark, by n. If given, nothing is checked. */
  quotes?: Map<number, string> | undefined
  /** The user's question. Numbers in it need no support. */
  question?: string
  /** Other thresholds, for measurements. */
  least?: LeastShares
}

/** Marks beyond this number are removed. No honest reply has so many, and each becomes a citation with the title of its source. */
const MOST_MARKS = 500
/** The number of statements citing a passage that a snippet is chosen by. */
const MOST_STATEMENTS = 20
/** The beginning of a reply from which its language is detected. */
const LANGUAGE_CHARS = 2_000

/** Checks the `[n]` marks of a reply against their passages, removes marks without support or passage, and numbers the others from 1. */
export function cite(text: string, hits: Hit[], options: CiteOptions = {}): Cited {
  return drain(new Citer(hits, options).steps(text))
}

function drain<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

interface Citation {
  /** The number of the source in the reply. */
  index: number
  statements: string[]
}

/** The result for the sections up to `section`. */
interface Progress {
  /** The original text. */
  text: string
  section: Section
  markdown: string
  citations: CitationCounts
  /** By n, in order of first mention. */
  order: Map<number, Citation>
  marks: number
}

/** Checks the marks of a reply by section, so that a long or growing reply is not checked again from its beginning. */
export class Citer {
  readonly #hits: Hit[]
  readonly #quotes: CiteOptions['quotes']
  readonly #judgeOf: (text: string) => Judge
  #complete: Progress = begin()

  constructor(hits: Hit[], { quotes, question = '', least = LEAST_SHARES }: CiteOptions = {}) {
    this.#hits = hits
    this.#quotes = quotes
    this.#judgeOf = quotes === undefined ? judges(hits, question, least) : () => () => 'supported'
  }

  /** Checks a text in steps, between which other requests run. `owner` as in `nextSlice`. */
  async cite(text: string, owner: string): Promise<Cited> {
    const pause = pacer(owner)
    const steps = this.steps(text)
    for (;;) {
      const { done, value } = steps.next()
      if (done) return value
      await pause()
    }
  }

  /** Returns the beginning of a growing reply with its marks checked. `text` begins with the text of the last call. */
  settle(text: string): string {
    return drain(this.#check(text)).markdown
  }

  /** Checks a text in steps of some milliseconds. */
  *steps(text: string): Generator<void, Cited> {
    if (!text.startsWith(this.#complete.text)) this.#complete = begin()
    const { markdown, citations, order } = yield* this.#check(text)
    const sources: Source[] = []
    for (const [n, { index, statements }] of order) {
      const { documentId, title, url, page, score, text: passage } = this.#hits[n - 1]!
      const snippet = this.#quotes?.get(n) ?? supportingText(passage, statements.join('\n'))
      sources.push({ index, documentId, title, url, ...(page === null ? {} : { page }), snippet, score })
      yield
    }
    return { markdown, sources, citations }
  }

  // Replaces `#complete` and never mutates it, since a growing reply may be settled in the pauses of `cite`.
  *#check(text: string): Generator<void, Progress> {
    for (;;) {
      const section = sectionAfter(text, this.#complete.section)
      if (section === undefined) break
      this.#complete = yield* this.#add(copyOf(this.#complete), section, text)
    }
    return yield* this.#add(copyOf(this.#complete), openSection(text, this.#complete.section), text)
  }

  *#add(progress: Progress, section: Section, whole: string): Generator<void, Progress> {
    const { citations, order } = progress
    const { text, start, marks } = section
    const judge = marks.length === 0 ? undefined : this.#judgeOf(whole)
    const statements = judge === undefined ? [] : statementsOf(text, marks)
    let markdown = ''
    let end = start
    let judged = progress.marks
    for (const [i, mark] of marks.entries()) {
      yield
      const kept = [...new Set(mark.numbers)].filter((n) => {
        const verdict = this.#verdict(n, judged++, statements[i]!, judge!)
        citations[verdict]++
        return verdict !== 'unsupported'
      })
      const numbers = kept.map((n) => note(order, n, statements[i]![0] ?? ''))
      markdown += text.slice(end, mark.start) + toText(text, mark, numbers)
      end = mark.end
      // If the mark began its line, the spaces after it are removed too.
      if (kept.length === 0 && /(?:^|\n)$/.test(text.slice(Math.max(0, mark.start - 1), mark.start))) {
        while (text[end] === ' ') end++
      }
    }
    markdown += text.slice(end)
    return {
      text: whole.slice(0, section.end),
      section,
      markdown: progress.markdown + markdown,
      citations,
      order,
      marks: judged,
    }
  }

  #verdict(n: number, mark: number, statements: string[], judge: Judge): Verdict {
    if (mark >= MOST_MARKS || n < 1 || n > this.#hits.length) return 'unsupported'
    return judge(n, statements)
  }
}

const begin = (): Progress => ({
  text: '',
  section: BEGINNING,
  markdown: '',
  citations: { supported: 0, unsupported: 0, unchecked: 0 },
  order: new Map(),
  marks: 0,
})

function copyOf(progress: Progress): Progress {
  const order = [...progress.order].map(
    ([n, { index, statements }]) => [n, { index, statements: [...statements] }] as [number, Citation],
  )
  return { ...progress, citations: { ...progress.citations }, order: new Map(order) }
}

type Judge = (n: number, statements: string[]) => Verdict

/** Analyses each passage once, when it is first cited, and each statement once per language detected for the growing reply. */
function judges(hits: Hit[], question: string, least: LeastShares): (text: string) => Judge {
  const witnesses = new Map<number, PassageChecker>()
  const claimsByLanguage = new Map<Language, Map<string, Claim>>()
  let language: Language | undefined
  let beginning = ''
  return (text) => {
    if (beginning.length < LANGUAGE_CHARS || !text.startsWith(beginning)) {
      beginning = text.slice(0, LANGUAGE_CHARS)
      language = analyse(beginning).language
    }
    const claims = claimsByLanguage.get(language!) ?? new Map<string, Claim>()
    claimsByLanguage.set(language!, claims)
    const claimOf = (statement: string) => {
      const claim = claims.get(statement) ?? toClaim(statement, language!)
      claims.set(statement, claim)
      return claim
    }
    return (n, statements) => {
      const witness = witnesses.get(n) ?? new PassageChecker(hits[n - 1]!, question)
      witnesses.set(n, witness)
      return witness.judge(statements.values().map(claimOf), least)
    }
  }
}

/** Returns the number of a source in the reply. The first citation assigns it. */
function note(order: Map<number, Citation>, n: number, statement: string): number {
  const citation = order.get(n) ?? { index: order.size + 1, statements: [] }
  order.set(n, citation)
  if (citation.statements.length < MOST_STATEMENTS) citation.statements.push(statement)
  return citation.index
}

function toText(text: string, { start }: Mark, numbers: number[]): string {
  if (numbers.length === 0) return ''
  const space = /^[ \t]*/.exec(text.slice(start, start + 20))![0]
  return space + numbers.map((n) => `[${n}]`).join('')
}
