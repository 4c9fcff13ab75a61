import type { Hit } from '../core/retrieval.ts'
import { supportingText } from './snippet.ts'

/** A passage that a reply cites (contract: `sources`). */
export interface Source {
  /** The n of `[n]` in the reply, from 1 in order of first mention. */
  index: number
  documentId: string
  title: string
  url: string | null
  snippet: string
  score: number
}

/** Code is left as it is: `a[1]` in it is no citation. A mark that a link follows is the link's text. */
const CODE_OR_MARKS = /(```[\s\S]*?(?:```|$)|`[^`\n]*`)|( ?)(?<!\\)\[(\d{1,3}(?:, ?\d{1,3})*)\](?!\()/g

/**
 * Renumbers the `[n]` marks of a reply from 1 and drops those that name no passage.
 * `quotes` has the verbatim text behind a mark where the model knows it; elsewhere the sentences closest to the reply are taken.
 */
export function cite(text: string, hits: Hit[], quotes?: Map<number, string>): { markdown: string; sources: Source[] } {
  if (hits.length === 0) return { markdown: text, sources: [] }
  const order = new Map<number, number>()
  const markdown = text.replace(CODE_OR_MARKS, (whole, code: string | undefined, space: string, list: string) => {
    if (code !== undefined) return whole
    const known = list
      .split(',')
      .map(Number)
      .filter((n) => n >= 1 && n <= hits.length)
    if (known.length === 0) return ''
    return space + known.map((n) => `[${order.get(n) ?? number(order, n)}]`).join('')
  })
  const sources = [...order].map(([n, index]) => {
    const { documentId, title, url, score, text: passage } = hits[n - 1]!
    return { index, documentId, title, url, snippet: quotes?.get(n) ?? supportingText(passage, markdown), score }
  })
  return { markdown, sources }
}

function number(order: Map<number, number>, n: number): number {
  order.set(n, order.size + 1)
  return order.size
}
