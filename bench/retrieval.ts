// Measures the quality and speed of retrieval in one process, without a service:
//   node bench/retrieval.ts FOLDER [--sets squad2-a,cacm] [--typos] [--every N] [--passages N] [--whole] [--by]
// --passages pads the first set to this size; --whole leaves texts uncut; --by reports each language separately.
// FOLDER contains test collections, one folder each: corpus, queries and qrels as gzipped JSON Lines.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import type { HistoryEntry, Role } from '../src/core/message.ts'
import { retrieve } from '../src/knowledge/query/retrieve.ts'
import { KnowledgeFile } from '../src/store/knowledge/file.ts'
import { KnowledgeIndex } from '../src/store/knowledge/reader/knowledge-index.ts'
import type { Item } from './base.ts'
import { indexPassages } from './index-passages.ts'
import { readIndex } from './read-index.ts'

interface Query {
  id: string
  text: string
  lang?: string
  history?: { role: Role; text: string }[]
}

const { values: options, positionals } = parseArgs({
  options: {
    sets: { type: 'string' },
    typos: { type: 'boolean' },
    every: { type: 'string', default: '1' },
    batch: { type: 'string', default: '8000' },
    by: { type: 'boolean' },
    passages: { type: 'string' },
    whole: { type: 'boolean' },
  },
  allowPositionals: true,
})
const folder = positionals[0]
if (folder === undefined)
  throw new Error('usage: node bench/retrieval.ts FOLDER [--sets a,b] [--typos] [--every N] [--passages N]')
const sets = options.sets?.split(',') ?? readdirSync(folder).filter((name) => statSync(join(folder, name)).isDirectory())

const readLines = <T>(path: string): T[] =>
  gunzipSync(readFileSync(path))
    .toString('utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T)
const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / Math.max(1, values.length)
const percentile = (values: number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.ceil(values.length * share) - 1)] ?? 0

// Adds two typing errors to a question: letters swapped, dropped or doubled in words of five or more letters. Deterministic.
function withTypos(text: string, seed: string): string {
  let state = [...seed].reduce((hash, character) => (hash * 31 + character.charCodeAt(0)) >>> 0, 7)
  const random = (n: number): number => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % n
  }
  const words = text.split(' ')
  const long = words.map((word, i) => (word.replace(/[^\p{L}]/gu, '').length >= 5 ? i : -1)).filter((i) => i >= 0)
  for (let k = 0; k < 2 && long.length > 0; k++) {
    const i = long.splice(random(long.length), 1)[0]!
    const word = words[i]!
    const p = 1 + random(word.length - 2)
    const kind = random(3)
    words[i] =
      kind === 0
        ? word.slice(0, p) + word[p + 1] + word[p] + word.slice(p + 2)
        : kind === 1
          ? word.slice(0, p) + word.slice(p + 1)
          : word.slice(0, p) + word[p] + word.slice(p)
  }
  return words.join(' ')
}

