import { setImmediate as nextTurn } from 'node:timers/promises'
import { ReparteeError } from '../../core/errors.ts'
import { pacer } from '../../core/fairness/pacer.ts'
import type { Clock } from '../../core/ports/ports.ts'
import { commitsLost, type KnowledgeBase } from '../../store/knowledge/base.ts'
import type { Extent } from '../../store/knowledge/documents.ts'
import {
  addToBatch,
  areStaged,
  type Batch,
  markDeleted,
  markStagedDeleted,
  newBatch,
  publish,
  raiseVersion,
  stage,
  writeBatch,
} from '../../store/knowledge/index/index.ts'
import { finishTask, isWaiting, setProgress, type Task } from '../../store/knowledge/tasks.ts'
import type { VectorCopy } from '../../store/knowledge/vectors.ts'
import { DamagedFile } from '../../store/sqlite/damaged.ts'
import { isTransient } from '../../store/transient.ts'
import { adoptVectors } from '../query/vectors/build.ts'
import type { SamePassage } from '../query/vectors/copies.ts'
import type { LargeDocument, LargeDocuments } from './large-documents.ts'
import { charsOf, entriesFrom, languagesOf } from './passage-list.ts'
import type { DocumentReading } from './read-documents.ts'

/** Estimate for text without repeated words. */
const CHARS_A_WORD = 10
/** Share of `words` that a transaction may write while other agents wait or change documents. Smaller transactions take longer per word. */
const WORDS_FOR_OTHERS = 0.25

/** How much goes into one transaction. */
export interface TransactionLimits {
  passages: number
  /** Different words, and pieces of text without spaces. Each is one row. */
  words: number
  pieces: number
  /** Vectors that passages of a new version take over from the previous version. */
  vectors: number
  /** How long passages of a large document are analysed for one transaction. */
  analyseMs: number
}

/** Dependencies of the functions that write documents. */
export interface WriteWork {
  agentId: string
  clock: Clock
  limits: TransactionLimits
  /** Returns true if the work should stop as soon as possible. */
  isOver: () => boolean
  /** Returns true if another agent waits for its turn and there is memory to keep a document that is still being read. */
  othersWait(): boolean
  /** Returns true if other agents changed documents recently: they may do so again while a transaction is written. */
  othersChange?: () => boolean
  /** The large documents of all agents. */
  large: LargeDocuments
  /** Called for each document that became ready. */
  ended?: (outcome: 'ready' | 'failed') => void
}

/** Thrown if documents cannot be analysed or written, and the store is not the cause. The attempt counts for each document. */
export class WriteFailure extends Error {
  override readonly name = 'WriteFailure'

  constructor(cause: unknown) {
    super('documents could not be indexed', { cause })
  }
}

/** Returns the error to throw if documents cannot be analysed or written. Removes them from `unread`, unless the store is the cause. */
export function toWriteFailure(error: unknown, tasks: readonly Task[], unread: Set<Task>): unknown {
  const isOfStore = error instanceof ReparteeError || error instanceof DamagedFile || isTransient(error)
  if (isOfStore) return error
  for (const task of tasks) unread.delete(task)
  return new WriteFailure(error)
}

/** Writes documents that were read, and the batch of their passages, in a transaction of the caller. */
export function writeTogether(base: KnowledgeBase, readings: readonly DocumentReading[], batch: Batch, at: number): void {
  let first = writeBatch(base, batch)
  for (const reading of readings) {
    const { passages } = reading
    settle(base, reading, { first, last: first + passages.length - 1 }, at)
    first += passages.length
  }
  raiseVersion(base)
}

/** Replaces the old passages with the new ones. Hides the new ones if the document has changed since it was read. */
function settle(
  base: KnowledgeBase,
  { task, mediaType, title, indexedTitle, same }: DocumentReading,
  span: Omit<Extent, 'indexedTitle'>,
  at: number,
  isAdopted = false,
): void {
  const extent = { ...span, indexedTitle }
  if (finishTask(base, task, { mediaType, title }, extent, at)) {
    if (!isAdopted) adoptVectors(base, toCopies(same, span.first))
    markDeleted(base, task.first, task.last, task.indexedTitle)
  } else markDeleted(base, extent.first, extent.last, extent.indexedTitle)
}

const toCopies = (same: readonly SamePassage[], first: number): VectorCopy[] =>
  same.map(({ position, from }) => ({ from, to: first + position }))

