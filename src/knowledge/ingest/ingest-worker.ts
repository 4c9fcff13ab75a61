import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { Metadata, NewDocument } from '../../core/document.ts'
import type { NewSite } from '../../core/site.ts'
import type { FetchRules } from '../../net/guarded-fetch.ts'
import { type KnowledgeLocation, openKnowledgeStore } from '../../store/knowledge/open-store.ts'
import type { ReadLimits } from '../reader/reader.ts'
import { serve, type ThreadEvent, toSentCause } from '../rpc.ts'
import { Ingest } from './ingest.ts'

/** The settings that the thread is started with. */
export interface IngestSettings {
  place: KnowledgeLocation
  fetch: FetchRules
  read: ReadLimits
  crawlDelayMs: number
  siteTurnMs: number
}

const NICENESS = 15

const { place, ...settings } = workerData as IngestSettings
// Answers have priority over ingestion on the same core. On Linux this applies to the thread; elsewhere it would apply to the whole service.
if (process.platform === 'linux') setPriority(NICENESS)
const say = (event: ThreadEvent) => parentPort!.postMessage(event)
const store = openKnowledgeStore(place)
const ingest = new Ingest({
  ...settings,
  store,
  clock: Date.now,
  onIndexed: (agentId) => say({ event: agentId }),
  onEnded: (outcome) => say({ ended: outcome }),
  onMarked: (agents) => say({ ingesting: agents }),
  warn: (about, error) => say({ warning: about, error: toSentCause(error) }),
})

const methods = {
  add: (agentId: string, id: string, document: NewDocument, askedBy?: string) => ingest.add(agentId, id, document, askedBy),
  replace: (agentId: string, id: string, document: NewDocument, askedBy?: string) =>
    ingest.replace(agentId, id, document, askedBy),
  change: (agentId: string, id: string, change: { title?: string; metadata?: Metadata }, askedBy?: string) =>
    ingest.change(agentId, id, change, askedBy),
  remove: (agentId: string, id: string) => ingest.remove(agentId, id),
  addSite: (agentId: string, id: string, site: NewSite, askedBy?: string) => ingest.addSite(agentId, id, site, askedBy),
  refreshSite: (agentId: string, id: string, askedBy?: string) => ingest.refreshSite(agentId, id, askedBy),
  removeSite: (agentId: string, id: string) => ingest.removeSite(agentId, id),
  takeUnembedded: (agentId: string, model: string, most: number) => ingest.takeUnembedded(agentId, model, most),
  putVectors: (agentId: string, model: string, ids: number[], vectors: (Float32Array | null)[]) =>
    ingest.putVectors(agentId, model, ids, vectors),
  growNear: (agentId: string, model: string) => ingest.growNear(agentId, model),
  listDocumentEvents: (agentId: string, most: number) => ingest.listDocumentEvents(agentId, most),
  deleteDocumentEvents: (agentId: string, told: { id: string; updatedAt: number }[]) =>
    ingest.deleteDocumentEvents(agentId, told),
  removeAgent: (agentId: string) => ingest.removeAgent(agentId),
  /** Does nothing: the thread resumes pending work when it starts (below). */
  start: () => undefined,
  close: () => ingest.close(),
}
export type IngestMethods = typeof methods

ingest.resume(store.list().pending)
ingest.rereadOutdated()
serve(parentPort!, methods)
