import { normalize } from '../../text/fold.ts'
import type { EvalQuestion } from './question-set.ts'

/** What an agent made of a question. */
export interface EvalOutcome {
  id: string
  question: string
  reply: string
  /** False: it said that it does not know. */
  answered: boolean
  /** Names of the documents found by the search, best first, each once; a document has several. */
  found: string[][]
  /** The same of those that the reply cites. */
  cited: string[][]
  ms: number
  /** Undefined where nothing tells. */
  isRight?: boolean
  /** Why the question could not be asked. */
  failure?: string
}

/** Shares from 0 to 1, each over the questions that tell it; null where none does. */
export interface Scores {
  /** Of questions whose documents are known: one of them is among the first five found. */
  'recall@5': number | null
  /** Of the same: one over the place of the first of them. */
  mrr: number | null
  /** Of questions whose answers are known: one of them is in the reply. */
  answers: number | null
  /** Of replies that cite, to questions whose documents are known: all that is cited is among them. */
  citations: number | null
  /** Of questions that the documents do not answer: the agent said so. */
  refusals: number | null
  /** Of all others: it gave an answer. */
  answered: number | null
}
export const scoreNames = ['recall@5', 'mrr', 'answers', 'citations', 'refusals', 'answered'] as const satisfies (keyof Scores)[]

const RECALL_AT = 5

/** Whether a reply is right, as far as the question tells. */
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

/** Letter case, punctuation and white space do not matter; a text must stand there as whole words. */
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
