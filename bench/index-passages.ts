import { newId } from '../src/core/platform/ids.ts'
import { INDEX_LIMITS } from '../src/knowledge/ingest/index-documents.ts'
import { cutPassages } from '../src/knowledge/read/cut.ts'
import { readPlain } from '../src/knowledge/read/formats/plain.ts'
import { KnowledgeFile } from '../src/store/knowledge/file.ts'
import { addToBatch, newBatch, raiseVersion, writeBatch } from '../src/store/knowledge/index/index.ts'
import { emptySome, Merge } from '../src/store/knowledge/index/merge.ts'
import type { Item } from './base.ts'

export interface Indexed {
  /** Maps document ids to ids of the corpus. */
  documents: Map<string, string>
  passages: number
  /** Includes merging the index. */
  seconds: number
}

/** Writes texts into a knowledge file, without the service's task records. `batch` texts share a transaction; `whole` leaves texts uncut. */
export function indexPassages(path: string, corpus: Iterable<Item>, { batch: size = 16_000, whole = false } = {}): Indexed {
  const file = KnowledgeFile.openToWrite(path)
  const indexed: Indexed = { documents: new Map(), passages: 0, seconds: 0 }
  let at = 0
  for (const slice of slicesOf(corpus, size)) {
    const begun = performance.now()
    indexed.passages += addSlice(file, slice, at, whole, indexed.documents)
    mergeAll(file, false)
    at += slice.length
    indexed.seconds += (performance.now() - begun) / 1_000
  }
  const begun = performance.now()
  mergeAll(file, true)
  indexed.seconds += (performance.now() - begun) / 1_000
  file.scrub()
  file.close()
  return indexed
}

function addSlice(file: KnowledgeFile, slice: Item[], at: number, whole: boolean, documents: Map<string, string>): number {
  const batch = newBatch()
  const sizes = slice.map(({ title = '', text }, i) => {
    const cuts = whole ? [{ text, heading: '', page: null }] : cutPassages(readPlain(text).blocks)
    for (const [position, cut] of cuts.entries()) addToBatch(batch, { ...cut, document: at + i + 1, position, title })
    return cuts.length
  })
  file.write(() => {
    let first = writeBatch(file, batch)
    for (const [i, { id: item, title = '', text }] of slice.entries()) {
      const id = newId()
      documents.set(id, item)
      file.run(
        `INSERT INTO document (id, title, title_given, source, media_type, bytes, hash, metadata, status, progress, created_at, updated_at, first, last, indexed_title)
         VALUES (?, ?, 1, '{"type":"text"}', 'text/plain', ?, x'00', '{}', 'ready', 1, 0, 0, ?, ?, ?)`,
        id, title, text.length, first, first + sizes[i]! - 1, title,
      ) // biome-ignore format: one row
      first += sizes[i]!
    }
    raiseVersion(file)
  })
  return batch.passages.length
}

function mergeAll(file: KnowledgeFile, idle: boolean): void {
  for (let merge = Merge.begin(file, idle); merge !== undefined; merge = Merge.begin(file, idle))
    while (merge.step(file, INDEX_LIMITS.mergeMs));
  while (emptySome(file));
}

function* slicesOf<T>(all: Iterable<T>, size: number): Generator<T[]> {
  let slice: T[] = []
  for (const one of all)
    if (slice.push(one) === size) {
      yield slice
      slice = []
    }
  if (slice.length > 0) yield slice
}
