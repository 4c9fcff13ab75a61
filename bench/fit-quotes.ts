// Fits the figure `quoteConfidence` of src/knowledge/confidence.ts and prints its weights:
//   node bench/fit-quotes.ts FOLDER [NAME,NAME…]
// FOLDER holds documentation of several products and questions about it: NAME/docs, questions-NAME.json and corpora.json, in the format that
// docs/answers.md gives. A quote is right if it matches the pattern of its question. Each product is judged by a fit on the others.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HistoryEntry } from '../src/core/message.ts'
import { extractAnswer, quoteSignalsOf, rank, signalsOf } from '../src/knowledge/answer/extract-answer.ts'
import { describe } from '../src/knowledge/answer/features.ts'
import { isBlock } from '../src/knowledge/answer/quotable.ts'
import { answerConfidence, quoteFeatures } from '../src/knowledge/confidence.ts'
import { Base } from './base.ts'
import { auc } from './measures.ts'

interface Turn {
  q: string
  gold?: string
  answerable?: boolean
}

interface Row {
  product: string
  features: number[]
  isRight: boolean
}

const HITS = 6
const ROUNDS = 400
const SHRINKAGE = 0.02

const [folder, only] = process.argv.slice(2)
const products = only?.split(',') ?? (JSON.parse(read('corpora.json')) as { name: string }[]).map(({ name }) => name)
const rows: Row[] = []
for (const product of products) rows.push(...(await rowsOf(product)))
const scale = scaleOf(rows)
const judged = rows.map((row) => ({ row, p: 0 }))
for (const product of products) {
  const weights = fit(rows.filter((row) => row.product !== product))
  for (const one of judged) if (one.row.product === product) one.p = probability(weights, one.row)
}
const scores = judged.map(({ row, p }) => ({ positive: row.isRight, score: p }))
const right = rows.filter(({ isRight }) => isRight).length
console.log(`${rows.length} quotes, ${right} right; AUC on products that were not learned from: ${auc(scores).toFixed(3)}`)
for (let from = 0; from < 10; from++) {
  const within = judged.filter(({ p }) => Math.min(9, Math.floor(10 * p)) === from)
  console.log(`${from / 10}: ${within.length} quotes, ${within.filter(({ row }) => row.isRight).length} right`)
}
console.log(
  plain(fit(rows))
    .map((weight) => weight.toFixed(2))
    .join(', '),
)

function read(file: string): string {
  return readFileSync(join(folder!, file), 'utf8')
}

async function rowsOf(product: string): Promise<Row[]> {
  const docs = join(folder!, product, 'docs')
  const files = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(?:mdx?|html|txt)$/.test(file))
  const corpus = files.map((file) => ({ id: file, text: readFileSync(join(docs, file), 'utf8') }))
  const base = await Base.of(corpus, files[0]!.endsWith('.html') ? 'text/html' : 'text/markdown')
  const found: Row[] = []
  for (const { turns } of readQuestions(product)) {
    const history: HistoryEntry[] = []
    for (const { q: question, gold, answerable } of turns) {
      const retrieval = base.retrieve(question, history, HITS)
      const asking = { question, history: retrieval.standsAlone ? [] : history }
      const { quotes, best, features } = base.within(() => {
        const described = describe(asking, retrieval.hits, base.statistics)
        const ranked = rank(described)
        if (ranked[0] === undefined) return { quotes: [], best: undefined, features: [] }
        const certainty = answerConfidence(retrieval.confidence, signalsOf(ranked[0].candidate, described))
        return {
          quotes: extractAnswer({ ...asking, retrieval }, base.statistics).quotes,
          best: retrieval.hits[ranked[0].candidate.hit],
          features: quoteFeatures(quoteSignalsOf(ranked, described, retrieval.hits, certainty)),
        }
      })
      const text = quotes.map((quote) => quote.text).join('\n\n')
      const isExpected = (pattern: string) => [text, text.replace(/\s+/g, ' ')].some((one) => new RegExp(pattern, 'i').test(one))
      // Small talk has neither a pattern nor a mark.
      if (best !== undefined && isBlock(best.text) && (gold !== undefined || answerable === false))
        found.push({ product, features, isRight: gold !== undefined && answerable !== false && isExpected(gold) })
      history.push({ role: 'USER', content: question }, { role: 'AI', content: text })
    }
  }
  base.close()
  return found
}

function readQuestions(product: string): { turns: Turn[] }[] {
  const items = JSON.parse(read(`questions-${product}.json`)) as ((Turn & { kind: string }) | { turns: Turn[] })[]
  return items.flatMap((item) => ('turns' in item ? item : item.kind === 'crosslingual' ? [] : { turns: [item] }))
}

/** Features differ in size, and the shrinkage must not. */
function scaleOf(all: readonly Row[]): { mean: number; spread: number }[] {
  return all[0]!.features.map((_, i) => {
    const mean = all.reduce((sum, { features }) => sum + features[i]!, 0) / all.length
    return { mean, spread: Math.sqrt(all.reduce((sum, { features }) => sum + (features[i]! - mean) ** 2, 0) / all.length) || 1 }
  })
}

function probability(weights: readonly number[], { features }: Row): number {
  const sum = scale.reduce((all, { mean, spread }, i) => all + (weights[i + 1]! * (features[i]! - mean)) / spread, weights[0]!)
  return 1 / (1 + Math.exp(-sum))
}

/** Logistic regression by gradient descent; the constant first. */
function fit(learned: readonly Row[]): number[] {
  const weights = [0, ...scale.map(() => 0)]
  for (let round = 0; round < ROUNDS; round++) {
    const slopes = weights.map((weight, i) => (i === 0 ? 0 : SHRINKAGE * weight))
    for (const row of learned) {
      const error = (probability(weights, row) - (row.isRight ? 1 : 0)) / learned.length
      for (const [i, { mean, spread }] of scale.entries()) slopes[i + 1]! += (error * (row.features[i]! - mean)) / spread
      slopes[0]! += error
    }
    for (const [i, slope] of slopes.entries()) weights[i]! -= slope
  }
  return weights
}

/** The weights of features as they are. */
function plain(weights: readonly number[]): number[] {
  const own = scale.map(({ spread }, i) => weights[i + 1]! / spread)
  return [weights[0]! - own.reduce((sum, weight, i) => sum + weight * scale[i]!.mean, 0), ...own]
}
