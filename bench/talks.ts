import { join } from 'node:path'
import type { HistoryEntry } from '../src/core/message.ts'
import { analyse } from '../src/text/analyse.ts'
import { sentences } from '../src/text/sentences.ts'
import { type Item, type Query, readSet } from './base.ts'

/** A message of a conversation, with what is known of it. */
export interface TalkTurn {
  message: string
  /** What the agent said to it. */
  reply: string
  /** The message in words that can stand alone, where the set has them. */
  rewrite: string | undefined
  /** The sentences of the gold passages that hold the answer, each of its passage; undefined where the set does not ask for this turn. */
  evidence: string[] | undefined
}

export interface TalkSet {
  name: string
  documents: Item[]
  /** Conversations, each of its turns in order. */
  talks: TalkTurn[][]
}

/** Longer ones are no phrase of a passage, but a text of their own. */
const LONGEST_SPAN = 300
/** Of single questions so many are enough. */
const SINGLE = 1_000

/** As texts compare: without case, line breaks, and what nobody sees. */
export const squeezed = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()

/** Conversations over whole documents, from a test collection whose passages are put together again. */
export function readTalks(folder: string, name: string): TalkSet {
  const { corpus, queries } = readSet(join(folder, name))
  const passages = new Map(corpus.map((item) => [item.id, item]))
  const isAsked = ({ answerable, relevant }: Query): boolean => answerable && relevant.size > 0
  const toTurn = (query: Query): TalkTurn => ({
    message: query.text,
    reply: query.golds[0] ?? 'I do not know.',
    rewrite: query.rewrite,
    evidence: isAsked(query) ? evidenceOf(query, passages) : undefined,
  })
  const documents = documentsOf(corpus)
  if (name === 'mtrag-a') {
    const talks = Map.groupBy(queries, ({ id }) => id.split('<::>')[0])
    return {
      name,
      documents,
      talks: [...talks.values()].map((turns) => turns.toSorted((a, b) => a.history.length - b.history.length).map(toTurn)),
    }
  }
  const asked = queries.filter(isAsked)
  const few = asked.filter((_, i) => i % Math.ceil(asked.length / SINGLE) === 0)
  return { name, documents, talks: few.map((query) => [...toTurns(query.history), toTurn(query)]) }
}

function toTurns(history: readonly HistoryEntry[]): TalkTurn[] {
  const turns: TalkTurn[] = []
  for (const { role, content } of history) {
    if (role === 'USER') turns.push({ message: content, reply: '', rewrite: undefined, evidence: undefined })
    else if (turns.length > 0) turns.at(-1)!.reply = content
  }
  return turns
}

/** Passages of one article, or of one page, as the one document that they were cut from. */
function documentsOf(corpus: readonly Item[]): Item[] {
  const place = ({ id }: Item): number => Number(/-(\d+)-\d+$/.exec(id)?.[1] ?? 0)
  // Of one page: the id without the places; of one article: its title; else the passage stands alone.
  const keyOf = ({ id, title }: Item): string => (/-\d+-\d+$/.test(id) ? id.replace(/-\d+-\d+$/, '') : title || id)
  return [...Map.groupBy(corpus, keyOf)].map(([id, items]) => {
    const [first, ...rest] = items.toSorted((a, b) => place(a) - place(b))
    return { id, title: first!.title ?? '', text: rest.reduce((text, item) => grown(text, item), first!.text) }
  })
}

const SEAM = 60

/** A text with what follows on it; windows that overlap are not doubled. */
function grown(text: string, { title = '', text: more }: Item): string {
  const body = title !== '' && more.startsWith(`${title}\n`) ? more.slice(title.length).trimStart() : more
  const at = text.lastIndexOf(body.slice(0, SEAM))
  return at > 0 && body.startsWith(text.slice(at)) ? text.slice(0, at) + body : `${text}\n\n${body}`
}

/** Of each gold passage the sentence with the answer: word for word where it stands there, else the one that shares most words with it. */
function evidenceOf({ golds, relevant }: Query, passages: ReadonlyMap<string, Item>): string[] {
  return [...relevant].flatMap((id) => {
    const { text } = passages.get(id)!
    const all = sentences(text).map(({ start, end }) => text.slice(start, end))
    const spans = golds.filter((gold) => gold.length <= LONGEST_SPAN).toSorted((a, b) => b.length - a.length)
    const span = spans.map((gold) => all.find((sentence) => squeezed(sentence).includes(squeezed(gold)))).find(Boolean)
    const best = span ?? mostAlike(all, golds.join('\n'))
    return best === undefined ? [] : [squeezed(best)]
  })
}

function mostAlike(all: readonly string[], answer: string): string | undefined {
  const wanted = stemsOf(answer)
  const alike = (sentence: string): number => {
    const said = stemsOf(sentence)
    return (2 * said.intersection(wanted).size) / (said.size + wanted.size || 1)
  }
  return all.toSorted((a, b) => alike(b) - alike(a))[0]
}

const stemsOf = (text: string): Set<string> =>
  new Set(
    analyse(text)
      .tokens.filter(({ stop }) => !stop)
      .map(({ stem }) => stem),
  )
