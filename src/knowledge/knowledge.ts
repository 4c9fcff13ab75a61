import { resolve } from 'node:path'
import { setTimeout as pauseMs } from 'node:timers/promises'
import type { NewDocument } from '../core/document.ts'
import type { KnowledgePageInput, Page } from '../core/page.ts'
import { moduleBeside } from '../core/platform/module-beside.ts'
import type { Knowledge } from '../core/ports/knowledge.ts'
import type { Ids } from '../core/ports/ports.ts'
import { noExtract, nothingFound } from '../core/ports/retrieval.ts'
import type { Site } from '../core/site.ts'
import { FETCH_RULES, type FetchRules } from '../net/guarded-fetch.ts'
import { KnowledgeFolder } from '../store/knowledge/folder.ts'
import type { KnowledgeLocation } from '../store/knowledge/open-store.ts'
import { isTransient } from '../store/transient.ts'
import type { IngestMethods, IngestSettings } from './ingest/ingest-worker.ts'
import type { QuestionMethods } from './questions-worker.ts'
import { READ_LIMITS, type ReadLimits } from './reader/reader.ts'
import { fromSentCause, toLine } from './rpc.ts'
import { WorkerHandle } from './worker.ts'

export interface KnowledgeOptions {
  place: KnowledgeLocation
  /** Creates the ids of documents. */
  ids: Ids
  /** Rules for fetching web pages. Default: only from the public internet. */
  fetch?: FetchRules
  /** Limits for reading one document. Default: `READ_LIMITS`. */
  read?: ReadLimits
  /** Pause between two pages of a site. */
  crawlDelayMs?: number
  siteTurnMs?: number
  /** Reports failures that have no caller. */
  warn?: (about: string, error: unknown) => void
}

/** Enough for one batch of passages in progress, or for one large document. */
const INGEST_HEAP_MB = 1_024
const QUESTIONS_HEAP_MB = 512
/** The longest time that the start or the end of the service waits for a thread. */
const PATIENCE_MS = 10_000
/** Delay before an ingest thread that died restarts for its remaining work. */
const RESTART_AFTER_MS = 1_000

/**
 * Opens the knowledge of all agents, in separate files. Two threads, each started when first needed, write and answer, so that neither a large document
 * nor a hard question blocks the service. An agent without a file costs nothing.
 */
