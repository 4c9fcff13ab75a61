// Fits the two figures of src/knowledge/query/confidence.ts and prints their weights:
//   node bench/fit-confidence.ts FOLDER
// FOLDER contains test collections. They become bases of several sizes and languages, each without part of the documents that questions are
// about. Those questions cannot be answered.
import { join } from 'node:path'
import type { Retrieval } from '../src/core/ports/retrieval.ts'
import { rank, signalsOf } from '../src/knowledge/answer/extract-answer.ts'
import { describe } from '../src/knowledge/answer/features.ts'
import { statisticsOf, type TermStatistics } from '../src/knowledge/answer/question-terms.ts'
import { answerFeatures, type RetrievalSignals, retrievalFeatures } from '../src/knowledge/query/confidence.ts'
import type { Work } from '../src/store/knowledge/work.ts'
import { analyse } from '../src/text/analyse.ts'
import { Base, type Item, type Query, readSet } from './base.ts'
import { auc, balancedAccuracy } from './measures.ts'

interface Row {
  group: string
  /** Whether the row is in the training half. The other half is for evaluation. */
  learned: boolean
  positive: boolean
  retrieval: number[]
  answer: ReturnType<typeof signalsOf>
}

// Refusing an answerable question is the worse mistake: users see it daily, while unrelated questions are rare.
const ANSWERABLE_COUNTS = 1.6
// It is even worse in other languages, where inflection and unfamiliar word boundaries separate question and answer.
// There the second figure, which sees pieces of words, should answer rather than refuse.
const FOREIGN_COUNTS = 2
const FOREIGN = new Set(['xquad-a', 'native-a'])
const GROUP_COUNTS: Record<string, number> = { 'oob-a': 2 }
// Questions per base. More do not change the result.
const QUESTIONS = 800

/** Returns the retriever's signals, computed from its results. */
function* signalsFrom({ passages, load, frequency }: TermStatistics, { query, hits }: Retrieval): Work<RetrievalSignals> {
  const best = hits[0]!
  yield* load(query.split(' '))
  const held = new Set(analyse(`${best.title}\n${best.heading}\n${best.text}`).tokens.map((token) => token.stem))
  const terms = query.split(' ').map((stem) => ({ frequency: frequency(stem), weight: 1, inBest: held.has(stem) }))
  return { passages, terms, best: best.score, second: hits[1]?.score ?? 0 }
}

async function rowsOf(group: string, corpus: Item[], queries: Query[]): Promise<Row[]> {
  const base = await Base.of(corpus)
  const ids = new Set(corpus.map((item) => item.id))
  const step = Math.max(1, Math.floor(queries.length / QUESTIONS))
  const rows = queries
    .map((query, i) => ({ query, learned: i % 2 === 0, chosen: i % step < 2 }))
    .filter(({ chosen }) => chosen)
    .flatMap(({ query, learned }): Row[] => {
      const retrieval = base.retrieve(query.text)
      if ((retrieval.hits[0]?.score ?? 0) <= 0) return []
      return base.within(function* (read) {
        const described = yield* describe({ question: query.text, history: [] }, retrieval.hits, statisticsOf(read))
        const best = rank(described)[0]
        const positive = query.answerable && [...query.relevant].some((id) => ids.has(id))
        return best === undefined
          ? []
          : [
              {
                group,
                learned,
                positive,
                retrieval: retrievalFeatures(yield* signalsFrom(statisticsOf(read), retrieval)),
                answer: signalsOf(best.candidate, described),
              },
            ]
      })
    })
  base.close()
  return rows
}

/** Fits a weighted, slightly shrunk logistic regression by Newton's method; constant first. `foreign` weights answerable non-English questions. */
function fit(rows: readonly Row[], featuresOf: (row: Row) => number[], foreign: number): number[] {
  const counts = new Map<string, number>()
  for (const { group, positive } of rows) counts.set(`${group} ${positive}`, (counts.get(`${group} ${positive}`) ?? 0) + 1)
  const data = rows.map((row) => ({
    x: [1, ...featuresOf(row)],
    y: row.positive ? 1 : 0,
    weight:
      (1000 * (row.positive ? ANSWERABLE_COUNTS * (FOREIGN.has(row.group) ? foreign : 1) : 1) * (GROUP_COUNTS[row.group] ?? 1)) /
      counts.get(`${row.group} ${row.positive}`)!,
  }))
  const size = data[0]!.x.length
  const weights = new Array<number>(size).fill(0)
  for (let round = 0; round < 100; round++) {
    const gradient = weights.map((weight, i) => (i === 0 ? 0 : -weight))
    const hessian = weights.map((_, i) => weights.map((_, j) => (i === j ? 1 : 0)))
    for (const { x, y, weight } of data) {
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, i) => sum + value * weights[i]!, 0)))
      for (let i = 0; i < size; i++) {
        gradient[i]! += weight * (y - p) * x[i]!
        for (let j = 0; j < size; j++) hessian[i]![j]! += weight * p * (1 - p) * x[i]! * x[j]!
      }
    }
    const step = solve(hessian, gradient)
    // A full step far from the best point overshoots.
    const least = Math.min(1, 1 / Math.max(...step.map(Math.abs)))
    for (let i = 0; i < size; i++) weights[i]! += step[i]! * least
  }
  return weights
}

