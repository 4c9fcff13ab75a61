import { setImmediate as nextTurn, setTimeout as pauseMs } from 'node:timers/promises'
import type { Passage } from '../../core/document.ts'
import { DocumentError } from '../../core/document-error.ts'
import { pacer } from '../../core/pacer.ts'
import type { Clock } from '../../core/ports.ts'
import type { KnowledgeBase } from '../../store/knowledge-base.ts'
import type { Extent } from '../../store/knowledge-documents.ts'
import {
  addToBatch,
  type Batch,
  bury,
  buryStaged,
  newBatch,
  publish,
  raiseVersion,
  stage,
  writeBatch,
} from '../../store/knowledge-index.ts'
import {
  contentOf,
  failTask,
  finishTask,
  isWaiting,
  listTasks,
  passagesOf,
  releaseTasks,
  setProgress,
  startTasks,
  type Task,
} from '../../store/knowledge-tasks.ts'
import type { ReadDocument, ReadInput } from '../read/read.ts'
import { ReaderClosed } from '../reader/reader.ts'
import { adoptVectors } from '../vectors/build.ts'
import type { LargeDocument, LargeDocuments, LargeLimits } from './large-documents.ts'
import type { SlowReadings } from './slow-readings.ts'

/** How much goes into one transaction. */
export interface IndexLimits extends LargeLimits {
  documents: number
  passages: number
  /** Different words, and pieces of text without spaces. Each is one row. */
  words: number
  pieces: number
  /** Of one piece of a merge. */
  mergeMs: number
  /** After so long it is another agent's turn. */
  turnMs: number
  /** After so long, the turn goes on without a document that is still being read. */
  slowMs: number
}

/** Some 0.2 s in which other writes wait. */
export const INDEX_LIMITS: IndexLimits = {
  ...{ documents: 1_000, passages: 4_000, words: 20_000, pieces: 100_000 },
  ...{ mergeMs: 200, turnMs: 2_000, slowMs: 2_000 },
  ...{ heldChars: 64_000_000, shortChars: 2_000_000 },
}
/** A document that was under way at so many ends of the thread or the process is left alone. */
const MAX_ATTEMPTS = 5
/** A document that is not read in so long does not hold up those that are. */
const QUICK_MS = 200
/** Read while others are analysed, so that small documents do not wait for the process that reads. */
const AHEAD = 16
const AHEAD_BYTES = 262_144
const TITLE_CHARS = 80
/** For text without repeated words. */
const CHARS_A_WORD = 10

/** What indexing is done with. `isOver`: stop as soon as it may be. */
export interface IndexWork {
  agentId: string
  clock: Clock
  limits: IndexLimits
  /** Rejects with `DocumentError`, or with `ReaderClosed` when the service goes down. */
  read: (input: ReadInput) => Promise<ReadDocument>
  isOver: () => boolean
  /** Of this agent: attempts that do not count and could not be taken back yet. */
  unreleased: Set<Task>
  /** Documents of this agent that are still being read after `slowMs`. */
  slow: SlowReadings<Reading | undefined>
  /** Of all agents. */
  large: LargeDocuments
  /** Told of each document that is done with. */
  ended?: (outcome: 'ready' | 'failed') => void
}

/** A document as it was read: what the index will hold of it. */
export interface Reading {
  task: Task
  /** As it was recognised. */
  mediaType: string
  title: string
  /** Empty where the title is only the first words: counted as a title, those would weigh far more than the rest of the text. */
  indexedTitle: string
  passages: Omit<Passage, 'id' | 'index'>[]
}

/**
 * Reads and indexes the documents that wait longest, a bounded number of them: all their passages and marks appear in one
 * transaction. One too large for that appears when all of it is written, which may take several calls. False when none waits. Stops early when `isOver`.
 */
export async function indexSome(base: KnowledgeBase, work: IndexWork): Promise<boolean> {
  release(base, work.unreleased)
  const until = performance.now() + work.limits.turnMs
  const large = work.large.of(work.agentId)
  if (large !== undefined) {
    await attempt(base, [large.reading.task], work, (unread) => indexLarge(base, large, unread, work))
    return true
  }
  let tasks = nextTasks(base, work)
  if (tasks.length === 0) return false
  await indexTogether(base, tasks, work)
  // A crash can leave a thousand suspects. A turn of the agent for each would take minutes.
  while (isSuspect(tasks[0]) && work.large.of(work.agentId) === undefined && performance.now() < until && !work.isOver()) {
    tasks = nextTasks(base, work)
    if (isSuspect(tasks[0])) await indexTogether(base, tasks, work)
  }
  return true
}

/** True for a task that was running when the thread or the process ended. */
const isSuspect = (task: Task | undefined): boolean => task !== undefined && task.attempts > 0

