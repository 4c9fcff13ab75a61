import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { HistoryEntry, Role } from '../src/core/message.ts'
import { newId } from '../src/core/platform/ids.ts'
import type { Extract, Retrieval, Suggestion } from '../src/core/ports/retrieval.ts'
import { extractAnswer } from '../src/knowledge/answer/extract-answer.ts'
import { statisticsOf } from '../src/knowledge/answer/question-terms.ts'
import { candidatesAfter, suggestQuestions } from '../src/knowledge/answer/suggest-questions.ts'
import { INDEX_LIMITS, indexSome } from '../src/knowledge/ingest/index-documents.ts'
import { LargeDocuments } from '../src/knowledge/ingest/large-documents.ts'
import { Owners } from '../src/knowledge/ingest/owners.ts'
import type { DocumentReading } from '../src/knowledge/ingest/read-documents.ts'
import { SlowReadings } from '../src/knowledge/ingest/slow-readings.ts'
import { retrieve } from '../src/knowledge/query/retrieve.ts'
import { readDocument } from '../src/knowledge/read/read.ts'
import { acceptDocument } from '../src/store/knowledge/documents.ts'
import { KnowledgeFile } from '../src/store/knowledge/file.ts'
import type { IndexRead } from '../src/store/knowledge/reader/index-read.ts'
import { KnowledgeIndex } from '../src/store/knowledge/reader/knowledge-index.ts'
import type { Task } from '../src/store/knowledge/tasks.ts'
import { together, type Work } from '../src/store/knowledge/work.ts'
import { readIndex } from './read-index.ts'

export interface Item {
  id: string
  title?: string
  text: string
}

export interface Query {
  id: string
  text: string
  lang?: string
  history: HistoryEntry[]
  /** The standalone form of the question, if the set has one. */
  rewrite?: string
  /** Accepted answers. Empty if the set has none. */
  golds: string[]
  answerable: boolean
  /** Ids of the documents that contain the answer. */
  relevant: Set<string>
}

const readLines = <T>(path: string): T[] =>
  gunzipSync(readFileSync(path))
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T)

/** Reads a test collection: corpus, queries, judgements and answers as gzipped JSON Lines in a folder. */
export function readSet(folder: string): { corpus: Item[]; queries: Query[] } {
  const answers = new Map(
    readLines<{ q: string; answers: string[]; answerable?: boolean }>(join(folder, 'answers.jsonl.gz')).map((answer) => [
      answer.q,
      answer,
    ]),
  )
  const relevant = new Map<string, Set<string>>()
  for (const { q, d } of readLines<{ q: string; d: string }>(join(folder, 'qrels.jsonl.gz')))
    relevant.set(q, (relevant.get(q) ?? new Set()).add(d))
  const asked = readLines<{
    id: string
    text: string
    lang?: string
    history?: { role: Role; text: string }[]
    rewrite?: string
  }>(join(folder, 'queries.jsonl.gz'))
  const queries = asked.map(({ id, text, lang, history, rewrite }) => ({
    id,
    text,
    ...(lang === undefined ? {} : { lang }),
    ...(rewrite === undefined ? {} : { rewrite }),
    history: (history ?? []).map((entry) => ({ role: entry.role, content: entry.text })),
    golds: answers.get(id)?.answers ?? [],
    answerable: answers.get(id)?.answerable !== false,
    relevant: relevant.get(id) ?? new Set<string>(),
  }))
  return { corpus: readLines<Item>(join(folder, 'corpus.jsonl.gz')), queries }
}

/** A knowledge base in its own folder, filled by the service's reading and indexing. */
export class Base {
  /** Maps document ids to ids of the collection. */
  readonly ids = new Map<string, string>()
  readonly #folder = mkdtempSync(join(tmpdir(), 'repartee-bench-'))
  #index: KnowledgeIndex | undefined

  static async of(corpus: readonly Item[], mediaType = 'text/plain'): Promise<Base> {
    const base = new Base()
    const path = join(base.#folder, 'base.db')
    const file = KnowledgeFile.openToWrite(path)
    file.write(() => {
      for (const { id, title, text } of corpus.filter((item) => item.text.trim() !== '')) {
        const content = Buffer.from(text)
        const documentId = newId()
        base.ids.set(documentId, id)
        acceptDocument(
          file,
          documentId,
          { ...(title ? { title } : {}), source: { type: 'text' }, mediaType, content, metadata: {} },
          0,
        )
      }
    })
    const slow = new SlowReadings<Task, DocumentReading | undefined>()
    const work = {
      clock: () => 0,
      limits: INDEX_LIMITS,
      read: readDocument,
      isOver: () => false,
      othersWait: () => false,
      unreleased: new Set<Task>(),
      slow,
      agentId: '',
      large: new LargeDocuments({ most: INDEX_LIMITS.heldChars, owners: new Owners(), next: ([first]) => first, wake: () => {} }),
    }
    while (await indexSome(file, work));
    file.close()
    base.#index = new KnowledgeIndex(KnowledgeFile.openToRead(path)!)
    return base
  }

  retrieve(query: string, history: HistoryEntry[] = [], topK = 6): Retrieval {
    return this.within((read) => retrieve(read, { query, history, topK, filter: null }))
  }

  extract(question: string, history: HistoryEntry[], retrieval: Retrieval): Extract {
    return this.within((read) => extractAnswer({ question, history, retrieval }, statisticsOf(read)))
  }

  suggest(asked: string[], retrieval: Retrieval, count = 3): Suggestion[] {
    const input = { asked, retrieval, count, filter: null }
    return this.within((read) => {
      const ask = (queries: readonly string[]) =>
        together(...queries.map((query) => retrieve(read, { query, history: [], topK: 5, filter: null })))
      return suggestQuestions(input, { ask, statistics: statisticsOf(read), atOnce: 1 }, candidatesAfter(input, []))
    })
  }

  within<T>(work: (read: IndexRead) => Work<T>): T {
    return readIndex(this.#index!, work)
  }

  close(): void {
    this.#index?.close()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
