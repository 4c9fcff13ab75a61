import { setImmediate as nextTurn, setTimeout as pauseMs } from 'node:timers/promises'
import { DocumentError } from '../../core/document-error.ts'
import type { Clock } from '../../core/ports/ports.ts'
import type { KnowledgeBase } from '../../store/knowledge/base.ts'
import { contentOf } from '../../store/knowledge/contents.ts'
import { failTask, isWaiting, leaveTask, type Task } from '../../store/knowledge/tasks.ts'
import { hasVectors } from '../../store/knowledge/vectors.ts'
import type { SamePassage } from '../query/vectors/copies.ts'
import { refuseTooMuch } from '../read/indexed-chars.ts'
import { isNamedBinary } from '../read/kind.ts'
import type { ReadDocument, ReadInput } from '../read/read.ts'
import { type PassageList, StoredPassages, textOf } from './passage-list.ts'
import { type SlowReadings, SMALL_BYTES } from './slow-readings.ts'

/** Attempts after which a document fails. An attempt counts if the thread or the process ends during it, or if indexing fails. */
const MAX_ATTEMPTS = 5
/** Documents and bytes read while others are analysed, so that small documents do not wait for the reading process. */
const AHEAD = 16
const AHEAD_BYTES = 262_144
const TITLE_CHARS = 80

/** Dependencies of the functions that read documents. */
export interface ReadWork {
  clock: Clock
  /** Rejects with `DocumentError`, or with `ReaderClosed` if the service stops or `isWanted` returns false. */
  read: (input: ReadInput, isWanted: () => boolean) => Promise<ReadDocument>
  /** Documents of this agent that are still being read when their turn is over. */
  slow: SlowReadings<Task, DocumentReading | undefined>
  /** Called for each document that became ready or failed. */
  ended?: (outcome: 'ready' | 'failed') => void
}

/** A document that was read, with all data for the index. */
export interface DocumentReading {
  task: Task
  /** The detected media type. */
  mediaType: string
  title: string
  /** Empty if the title is only the first words. As a title, they would weigh far more than the rest of the text. */
  indexedTitle: string
  passages: PassageList
  /** Passages that can take over vectors of the previous version. */
  same: SamePassage[]
}

interface NextReading {
  task: Task
  bytes: number
  reading: Promise<DocumentReading | undefined>
}

/**
 * Reads the next documents while the current one is analysed. The number grows with each document that is read quickly, and falls to zero after a slow one.
 * Otherwise, slow documents in the queue would delay the documents of other agents.
 */
export class ReadAhead {
  readonly #base: KnowledgeBase
  readonly #work: ReadWork
  /** Tasks that are not started, last first. */
  readonly #waiting: Task[]
  readonly #started: NextReading[] = []
  #startedBytes = 0
  #window = 0

  constructor(base: KnowledgeBase, tasks: readonly Task[], work: ReadWork) {
    this.#base = base
    this.#waiting = tasks.toReversed()
    this.#work = work
  }

  /** Returns the next in order, or undefined after the last. */
  take(): NextReading | undefined {
    this.#fill(1)
    const next = this.#started.shift()
    if (next !== undefined) this.#startedBytes -= next.bytes
    if (this.#window > 0) this.#fill(1)
    return next
  }

  /** Adapts the number of documents read ahead to the last one. */
  adapt(isQuick: boolean): void {
    this.#window = isQuick ? Math.min(AHEAD, this.#window * 2 || 1) : 0
  }

  /** Starts no more readings. */
  end(): void {
    this.#waiting.length = 0
  }

  /** Starts at least `least` readings, even beyond the limits. */
  #fill(least: number): void {
    while (this.#started.length < least || (this.#started.length < this.#window && this.#startedBytes < AHEAD_BYTES)) {
      const task = this.#waiting.pop()
      if (task === undefined) return
      const next = this.#start(task)
      // The error reaches the caller of `take`. Until then it must not count as unhandled.
      next.reading.catch(() => {})
      this.#startedBytes += next.bytes
      this.#started.push(next)
    }
  }