/** Returns the next batch. A suspect comes alone, so that the next crash shows whether it is the cause. */
function nextTasks(base: KnowledgeBase, { agentId, limits, slow, large }: IndexWork): Task[] {
  const tasks = large.ready(agentId, slow.ready(listTasks(base, limits.documents + slow.size)))
  if (isSuspect(tasks[0])) return tasks.slice(0, 1)
  const first = tasks.findIndex(isSuspect)
  return first < 0 ? tasks : tasks.slice(0, first)
}

const indexTogether = (base: KnowledgeBase, tasks: Task[], work: IndexWork): Promise<void> =>
  attempt(base, tasks, work, (unread) => indexTasks(base, unread, work))

/** Stores the attempt before it starts, and takes it back for the documents that `run` has left in `unread`. */
async function attempt(
  base: KnowledgeBase,
  tasks: Task[],
  work: IndexWork,
  run: (unread: Set<Task>) => Promise<void>,
): Promise<void> {
  base.write(() => startTasks(base, tasks), { durable: false })
  const unread = new Set(tasks)
  try {
    await run(unread)
  } catch (error) {
    if (!(error instanceof ReaderClosed)) throw error
  } finally {
    for (const task of unread) work.unreleased.add(task)
    if (base.isOpen) release(base, work.unreleased)
  }
}

function release(base: KnowledgeBase, unreleased: Set<Task>): void {
  if (unreleased.size === 0) return
  base.write(() => releaseTasks(base, unreleased), { durable: false })
  unreleased.clear()
}

/** Takes out of `unread` what it has dealt with. */
async function indexTasks(base: KnowledgeBase, unread: Set<Task>, work: IndexWork): Promise<void> {
  const { limits, clock, isOver, ended = () => {} } = work
  const start = performance.now()
  let readings: Reading[] = []
  let batch = newBatch()
  const pause = pacer()
  const finish = () => {
    if (readings.length > 0) base.write(() => commit(base, readings, batch, clock()), { durable: false })
    for (const { task } of readings) {
      unread.delete(task)
      ended('ready')
    }
    readings = []
    batch = newBatch()
  }
  const ahead = new ReadAhead(base, [...unread], work)
  for (let next = ahead.take(); next !== undefined; next = ahead.take()) {
    await pause()
    if (isOver()) return
    const isQuick = await isSettled(next.reading, QUICK_MS)
    ahead.adapt(isQuick)
    // What is read already does not wait for a document that takes long.
    if (!isQuick) finish()
    const { task } = next
    if (!isQuick && !(await isSettled(next.reading, limits.slowMs)) && !isOver()) {
      work.slow.keep(task, next.reading)
      ahead.end()
      continue
    }
    const reading = await next.reading
    if (isOver()) return
    // When it is late, another agent's turn: also where documents fail slowly.
    if (performance.now() - start > limits.turnMs) ahead.end()
    if (reading === undefined) unread.delete(task)
    else if (isLarge(reading, limits)) {
      finish()
      const large = work.large.begin(work.agentId, reading)
      if (large === undefined) continue
      return indexLarge(base, large, unread, work)
    } else {
      readings.push(reading)
      for (const [position, passage] of reading.passages.entries()) {
        await pause()
        addToBatch(batch, { ...passage, position, document: task.number, title: reading.indexedTitle })
      }
      if (isFull(batch, limits)) ahead.end()
    }
  }
  if (!isOver()) finish()
}

interface NextReading {
  task: Task
  bytes: number
  reading: Promise<Reading | undefined>
}

/**
 * Reads the next documents while the current one is analysed. The number grows with each document that is read quickly, and falls to zero after a slow one: slow
 * documents queued ahead would delay the documents of other agents.
 */
class ReadAhead {
  readonly #base: KnowledgeBase
  readonly #work: IndexWork
  /** Tasks that are not started, last first. */
  readonly #waiting: Task[]
  readonly #started: NextReading[] = []
  #startedBytes = 0
  #window = 0

