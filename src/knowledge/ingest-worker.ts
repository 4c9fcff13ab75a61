import { parentPort, workerData } from 'node:worker_threads'
import type { Metadata, NewDocument } from '../core/document.ts'
import { listAgents } from './files.ts'
import { Ingest } from './ingest.ts'
import { serve } from './rpc.ts'

const { folder } = workerData as { folder: string }
const ingest = new Ingest(folder, Date.now)

const methods = {
  add: (agentId: string, id: string, document: NewDocument) => ingest.add(agentId, id, document),
  replace: (agentId: string, id: string, document: NewDocument) => ingest.replace(agentId, id, document),
  change: (agentId: string, id: string, change: { title?: string; metadata?: Metadata }) => ingest.change(agentId, id, change),
  remove: (agentId: string, id: string) => ingest.remove(agentId, id),
  removeAgent: (agentId: string) => ingest.removeAgent(agentId),
  /** Starting is enough: what was left is taken up below. */
  start: () => undefined,
  close: () => ingest.close(),
}
export type IngestMethods = typeof methods

ingest.resume(listAgents(folder).pending)
serve(parentPort!, methods)
