import type { DocumentSource, Passage } from '../../core/document.ts'
import type { KnowledgeBase } from './base.ts'
import { dropContent } from './contents.ts'
import { type DocumentRow, type DocumentWork, type Extent, IS_CHANGED } from './documents.ts'

/** The rules by which documents are read, cut and indexed. It goes up when they change, and the passages of all bases are made again. */
export const READING = 1

/** The base has passages that were made by older rules. */
export const isOutdated = (base: KnowledgeBase): boolean =>
  base.get('SELECT 1 FROM manifest WHERE reading < ?', READING) !== undefined

/** Has the passages of all documents made again; they keep answering until then. In a transaction of the caller. */
export function rereadAll(base: KnowledgeBase): void {
  base.run(`UPDATE document SET work = 'reread', attempts = 0 WHERE work IS NULL AND status = 'ready' AND last >= first`)
  // What is fetched is read then, although it may be the same as before.
  base.run(`UPDATE document SET content_hash = NULL WHERE work = 'fetch'`)
  base.run('UPDATE manifest SET reading = ?', READING)
}

/** Leaves the passages as they are. In a transaction of the caller. */
export function leaveTask(base: KnowledgeBase, { number, revision }: Task): void {
  base.run(`UPDATE document SET work = NULL WHERE number = ? AND revision = ? AND work = 'reread'`, number, revision)
}

/** A document with work to be done. */
export interface Task extends Extent {
  number: number
  revision: number
  work: DocumentWork
  title: string
  titleGiven: boolean
  source: DocumentSource
  mediaType: string
  /** Of its content. */
  bytes: number
  attempts: number
}

const TASK = 'number, revision, work, title, title_given, source, media_type, bytes, attempts, first, last, indexed_title'

/**
 * Returns documents that wait to be read or indexed, at most `most`, by the time of their last change. A large document starts over with each change, and documents
 * that change all the time would keep the others waiting. Documents to be read again (`reread`) come last.
 */
export function listTasks(base: KnowledgeBase, most: number): Task[] {
  const changed = base.all<DocumentRow>(
    `SELECT ${TASK} FROM document WHERE work IN ('read', 'retitle') ORDER BY updated_at, number LIMIT ?`,
    most,
  )
  const rows =
    changed.length > 0
      ? changed
      : base.all<DocumentRow>(`SELECT ${TASK} FROM document WHERE work = 'reread' ORDER BY number LIMIT ?`, most)
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

/** Returns false where the document was deleted or changed since the task was listed. */
export const isWaiting = (base: KnowledgeBase, { number, revision }: Task): boolean =>
  base.get('SELECT 1 FROM document WHERE number = ? AND revision = ? AND work IS NOT NULL', number, revision) !== undefined

/** Returns the passages of these ids, in order. */
export function listPassages(base: KnowledgeBase, first: number, last: number): Omit<Passage, 'id' | 'index'>[] {
  return base.all('SELECT text, heading, page FROM passage WHERE id BETWEEN ? AND ? ORDER BY id', first, last)
}

/** Counts the attempt, and marks documents that are to be read as being read. In a transaction of the caller. */
export function startTasks(base: KnowledgeBase, tasks: Iterable<Task>): void {
  const sql = `UPDATE document SET status = CASE WHEN work = 'read' THEN 'processing' ELSE status END, attempts = attempts + 1
    WHERE number = ? AND work <> 'fetch'`
  for (const { number } of tasks) base.run(sql, number)
}

/**
 * They were not come to after all: the attempt does not count. Changes nothing where it was not stored, or was taken back. The status stays: it never goes back. In a
 * transaction of the caller. `tasks`: as they were before the attempt.
 */
export function releaseTasks(base: KnowledgeBase, tasks: Iterable<Task>): void {
  for (const { number, attempts } of tasks)
    base.run('UPDATE document SET attempts = attempts - 1 WHERE number = ? AND attempts > ?', number, attempts)
}

export function setProgress(base: KnowledgeBase, task: Task, progress: number): void {
  base.run(`UPDATE document SET progress = ? WHERE number = ? AND work = 'read'`, progress, task.number)
}

/**
 * The document's passages are those of `extent` from now on, and it is shown under `title` and as of `mediaType`. In the transaction that publishes them; the caller buries the old.
 * False where the document was deleted or changed since the task was listed: then the caller buries the new.
 */
export function finishTask(
  base: KnowledgeBase,
  task: Task,
  { mediaType, title }: { mediaType: string; title: string },
  extent: Extent,
  at: number,
): boolean {
  const isRead = task.work === 'read'
  // A new title does not make up for a version that could not be read.
  const outcome = isRead
    ? `status = 'ready', progress = 1, error_code = NULL, error_message = NULL, generation = generation + 1, news = 1,`
    : task.work === 'reread'
      ? 'generation = generation + 1,'
      : ''
  const done = base.get(
    `UPDATE document SET media_type = ?, title = ?, first = ?, last = ?, indexed_title = ?, ${outcome} ${IS_CHANGED},
       work = NULL, updated_at = coalesce(?, updated_at) WHERE number = ? AND revision = ? RETURNING number`,
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

/** Passages that it had from an earlier version go on answering. In a transaction of the caller. */
export function failTask(base: KnowledgeBase, task: Task, error: { code: string; message: string }, at: number): void {
  const failed = base.get(
    `UPDATE document SET status = 'failed', progress = 0, news = 1, work = NULL, error_code = ?, error_message = ?, updated_at = ?, content_hash = NULL
     WHERE number = ? AND revision = ? RETURNING number`,
    error.code,
    error.message,
    at,
    task.number,
    task.revision,
  )
  if (failed !== undefined) dropContent(base, task.number)
}