  constructor(base: KnowledgeBase, tasks: readonly Task[], work: IndexWork) {
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
      const kept = this.#work.slow.take(task)
      const content = kept !== undefined || task.work === 'retitle' ? new Uint8Array(0) : contentOf(this.#base, task)
      const reading = kept ?? read(this.#base, task, content, this.#work)
      // The error reaches the caller of `take`. Until then it must not count as unhandled.
      reading.catch(() => {})
      this.#startedBytes += content.byteLength
      this.#started.push({ task, bytes: content.byteLength, reading })
    }
  }
}

async function isSettled(promise: Promise<unknown>, withinMs: number): Promise<boolean> {
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
  { read: readIt, clock, ended }: IndexWork,
): Promise<Reading | undefined> {
  if (task.work === 'retitle')
    return { task, mediaType: task.mediaType, title: task.title, indexedTitle: task.title, passages: passagesOf(base, task) }
  try {
    if (task.attempts >= MAX_ATTEMPTS)
      throw new DocumentError('internal_error', 'Reading this document stopped the service several times.')
    const { mediaType, title, passages } = await readIt({
      mediaType: task.mediaType,
      ...(task.source.type === 'file' ? { filename: task.source.filename } : {}),
      content,
    })
    const named = task.titleGiven ? task.title : (title ?? task.title)
    return { task, mediaType, title: named || firstWords(passages[0]?.text ?? ''), indexedTitle: named, passages }
  } catch (error) {
    // Only the document itself can be to blame: all else, such as a lost connection or a full disk, is tried again, and what was sent is kept.
    if (!(error instanceof DocumentError)) throw error
    const { code, message } = error
    if (base.isOpen) base.write(() => failTask(base, task, { code, message }, clock()))
    ended?.('failed')
    return undefined
  }
}

function firstWords(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  if (line.length <= TITLE_CHARS) return line
  const cut = line.lastIndexOf(' ', TITLE_CHARS)
  return `${line.slice(0, cut > 0 ? cut : TITLE_CHARS)}…`
}

function commit(base: KnowledgeBase, readings: readonly Reading[], batch: Batch, at: number): void {
  let first = writeBatch(base, batch)
  for (const reading of readings) {
    const { passages } = reading
    settle(base, reading, { first, last: first + passages.length - 1 }, at)
    first += passages.length
  }
  raiseVersion(base)
}

/** Puts the new passages in the place of the old, or away where the document has changed meanwhile. */
function settle(
  base: KnowledgeBase,
  { task, mediaType, title, indexedTitle }: Reading,
  span: Omit<Extent, 'indexedTitle'>,
  at: number,
): void {
  const extent = { ...span, indexedTitle }
  if (finishTask(base, task, { mediaType, title }, extent, at)) {
    adoptVectors(base, task, extent)
    bury(base, task.first, task.last, task.indexedTitle)
  } else bury(base, extent.first, extent.last, extent.indexedTitle)
}

/** Returns true if a transaction should not write more. */
function isFull({ passages, builder }: Batch, limits: IndexLimits): boolean {
  const { words, pieces } = builder.terms
  return passages.length >= limits.passages || words >= limits.words || pieces >= limits.pieces
}

/** Returns true if the document may not fit into one transaction. */
function isLarge({ passages }: Reading, limits: IndexLimits): boolean {
  if (passages.length > limits.passages) return true
  return passages.reduce((sum, { text }) => sum + text.length, 0) > limits.words * CHARS_A_WORD
}

/**
 * Indexes as much of a large document as fits into one transaction, and takes it out of `unread` after the last. Nothing else of its agent may be indexed before that:
 * the ids of its passages follow one another.
 */
async function indexLarge(
  base: KnowledgeBase,
  large: LargeDocument,
  unread: Set<Task>,
  { agentId, large: all, limits, isOver, clock, ended }: IndexWork,
): Promise<void> {
  const { reading, isWhole } = large
  const count = reading.passages.length
  try {
    if (!isWaiting(base, reading.task)) {
      base.write(() => buryStaged(base), { durable: false })
      all.end(agentId)
      return
    }
    do {
      if (!(await indexNext(base, large, limits, isOver))) return
    } while (isWhole && large.done < count)
    if (large.done < count) return
    base.write(
      () => {
        publish(base, large.first)
        settle(base, reading, { first: large.first, last: large.first + count - 1 }, clock())
        raiseVersion(base)
      },
      { durable: false },
    )
    all.end(agentId)
    unread.delete(reading.task)
    ended?.('ready')
  } catch (error) {
    // It is not known what of it was written.
    all.end(agentId)
    throw error
  }
}

/** Writes the next passages of a large document in one transaction. False where it was stopped. */
async function indexNext(
  base: KnowledgeBase,
  large: LargeDocument,
  limits: IndexLimits,
  isOver: () => boolean,
): Promise<boolean> {
  const { task, indexedTitle, passages } = large.reading
  const pause = pacer()
  const batch = newBatch()
  for (let position = large.done; position < passages.length && !isFull(batch, limits); position++) {
    await pause()
    if (isOver()) return false
    addToBatch(batch, { ...passages[position]!, position, document: task.number, title: indexedTitle })
  }
  const done = large.done + batch.passages.length
  base.write(
    () => {
      // Of a try before this one that failed half way.
      if (large.done === 0) buryStaged(base)
      const start = writeBatch(base, batch)
      if (large.done === 0) large.first = start
      stage(base, large.first, start + batch.passages.length - 1, indexedTitle)
      setProgress(base, task, done / (passages.length + 1))
      raiseVersion(base)
    },
    { durable: false },
  )
  large.done = done
  return true
}
