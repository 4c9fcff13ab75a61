import type { DocumentSource, Passage } from '../../core/document.ts'
import type { KnowledgeBase } from './base.ts'
import { dropContent } from './contents.ts'
import { type DocumentRow, type DocumentWork, type Extent, IS_CHANGED } from './documents.ts'

/** Version of the rules that read, split and index documents. When it increases, the passages of all bases are rebuilt. */
export const READING = 1

/** Returns true if the base has passages from older rules. */
export const isOutdated = (base: KnowledgeBase): boolean =>
  base.get('SELECT 1 FROM {manifest} WHERE reading < ?', READING) !== undefined

/** Schedules a rebuild of all passages; the old ones stay searchable until then. Runs in the caller's transaction. */
export function rereadAll(base: KnowledgeBase): void {
  base.update('document', { set: `work = 'reread', attempts = 0`, where: `work IS NULL AND status = 'ready' AND last >= first` })
  // Makes the fetch read the content even if it is unchanged.
  base.update('document', { set: 'content_hash = NULL', where: `work = 'fetch'` })
  base.update('manifest', { set: 'reading = ?' }, READING)
}

/** Cancels a rebuild (`reread`) and leaves the passages unchanged. Runs in the caller's transaction. */
export function leaveTask(base: KnowledgeBase, { number, revision }: Task): void {
  base.update('document', { set: 'work = NULL', where: `number = ? AND revision = ? AND work = 'reread'` }, number, revision)
}

/** A document with pending work. */
export interface Task extends Extent {
  number: number
  revision: number
  work: DocumentWork
  title: string
  titleGiven: boolean
  source: DocumentSource
  mediaType: string
  /** Size of the content. */
  bytes: number
  attempts: number
}

const TASK = 'number, revision, work, title, title_given, source, media_type, bytes, attempts, first, last, indexed_title'

/**
 * Returns up to `most` documents to read or index, least recently changed first; rebuilds (`reread`) come last.
 * A large document restarts with each change, so documents that change often must not block the others.
 */
export function listTasks(base: KnowledgeBase, most: number): Task[] {
  const changed = base.all<DocumentRow>(
    `SELECT ${TASK} FROM {document} WHERE work IN ('read', 'retitle') ORDER BY updated_at, number LIMIT ?`,
    most,
  )
  const rows =
    changed.length > 0
      ? changed
      : base.all<DocumentRow>(`SELECT ${TASK} FROM {document} WHERE work = 'reread' ORDER BY number LIMIT ?`, most)
  return rows.map((row) => ({
    number: row.number,
    revision: row.revision,
    work: row.work!,
    title: row.title,
    titleGiven: row.title_given === 1,
    source: JSON.parse(row.source) as DocumentSource,
    mediaType: row.media_type,
    bytes: row.bytes,
    attempts: row.attempts,
    first: row.first,
    last: row.last,
    indexedTitle: row.indexed_title,
  }))
}

/** Returns false if the document was deleted or changed since the task was listed. */
export const isWaiting = (base: KnowledgeBase, { number, revision }: Task): boolean =>
  base.get('SELECT 1 FROM {document} WHERE number = ? AND revision = ? AND work IS NOT NULL', number, revision) !== undefined

/** Returns the passages with ids from `first` to `last`, in order. */
export function listPassages(base: KnowledgeBase, first: number, last: number): Omit<Passage, 'id' | 'index'>[] {
  return base.all('SELECT text, heading, page FROM {passage} WHERE id BETWEEN ? AND ? ORDER BY id', first, last)
}

/** Counts an attempt, and sets documents to read to `processing`. Runs in the caller's transaction. */
export function startTasks(base: KnowledgeBase, tasks: Iterable<Task>): void {
  const change = {
    set: `status = CASE WHEN work = 'read' THEN 'processing' ELSE status END, attempts = attempts + 1`,
    where: `number = ? AND work <> 'fetch'`,
  }
  for (const { number } of tasks) base.update('document', change, number)
}

/**
 * Takes back the attempt of tasks that were not processed, if it was stored and is not taken back yet. The status never goes back.
 * `tasks` are as before the attempt. Runs in the caller's transaction.
 */
export function releaseTasks(base: KnowledgeBase, tasks: Iterable<Task>): void {
  for (const { number, attempts } of tasks)
    base.update('document', { set: 'attempts = attempts - 1', where: 'number = ? AND attempts > ?' }, number, attempts)
}

export function setProgress(base: KnowledgeBase, task: Task, progress: number): void {
  base.update('document', { set: 'progress = ?', where: `number = ? AND work = 'read'` }, progress, task.number)
}

/**
 * Publishes `extent` as the document's passages and sets title and media type. The caller marks the old passages as deleted, in this transaction.
 * Returns false if the document was deleted or changed since the task was listed: then the caller marks the new passages as deleted.
 */
export function finishTask(
  base: KnowledgeBase,
  task: Task,
  { mediaType, title }: { mediaType: string; title: string },
  extent: Extent,
  at: number,
): boolean {
  const isRead = task.work === 'read'
  // A new title does not clear the error of a version that could not be read.
  const outcome = isRead
    ? `status = 'ready', progress = 1, error_code = NULL, error_message = NULL, generation = generation + 1, news = 1,`
    : task.work === 'reread'
      ? 'generation = generation + 1,'
      : ''
  const set = `media_type = ?, title = ?, first = ?, last = ?, indexed_title = ?, ${outcome} ${IS_CHANGED}, work = NULL,
    updated_at = coalesce(?, updated_at)`
  const done = base.updateOne(
    'document',
    { set, where: 'number = ? AND revision = ?', returning: 'number' },
    mediaType,
    title,
    extent.first,
    extent.last,
    extent.indexedTitle,
    isRead ? at : null,
    task.number,
    task.revision,
  )
  if (done === undefined) return false
  dropContent(base, task.number)
  return true
}

/** Marks a document as failed. Passages of an earlier version stay searchable. Runs in the caller's transaction. */
export function failTask(base: KnowledgeBase, task: Task, error: { code: string; message: string }, at: number): void {
  const set = `status = 'failed', progress = 0, news = 1, work = NULL, error_code = ?, error_message = ?, updated_at = ?, content_hash = NULL`
  const failed = base.updateOne(
    'document',
    { set, where: 'number = ? AND revision = ?', returning: 'number' },
    error.code,
    error.message,
    at,
    task.number,
    task.revision,
  )
  if (failed !== undefined) dropContent(base, task.number)
}
