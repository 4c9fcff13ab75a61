import type { KnowledgeBase } from '../../store/knowledge/base.ts'
import { addToBatch, newBatch } from '../../store/knowledge/index/index.ts'
import type { Task } from '../../store/knowledge/tasks.ts'
import { entriesFrom, languagesOf } from './passage-list.ts'
import type { DocumentReading } from './read-documents.ts'
import { isFull, type TransactionLimits, toWriteFailure, type WriteWork, writeTogether } from './write-documents.ts'

/** Documents that were read and analysed, and are written in one transaction. */
export class DocumentBatch {
  readonly #base: KnowledgeBase
  /** Documents are removed from this set when they are written. */
  readonly #unread: Set<Task>
  readonly #work: Pick<WriteWork, 'clock' | 'ended'>
  #readings: DocumentReading[] = []
  #batch = newBatch()
  #vectors = 0

  constructor(base: KnowledgeBase, unread: Set<Task>, work: Pick<WriteWork, 'clock' | 'ended'>) {
    this.#base = base
    this.#unread = unread
    this.#work = work
  }

  /** Analyses a document. Throws `WriteFailure` if the analysis fails. */
  async add(reading: DocumentReading, pause: () => Promise<void> | undefined): Promise<void> {
    const { task, passages, indexedTitle } = reading
    this.#readings.push(reading)
    this.#vectors += reading.same.length
    try {
      const languages = languagesOf(passages)
      for (const [position, passage] of entriesFrom(passages, 0)) {
        await pause()
        addToBatch(this.#batch, { ...passage, position, document: task.number, title: indexedTitle, languages })
      }
    } catch (error) {
      throw toWriteFailure(error, [task], this.#unread)
    }
  }

  isFull(limits: TransactionLimits): boolean {
    return this.#vectors >= limits.vectors || isFull(this.#batch, limits)
  }

  /** Writes the documents and starts the next batch. Throws `WriteFailure` if a document cannot be written. */
  write(): void {
    const { clock, ended = () => {} } = this.#work
    const tasks = this.#readings.map(({ task }) => task)
    try {
      if (tasks.length > 0)
        this.#base.write(() => writeTogether(this.#base, this.#readings, this.#batch, clock()), { durable: false })
    } catch (error) {
      throw toWriteFailure(error, tasks, this.#unread)
    }
    for (const task of tasks) {
      this.#unread.delete(task)
      ended('ready')
    }
    this.#readings = []
    this.#vectors = 0
    this.#batch = newBatch()
  }
}
