// Measures the quality of extractive answers about product documentation in one process, without a service:
//   node bench/documentation.ts FOLDER [NAME,NAME…]
// `products.ts` describes FOLDER. A pattern matches one wording, so a correct answer in other words counts as wrong. A reply can also
// contain the fact and still not help. Reading the replies is more reliable.
import { extractAnswer } from '../src/knowledge/answer/extract-answer.ts'
import { statisticsOf } from '../src/knowledge/answer/question-terms.ts'
import { countWords, mean, percentile } from './measures.ts'
import { askProducts, says } from './products.ts'

interface Row {
  product: string
  found: 'answer' | 'closest' | 'nothing'
  confidence: number
  /** Undefined if the question cannot be answered. */
  isRight: boolean | undefined
  /** Rank of the first passage that contains the answer, from 0. -1 if none does. */
  rank: number
  words: number
  isVerbatim: boolean
}

const [folder, only] = process.argv.slice(2)
if (folder === undefined) throw new Error('usage: node bench/documentation.ts FOLDER [NAME,NAME…]')
const rows: Row[] = []
const products = await askProducts(folder, only, ({ product, base, asking, retrieval, gold }) => {
  const { quotes, confidence, found } = base.within((read) => extractAnswer({ ...asking, retrieval }, statisticsOf(read)))
  const text = quotes.map((quote) => quote.text).join('\n\n')
  rows.push({
    ...{ product, found, confidence, words: countWords(text) },
    isRight: gold === undefined ? undefined : found !== 'nothing' && says(text, gold),
    rank: retrieval.hits.findIndex((hit) => says(hit.text, gold)),
    isVerbatim: quotes.every((quote) => retrieval.hits[quote.hit]!.text.includes(quote.text)),
  })
})

const percent = (some: readonly Row[], is: (row: Row) => boolean): string =>
  some.length === 0 ? '–' : `${(100 * mean(some.map((row) => (is(row) ? 1 : 0)))).toFixed(0)} %`

console.log(
  'product | answerable | fact in reply | answered | of these right | passage @1 | @6 | rightly declined | words | verbatim',
)
for (const product of [...products, 'all']) {
  const own = rows.filter((row) => product === 'all' || row.product === product)
  const answerable = own.filter(({ isRight }) => isRight !== undefined)
  const line = [
    answerable.length,
    percent(answerable, ({ isRight }) => isRight === true),
    percent(answerable, ({ found }) => found === 'answer'),
    percent(
      own.filter(({ found }) => found === 'answer'),
      ({ isRight }) => isRight === true,
    ),
    percent(answerable, ({ rank }) => rank === 0),
    percent(answerable, ({ rank }) => rank >= 0),
    percent(
      own.filter(({ isRight }) => isRight === undefined),
      ({ found }) => found !== 'answer',
    ),
    percentile(
      own.filter(({ found }) => found !== 'nothing').map(({ words }) => words),
      0.5,
    ),
    percent(own, ({ isVerbatim }) => isVerbatim),
  ]
  console.log(`${product} | ${line.join(' | ')}`)
}
console.log('\nconfidence | answers | right')
for (let from = 3; from < 10; from++) {
  const within = rows.filter((row) => row.found === 'answer' && Math.min(9, Math.floor(10 * row.confidence)) === from)
  console.log(`${from / 10} | ${within.length} | ${percent(within, ({ isRight }) => isRight === true)}`)
}
