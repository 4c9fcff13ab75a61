// Fits the weights of src/knowledge/answer/extract-answer.ts and prints them:
//   node bench/fit-answers.ts FOLDER
// FOLDER contains test collections with answers. Half of the questions are for training, the other half for evaluation.
import { join } from 'node:path'
import { describe, featureNames } from '../src/knowledge/answer/features.ts'
import { statisticsOf } from '../src/knowledge/answer/question-terms.ts'
import { Base, readSet } from './base.ts'
import { holdsAnswer, mean } from './measures.ts'

/** A question: the features of each unit, and whether the unit contains a gold answer. */
interface Choice {
  set: string
  units: number[][]
  right: boolean[]
}

const SETS = ['squad2-a', 'xquad-a', 'native-a']
// Questions per set. More do not change the result.
const QUESTIONS = 2500
const ROUNDS = 300
const SHRINKAGE = 0.0005

async function choicesOf(folder: string, set: string): Promise<Choice[]> {
  const { corpus, queries } = readSet(join(folder, set))
  const base = await Base.of(corpus)
  const answerable = queries.filter((query) => query.answerable)
  const step = Math.max(1, Math.floor(answerable.length / QUESTIONS))
  const choices = answerable
    .filter((_, i) => i % step === 0)
    .map((query) => {
      const { hits } = base.retrieve(query.text)
      const { candidates } = base.within((read) => describe({ question: query.text, history: [] }, hits, statisticsOf(read)))
      const right = candidates.map(({ hit, start, end }) => holdsAnswer(hits[hit]!.text.slice(start, end), query.golds))
      return { set, units: candidates.map((candidate) => candidate.features), right }
    })
  base.close()
  return choices
}

const scoresOf = (weights: readonly number[], { units }: Choice): number[] =>
  units.map((features) => features.reduce((sum, value, i) => sum + value * weights[i]!, 0))

/** Fits weights by maximum likelihood (softmax over units, any correct unit counts), with Adam. */
function fit(choices: readonly Choice[]): number[] {
  const weights = featureNames.map(() => 0)
  const mean1 = featureNames.map(() => 0)
  const mean2 = featureNames.map(() => 0)
  for (let round = 1; round <= ROUNDS; round++) {
    const gradient = weights.map((weight) => SHRINKAGE * weight)
    for (const choice of choices) addGradient(gradient, weights, choice, choices.length)
    for (const [i, slope] of gradient.entries()) {
      mean1[i] = 0.9 * mean1[i]! + 0.1 * slope
      mean2[i] = 0.99 * mean2[i]! + 0.01 * slope * slope
      weights[i]! -= (0.2 * (mean1[i]! / (1 - 0.9 ** round))) / (Math.sqrt(mean2[i]! / (1 - 0.99 ** round)) + 1e-8)
    }
  }
  return weights
}

function addGradient(gradient: number[], weights: readonly number[], choice: Choice, count: number): void {
  const scores = scoresOf(weights, choice)
  const highest = Math.max(...scores)
  const odds = scores.map((score) => Math.exp(score - highest))
  const all = odds.reduce((sum, odd) => sum + odd, 0)
  const right = odds.reduce((sum, odd, i) => sum + (choice.right[i] ? odd : 0), 0)
  for (const [i, features] of choice.units.entries()) {
    const pull = (odds[i]! / all - (choice.right[i] ? odds[i]! / right : 0)) / count
    for (const [k, value] of features.entries()) gradient[k]! += pull * value
  }
}

const folder = process.argv[2]
if (folder === undefined) throw new Error('usage: node bench/fit-answers.ts FOLDER')
const choices: Choice[] = []
for (const set of SETS) choices.push(...(await choicesOf(folder, set)))
const weights = fit(choices.filter((choice, i) => i % 2 === 0 && choice.right.includes(true)))
for (const [i, name] of featureNames.entries()) console.log(name, weights[i]!.toFixed(2))
for (const [set, group] of Map.groupBy(
  choices.filter((_, i) => i % 2 === 1),
  (choice) => choice.set,
)) {
  const best = group.map((choice) => {
    const scores = scoresOf(weights, choice)
    return choice.right[scores.indexOf(Math.max(...scores))] === true ? 1 : 0
  })
  console.log(set, 'the best unit holds the answer:', mean(best).toFixed(3))
}
