// Measures how well answerable and unanswerable questions are distinguished inside conversations.
//   node bench/conversations.ts FOLDER
// FOLDER contains test collections. Questions come after others: real follow-ups, and standalone questions after a question and reply about
// the same or another document. Part of each base is omitted, so that the questions about that part cannot be answered.
import { join } from 'node:path'
import type { HistoryEntry } from '../src/core/message.ts'
import { ANSWER_THRESHOLD } from '../src/core/ports/retrieval.ts'
import { analyse, contentStems } from '../src/text/analyse.ts'
import { Base, type Item, type Query, readSet } from './base.ts'
import { auc, balancedAccuracy, mean } from './measures.ts'

interface Row {
  group: string
  positive: boolean
  score: number
}

interface Asked {
  group: string
  query: Query
  history: HistoryEntry[]
  positive: boolean
}

const QUESTIONS = 500

function rowsOf(base: Base, asked: readonly Asked[]): Row[] {
  return asked.map(({ group, query, history, positive }) => {
    const retrieval = base.retrieve(query.text, history)
    const { confidence } = base.extract(query.text, retrieval.standsAlone ? [] : history, retrieval)
    return { group, positive, score: confidence }
  })
}

const few = <T>(all: readonly T[]): T[] => all.filter((_, i) => i % Math.ceil(all.length / QUESTIONS) === 0)

/** Returns a question and the base's reply, as the start of a conversation. */
function begun(base: Base, { text }: Query): HistoryEntry[] {
  const { quotes } = base.extract(text, [], base.retrieve(text))
  return [
    { role: 'USER', content: text },
    { role: 'AI', content: quotes.map((quote, i) => `${quote.text} [${i + 1}]`).join('\n\n') },
  ]
}

/** Shortens a question to the length usual in chats: two of its significant words. */
function shortened(query: Query): Query {
  const words = contentStems(analyse(query.text)).length < 3 ? [] : (query.text.match(/[\p{L}\p{N}-]{4,}/gu) ?? [])
  const [first, second] = words.toSorted((a, b) => b.length - a.length)
  return first === undefined
    ? query
    : { ...query, text: `And the ${[first, second].filter((word) => word !== undefined).join(' ')}?` }
}

/** Measures standalone questions after one that the base answers. */
async function strangers(
  group: string,
  corpus: Item[],
  queries: Query[],
  isKept: (item: Item) => boolean,
  toAsked = (query: Query): Query => query,
): Promise<Row[]> {
  const kept = corpus.filter(isKept)
  const ids = new Set(kept.map(({ id }) => id))
  const base = await Base.of(kept)
  const holds = ({ answerable, relevant }: Query): boolean => answerable && [...relevant].some((id) => ids.has(id))
  const opening = queries.filter(holds)
  const rows = rowsOf(
    base,
    few(queries).map((query, i) => {
      const positive = holds(query)
      const [document] = query.relevant
      const same = i % 2 === 0 ? opening.find((other) => other !== query && other.relevant.has(document ?? '')) : undefined
      return { group, query: toAsked(query), history: begun(base, same ?? opening[(i * 7_919) % opening.length]!), positive }
    }),
  )
  base.close()
  return rows
}

/** Measures follow-ups in their own conversations, and in others, where they are standalone unless they refer back. */
async function followUps(group: string, corpus: Item[], queries: Query[]): Promise<Row[]> {
  const ids = corpus.map(({ id }) => id)
  const kept = new Set(ids.filter((_, i) => i % 3 !== 0))
  const base = await Base.of(corpus.filter(({ id }) => kept.has(id)))
  const later = queries.filter(({ history }) => history.length > 0)
  const isKept = ({ relevant }: Query): boolean => [...relevant].some((id) => kept.has(id))
  const own = later.filter(isKept).map((query) => ({ group, query, history: query.history, positive: true }))
  const foreign = later.filter((query) => !isKept(query))
  const others = foreign.map((query, i) => ({
    group,
    query,
    history: own[(i * 7_919) % own.length]!.history,
    positive: false,
  }))
  const rows = rowsOf(base, [...few(own), ...others])
  base.close()
  return rows
}

const folder = process.argv[2]
if (folder === undefined) throw new Error('usage: node bench/fit-conversation.ts FOLDER')
const rows: Row[] = []
for (const name of ['coqa-a', 'mtrag-a']) {
  const { corpus, queries } = readSet(join(folder, name))
  rows.push(...(await followUps(name, corpus, queries)))
}
for (const name of ['oob-a', 'xquad-a', 'native-a']) {
  const { corpus, queries } = readSet(join(folder, name))
  const keyOf = (item: Item): string => item.title || item.id
  const keys = [...new Set(corpus.map(keyOf))]
  const kept = new Set(keys.filter((_, i) => name === 'oob-a' || i % 2 === 0))
  rows.push(...(await strangers(name, corpus, queries, (item) => kept.has(keyOf(item)))))
}
const oob = readSet(join(folder, 'oob-a'))
rows.push(...(await strangers('short', oob.corpus, oob.queries, () => true, shortened)))
const squad = readSet(join(folder, 'squad2-a'))
const articles = [...Map.groupBy(squad.corpus, (item) => item.title ?? '').values()].filter((items) => items.length >= 10)
for (let i = 0; i + 1 < articles.length; i += 2) {
  const ids = new Set([...articles[i]!.slice(0, 3), ...articles[i + 1]!.slice(0, 3)].map(({ id }) => id))
  const questions = squad.queries.filter(({ answerable, relevant }) => answerable && relevant.size > 0)
  const own = questions.filter(({ relevant }) => [...relevant].some((id) => ids.has(id)))
  const about = new Set([...articles[i]!, ...articles[i + 1]!].map(({ id }) => id))
  const others = questions.filter(({ relevant }) => ![...relevant].some((id) => about.has(id)))
  const asked = [...own, ...others.filter((_, at) => at % Math.ceil(others.length / own.length) === 0)]
  rows.push(...(await strangers('small', squad.corpus, asked, ({ id }) => ids.has(id))))
}

console.log('group | questions | AUC | balanced | answered | wrongly answered')
for (const [group, members] of Map.groupBy(rows, (row) => row.group)) {
  const answered = (positive: boolean): number =>
    mean(members.filter((row) => row.positive === positive).map(({ score }) => (score >= ANSWER_THRESHOLD ? 1 : 0)))
  const figures = [auc(members), balancedAccuracy(members, ANSWER_THRESHOLD), answered(true), answered(false)]
  console.log([group, members.length, ...figures.map((figure) => figure.toFixed(3))].join(' | '))
}