/** nDCG with linear gain over the judged documents, like trec_eval. */
function scoresOf(ranked: string[], judged: ReadonlyMap<string, number>): { ndcg: number; recall: number } {
  const gain = (rel: number, i: number): number => rel / Math.log2(i + 2)
  const ideal = [...judged.values()]
    .sort((a, b) => b - a)
    .slice(0, 10)
    .reduce((sum, rel, i) => sum + gain(rel, i), 0)
  const found = ranked.slice(0, 10).reduce((sum, id, i) => sum + gain(judged.get(id) ?? 0, i), 0)
  return { ndcg: found / ideal, recall: ranked.slice(0, 5).filter((id) => judged.has(id)).length / judged.size }
}

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1)
const home = mkdtempSync(join(tmpdir(), 'repartee-bench-'))
console.log('set | passages | questions | nDCG@10 | recall@5 | p50 ms | p99 ms | passages/s | file MB | memory + MB')
try {
  for (const set of sets) {
    const corpus = readLines<Required<Item>>(join(folder, set, 'corpus.jsonl.gz')).filter((passage) => passage.text.trim() !== '')
    if (options.passages !== undefined) pad(corpus, Number(options.passages))
    const judged = new Map<string, Map<string, number>>()
    for (const { q, d, rel } of readLines<{ q: string; d: string; rel: number }>(join(folder, set, 'qrels.jsonl.gz'))) {
      if (!judged.has(q)) judged.set(q, new Map())
      judged.get(q)!.set(d, rel)
    }
    const queries = readLines<Query>(join(folder, set, 'queries.jsonl.gz'))
      .filter(({ id }) => judged.has(id))
      .filter((_, i) => i % Number(options.every) === 0)
    const path = join(home, `${set}.db`)
    const { documents, passages, seconds } = indexPassages(path, corpus, { batch: Number(options.batch), whole: options.whole })
    globalThis.gc?.()
    const before = process.memoryUsage.rss()
    const index = new KnowledgeIndex(KnowledgeFile.openToRead(path)!)
    const times: number[] = []
    const results: { ndcg: number; recall: number; lang: string }[] = []
    for (const query of queries) {
      const history: HistoryEntry[] = (query.history ?? []).map(({ role, text }) => ({ role, content: text }))
      const text = options.typos === true ? withTypos(query.text, query.id) : query.text
      const start = performance.now()
      readIndex(index, (read) => retrieve(read, { query: text, history, topK: 10, filter: null }))
      times.push(performance.now() - start)
      // Many passages of one long document can be at the top.
      const { hits } = readIndex(index, (read) => retrieve(read, { query: text, history, topK: 100, filter: null }))
      results.push({
        ...scoresOf([...new Set(hits.map((hit) => documents.get(hit.documentId)!))], judged.get(query.id)!),
        lang: query.lang ?? '',
      })
    }
    const row = [
      set,
      passages,
      queries.length,
      mean(results.map((r) => r.ndcg)).toFixed(3),
      mean(results.map((r) => r.recall)).toFixed(3),
    ]
    row.push(
      percentile(times, 0.5).toFixed(2),
      percentile(times, 0.99).toFixed(2),
      Math.round(passages / seconds),
      megabytes(statSync(path).size),
      megabytes(process.memoryUsage.rss() - before),
    )
    console.log(row.join(' | '))
    if (options.by === true) {
      for (const [lang, group] of Map.groupBy(results, (r) => r.lang))
        console.log(`  ${lang} ${mean(group.map((r) => r.ndcg)).toFixed(3)} / ${mean(group.map((r) => r.recall)).toFixed(3)}`)
    }
    index.close()
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}

/** Pads a corpus with windows of one to five sentences of the English sets, then with combined halves of two windows. */
function pad(corpus: Required<Item>[], wanted: number): void {
  const texts = ['scifact-train', 'cranfield', 'cacm', 'product-docs', 'mtrag-a', 'coqa-a'].flatMap((set) =>
    readLines<Required<Item>>(join(folder!, set, 'corpus.jsonl.gz')).map(({ title, text }) => ({
      title,
      sentences: text.split(/(?<=[.!?])\s+/),
    })),
  )
  const windows: { title: string; text: string }[] = []
  for (const size of [2, 3, 4, 1, 5]) {
    for (const { title, sentences } of texts) {
      for (let i = 0; i + size <= sentences.length; i++) windows.push({ title, text: sentences.slice(i, i + size).join(' ') })
    }
  }
  for (let round = 0; corpus.length < wanted; round++) {
    for (const [i, { title, text }] of windows.entries()) {
      if (corpus.length >= wanted) return
      const other = windows[(i * 7_919 + round * 104_729) % windows.length]!.text
      const halves = `${text.slice(0, text.length / 2)} ${other.slice(other.length / 2)}`
      corpus.push({ id: `pad ${corpus.length}`, title, text: round === 0 ? text : halves })
    }
  }
}
