// Fits the figure `quoteConfidence` of src/knowledge/query/confidence.ts and prints its weights:
//   node bench/fit-quotes.ts FOLDER [NAME,NAME…]
// `products.ts` describes FOLDER. A quote is correct if it matches its question's pattern. Each product is evaluated with a fit on the others.
import { extractAnswer, quoteSignalsOf, rank, signalsOf } from '../src/knowledge/answer/extract-answer.ts'
import { describe } from '../src/knowledge/answer/features.ts'
import { statisticsOf } from '../src/knowledge/answer/question-terms.ts'
import { isBlock } from '../src/knowledge/answer/quotable.ts'
import { answerConfidence, quoteFeatures } from '../src/knowledge/query/confidence.ts'
import { auc } from './measures.ts'
import { type Asked, askProducts, says } from './products.ts'

interface Row {
  product: string
  features: number[]
  isRight: boolean
}

const ROUNDS = 400
const SHRINKAGE = 0.02

const [folder, only] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node bench/fit-quotes.ts FOLDER [NAME,NAME…]')
const rows: Row[] = []
const products = await askProducts(folder, only, (asked) => rows.push(...rowOf(asked)))
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

/** Returns the row of a question. Empty if its best sentence is in running text. */
function rowOf({ product, base, asking, retrieval, gold }: Asked): Row[] {
  return base.within(function* (read) {
    const described = yield* describe(asking, retrieval.hits, statisticsOf(read))
    const ranked = rank(described)
    const best = ranked[0]?.candidate
    if (best === undefined || !isBlock(retrieval.hits[best.hit]!.text)) return []
    const answerable = answerConfidence(retrieval.confidence, signalsOf(best, described))
    const features = quoteFeatures(quoteSignalsOf(ranked, described, retrieval.hits, answerable))
    const { quotes } = yield* extractAnswer({ ...asking, retrieval }, statisticsOf(read))
    return [{ product, features, isRight: says(quotes.map(({ text }) => text).join('\n\n'), gold) }]
  })
}

/** Returns the scale of each feature, so that the shrinkage affects all features equally. */
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

/** Converts weights of scaled features to weights of raw features. */
function plain(weights: readonly number[]): number[] {
  const own = scale.map(({ spread }, i) => weights[i + 1]! / spread)
  return [weights[0]! - own.reduce((sum, weight, i) => sum + weight * scale[i]!.mean, 0), ...own]
}
