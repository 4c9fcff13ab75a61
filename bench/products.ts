import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HistoryEntry } from '../src/core/message.ts'
import type { Retrieval } from '../src/core/ports/retrieval.ts'
import { extractAnswer } from '../src/knowledge/answer/extract-answer.ts'
import { statisticsOf } from '../src/knowledge/answer/question-terms.ts'
import { Base } from './base.ts'

/** A question, alone or in a conversation. */
interface Turn {
  q: string
  /** Case-insensitive pattern of a correct reply. Missing for small talk and unanswerable questions. */
  gold?: string
  answerable?: boolean
}

/** A question about a product, with the base's results. */
export interface Asked {
  product: string
  base: Base
  asking: { question: string; history: HistoryEntry[] }
  retrieval: Retrieval
  /** Undefined if the documents do not contain the answer. */
  gold: RegExp | undefined
}

const HITS = 6

/**
 * Asks the questions about product documentation in conversation order, and calls `look` for each except small talk.
 * FOLDER contains `corpora.json` (`[{ "name": … }]`) and, per product, `NAME/docs` and `questions-NAME.json`: a list of turns, or of
 * `{ "turns": [turn, …] }`. `only`: names of products.
 */
export async function askProducts(folder: string, only: string | undefined, look: (asked: Asked) => void): Promise<string[]> {
  const read = (file: string) => JSON.parse(readFileSync(join(folder, file), 'utf8'))
  const products = only?.split(',') ?? (read('corpora.json') as { name: string }[]).map(({ name }) => name)
  for (const product of products) {
    const base = await baseOf(join(folder, product, 'docs'))
    for (const turns of turnsOf(read(`questions-${product}.json`))) {
      const history: HistoryEntry[] = []
      for (const { q: question, gold, answerable } of turns) {
        const retrieval = base.retrieve(question, history, HITS)
        const asking = { question, history: retrieval.standsAlone ? [] : [...history] }
        const expected = gold === undefined || answerable === false ? undefined : new RegExp(gold, 'i')
        if (gold !== undefined || answerable === false) look({ product, base, asking, retrieval, gold: expected })
        const { quotes } = base.within((read) => extractAnswer({ ...asking, retrieval }, statisticsOf(read)))
        history.push({ role: 'USER', content: question }, { role: 'AI', content: quotes.map(({ text }) => text).join('\n\n') })
      }
    }
    base.close()
  }
  return products
}

/** Returns whether the text matches, also with its lines joined. */
export const says = (text: string, gold: RegExp | undefined): boolean =>
  gold !== undefined && (gold.test(text) || gold.test(text.replace(/\s+/g, ' ')))

async function baseOf(docs: string): Promise<Base> {
  const files = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:mdx?|html|txt)$/.test(file))
  const corpus = files.map((file) => ({ id: file, text: readFileSync(join(docs, file), 'utf8') }))
  return Base.of(corpus, files[0]!.endsWith('.html') ? 'text/html' : 'text/markdown')
}

/** Returns the turns, without questions in another language than the documents. */
function turnsOf(items: ((Turn & { kind: string }) | { turns: Turn[] })[]): Turn[][] {
  return items.flatMap((item) => ('turns' in item ? [item.turns] : item.kind === 'crosslingual' ? [] : [[item]]))
}