/** Returns the current limits of a transaction that starts or continues. */
export const limitsFor = ({
  limits,
  othersWait,
  othersChange = () => false,
}: Pick<WriteWork, 'limits' | 'othersWait' | 'othersChange'>): TransactionLimits =>
  othersWait() || othersChange() ? { ...limits, words: limits.words * WORDS_FOR_OTHERS } : limits

/** Returns true if a transaction should not write more. */
export function isFull({ passages, builder }: Batch, limits: TransactionLimits): boolean {
  const { words, pieces } = builder.terms
  return passages.length >= limits.passages || words >= limits.words || pieces >= limits.pieces
}

/** Returns true if the document may not fit into one transaction. */
export function isLarge(reading: DocumentReading, limits: TransactionLimits): boolean {
  const { passages, same } = reading
  return passages.length > limits.passages || same.length > limits.vectors || charsOf(passages) > limits.words * CHARS_A_WORD
}

/**
 * Writes as much of a large document as fits into one transaction, and removes it from `unread` after the last one. Other documents of the agent may be
 * indexed in between, because the passage ids are reserved.
 */
export async function writeLarge(base: KnowledgeBase, large: LargeDocument, unread: Set<Task>, work: WriteWork): Promise<void> {
  const { agentId, large: all, limits, isOver, clock, ended } = work
  const { reading } = large
  const count = reading.passages.length
  try {
    if (!isWaiting(base, reading.task)) {
      base.write(() => markStagedDeleted(base), { durable: false })
      all.end(agentId)
      return
    }
    if (!(await writeNext(base, large, work)) || !(await adoptNext(base, large, limits, isOver)) || large.done < count) return
    base.write(
      () => {
        refuseIfLost(base, large)
        publish(base, large.first)
        settle(base, reading, { first: large.first, last: large.first + count - 1 }, clock(), true)
        raiseVersion(base)
      },
      { durable: false },
    )
    all.end(agentId)
    unread.delete(reading.task)
    ended?.('ready')
  } catch (error) {
    // It is unknown which part was written.
    all.end(agentId)
    throw toWriteFailure(error, [reading.task], unread)
  }
}

/** Writes the next passages of a large document in one transaction. Resolves to false if it was stopped. */
async function writeNext(base: KnowledgeBase, large: LargeDocument, work: WriteWork): Promise<boolean> {
  const { task, indexedTitle, passages } = large.reading
  const pause = pacer(work.agentId)
  const batch = newBatch()
  large.languages ??= languagesOf(passages)
  const { languages } = large
  const until = performance.now() + work.limits.analyseMs
  for (const [position, passage] of entriesFrom(passages, large.done)) {
    if (batch.passages.length > 0 && (isFull(batch, limitsFor(work)) || performance.now() > until)) break
    await pause()
    if (work.isOver()) return false
    addToBatch(batch, { ...passage, position, document: task.number, title: indexedTitle, languages })
  }
  const done = large.done + batch.passages.length
  base.write(
    () => {
      if (large.done === 0) {
        // Discards passages of an earlier attempt that failed.
        markStagedDeleted(base)
        large.first = base.reserve('passage', passages.length)
      } else refuseIfLost(base, large)
      writeBatch(base, batch, large.first + large.done)
      stage(base, large.first, large.first + done - 1, indexedTitle)
      setProgress(base, task, done / (passages.length + 1))
      raiseVersion(base)
    },
    { durable: false },
  )
  large.done = done
  return true
}

/** Throws `unavailable` if passages that were written are lost. The document is then read and written again. */
function refuseIfLost(base: KnowledgeBase, { first, done }: LargeDocument): void {
  if (!areStaged(base, first, first + done - 1)) throw commitsLost()
}

/** Copies vectors to the written passages in small transactions, with other work in between. Resolves to false if it was stopped. */
async function adoptNext(
  base: KnowledgeBase,
  large: LargeDocument,
  limits: TransactionLimits,
  isOver: () => boolean,
): Promise<boolean> {
  const { same } = large.reading
  while (large.adopted < same.length && same[large.adopted]!.position < large.done) {
    await nextTurn()
    if (isOver()) return false
    const own = same.slice(large.adopted, large.adopted + limits.vectors).filter(({ position }) => position < large.done)
    base.write(() => adoptVectors(base, toCopies(own, large.first)), { durable: false })
    large.adopted += own.length
  }
  return true
}