  #start(task: Task): NextReading {
    const kept = this.#work.slow.take(task)
    if (kept !== undefined) return { task, bytes: 0, reading: kept }
    const content = contentFor(this.#base, task)
    return { task, bytes: content.byteLength, reading: read(this.#base, task, content, this.#work) }
  }
}

function contentFor(base: KnowledgeBase, task: Task): Uint8Array {
  if (task.work === 'read') return contentOf(base, task.number)
  return task.work === 'reread' && isText(task) ? Buffer.from(textOf(new StoredPassages(base, task.first, task.last))) : NO_BYTES
}

const NO_BYTES = new Uint8Array(0)
/** Media types whose passages are plain text, without pages or rows. */
const TEXTS = new Set(['text/markdown', 'text/html', 'text/plain'])
const isText = ({ mediaType }: Task): boolean => TEXTS.has(mediaType)

/** Returns true if there is nothing to read, or a small text according to its name and type. */
export const isQuickToRead = ({ work, bytes, mediaType, source }: Task): boolean =>
  work === 'retitle' || (bytes <= SMALL_BYTES && !isNamedBinary(mediaType, source.type === 'file' ? source.filename : undefined))

/** Returns true if the promise is settled within that time, false if it is not. Never rejects. */
export async function isSettled(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  )
  // Most promises are already settled, and a timer for each would cost more than the rest.
  if (await Promise.race([settled, nextTurn(false)])) return true
  const stop = new AbortController()
  const late = pauseMs(withinMs, false, { signal: stop.signal }).catch(() => false)
  const first = await Promise.race([settled, late])
  stop.abort()
  return first
}

/** Resolves to undefined if the document cannot be read; its `error` then says why. Rejects with `ReaderClosed`. */
async function read(
  base: KnowledgeBase,
  task: Task,
  content: Uint8Array,
  { read: readIt, clock, ended }: ReadWork,
): Promise<DocumentReading | undefined> {
  try {
    if (task.attempts >= MAX_ATTEMPTS)
      throw new DocumentError('internal_error', `Reading or indexing this document failed ${MAX_ATTEMPTS} times.`)
    if (task.work === 'retitle' || (task.work === 'reread' && content.length === 0)) return withNewTitle(base, task)
    if (task.work === 'reread') return await readAgain(base, task, content, readIt)
    const filename = task.source.type === 'file' ? { filename: task.source.filename } : {}
    const { mediaType, title, passages } = await readIt({ mediaType: task.mediaType, ...filename, content }, () =>
      isWanted(base, task),
    )
    const named = task.titleGiven ? task.title : (title ?? task.title)
    refuseTooMuch(named, passages)
    return { task, mediaType, title: named || firstWords(passages[0]?.text ?? ''), indexedTitle: named, passages, same: [] }
  } catch (error) {
    // Only a `DocumentError` is caused by the document. Other errors, such as a lost connection or a full disk, are retried; the content stays stored.
    if (!(error instanceof DocumentError)) throw error
    if (task.work === 'reread') {
      if (base.isOpen) base.write(() => leaveTask(base, task))
      return undefined
    }
    const { code, message } = error
    if (base.isOpen) base.write(() => failTask(base, task, { code, message }, clock()))
    ended?.('failed')
    return undefined
  }
}

/** Rebuilds the passages from their own text, because the content of a document is not stored. If that fails, only indexes them again. */
async function readAgain(
  base: KnowledgeBase,
  task: Task,
  content: Uint8Array,
  readIt: ReadWork['read'],
): Promise<DocumentReading> {
  // HTML was converted to Markdown when the page was first read.
  const mediaType = task.mediaType === 'text/html' ? 'text/markdown' : task.mediaType
  try {
    const { passages } = await readIt({ mediaType, content }, () => isWanted(base, task))
    refuseTooMuch(task.title, passages)
    return { task, mediaType: task.mediaType, title: task.title, indexedTitle: indexedTitleOf(task), passages, same: [] }
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    return withNewTitle(base, task)
  }
}

/** A title that is only the first words is not indexed. */
const indexedTitleOf = ({ work, title, titleGiven, indexedTitle }: Task): string =>
  work === 'retitle' || titleGiven ? title : indexedTitle

/** Returns the stored passages unchanged, with the current title. */
function withNewTitle(base: KnowledgeBase, task: Task): DocumentReading {
  const { mediaType, title, first, last } = task
  const passages = new StoredPassages(base, first, last)
  const same = hasVectors(base)
    ? Array.from({ length: passages.length }, (_, position) => ({ position, from: first + position }))
    : []
  return { task, mediaType, title, indexedTitle: indexedTitleOf(task), passages, same }
}

/** Returns true also if the base cannot be read, because the document may be wanted. */
function isWanted(base: KnowledgeBase, task: Task): boolean {
  try {
    return base.isOpen && isWaiting(base, task)
  } catch {
    return true
  }
}

function firstWords(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  if (line.length <= TITLE_CHARS) return line
  const cut = line.lastIndexOf(' ', TITLE_CHARS)
  return `${line.slice(0, cut > 0 ? cut : TITLE_CHARS)}…`
}