export function openKnowledge({
  place: given,
  ids,
  fetch = FETCH_RULES,
  read = READ_LIMITS,
  crawlDelayMs = 250,
  siteTurnMs = 60_000,
  warn = () => {},
}: KnowledgeOptions): Knowledge {
  const place = 'folder' in given ? { folder: resolve(given.folder) } : given
  const known = 'folder' in place ? knownOf(place.folder) : anyAgent
  let closed = false
  let tellIndexed: (agentId: string) => void = () => {}
  let tellEnded: (outcome: 'ready' | 'failed') => void = () => {}
  let ingesting = 0
  const ingest = new WorkerHandle<IngestMethods>(
    moduleBeside(import.meta.url, './ingest/ingest-worker'),
    { place, fetch, read, crawlDelayMs, siteTurnMs } satisfies IngestSettings,
    INGEST_HEAP_MB,
    (cause) => {
      warn('the thread that indexes documents ended, and is started again', cause)
      // Repeated crashes end when the document has used up its attempts.
      setTimeout(() => startAgain().catch(() => {}), RESTART_AFTER_MS).unref()
    },
    (said) => {
      if ('event' in said) tellIndexed(said.event)
      else if ('ended' in said) tellEnded(said.ended)
      else if ('ingesting' in said) ingesting = said.ingesting
      else warn(said.warning, fromSentCause(said.error))
    },
  )
  const startAgain = async (): Promise<void> => {
    if (!closed && known.haveWork()) await ingest.call('start')
  }
  const questions = new WorkerHandle<QuestionMethods>(
    moduleBeside(import.meta.url, './questions-worker'),
    { place },
    QUESTIONS_HEAP_MB,
    (cause) => warn('the thread that searches ended, and is started again', cause),
    () => {},
    true,
  )

  /** Counts the pages of each site in a separate turn. Leaves out a site that is removed during the call. */
  const listSites = async (agentId: string, page: KnowledgePageInput): Promise<Page<Site> | undefined> => {
    const ids = await questions.call('listSiteIds', agentId, page)
    if (ids === undefined) return undefined
    const sites = await Promise.all(ids.items.map((id) => questions.call('findSite', agentId, id, page)))
    return { ...ids, items: sites.filter((site) => site !== undefined) }
  }

  return {
    async addDocument(agentId, document, askedBy) {
      known.add(agentId)
      const { own, bytes } = withOwnBytes(document)
      return ingest.callWith(bytes, 'add', agentId, ids(), own, askedBy)
    },
    async replaceDocument(agentId, documentId, document, askedBy) {
      if (!known.has(agentId)) return undefined
      const { own, bytes } = withOwnBytes(document)
      return ingest.callWith(bytes, 'replace', agentId, documentId, own, askedBy)
    },
    async updateDocument(agentId, documentId, change, askedBy) {
      return known.has(agentId) ? ingest.call('change', agentId, documentId, change, askedBy) : undefined
    },
    async deleteDocument(agentId, documentId) {
      return known.has(agentId) && ingest.call('remove', agentId, documentId)
    },
    async findDocument(agentId, documentId, askedBy) {
      return known.has(agentId) ? questions.call('findDocument', agentId, documentId, { askedBy }) : undefined
    },
    async listDocuments(agentId, page) {
      if (known.has(agentId)) return questions.call('listDocuments', agentId, page)
      return page.cursor === undefined ? { items: [], hasMore: false, total: 0 } : undefined
    },
    async listPassages(agentId, documentId, page) {
      return known.has(agentId) ? questions.call('listPassages', agentId, documentId, page) : undefined
    },
    async addSite(agentId, site, askedBy) {
      known.add(agentId)
      return ingest.call('addSite', agentId, ids(), site, askedBy)
    },
    async refreshSite(agentId, siteId, askedBy) {
      return known.has(agentId) ? ingest.call('refreshSite', agentId, siteId, askedBy) : undefined
    },
    async deleteSite(agentId, siteId) {
      return known.has(agentId) && ingest.call('removeSite', agentId, siteId)
    },
    async findSite(agentId, siteId, askedBy) {
      return known.has(agentId) ? questions.call('findSite', agentId, siteId, { askedBy }) : undefined
    },
    async listSites(agentId, page) {
      if (known.has(agentId)) return listSites(agentId, page)
      return page.cursor === undefined ? { items: [], hasMore: false, total: 0 } : undefined
    },
    async count(agentId, askedBy) {
      return known.has(agentId) ? questions.call('count', agentId, { askedBy }) : { documents: 0, passages: 0 }
    },
    async vectorModel(agentId, askedBy) {
      return known.has(agentId) ? questions.call('vectorModel', agentId, { askedBy }) : undefined
    },
    async takeUnembedded(agentId, model, most) {
      return known.has(agentId) ? ingest.call('takeUnembedded', agentId, model, most) : []
    },
    async putVectors(agentId, model, vectorIds, vectors) {
      return known.has(agentId) && ingest.call('putVectors', agentId, model, vectorIds, vectors)
    },
    async growVectorIndex(agentId, model) {
      return 'postgres' in place ? ingest.call('growNear', agentId, model) : 'done'
    },
    async listDocumentEvents(agentId, most) {
      return known.has(agentId) ? ingest.call('listDocumentEvents', agentId, most) : []
    },
    async deleteDocumentEvents(agentId, told) {
      await ingest.call('deleteDocumentEvents', agentId, told)
    },
    onIndexed(tell) {
      tellIndexed = tell
    },
    onDocumentEnded(tell) {
      tellEnded = tell
    },
    ingesting: () => ingesting,
    async hasBase(agentId, askedBy) {
      // In a folder, `retrieve` checks this at no cost.
      return 'folder' in place || questions.call('hasBase', agentId, { askedBy })
    },
    async retrieve(agentId, input) {
      return known.has(agentId) ? questions.call('retrieve', agentId, input) : nothingFound
    },
    async extract(agentId, input) {
      return known.has(agentId) ? questions.call('extract', agentId, input) : noExtract
    },
    async suggest(agentId, input) {
      return known.has(agentId) ? questions.call('suggest', agentId, input) : []
    },
    agents: known.kept,
    async deleteAgent(agentId) {
      if (!known.forget(agentId)) return
      await ingest.call('removeAgent', agentId)
      if (questions.started) await questions.call('forget', agentId)
    },
    waitMs: (asker) => questions.waitMs(asker && toLine([asker.agentId, asker])),
    async start() {
      if (known.haveWork()) await withPatience(ingest.call('start'))
    },
    async close() {
      closed = true
      for (const thread of [questions, ingest]) {
        if (thread.started) await withPatience(thread.call('close'))
        await thread.terminate()
      }
    },
  }
}

/** Resolves with the promise, or after `PATIENCE_MS` without it. */
async function withPatience(promise: Promise<unknown>): Promise<void> {
  const stop = new AbortController()
  const late = pauseMs(PATIENCE_MS, undefined, { signal: stop.signal, ref: false }).catch(() => {})
  await Promise.race([promise, late]).finally(() => stop.abort())
}

/** Agents that have a knowledge base, as far as this is known without a query: most agents have no data, and need no thread. */
interface Known {
  has(agentId: string): boolean
  add(agentId: string): void
  /** Returns false if the agent has no data. */
  forget(agentId: string): boolean
  /** Returns the agents that have data. */
  kept(): string[]
  /** Returns true also if this cannot be determined now. */
  haveWork(): boolean
}

function knownOf(folder: string): Known {
  const store = new KnowledgeFolder(folder)
  const known = new Set(store.list().known)
  const kept = (): string[] => {
    const { known: files, pending } = store.list()
    return [...new Set([...files, ...pending, ...store.listDue().keys()])]
  }
  return {
    has: (agentId) => known.has(agentId),
    add: (agentId) => known.add(agentId),
    forget: (agentId) => known.delete(agentId) || kept().includes(agentId),
    kept,
    haveWork: () => {
      try {
        return store.list().pending.length > 0 || store.listDue().size > 0
      } catch (error) {
        if (!isTransient(error)) throw error
        return true
      }
    },
  }
}

/** For a database, where another process may have created a base. */
const anyAgent: Known = { has: () => true, add: () => {}, forget: () => true, kept: () => [], haveWork: () => true }

/** Transfers the bytes to the other thread, which empties them here. Copies them if they are the smaller part of a larger buffer. */
function withOwnBytes(document: NewDocument): { own: NewDocument; bytes: Uint8Array<ArrayBuffer> | undefined } {
  if (document.content === undefined) return { own: document, bytes: undefined }
  const { content } = document
  const { buffer, byteOffset, byteLength } = content
  const isOwn = buffer instanceof ArrayBuffer && byteLength > buffer.byteLength / 2
  const bytes = isOwn ? new Uint8Array(buffer, byteOffset, byteLength) : new Uint8Array(content)
  return { own: { ...document, content: bytes }, bytes }
}
