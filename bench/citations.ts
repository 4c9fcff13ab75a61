// Measures how often correct citations stay and wrong ones are removed, at several thresholds for the share of matching content.
//   node bench/citations.ts FOLDER…       (test collections with answers, see base.ts)
// Correct: sentences with the answer, each with its own passage: whole, cut to the words around the answer, reworded (3 content words in 10
// replaced), or composed of question and answer. Wrong: the same with other passages found, and with a changed number and the own passage.
import { basename } from 'node:path'
import type { Hit } from '../src/core/ports/retrieval.ts'
import { cite } from '../src/reply/cite.ts'
import { sentences } from '../src/text/sentences.ts'
import { Base, readSet } from './base.ts'

const SHARES = [0.3, 0.4, 0.5, 0.6, 0.7]
const QUESTIONS = 400
const AROUND_WORDS = 6

let seed = 7
/** Deterministic: the same numbers on every run. */
const random = () => {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return seed / 0x7fffffff
}

interface Case {
  kind: string
  right: boolean
  statement: string
  hits: Hit[]
  question: string
}

for (const folder of process.argv.slice(2)) {
  const cases = await casesOf(folder)
  for (const share of SHARES) {
    const least = { words: share, pieces: share }
    const kept = new Map<string, { kept: number; all: number }>()
    for (const { kind, right, statement, hits, question } of cases) {
      const { citations } = cite(`${statement} [1]`, hits, { question, least })
      const name = `${right ? 'right' : 'wrong'}: ${kind}`
      const count = kept.get(name) ?? { kept: 0, all: 0 }
      kept.set(name, { kept: count.kept + 1 - citations.unsupported, all: count.all + 1 })
    }
    const shares = [...kept].sort().map(([name, { kept, all }]) => [name, Math.round((kept / all) * 1000) / 1000])
    console.log(JSON.stringify({ set: basename(folder), share, kept: Object.fromEntries(shares) }))
  }
}
const long = Array.from(
  { length: 12 },
  (_, i) => `The warranty of lamp ${i} covers two years of normal use at home [${(i % 6) + 1}].`,
).join(' ')
const passages = Array.from({ length: 6 }, (_, i) => hitOf(`${'The lamp has a warranty of two years at home. '.repeat(20)} ${i}`))
for (let i = 0; i < 200; i++) cite(long, passages)
const begun = performance.now()
for (let i = 0; i < 500; i++) cite(long, passages)
console.log(
  JSON.stringify({ what: 'a reply of 150 words, 6 passages', ms: Math.round(((performance.now() - begun) / 500) * 1000) / 1000 }),
)

async function casesOf(folder: string): Promise<Case[]> {
  const { corpus, queries } = readSet(folder)
  const base = await Base.of(corpus)
  const words = corpus.slice(0, 200).flatMap(({ text }) => text.match(/\p{L}{5,}/gu) ?? [])
  const cases: Case[] = []
  for (const { text: question, golds, relevant } of queries
    .filter((q) => q.golds.length > 0 && q.answerable)
    .slice(0, QUESTIONS)) {
    const { hits } = base.retrieve(question)
    const own = hits.find((hit) => relevant.has(base.ids.get(hit.documentId)!) && golds.some((gold) => hit.text.includes(gold)))
    if (own === undefined) continue
    const gold = golds.find((answer) => own.text.includes(answer))!
    const { start, end } = sentences(own.text).find((span) => own.text.slice(span.start, span.end).includes(gold)) ?? {
      start: 0,
      end: 0,
    }
    const sentence = own.text.slice(start, end)
    if (sentence === '') continue
    const others = hits.filter((hit) => hit !== own && !hit.text.includes(gold))
    const statements = {
      whole: sentence,
      cut: around(sentence, gold),
      reworded: sentence.replace(/\p{L}{5,}/gu, (word) => (random() < 0.3 ? words[Math.floor(random() * words.length)]! : word)),
      composed: `${question.replace(/\?$/, '')}: ${gold}`,
    }
    for (const [kind, statement] of Object.entries(statements)) {
      cases.push({ kind, right: true, statement, hits: [own], question })
      for (const other of others.slice(0, 2)) cases.push({ kind, right: false, statement, hits: [other], question })
    }
    const changed = sentence.replace(/\d+/, (n) => String(Number(n) + 7))
    if (changed !== sentence) cases.push({ kind: 'number changed', right: false, statement: changed, hits: [own], question })
  }
  base.close()
  return cases
}

function around(sentence: string, gold: string): string {
  const at = sentence.indexOf(gold)
  const before = sentence.slice(0, at).split(' ').slice(-AROUND_WORDS).join(' ')
  return `${before}${gold} ${sentence
    .slice(at + gold.length)
    .split(' ')
    .slice(0, AROUND_WORDS)
    .join(' ')}`
}

function hitOf(text: string): Hit {
  return { documentId: text, passageId: text, title: '', heading: '', text, page: null, url: null, score: 1, scores: {} }
}
