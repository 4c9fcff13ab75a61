import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Passage } from '../core/document.ts'
import { ReparteeError } from '../core/errors.ts'
import type { Clock } from '../core/ports.ts'
import type { Extent } from '../store/knowledge-documents.ts'
import type { KnowledgeFile } from '../store/knowledge-file.ts'
import { addToBatch, type Batch, bury, newBatch, publish, raiseVersion, stage, writeBatch } from '../store/knowledge-index.ts'
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
} from '../store/knowledge-tasks.ts'
import { readDocument } from './read/read.ts'

/** How much goes into one transaction. */
export interface IndexLimits {
  documents: number
  passages: number
}

/** Some 0.2 s in which other writes wait. */
export const INDEX_LIMITS: IndexLimits = { documents: 1_000, passages: 4_000 }
/** After so long requests get a chance. */
const SLICE_MS = 10
/** A document at which the process stopped so often is left alone. */
const MAX_ATTEMPTS = 3
const TITLE_CHARS = 80

/** A document as it was read: what the index will hold of it. */
interface Reading {
  task: Task
  title: string
  /** Empty where the title is only the first words: counted as a title, those would weigh far more than the rest of the text. */
  indexedTitle: string
  passages: Omit<Passage, 'id' | 'index'>[]
}

/**
 * Reads and indexes the documents that wait longest, a bounded number of them: all their passages and marks appear in one
 * transaction. One too large for that appears when all of it is written. False when none waits. Stops early when `isOver`.
 */
export async function indexSome(file: KnowledgeFile, clock: Clock, limits: IndexLimits, isOver: () => boolean): Promise<boolean> {
  const tasks = listTasks(file, limits.documents)
  if (tasks.length === 0) return false
  file.write(() => startTasks(file, tasks), { durable: false })
  const unread = new Set(tasks)
  try {
    await indexTasks(file, unread, clock, limits, isOver)
  } finally {
    if (unread.size > 0 && file.isOpen) file.write(() => releaseTasks(file, unread), { durable: false })
  }
  return true
}

/** Takes out of `unread` what it has dealt with. */
async function indexTasks(
  file: KnowledgeFile,
  unread: Set<Task>,
  clock: Clock,
  limits: IndexLimits,
  isOver: () => boolean,
): Promise<void> {
  const readings: Reading[] = []
  const batch = newBatch()
  const pause = pacer()
  for (const task of [...unread]) {
    await pause()
    if (isOver()) return
    const reading = read(file, task, clock)
    if (reading === undefined) unread.delete(task)
    else if (reading.passages.length > limits.passages) {
      // Alone, so that what was read before it does not wait.
      if (readings.length > 0) break
      if (await indexLarge(file, reading, clock, limits, isOver)) unread.delete(task)
      return
    } else {
      readings.push(reading)
      for (const [position, passage] of reading.passages.entries()) {
        await pause()
        addToBatch(batch, { ...passage, position, document: task.number, title: reading.indexedTitle })
      }
    }
    if (batch.passages.length >= limits.passages) break
  }
  if (isOver() || readings.length === 0) return
  file.write(() => commit(file, readings, batch, clock()), { durable: false })
  for (const { task } of readings) unread.delete(task)
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

/** Undefined where the document cannot be read, which is then told in its `error`. */
function read(file: KnowledgeFile, task: Task, clock: Clock): Reading | undefined {
  if (task.work === 'retitle') return { task, title: task.title, indexedTitle: task.title, passages: passagesOf(file, task) }
  try {
    if (task.attempts >= MAX_ATTEMPTS)
      throw new ReparteeError('internal_error', 'Reading this document stopped the service several times.')
    const { title, passages } = readDocument(
      task.mediaType,
      contentOf(file, task),
      task.source.type === 'file' ? { filename: task.source.filename } : {},
    )
    const named = task.titleGiven ? task.title : (title ?? task.title)
    return { task, title: named || firstWords(passages[0]?.text ?? ''), indexedTitle: named, passages }
  } catch (error) {
    const { code, message } =
      error instanceof ReparteeError ? error : { code: 'internal_error', message: 'The document could not be read.' }
    file.write(() => failTask(file, task, { code, message }, clock()))
    return undefined
  }
}

function firstWords(text: string): string {
  const line = text.replace(/\s+/gu, ' ').trim()
  if (line.length <= TITLE_CHARS) return line
  const cut = line.lastIndexOf(' ', TITLE_CHARS)
  return `${line.slice(0, cut > 0 ? cut : TITLE_CHARS)}…`
}

function commit(file: KnowledgeFile, readings: readonly Reading[], batch: Batch, at: number): void {
  let first = writeBatch(file, batch)
  for (const reading of readings) {
    const { passages } = reading
    settle(file, reading, { first, last: first + passages.length - 1 }, at)
    first += passages.length
  }
  raiseVersion(file)
}

/** Puts the new passages in the place of the old, or away where the document has changed meanwhile. */
function settle(
  file: KnowledgeFile,
  { task, title, indexedTitle }: Reading,
  span: Omit<Extent, 'indexedTitle'>,
  at: number,
): void {
  const extent = { ...span, indexedTitle }
  if (finishTask(file, task, title, extent, at)) bury(file, task.first, task.last, task.indexedTitle)
  else bury(file, extent.first, extent.last, extent.indexedTitle)
}

/** False where it was stopped. */
async function indexLarge(
  file: KnowledgeFile,
  reading: Reading,
  clock: Clock,
  limits: IndexLimits,
  isOver: () => boolean,
): Promise<boolean> {
  const { task, indexedTitle, passages } = reading
  const pause = pacer()
  let first = 0
  for (let at = 0; at < passages.length; at += limits.passages) {
    const batch = newBatch()
    for (const [i, passage] of passages.slice(at, at + limits.passages).entries()) {
      await pause()
      if (isOver()) return false
      addToBatch(batch, { ...passage, position: at + i, document: task.number, title: indexedTitle })
    }
    file.write(
      () => {
        const start = writeBatch(file, batch)
        if (at === 0) first = start
        stage(file, first, start + batch.passages.length - 1, indexedTitle)
        setProgress(file, task, (at + batch.passages.length) / (passages.length + 1))
        raiseVersion(file)
      },
      { durable: false },
    )
  }
  file.write(
    () => {
      publish(file, first)
      settle(file, reading, { first, last: first + passages.length - 1 }, clock())
      raiseVersion(file)
    },
    { durable: false },
  )
  return true
}
