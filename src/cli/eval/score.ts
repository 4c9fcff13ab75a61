import { normalize } from '../../text/fold.ts'
import type { EvalQuestion } from './question-set.ts'

/** An agent's result for a question. */
export interface EvalOutcome {
  id: string
  question: string
  reply: string
  /** False if the agent replied that it does not know. */
  answered: boolean
  /** The names of each document found by the search, best first, without duplicates. */
  found: string[][]
  /** The names of each cited document. */
  cited: string[][]
  ms: number
  /** Undefined if the question gives no criterion. */
  isRight?: boolean
  /** Why the question failed. */
  failure?: string
}

/** Shares from 0 to 1, each over the questions that it applies to. Null if there are none. */
export interface Scores {
  /** Over questions with known documents: one of these is among the first five found. */
  'recall@5': number | null
  /** Over the same questions: the mean reciprocal rank of the first of these documents. */
  mrr: number | null
  /** Over questions with known answers: one of these is in the reply. */
  answers: number | null
  /** Over replies that cite, to questions with known documents: all cited documents are among the known ones. */
  citations: number | null
  /** Over questions that the documents do not answer: the agent said so. */
  refusals: number | null
  /** Over all other questions: the agent answered. */
  answered: number | null
}
export const scoreNames = ['recall@5', 'mrr', 'answers', 'citations', 'refusals', 'answered'] as const satisfies (keyof Scores)[]

const RECALL_AT = 5

/** Returns whether a reply is right. Undefined if the question gives no criterion. */
export function judge(
  { answers, documents, answerable }: EvalQuestion,
  { reply, answered, cited }: EvalOutcome,
): boolean | undefined {
  if (!answerable) return !answered
  if (answers.length > 0) return holdsAny(reply, answers)
  if (documents.length === 0) return undefined
  return answered && cited.some((names) => isAmong(names, documents))
}

export function score(questions: readonly EvalQuestion[], outcomes: readonly EvalOutcome[]): Scores {
  const asked = questions.flatMap((question, i) =>
    outcomes[i]!.failure === undefined ? [{ question, outcome: outcomes[i]! }] : [],
  )
  const documented = asked.filter(({ question }) => question.answerable && question.documents.length > 0)
  const places = documented.map(({ question, outcome }) => outcome.found.findIndex((names) => isAmong(names, question.documents)))
  const cites = documented.filter(({ outcome }) => outcome.answered && outcome.cited.length > 0)
  const told = asked.filter(({ question }) => question.answerable && question.answers.length > 0)
  const unanswerable = asked.filter(({ question }) => !question.answerable)
  const answerable = asked.filter(({ question }) => question.answerable)
  return {
    'recall@5': mean(places.map((place) => Number(place >= 0 && place < RECALL_AT))),
    mrr: mean(places.map((place) => (place < 0 ? 0 : 1 / (place + 1)))),
    answers: mean(told.map(({ question, outcome }) => Number(holdsAny(outcome.reply, question.answers)))),
    citations: mean(
      cites.map(({ question, outcome }) => Number(outcome.cited.every((names) => isAmong(names, question.documents)))),
    ),
    refusals: mean(unanswerable.map(({ outcome }) => Number(!outcome.answered))),
    answered: mean(answerable.map(({ outcome }) => Number(outcome.answered))),
  }
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

const isAmong = (names: readonly string[], documents: readonly string[]): boolean =>
  names.some((name) => documents.some((document) => document.toLowerCase() === name.toLowerCase()))

/** Returns true if the reply contains an answer as whole words, ignoring case, punctuation and white space. */
function holdsAny(reply: string, answers: readonly string[]): boolean {
  const words = ` ${folded(reply)} `
  return answers.some((answer) => {
    const wanted = folded(answer)
    // Scripts without spaces have no whole words.
    return /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(wanted)
      ? words.includes(wanted)
      : words.includes(` ${wanted} `)
  })
}

const folded = (text: string): string =>
  normalize(text, 'NFKC')
    .toLowerCase()
    .replace(/\[\d+\]/g, ' ')
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
