// Measures the quality and speed of extractive answers in one process, without a service:
//   node bench/answers.ts FOLDER [--sets squad2-a,oob-a] [--most 2500] [--by] [--follow-ups]
// FOLDER contains test collections, one folder each: corpus, queries, qrels and answers as gzipped JSON Lines.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ANSWER_THRESHOLD } from '../src/core/ports/retrieval.ts'
import { Base, type Query, readSet } from './base.ts'
import { auc, balancedAccuracy, countWords, holdsAnswer, mean, percentile } from './measures.ts'

// Number of questions per set whose follow-ups are checked.
const FOLLOWED = 150
const { values: options, positionals } = parseArgs({
  options: {
    sets: { type: 'string', default: 'squad2-a,xquad-a,native-a,oob-a' },
    most: { type: 'string', default: '2500' },
    by: { type: 'boolean' },
    'follow-ups': { type: 'boolean' },
  },
  allowPositionals: true,
})
const folder = positionals[0]
if (folder === undefined) throw new Error('usage: node bench/answers.ts FOLDER [--sets a,b] [--most N] [--by]')

const fixed = (value: number): string => (Number.isNaN(value) ? '–' : value.toFixed(3))
console.log(
  'set | questions | gold in quotes | at the threshold | words | cited right | cited right when answering | verbatim | AUC | balanced | ms p50 | p99',
)
for (const set of options.sets.split(',')) {
  const { corpus, queries } = readSet(join(folder, set))
  const base = await Base.of(corpus)
  const most = Number(options.most)
  const chosen =
    queries.length <= most
      ? queries
      : queries.filter((_, i) => Math.floor((i * most) / queries.length) !== Math.floor(((i - 1) * most) / queries.length))
  const rows = chosen.map((query) => {
    const retrieval = base.retrieve(query.text, query.history)
    const start = performance.now()
    const { quotes, confidence } = base.extract(query.text, query.history, retrieval)
    const ms = performance.now() - start
    const text = quotes.map((quote) => quote.text).join('\n')
    return {
      query,
      lang: query.lang ?? '',
      positive: query.answerable,
      score: confidence,
      hit: holdsAnswer(text, query.golds),
      words: countWords(text),
      cited: mean(quotes.map((quote) => (query.relevant.has(base.ids.get(retrieval.hits[quote.hit]!.documentId)!) ? 1 : 0))),
      verbatim: quotes.map((quote) => retrieval.hits[quote.hit]!.text.includes(quote.text)),
      ms,
    }
  })
  const yes = rows.filter((row) => row.positive)
  const answered = yes.filter((row) => row.score >= ANSWER_THRESHOLD)
  const share = (of: typeof rows, is: (row: (typeof rows)[number]) => boolean): number => mean(of.map((row) => (is(row) ? 1 : 0)))
  const verbatim = rows.flatMap((row) => row.verbatim)
  const line = [
    share(yes, (row) => row.hit),
    share(yes, (row) => row.hit && row.score >= ANSWER_THRESHOLD),
    mean(yes.map((row) => row.words)),
    mean(yes.map((row) => row.cited)),
    mean(answered.map((row) => row.cited)),
    mean(verbatim.map((is) => (is ? 1 : 0))),
    auc(rows),
    balancedAccuracy(rows, ANSWER_THRESHOLD),
    percentile(
      rows.map((row) => row.ms),
      0.5,
    ),
    percentile(
      rows.map((row) => row.ms),
      0.99,
    ),
  ]
  console.log([set, rows.length, ...line.map(fixed)].join(' | '))
  if (options.by === true)
    for (const [lang, group] of Map.groupBy(yes, (row) => row.lang))
      console.log(
        `  ${lang} ${fixed(share(group, (row) => row.hit))} ${fixed(share(group, (row) => row.hit && row.score >= ANSWER_THRESHOLD))}`,
      )
  if (options['follow-ups'] === true)
    console.log(
      followUps(
        base,
        chosen.filter((_, i) => i % Math.ceil(chosen.length / FOLLOWED) === 0),
      ),
    )
  base.close()
}

/** Reports how many of the suggested follow-ups the base can answer. */
function followUps(base: Base, queries: readonly Query[]): string {
  const offered = queries.flatMap((query) => base.suggest([query.text], base.retrieve(query.text, query.history)))
  const answered = offered.filter(({ text }) => base.extract(text, [], base.retrieve(text)).confidence >= ANSWER_THRESHOLD)
  return `  follow-ups: ${offered.length} offered after ${queries.length} questions, answerable ${fixed(answered.length / offered.length)}`
}
