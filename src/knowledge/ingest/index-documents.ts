import { pacer } from '../../core/fairness/pacer.ts'
import type { KnowledgeBase } from '../../store/knowledge/base.ts'
import { giveUpStaged } from '../../store/knowledge/index/index.ts'
import { listTasks, releaseTasks, startTasks, type Task } from '../../store/knowledge/tasks.ts'
import { findSame } from '../query/vectors/copies.ts'
import { ReaderClosed } from '../reader/reader.ts'
import { DocumentBatch } from './document-batch.ts'
import { StoredPassages } from './passage-list.ts'
import { type DocumentReading, isSettled, ReadAhead, type ReadWork } from './read-documents.ts'
import { isLarge, limitsFor, type TransactionLimits, type WriteWork, writeLarge } from './write-documents.ts'

export interface IndexLimits extends TransactionLimits {
  /** Limit for the characters of all large documents in memory. */
  heldChars: number
  /** Documents read for one transaction. */
  documents: number
  /** Duration of one step of a merge. */
  mergeMs: number
  /** Time after which another agent gets its turn. */
  turnMs: number
  /** Time after which the turn continues without a document that is still being read. Zero if the agent already has a slow document. */
  slowMs: number
}

/** Such a transaction takes about 0.2 s, during which other writes wait. */
export const INDEX_LIMITS: IndexLimits = {
  ...{ documents: 1_000, passages: 4_000, words: 10_000, pieces: 100_000, vectors: 200, analyseMs: 500 },
  ...{ mergeMs: 200, turnMs: 2_000, slowMs: 2_000 },
  heldChars: 64_000_000,
}
/** Lower limits for a database server, where a row takes several times as long. */
export const SERVER_LIMITS = { words: 2_000, pieces: 10_000 }
/** How long documents that are already read wait for the next one. */
const QUICK_MS = 200
/** The same while other agents wait for their turn. */
const QUICK_FOR_OTHERS_MS = 50

export interface IndexWork extends ReadWork, WriteWork {
  limits: IndexLimits
  /** Returns true if a document of this size may be read now. Default: always true. */
  mayRead?: (bytes: number) => boolean
  /** Attempts of this agent that do not count and are not yet subtracted in the store. Each task is as it was before its attempt. */
  unreleased: Set<Task>
}

/**
 * Reads and indexes the documents that wait longest, in one transaction of limited size. A larger document takes several calls and appears when it is
 * complete; other documents of the agent come in between. Resolves to false if no document waits. Stops early if `isOver` returns true.
 */
export async function indexSome(base: KnowledgeBase, work: IndexWork): Promise<boolean> {
  release(base, work.unreleased)
  const until = performance.now() + work.limits.turnMs
  const large = work.large.of(work.agentId)
  let tasks = large === undefined || large.isToWait ? nextTasks(base, work) : []
  if (large !== undefined) large.isToWait = tasks.length === 0
  if (tasks.length === 0) {
    if (large === undefined) {
      // Discards staged passages of a large document that failed: they block merges and the embedding of later passages.
      giveUpStaged(base)
      return false
    }
    await attempt(base, [large.reading.task], work, (unread) => writeLarge(base, large, unread, work))
    return true
  }
  await indexTogether(base, tasks, work)
  // A crash can leave a thousand suspects. A turn of the agent for each would take minutes.
  while (isSuspect(tasks[0], work.slow) && work.large.of(work.agentId) === large && performance.now() < until && !work.isOver()) {
    tasks = nextTasks(base, work)
    if (isSuspect(tasks[0], work.slow)) await indexTogether(base, tasks, work)
  }
  return true
}

/** Returns true for a document that was in progress when the thread or the process ended. */
const isSuspect = (task: Task | undefined, slow: IndexWork['slow']): boolean =>
  task !== undefined && task.attempts > 0 && !slow.has(task)

/** Returns the next batch. A suspect is alone in its batch, so that the next crash shows whether it is the cause. */
function nextTasks(base: KnowledgeBase, { agentId, limits, slow, large, mayRead = () => true }: IndexWork): Task[] {
  // A slow document already has its room.
  const isRoom = (task: Task) => task.work === 'retitle' || slow.has(task) || mayRead(task.bytes)
  const listed = listTasks(base, limits.documents + slow.size + 1)
  const settled = new Set(slow.ready(listed))
  const tasks = large.ready(agentId, listed).filter((task) => settled.has(task) && isRoom(task))
  const first = tasks.findIndex((task) => isSuspect(task, slow))
  if (first === 0) return tasks.slice(0, 1)
  return first < 0 ? tasks : tasks.slice(0, first)
}