/** Gaussian elimination without pivoting: the matrix is positive definite. */
function solve(matrix: number[][], right: number[]): number[] {
  const size = right.length
  for (let i = 0; i < size; i++) {
    for (let k = i + 1; k < size; k++) {
      const factor = matrix[k]![i]! / matrix[i]![i]!
      for (let j = i; j < size; j++) matrix[k]![j]! -= factor * matrix[i]![j]!
      right[k]! -= factor * right[i]!
    }
  }
  const solution = new Array<number>(size).fill(0)
  for (let i = size - 1; i >= 0; i--) {
    let sum = right[i]!
    for (let j = i + 1; j < size; j++) sum -= matrix[i]![j]! * solution[j]!
    solution[i] = sum / matrix[i]![i]!
  }
  return solution
}

const folder = process.argv[2]
if (folder === undefined) throw new Error('usage: node bench/fit-confidence.ts FOLDER')
const rows: Row[] = []
const oob = readSet(join(folder, 'oob-a'))
rows.push(...(await rowsOf('oob-a', oob.corpus, oob.queries)))
for (const name of ['xquad-a', 'native-a']) {
  const { corpus, queries } = readSet(join(folder, name))
  // Splits by title, so that whole articles are missing, or by document if there are no titles.
  const keyOf = (item: Item): string => item.title || item.id
  const keys = [...new Set(corpus.map(keyOf))]
  const kept = new Set(keys.filter((_, i) => i % 2 === 0))
  rows.push(
    ...(await rowsOf(
      name,
      corpus.filter((item) => kept.has(keyOf(item))),
      queries,
    )),
  )
}
// Small bases: two English articles, with equally many questions about them and about others.
const squad = readSet(join(folder, 'squad2-a'))
const articles = [...Map.groupBy(squad.corpus, (item) => item.title ?? '').values()].filter((items) => items.length >= 10)
for (let i = 0; i + 1 < articles.length; i += 2) {
  const corpus = [...articles[i]!.slice(0, 12), ...articles[i + 1]!.slice(0, 12)]
  const ids = new Set(corpus.map((item) => item.id))
  const questions = squad.queries.filter((query) => query.answerable && query.relevant.size > 0)
  const own = questions.filter((query) => [...query.relevant].some((id) => ids.has(id)))
  const about = new Set([...articles[i]!, ...articles[i + 1]!].map((item) => item.id))
  const others = questions.filter((query) => ![...query.relevant].some((id) => about.has(id)))
  rows.push(
    ...(await rowsOf('small', corpus, [...own, ...others.filter((_, at) => at % Math.ceil(others.length / own.length) === 0)])),
  )
}

const weigh = (weights: number[], features: number[]): number =>
  1 / (1 + Math.exp(-features.reduce((sum, value, i) => sum + value * weights[i + 1]!, weights[0]!)))
const half = rows.filter((row) => row.learned)
const first = fit(half, (row) => row.retrieval, 1)
const confidenceOf = (row: Row): number => weigh(first, row.retrieval)
const second = fit(half, (row) => answerFeatures(confidenceOf(row), row.answer), FOREIGN_COUNTS)
console.log(
  'RETRIEVAL',
  first.map((weight) => Number(weight.toFixed(2))),
)
console.log(
  'ANSWER',
  second.map((weight) => Number(weight.toFixed(2))),
)
for (const [group, members] of Map.groupBy(
  rows.filter((row) => !row.learned),
  (row) => row.group,
)) {
  const report = (scoreOf: (row: Row) => number): string => {
    const judged = members.map((row) => ({ positive: row.positive, score: scoreOf(row) }))
    const yes = judged.filter(({ positive }) => positive)
    const answered = yes.filter(({ score }) => score >= 0.5).length / yes.length
    return `AUC ${auc(judged).toFixed(3)} balanced ${balancedAccuracy(judged, 0.5).toFixed(3)} answered ${answered.toFixed(3)}`
  }
  const answered = report((row) => weigh(second, answerFeatures(confidenceOf(row), row.answer)))
  console.log(group, members.length, 'retrieval', report(confidenceOf), '| answer', answered)
}
