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

/** A document that was under way at so many ends of the thread or the process, or could not be indexed so often, fails. */
const MAX_ATTEMPTS = 5
/** Read while others are analysed, so that small documents do not wait for the process that reads. */
const AHEAD = 16
const AHEAD_BYTES = 262_144
const TITLE_CHARS = 80

/** What documents are read with. */
export interface ReadWork {
  clock: Clock
  /** Rejects with `DocumentError`, or with `ReaderClosed` when the service goes down, or `isWanted` returns false. */
  read: (input: ReadInput, isWanted: () => boolean) => Promise<ReadDocument>
  /** Documents of this agent that are still being read when their turn is over. */
  slow: SlowReadings<Task, DocumentReading | undefined>
  /** Called for each document that became ready or failed. */
  ended?: (outcome: 'ready' | 'failed') => void
}

/** A document as it was read: what the index will hold of it. */
export interface DocumentReading {
  task: Task
  /** As it was recognised. */
  mediaType: string
  title: string
  /** Empty where the title is only the first words: counted as a title, those would weigh far more than the rest of the text. */
  indexedTitle: string
  passages: PassageList
  /** Passages that can take over the vectors of the version before. */
  same: SamePassage[]
}

interface NextReading {
  task: Task
  bytes: number
  reading: Promise<DocumentReading | undefined>
}

/**
 * Reads the next documents while the current one is analysed. The number grows with each document that is read quickly, and falls to zero after a slow one: slow
 * documents queued ahead would delay the documents of other agents.
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

  /** Starts nothing more. */
  end(): void {
    this.#waiting.length = 0
  }

  /** Starts so many in any case. */
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
/** Documents whose passages are their text, and no pages or rows. */
const TEXTS = new Set(['text/markdown', 'text/html', 'text/plain'])
const isText = ({ mediaType }: Task): boolean => TEXTS.has(mediaType)

/** Returns true if nothing is to be read, or a small text, as far as its name and type say. */
export const isQuickToRead = ({ work, bytes, mediaType, source }: Task): boolean =>
  work === 'retitle' || (bytes <= SMALL_BYTES && !isNamedBinary(mediaType, source.type === 'file' ? source.filename : undefined))

/** Returns true if the promise is settled within that time, false if it is not. Never rejects. */
export async function isSettled(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
  const settled = promise.then(
    () => true,
    () => true,
  )
  // Mostly it is, and a timer for each would cost more than the rest.
  if (await Promise.race([settled, nextTurn(false)])) return true
  const stop = new AbortController()
  const late = pauseMs(withinMs, false, { signal: stop.signal }).catch(() => false)
  const first = await Promise.race([settled, late])
  stop.abort()
  return first
}

/** Undefined where the document cannot be read, which is then told in its `error`. Rejects with `ReaderClosed`. */
async function read(
  base: KnowledgeBase,
  task: Task,
  content: Uint8Array,
  { read: readIt, clock, ended }: ReadWork,
): Promise<DocumentReading | undefined> {
  try {
    if (task.attempts >= MAX_ATTEMPTS)
      throw new DocumentError('internal_error', `DocumentReading or indexing this document failed ${MAX_ATTEMPTS} times.`)
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
    // Only the document itself can be to blame: all else, such as a lost connection or a full disk, is tried again, and what was sent is kept.
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

/** The passages are made again of their own text, since the content of a document is not kept. Where that fails, they are only indexed again. */
async function readAgain(
  base: KnowledgeBase,
  task: Task,
  content: Uint8Array,
  readIt: ReadWork['read'],
): Promise<DocumentReading> {
  // Pages of the web were turned into Markdown when they were read.
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

/** Every passage is the same as before, perhaps with another title. */
function withNewTitle(base: KnowledgeBase, task: Task): DocumentReading {
  const { mediaType, title, first, last } = task
  const passages = new StoredPassages(base, first, last)
  const same = hasVectors(base)
    ? Array.from({ length: passages.length }, (_, position) => ({ position, from: first + position }))
    : []
  return { task, mediaType, title, indexedTitle: indexedTitleOf(task), passages, same }
}

/** Where the base cannot be asked, the document may be. */
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
