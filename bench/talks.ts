import { join } from 'node:path'
import type { HistoryEntry } from '../src/core/message.ts'
import { analyse } from '../src/text/analyse.ts'
import { sentences } from '../src/text/sentences.ts'
import { type Item, type Query, readSet } from './base.ts'

/** A message of a conversation with its reference data. */
export interface TalkTurn {
  message: string
  reply: string
  /** The standalone form of the message, if the set has one. */
  rewrite: string | undefined
  /** The sentences of the gold passages that contain the answer. Undefined if the set does not evaluate this turn. */
  evidence: string[] | undefined
}

export interface TalkSet {
  name: string
  documents: Item[]
  /** Conversations, each with its turns in order. */
  talks: TalkTurn[][]
}

/** Longer spans are texts of their own, not phrases of a passage. */
const LONGEST_SPAN = 300
/** Number of single questions that is enough. */
const SINGLE = 1_000

/** Normalizes a text for comparison: no case, no line breaks, no invisible characters. */
export const squeezed = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Cf}/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()

/** Reads conversations over whole documents, reassembled from the passages of a test collection. */
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

/** Reassembles the passages of an article or page into one document. */
function documentsOf(corpus: readonly Item[]): Item[] {
  const place = ({ id }: Item): number => Number(/-(\d+)-\d+$/.exec(id)?.[1] ?? 0)
  // The key of a page is the id without positions; the key of an article is its title; other passages stay separate.
  const keyOf = ({ id, title }: Item): string => (/-\d+-\d+$/.test(id) ? id.replace(/-\d+-\d+$/, '') : title || id)
  return [...Map.groupBy(corpus, keyOf)].map(([id, items]) => {
    const [first, ...rest] = items.toSorted((a, b) => place(a) - place(b))
    return { id, title: first!.title ?? '', text: rest.reduce((text, item) => grown(text, item), first!.text) }
  })
}

const SEAM = 60

/** Appends the next passage to a text without duplicating the overlap. */
function grown(text: string, { title = '', text: more }: Item): string {
  const body = title !== '' && more.startsWith(`${title}\n`) ? more.slice(title.length).trimStart() : more
  const at = text.lastIndexOf(body.slice(0, SEAM))
  return at > 0 && body.startsWith(text.slice(at)) ? text.slice(0, at) + body : `${text}\n\n${body}`
}

/** Returns the sentence with the answer from each gold passage: a verbatim match, else the sentence that shares most words with it. */
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
