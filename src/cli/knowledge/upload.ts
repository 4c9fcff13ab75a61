import { openAsBlob } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, ConnectionCut, ServiceError, type ShownDocument } from '../client.ts'
import type { FoundFile } from './files.ts'

/** Enough to use one writer of the service fully, without delaying its conversations. */
const AT_ONCE = 8
const LOOK_EVERY_MS = { first: 100, longest: 1_000 }
/** Errors that affect all files, not only one. */
const HOPELESS = new Set(['unauthorized', 'forbidden', 'agent_not_found'])

export interface UploadOutcome {
  path: string
  state: 'ready' | 'known' | 'queued' | 'failed'
  document?: ShownDocument
  /** Why it failed, for people. */
  reason?: string
}

export interface Undertaking {
  client: Client
  agentId: string
  signal: AbortSignal
}

export interface Sending extends FoundFile {
  /** The document to replace. */
  documentId?: string
  metadata?: object
}

/** Uploads files and reports each. `known`: already exists; `queued`: still to be followed. Rejects on abort, or if all further files would fail too. */
export function uploadFiles(task: Undertaking, files: Sending[], tell: (outcome: UploadOutcome) => void): Promise<void> {
  return each(files, task.signal, async (file) => tell(await uploadFile(task, file)))
}

async function uploadFile(
  { client, agentId, signal }: Undertaking,
  { path, name, documentId, metadata }: Sending,
): Promise<UploadOutcome> {
  const form = new FormData()
  try {
    if (metadata !== undefined) form.set('metadata', JSON.stringify(metadata))
    form.set('file', await openAsBlob(path), name)
  } catch {
    return { path, state: 'failed', reason: 'the file cannot be read' }
  }
  const documents = `/agents/${agentId}/documents`
  try {
    const [method, url] = documentId === undefined ? ['POST', documents] : ['PUT', `${documents}/${documentId}`]
    const { document } = await client.call<'addDocument'>(method, url, {
      body: form,
      signal,
      isRepeatable: true,
    })
    return toOutcome(path, document, 'known')
  } catch (error) {
    if (error instanceof ConnectionCut)
      return { path, state: 'failed', reason: 'the service closed the connection; the file may be larger than a document may be' }
    if (!(error instanceof ServiceError) || HOPELESS.has(error.code)) throw error
    return { path, state: 'failed', reason: error.reason }
  }
}

/** Waits until each document is ready or failed. Polls them in upload order, which is about the order of indexing. */
export function followDocuments(
  task: Undertaking,
  queued: UploadOutcome[],
  tell: (outcome: UploadOutcome) => void,
): Promise<void> {
  return each(queued, task.signal, async ({ path, document }) => {
    for (let waitMs = LOOK_EVERY_MS.first; ; waitMs = Math.min(waitMs * 1.5, LOOK_EVERY_MS.longest)) {
      const outcome = await look(task, path, document!.id)
      if (outcome.state !== 'queued') return tell(outcome)
      await sleep(waitMs, undefined, { signal: task.signal })
    }
  })
}

async function look({ client, agentId, signal }: Undertaking, path: string, id: string): Promise<UploadOutcome> {
  try {
    const { document } = await client.call<'getDocument'>('GET', `/agents/${agentId}/documents/${id}`, { signal })
    return toOutcome(path, document, 'ready')
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'document_not_found') throw error
    return { path, state: 'failed', reason: 'it was removed while it was being indexed' }
  }
}

function toOutcome(path: string, document: ShownDocument, whenReady: 'ready' | 'known'): UploadOutcome {
  if (document.status === 'ready') return { path, document, state: whenReady }
  if (document.status === 'failed')
    return { path, document, state: 'failed', reason: document.error?.message ?? 'for no given reason' }
  return { path, document, state: 'queued' }
}

/** Runs `work` for a few items at a time. The first failure empties the shared queue, and running work finishes. */
export async function each<T>(items: T[], signal: AbortSignal, work: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values().filter(() => {
    signal.throwIfAborted()
    return true
  })
  const worker = async () => {
    for (const item of queue) await work(item)
  }
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
