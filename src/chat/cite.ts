import type { Hit } from '../core/retrieval.ts'
import { analyse } from '../text/analyse.ts'
import { supportingText } from './snippet.ts'
import { findMarks, type Mark, statementsOf } from './statements.ts'
import { type Claim, LEAST_SHARES, type LeastShares, toClaim, type Verdict, Witness } from './support.ts'

/** A passage that a reply cites (contract: `sources`). */
export interface Source {
  /** The n of `[n]` in the reply, from 1 in order of first mention. */
  index: number
  documentId: string
  title: string
  url: string | null
  /** Of a document that has pages. */
  page?: number
  snippet: string
  score: number
}

/** Marks by what became of them. Unsupported ones are no longer in the reply. */
export interface CitationCounts {
  supported: number
  unsupported: number
  /** Where there was nothing to hold against the passage: another language, or hardly a word. */
  unchecked: number
}

export interface Cited {
  markdown: string
  sources: Source[]
  citations: CitationCounts
}

/** A text that nothing can be cited in. */
export const uncited = (markdown: string): Cited => ({
  markdown,
  sources: [],
  citations: { supported: 0, unsupported: 0, unchecked: 0 },
})

/** What a model knows of its own citations. */
export interface CiteOptions {
  /** Verbatim text behind each mark, by n: nothing is left to check. */
  quotes?: Map<number, string> | undefined
  /** What the user asked, in whose words no number needs a proof. */
  question?: string
  /** Other than the usual, for measuring. */
  least?: LeastShares
}

/** More marks than this are not checked: no honest reply has them. */
const MOST_CHECKED = 500

/**
 * Checks the `[n]` marks of a reply against the passages that they name, takes out those without support, or of no passage, and numbers the
 * others from 1.
 */
export const cite = (text: string, hits: Hit[], options: CiteOptions = {}): Cited => citer(hits, options)(text)

/** The same, of a reply that grows: what was judged of its beginning is not judged again. */
export function citer(hits: Hit[], { quotes, question = '', least = LEAST_SHARES }: CiteOptions = {}): (text: string) => Cited {
  const judgeOf = judges(hits, question, least)
  return (text) => {
    const marks = findMarks(text)
    if (marks.length === 0) return uncited(text)
    return withVerdicts(text, marks, hits, quotes, quotes === undefined ? judgeOf(text) : () => 'supported')
  }
}

type Judge = (n: number, statements: string[]) => Verdict

function withVerdicts(text: string, marks: Mark[], hits: Hit[], quotes: CiteOptions['quotes'], judge: Judge): Cited {
  const citations: CitationCounts = { supported: 0, unsupported: 0, unchecked: 0 }
  const statements = statementsOf(text, marks)
  const order = new Map<number, { index: number; said: string[] }>()
  let markdown = ''
  let end = 0
  marks.forEach((mark, i) => {
    const kept = [...new Set(mark.numbers)].filter((n) => {
      const isPassage = n >= 1 && n <= hits.length
      const verdict = !isPassage ? 'unsupported' : i < MOST_CHECKED ? judge(n, statements[i]!) : 'unchecked'
      citations[verdict]++
      return verdict !== 'unsupported'
    })
    markdown +=
      text.slice(end, mark.start) +
      toText(
        text,
        mark,
        kept.map((n) => note(order, n, statements[i]![0] ?? '')),
      )
    end = mark.end
    // A line that began with it begins with what follows.
    if (kept.length === 0 && /(?:^|\n)$/.test(text.slice(Math.max(0, mark.start - 1), mark.start))) {
      while (text[end] === ' ') end++
    }
  })
  markdown += text.slice(end)
  const sources = [...order].map(([n, { index, said }]) => {
    const { documentId, title, url, page, score, text: passage } = hits[n - 1]!
    const snippet = quotes?.get(n) ?? supportingText(passage, said.join('\n'))
    return { index, documentId, title, url, ...(page === null ? {} : { page }), snippet, score }
  })
  return { markdown, sources, citations }
}

/** Each passage is read once, and only where it is cited; so is each statement, in the language of the reply. */
function judges(hits: Hit[], question: string, least: LeastShares): (text: string) => Judge {
  const witnesses = new Map<number, Witness>()
  let claims = new Map<string, Claim>()
  let spoken: string | undefined
  return (text) => {
    const { language } = analyse(text.slice(0, 2_000))
    if (language !== spoken) claims = new Map()
    spoken = language
    const claimOf = (statement: string) => {
      const claim = claims.get(statement) ?? toClaim(statement, language)
      claims.set(statement, claim)
      return claim
    }
    return (n, statements) => {
      const witness = witnesses.get(n) ?? new Witness(hits[n - 1]!, question)
      witnesses.set(n, witness)
      return witness.judge(statements.map(claimOf), least)
    }
  }
}

/** The number of a source in the reply, which it gets where it is cited first. */
function note(order: Map<number, { index: number; said: string[] }>, n: number, statement: string): number {
  const known = order.get(n) ?? { index: order.size + 1, said: [] }
  order.set(n, known)
  known.said.push(statement)
  return known.index
}

function toText(text: string, { start }: Mark, numbers: number[]): string {
  if (numbers.length === 0) return ''
  const space = /^[ \t]*/.exec(text.slice(start, start + 20))![0]
  return space + numbers.map((n) => `[${n}]`).join('')
}