const indexTogether = (base: KnowledgeBase, tasks: Task[], work: IndexWork): Promise<void> =>
  attempt(base, tasks, work, (unread) => indexTasks(base, unread, work))

/**
 * Stores the attempt before it starts. Subtracts it for documents that `run` leaves in `unread`, and if it is unknown whether the attempt was stored.
 * The attempt of a document that is still being read counts until the document is indexed.
 */
async function attempt(
  base: KnowledgeBase,
  tasks: Task[],
  work: IndexWork,
  run: (unread: Set<Task>) => Promise<void>,
): Promise<void> {
  const begun = new Set(tasks.filter((task) => !work.slow.has(task)))
  const unread = new Set(tasks)
  try {
    if (begun.size > 0) base.write(() => startTasks(base, begun), { durable: false })
    await run(unread)
  } catch (error) {
    if (!(error instanceof ReaderClosed)) throw error
  } finally {
    for (const task of unread) {
      if (work.slow.has(task)) continue
      // A task that was started earlier was listed with its attempt.
      work.unreleased.add(begun.has(task) ? task : { ...task, attempts: task.attempts - 1 })
    }
    if (base.isOpen) release(base, work.unreleased)
  }
}

/** For an orderly shutdown: documents that are still being read are read after the next start, and this attempt does not count. */
export function releaseAll(base: KnowledgeBase, { slow, unreleased }: Pick<IndexWork, 'slow' | 'unreleased'>): void {
  for (const task of slow.documents()) unreleased.add(task)
  release(base, unreleased)
}

function release(base: KnowledgeBase, unreleased: Set<Task>): void {
  if (unreleased.size === 0) return
  base.write(() => releaseTasks(base, unreleased), { durable: false })
  unreleased.clear()
}

/** Removes each document from `unread` when it is done. */
async function indexTasks(base: KnowledgeBase, unread: Set<Task>, work: IndexWork): Promise<void> {
  const { limits, isOver } = work
  const start = performance.now()
  const batch = new DocumentBatch(base, unread, work)
  const pause = pacer(work.agentId)
  const ahead = new ReadAhead(base, [...unread], work)
  for (let next = ahead.take(); next !== undefined; next = ahead.take()) {
    await pause()
    if (isOver()) return
    const isQuick = await isSettled(next.reading, work.othersWait() ? QUICK_FOR_OTHERS_MS : QUICK_MS)
    ahead.adapt(isQuick)
    // Documents that are already read do not wait for a slow one.
    if (!isQuick) batch.write()
    const { task, bytes } = next
    const isSlow = !isQuick && !(await isReadSoon(next.reading, work))
    // If the agent was deleted, do not wait for the reading: it may take minutes, and all other agents would wait for this turn.
    if (isOver()) return
    if (isSlow) {
      work.slow.keep(task, next.reading, bytes)
      ahead.end()
      continue
    }
    const reading = await next.reading
    if (isOver()) return
    // If the turn is over, another agent is next. This includes documents that fail slowly.
    if (performance.now() - start > limits.turnMs) ahead.end()
    if (reading === undefined) unread.delete(task)
    else if (isLarge(await withSame(base, reading, pause), limitsFor(work))) {
      batch.write()
      const large = work.large.begin(work.agentId, reading)
      if (large === undefined) continue
      return writeLarge(base, large, unread, work)
    } else {
      await batch.add(reading, pause)
      if (batch.isFull(limitsFor(work))) ahead.end()
    }
  }
  if (!isOver()) batch.write()
}

/** Returns true if the document is read before another agent waits for its turn, within `slowMs`. */
async function isReadSoon(reading: Promise<unknown>, { limits, slow, othersWait }: IndexWork): Promise<boolean> {
  const patienceMs = slow.size > 0 ? 0 : limits.slowMs
  for (let ms = 0; ms < patienceMs && !othersWait(); ms += QUICK_FOR_OTHERS_MS)
    if (await isSettled(reading, QUICK_FOR_OTHERS_MS)) return true
  return isSettled(reading, 0)
}

async function withSame(
  base: KnowledgeBase,
  reading: DocumentReading,
  pause: () => Promise<void> | undefined,
): Promise<DocumentReading> {
  const { task, passages } = reading
  if (!(passages instanceof StoredPassages)) reading.same = await findSame(base, task, passages.slice(0, passages.length), pause)
  return reading
}
