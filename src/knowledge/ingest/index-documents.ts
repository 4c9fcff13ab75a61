import { setImmediate as nextTurn, setTimeout as pauseMs } from 'node:timers/promises'
import type { Passage } from '../../core/document.ts'
import { DocumentError } from '../../core/document-error.ts'
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
  listTasks,
  passagesOf,
  releaseTasks,
  setProgress,
  startTasks,
  type Task,
} from '../../store/knowledge-tasks.ts'
import { isPassing } from '../../store/passing.ts'
import type { ReadDocument, ReadInput } from '../read/read.ts'
import { ReaderClosed } from '../reader/reader.ts'
import { adoptVectors } from '../vectors/build.ts'

/** How much goes into one transaction. */
export interface IndexLimits {
  documents: number
  passages: number
  /** Of one piece of a merge. */
  mergeMs: number
}

/** Some 0.2 s in which other writes wait. */
export const INDEX_LIMITS: IndexLimits = { documents: 1_000, passages: 4_000, mergeMs: 200 }
/** After so long requests get a chance. */
const SLICE_MS = 10
/** A document over which the thread died so often is left alone. */
const MAX_ATTEMPTS = 3
/** A document that is not read in so long does not hold up those that are. */
const SLOW_MS = 200
/** After so long it is another agent's turn. */
const TURN_MS = 5_000
const TITLE_CHARS = 80

/** What indexing is done with. `isOver`: stop as soon as it may be. */
export interface IndexWork {
  clock: Clock
  limits: IndexLimits
  /** Rejects with `DocumentError`, or with `ReaderClosed` when the service goes down. */
  read: (input: ReadInput) => Promise<ReadDocument>
  isOver: () => boolean
  /** Told of each document that is done with. */
  ended?: (outcome: 'ready' | 'failed') => void
}

/** A document as it was read: what the index will hold of it. */
interface Reading {
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
 * transaction. One too large for that appears when all of it is written. False when none waits. Stops early when `isOver`.
 */
export async function indexSome(base: KnowledgeBase, work: IndexWork): Promise<boolean> {
  const tasks = suspects(listTasks(base, work.limits.documents))
  if (tasks.length === 0) return false
  base.write(() => startTasks(base, tasks), { durable: false })
  const unread = new Set(tasks)
  try {
    await indexTasks(base, unread, work)
  } catch (error) {
    if (!(error instanceof ReaderClosed)) throw error
  } finally {
    if (unread.size > 0 && base.isOpen) base.write(() => releaseTasks(base, unread), { durable: false })
  }
  return true
}

/**
 * A document that was under way when the thread died is taken alone, so that the next death tells whether it was the cause: of many in one batch,
 * all would be blamed.
 */
function suspects(tasks: Task[]): Task[] {
  if (tasks[0] !== undefined && tasks[0].attempts > 0) return tasks.slice(0, 1)
  const first = tasks.findIndex(({ attempts }) => attempts > 0)
  return first < 0 ? tasks : tasks.slice(0, first)
}

/** Takes out of `unread` what it has dealt with. */
async function indexTasks(base: KnowledgeBase, unread: Set<Task>, work: IndexWork): Promise<void> {
  const { limits, clock, isOver, ended = () => {} } = work
  const tasks = [...unread]
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
  let next: Promise<Reading | undefined> | undefined
  for (const [i, task] of tasks.entries()) {
    await pause()
    if (isOver()) return
    next ??= read(base, task, work)
    // What is read already does not wait for a document that takes long.
    if (readings.length > 0 && !(await isSettled(next, SLOW_MS))) finish()
    const reading = await next
    next = undefined
    if (isOver()) return
    if (reading === undefined) unread.delete(task)
    else if (reading.passages.length > limits.passages) {
      finish()
      if (!(await indexLarge(base, reading, work))) return
      unread.delete(task)
      ended('ready')
      return
    } else {
      const isFull = batch.passages.length + reading.passages.length >= limits.passages
      const isLate = performance.now() - start > TURN_MS
      const following = isFull || isLate ? undefined : tasks[i + 1]
      // Read while this one is analysed.
      if (following !== undefined) next = read(base, following, work)
      next?.catch(() => {})
      readings.push(reading)
      for (const [position, passage] of reading.passages.entries()) {
        await pause()
        addToBatch(batch, { ...passage, position, document: task.number, title: reading.indexedTitle })
      }
      // When it is late, another agent's turn.
      if (isFull || isLate) break
    }
  }
  if (!isOver()) finish()
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

/** Lets other events in whenever `SLICE_MS` have gone by. */
function pacer(): () => Promise<void> | undefined {
  let last = performance.now()
  return () => {
    if (performance.now() - last < SLICE_MS) return undefined
    return nextTurn().then(() => {
      last = performance.now()
    })
  }
}

/** Undefined where the document cannot be read, which is then told in its `error`. Rejects with `ReaderClosed`. */
async function read(base: KnowledgeBase, task: Task, { read: readIt, clock, ended }: IndexWork): Promise<Reading | undefined> {
  if (task.work === 'retitle')
    return { task, mediaType: task.mediaType, title: task.title, indexedTitle: task.title, passages: passagesOf(base, task) }
  try {
    if (task.attempts >= MAX_ATTEMPTS)
      throw new DocumentError('internal_error', 'Reading this document stopped the service several times.')
    const { mediaType, title, passages } = await readIt({
      mediaType: task.mediaType,
      ...(task.source.type === 'file' ? { filename: task.source.filename } : {}),
      content: contentOf(base, task),
    })
    const named = task.titleGiven ? task.title : (title ?? task.title)
    return { task, mediaType, title: named || firstWords(passages[0]?.text ?? ''), indexedTitle: named, passages }
  } catch (error) {
    // Nothing is said about the document where the service goes down, or the machine cannot do it now.
    if (error instanceof ReaderClosed || isPassing(error)) throw error
    const { code, message } =
      error instanceof DocumentError ? error : { code: 'internal_error', message: 'The document could not be read.' }
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

/** False where it was stopped. */
async function indexLarge(base: KnowledgeBase, reading: Reading, { limits, clock, isOver }: IndexWork): Promise<boolean> {
  const { task, indexedTitle, passages } = reading
  const pause = pacer()
  // Of a try before this one that failed half way.
  base.write(() => buryStaged(base), { durable: false })
  let first = 0
  for (let at = 0; at < passages.length; at += limits.passages) {
    const batch = newBatch()
    for (const [i, passage] of passages.slice(at, at + limits.passages).entries()) {
      await pause()
      if (isOver()) return false
      addToBatch(batch, { ...passage, position: at + i, document: task.number, title: indexedTitle })
    }
    base.write(
      () => {
        const start = writeBatch(base, batch)
        if (at === 0) first = start
        stage(base, first, start + batch.passages.length - 1, indexedTitle)
        setProgress(base, task, (at + batch.passages.length) / (passages.length + 1))
        raiseVersion(base)
      },
      { durable: false },
    )
  }
  base.write(
    () => {
      publish(base, first)
      settle(base, reading, { first, last: first + passages.length - 1 }, clock())
      raiseVersion(base)
    },
    { durable: false },
  )
  return true
}
